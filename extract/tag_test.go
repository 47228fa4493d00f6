package extract_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seine-go/seine/extract"
)

// Every bad declaration fails at Compile, with the field and the column of the fault.
func TestBadDeclarations(t *testing.T) {
	t.Parallel()
	tests := []struct {
		tag    string
		column int
		says   string
	}{
		{"h1", 1, "is no source"},
		{"sel=h1", 1, `no source is called "sel"`},
		{"css=h1 || cs=h2", 11, `no source is called "cs"`},
		{"css=h1[", 7, "is open"},
		{"css=h1:foo", 5, "css"},
		{"css=h1 ||", 10, "nothing stands here"},
		{"|| css=h1", 1, "nothing stands here"},
		{"css=h1 ; ; trim", 9, "nothing stands here"},
		{"css=h1 ;", 9, "nothing stands here"},
		{"css=h1 ; trimm", 10, `no option is called "trimm"`},
		{"css=h1 ; required=yes", 19, "takes no value"},
		{"css=h1 ; default", 10, "needs a value"},
		{"css=h1 ; trim ; trim", 17, "twice"},
		{"css=h1 ; re=/(/", 13, "missing closing"},
		{"css=h1 ; re=/a/2", 13, "no group"},
		{"css=h1 ; re=/a", 13, "closing slash"},
		{"css=h1 ; re=a", 13, "is written"},
		{"css=h1 ; unit=parsec", 15, "no unit"},
		{"css=h1 ; tz=Nowhere/Land", 13, "Nowhere"},
		{"css=h1 ; min=few", 14, "few"},
		{"css=h1 ; map=f", 14, "Options.Funcs"},
		{"css=h1 ; each", 10, "does not go"},
		{"css=h1 ; all", 10, "does not go"},
		{"css=h1 ; key=css=a", 10, "does not go"},
		{"css=h1 ; default=x", 10, "not a number"},
		{"css=h1 ; in=x", 10, "does not go"},
		{"css=h1 ; default='x", 18, "a quote"},
		{"json=$.a[", 5 + 4, ""},
		{"json=a", 6, "jsonpath"},
		{"state=name", 7, "jsonpath"},
		{"xpath=//a[", 0, ""},
		{"xpath=$v", 7, "xpath"},
		{"ld=", 4, "no name"},
		{"ld=Movie..name", 4, "no name"},
		{"og=a b", 4, "no name"},
		{"re=/[/", 4, "missing closing"},
		{"magnet=x", 8, "magnet takes"},
		{"url=x", 5, "takes nothing"},
		{"css=h1 ; trim || css=h2", 15, "among the options"},
		{strings.Repeat("x", 20_000), 16 << 10, "longer than"},
	}
	type film struct {
		Inner struct {
			Year int `extract:"css=h1"`
		}
	}
	for _, tt := range tests {
		_, err := extract.Compile[film](extract.Options{Rules: extract.Rules{"Inner": {Tag: "css=", Fields: extract.Rules{"Year": {Tag: tt.tag}}}}})
		var tag *extract.TagError
		switch {
		case !errors.As(err, &tag):
			t.Errorf("%q: %v", cut(tt.tag), err)
		case tag.Field != "Inner.Year" || tt.says != "" && (tag.Column != tt.column || !strings.Contains(err.Error(), tt.says)) || !strings.Contains(err.Error(), "Inner.Year"):
			t.Errorf("%q: column %d, %v; want column %d, %q", cut(tt.tag), tag.Column, err, tt.column, tt.says)
		}
	}
}

func cut(s string) string { return s[:min(len(s), 40)] }

