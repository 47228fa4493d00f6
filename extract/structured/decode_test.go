package structured_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/seine-go/seine/extract/structured"
)

type person struct {
	_     struct{}  `schema:"Person"`
	Name  string    `schema:"name"`
	Knows []*person `schema:"knows"`
	Best  *person   `schema:"best"`
}

// everybody is a graph of people of whom each knows all.
func everybody(n int, more string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"@type":"Person","@id":"#p%d","name":"P%[1]d"%s,"knows":[`, i, more)
		for k := range n {
			fmt.Fprintf(&b, `{"@id":"#p%d"},`, k)
		}
		b.WriteString(`]},`)
	}
	return ld(`{"@graph":[` + b.String() + `]}`)
}

// An object that leads back to itself is left out where it does.
func TestDecodeLeavesOutWhatLeadsBack(t *testing.T) {
	t.Parallel()
	type webPage struct {
		Name string  `schema:"name"`
		Main *person `schema:"mainEntity"`
	}
	type article struct {
		Headline string `schema:"headline"`
		Page     *struct {
			Name string   `schema:"name"`
			Main *webPage `schema:"mainEntity"` // the article, as another type
		} `schema:"isPartOf"`
	}
	d := parse(t, ld(`{"@graph":[{"@type":"Article","@id":"#a","headline":"H","name":"A","isPartOf":{"@id":"#w"}},
		{"@type":"WebPage","@id":"#w","name":"W","mainEntity":{"@id":"#a"}}]}`), structured.Options{})
	var a article
	if err := d.Decode(&a); err != nil || a.Headline != "H" || a.Page.Name != "W" || a.Page.Main.Name != "A" || a.Page.Main.Main != nil {
		t.Errorf("%+v, %v", a, err)
	}
	d = parse(t, everybody(3, `,"best":{"@id":"#p0"}`), structured.Options{})
	var p person
	if err := d.Decode(&p); err != nil || p.Name != "P0" || p.Best != nil || len(p.Knows) != 2 || p.Knows[0].Name != "P1" || p.Knows[0].Best != nil || len(p.Knows[0].Knows) != 1 || len(p.Knows[0].Knows[0].Knows) != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	d = parse(t, ld(`[{"@type":"Person","@id":"#a","name":"A","best":[null,{"@id":"#a"},{"name":"B"}]}]`), structured.Options{})
	p = person{}
	if err := d.Decode(&p); err != nil || p.Best == nil || p.Best.Name != "B" {
		t.Errorf("%+v, %v", p, err)
	}
}

// However often objects hold each other, so much is decoded and no more.
func TestDecodeIsBounded(t *testing.T) {
	d := parse(t, everybody(12, ""), structured.Options{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var p person
	err := d.Decode(&p)
	runtime.ReadMemStats(&after)
	var limit *structured.LimitError
	if !errors.As(err, &limit) || limit.Limit != 1<<18 || p.Name != "P0" || len(p.Knows) == 0 {
		t.Errorf("%v, %+v", err, p)
	}
	if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 400 {
		t.Errorf("%d MiB", mib)
	}
	list := func(n int) (err error) { // two values of the object, the list and its members
		var v struct {
			List []string `schema:"list"`
			Name string   `schema:"name"`
		}
		err = structured.DecodeObject(map[string]any{"name": "x", "list": make([]any, n)}, &v)
		if n < 1<<18-1 && v.Name != "x" {
			t.Errorf("%d: the name is lost", n)
		}
		return err
	}
	if err := list(1<<18 - 2); err != nil {
		t.Errorf("at the bound: %v", err)
	}
	if err := list(1<<18 - 1); !errors.As(err, &limit) {
		t.Errorf("beyond the bound: %v", err)
	}
}

// Of thousands of errors the first are told, and how many more there are.
func TestDecodeErrorsAreBounded(t *testing.T) {
	t.Parallel()
	var v struct {
		Numbers []int `schema:"numbers"`
	}
	numbers := make([]any, 100)
	for i := range numbers {
		numbers[i] = "x"
	}
	count := func(err error) int { return len(err.(interface{ Unwrap() []error }).Unwrap()) }
	if err := structured.DecodeObject(map[string]any{"numbers": numbers}, &v); count(err) != 100 {
		t.Errorf("%d errors", count(err))
	}
	err := structured.DecodeObject(map[string]any{"numbers": append(numbers, "x")}, &v)
	if count(err) != 101 || !strings.Contains(err.Error(), ": 1 more") {
		t.Errorf("%d errors, %v", count(err), err)
	}
}
