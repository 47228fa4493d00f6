package extract_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seine-go/seine/extract"
	"github.com/seine-go/seine/extract/literal"
)

// flightPage pushes the pieces of a stream as Next.js does.
func flightPage(pieces ...string) string {
	var b strings.Builder
	b.WriteString(`<script>(self.__next_f=self.__next_f||[]).push([0])</script>`)
	for _, piece := range pieces {
		text, _ := json.Marshal(piece)
		fmt.Fprintf(&b, `<script>self.__next_f.push([1,%s])</script>`, text)
	}
	return b.String()
}

func TestFlightData(t *testing.T) {
	t.Parallel()
	film := `5:["$","$L6",null,{"film":{"title":"Tampopo","plot":"$7","price":"$$5","none":"$undefined"}}]` + "\n"
	plot := "A truck driver…\n9:[1]\nfinds a shop."
	tests := []struct{ name, page, want string }{
		{"rows", flightPage("0:{\"a\":1}\n2:\"b\"\n"), `{"0":{"a":1},"2":"b"}`},
		{"cut anywhere", flightPage("0:{\"a", "\":", "1}\n1", ":[2]"), `{"0":{"a":1},"1":[2]}`},
		{"modules, hints and errors", flightPage("3:I[\"x\",[]]\n:HL[\"/a.css\",\"style\"]\n4:E{\"digest\":\"1\"}\n0:[1]\n"), `{"0":[1]}`},
		{"texts", flightPage(film, fmt.Sprintf("7:T%x,%s", len(plot), plot), "8:null\n"), `{"5":["$","$L6",null,{"film":{"none":"$undefined","plot":"A truck driver…\n9:[1]\nfinds a shop.","price":"$5","title":"Tampopo"}}],"7":"A truck driver…\n9:[1]\nfinds a shop.","8":null}`},
		{"text cut off", flightPage("7:Tff,abc"), `{"7":"abc"}`},
		{"bad rows", flightPage("x:1\n0:{\n:1\n\n7:Tzz,a\n7:T5\n1:[1]\nT2:3\n123456789:1\n2:"), `{"1":[1]}`},
		{"bytes", `<script>self.__next_f.push([3,"` + base64.StdEncoding.EncodeToString([]byte("0:[\"é\"]\n1:A2,\n\n2:1\n")) + `"])</script>`, `{"0":["é"],"2":1}`},
		{"other pushes", `<script>self.__next_f.push(x);self.__next_f.push([1]);self.__next_f.push([2,"0:1"]);self.__next_f.push([1,'0:7']);self.__next_f.push(</script>`, `{"0":7}`},
		{"quoted", flightPage("0:[\"self.__next_f.push([1,0])\"]"), `{"0":["self.__next_f.push([1,0])"]}`},
	}
	for _, tt := range tests {
		doc := extract.NewDocument([]byte(tt.page), extract.DocumentOptions{Encoding: "utf-8"})
		s := doc.State("__next_f")
		if s == nil {
			t.Errorf("%s: no state", tt.name)
			continue
		}
		v, err := s.Value()
		if got, _ := json.Marshal(v); err != nil || string(got) != strings.ReplaceAll(tt.want, "\n", `\n`) {
			t.Errorf("%s: %s, %v\nwant %s", tt.name, got, err, tt.want)
		}
		if n := len(doc.States()); n != 1 {
			t.Errorf("%s: %d states", tt.name, n)
		}
	}
	type page struct {
		Title string `extract:"state=__next_f$..film.title ; required"`
		Plot  string `extract:"state=__next_f$..film.plot"`
	}
	v, err := extract.From[page](document(flightPage(film, fmt.Sprintf("7:T%x,%s", len(plot), plot))))
	if err != nil || v.Title != "Tampopo" || v.Plot != plot {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestFlightDataIsBounded(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, page string
		limits     literal.Limits
		what       string
	}{
		{"bytes at the bound", flightPage("0:[1]\n", "1:[1]\n"), literal.Limits{Bytes: 12}, ""},
		{"bytes", flightPage("0:[1]\n", "1:[1]\n2"), literal.Limits{Bytes: 12}, "bytes"},
		{"nodes at the bound", flightPage("0:[1]\n", "1:[1]\n"), literal.Limits{Nodes: 4}, ""},
		{"nodes", flightPage("0:[1]\n", "1:[1]\n2:1"), literal.Limits{Nodes: 4}, "nodes"},
		{"depth", flightPage("0:[[[1]]]"), literal.Limits{Depth: 2}, "depth"},
		{"no limit", flightPage("0:[1]\n", "1:[1]\n"), literal.Limits{Bytes: -1, Nodes: -1}, ""},
	} {
		_, err := extract.NewDocument([]byte(tt.page), extract.DocumentOptions{Limits: tt.limits}).State("__next_f").Value()
		var limit *literal.LimitError
		if errors.As(err, &limit); err == nil && tt.what != "" || err != nil && (limit == nil || limit.What != tt.what) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func FuzzFlight(f *testing.F) {
	f.Add("0:{\"a\":\"$7\"}\n7:T3,abc", uint8(3))
	f.Add("7:Tffffffff,a\n0:I[]\n:HL[]\n1:A5,\n\n", uint8(9))
	f.Fuzz(func(t *testing.T, stream string, at uint8) {
		cut := min(int(at), len(stream))
		doc := extract.NewDocument([]byte(flightPage(stream[:cut], stream[cut:])), extract.DocumentOptions{Encoding: "utf-8", Limits: literal.Limits{Bytes: 1000, Nodes: 100}})
		v, err := doc.State("__next_f").Value()
		if _, ok := v.(map[string]any); ok != (err == nil) || err != nil && !errors.As(err, new(*literal.LimitError)) {
			t.Fatalf("%q: %v, %v", stream, v, err)
		}
	})
}