func TestBadTypes(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"channel": second(extract.Compile[struct {
			C chan int `extract:"css=a"`
		}](extract.Options{})),
		"func": second(extract.Compile[struct {
			C func() `extract:"css=a"`
		}](extract.Options{})),
		"unexported": second(extract.Compile[struct {
			c int `extract:"css=a"`
		}](extract.Options{})),
		"none":      second(extract.Compile[struct{ C int }](extract.Options{})),
		"no struct": second(extract.Compile[int](extract.Options{})),
		"pointers": second(extract.Compile[struct {
			C **int `extract:"css=a"`
		}](extract.Options{})),
		"int keys": second(extract.Compile[struct {
			C map[int]int `extract:"css=a"`
		}](extract.Options{})),
		"rule of no field": second(extract.Compile[struct {
			C int `extract:"css=a"`
		}](extract.Options{Rules: extract.Rules{"D": {Tag: "css=a"}}})),
		"fields of no struct": second(extract.Compile[struct {
			C int `extract:"css=a"`
		}](extract.Options{Rules: extract.Rules{"C": {Tag: "css=a", Fields: extract.Rules{"D": {}}}}})),
		"options of a struct": second(extract.Compile[struct {
			C struct {
				D int `extract:"css=a"`
			} `extract:"css=a ; lower"`
		}](extract.Options{})),
	} {
		var tag *extract.TagError
		if !errors.As(err, &tag) {
			t.Errorf("%s: %v", name, err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("MustCompile does not panic")
		}
	}()
	extract.MustCompile[int](extract.Options{})
}

func second[T any](_ T, err error) error { return err }

// What parts sources and options counts only outside quotes, brackets and patterns.
func TestSeparatorsInDeclarations(t *testing.T) {
	t.Parallel()
	type film struct {
		Or      string `extract:"json=$.a[?@.x == 1 || @.y == ';'].v"`
		Pattern string `extract:"json=$.text ; re=/a;(b|c||d)/1 ; default='d;e'"`
		Quoted  string `extract:"json=$.none ; default=' a;\\'b\\' || c '"`
		Double  string `extract:"json=$.none ; default=\"it's\""`
		Slash   string `extract:"json=$.url ; re=/\\/(\\d+)$/"`
		Equals  string `extract:"json=$.none ; default=a=b"`
	}
	v, err := extract.From[film](document(`{"a":[{"x":2,"v":"no"},{"x":1,"v":"yes"}],"text":"a;c","url":"/f/12"}`))
	want := film{"yes", "c", " a;'b' || c ", "it's", "12", "a=b"}
	if err != nil || v != want {
		t.Errorf("%+v, %v", v, err)
	}
}

// Rules and tags are one form: the same sources, the same options, the same results.
func TestRulesAreTags(t *testing.T) {
	t.Parallel()
	type tagged struct {
		Title string `extract:"css=h2 || ld=Movie.name ; required ; upper"`
		Year  int    `extract:"ld=Movie.datePublished ; re=/\\d{4}/ ; min=1900"`
		None  string `extract:"css=h7 ; default='-'"`
		Cast  []struct {
			Name string `extract:"css=a"`
			Role string `extract:"css=i ; default=?"`
		} `extract:"css=ul.cast li"`
	}
	type plain struct {
		Title string
		Year  int
		None  string
		Cast  []struct{ Name, Role string }
	}
	rules, err := extract.ParseRules([]byte(`{
		// what the site calls a film
		"Title": {"from": ["css=h2", "ld=Movie.name"], "required": true, "upper": true},
		"Year": {"from": "ld=Movie.datePublished", "re": "/\\d{4}/", "min": 1900},
		"None": "css=h7 ; default='-'",
		"Cast": {"from": "css=ul.cast li", "fields": {"Name": "css=a", "Role": {"from": "css=i", "default": "?", "trim": false}}},
	}`))
	if err != nil {
		t.Fatal(err)
	}
	a, first, err := extract.MustCompile[tagged](extract.Options{}).Extract(t.Context(), document(filmPage))
	if err != nil {
		t.Fatal(err)
	}
	b, second, err := extract.MustCompile[plain](extract.Options{Rules: rules}).Extract(t.Context(), document(filmPage))
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	if err != nil || string(x) != string(y) || !reflect.DeepEqual(first, second) {
		t.Errorf("%s\n%s\n%+v\n%+v %v", x, y, first, second, err)
	}
	// As a library for YAML would give them.
	var fromYAML extract.Rules
	err = fromYAML.UnmarshalYAML(func(v any) error {
		*v.(*any) = map[any]any{
			"Title": map[string]any{"from": []any{"css=h2", "ld=Movie.name"}, "required": true, "upper": true},
			"Year":  map[string]any{"from": "ld=Movie.datePublished", "re": `/\d{4}/`, "min": 1900},
			"None":  "css=h7 ; default='-'",
			"Cast":  map[any]any{"from": "css=ul.cast li", "fields": map[any]any{"Name": "css=a", "Role": map[string]any{"from": "css=i", "default": "?"}}},
		}
		return nil
	})
	c, _, err2 := extract.MustCompile[plain](extract.Options{Rules: fromYAML}).Extract(t.Context(), document(filmPage))
	if err != nil || err2 != nil || !reflect.DeepEqual(b, c) {
		t.Errorf("%v, %v, %+v", err, err2, c)
	}
}

func TestBadRules(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`[]`, `{`, `{"A":1}`, `{"A":{"from":1}}`, `{"A":{"from":"css=a ; trim"}}`, `{"A":{"from":[["css=a"]]}}`, `{"A":{"fields":[]}}`, `{"A":{"min":[1]}}`, `{"A":{"from":"h1"}}`,
		`{"A":` + strings.Repeat(`{"fields":{"A":`, 100) + `""` + strings.Repeat(`}}`, 100) + `}`,
	} {
		if r, err := extract.ParseRules([]byte(text)); err == nil {
			t.Errorf("%s: %v", cut(text), r)
		}
	}
	type film struct{ A string }
	for _, text := range []string{`{"A":{"from":"css=a","frm":"css=b"}}`, `{"A":{"from":"css=a","trim":"x"}}`, `{"A":{"from":"css=a","default":true}}`, `{"B":"css=a"}`} {
		rules, err := extract.ParseRules([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var tag *extract.TagError
		if _, err := extract.Compile[film](extract.Options{Rules: rules}); !errors.As(err, &tag) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzTag(f *testing.F) {
	for _, tag := range []string{"css=h1@own || ld=Movie.name ; required ; default='a;b'", "json=$.a[?@.b || @.c] ; in=x", "re=/(a;b)/1", "state=N$.a ; join=', '", "xpath=//a[.=\"x\"] ; re=/\\/(.)/", "magnet= ; min=1", "; trim"} {
		f.Add(tag)
	}
	type film struct {
		Text string
		N    int
		List []string
		Map  map[string]float64
		In   *struct{ A any }
	}
	doc := document(filmPage)
	f.Fuzz(func(t *testing.T, tag string) {
		for _, name := range []string{"Text", "N", "List", "Map", "In"} {
			rules := extract.Rules{name: {Tag: tag}}
			if name == "In" {
				rules[name] = extract.Rule{Tag: tag, Fields: extract.Rules{"A": {Tag: tag}}}
			}
			s, err := extract.Compile[film](extract.Options{Rules: rules, MaxItems: 100})
			if err != nil {
				var fault *extract.TagError
				if !errors.As(err, &fault) || fault.Column < 0 || fault.Column > len(tag)+2 || fault.Field == "" {
					t.Fatalf("%q: %#v", tag, err)
				}
				continue
			}
			_, report, _ := s.Extract(t.Context(), doc)
			if len(report.Fields) == 0 {
				t.Fatalf("%q: no report", tag)
			}
		}
	})
}

func ExampleParseRules() {
	type Film struct{ Title, Country string }
	rules, err := extract.ParseRules([]byte(`{
		"Title":   {"from": ["css=h1@own", "og=title"], "required": true},
		"Country": "css=.country ; default=unknown",
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	films, err := extract.Compile[Film](extract.Options{Rules: rules})
	if err != nil {
		fmt.Println(err)
		return
	}
	var film Film
	_, err = films.ExtractInto(context.Background(), extract.NewDocument([]byte(`<h1>Alien</h1>`), extract.DocumentOptions{}), &film)
	fmt.Println(film, err)
	// Output: {Alien unknown} <nil>
}
