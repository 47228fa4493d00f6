package extract_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/seine-go/seine/extract"
)

type acquaintance struct {
	Name  string          `extract:"ld=name"`
	Knows []*acquaintance `extract:"ld=knows"`
}

type acquaintances struct {
	Person acquaintance `extract:"ld=Person"`
}

// everybody is a page with people of whom each knows all.
func everybody(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"@type":"Person","@id":"#p%d","name":"P%[1]d","knows":[`, i)
		for k := range n {
			fmt.Fprintf(&b, `{"@id":"#p%d"},`, k)
		}
		b.WriteString(`]},`)
	}
	return jsonLD(`{"@graph":[` + b.String() + `]}`)
}

// A type that holds itself and data that leads in circles end with the steps, in bounded memory.
func TestCirclesEndWithTheSteps(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	v, report, err := extract.MustCompile[acquaintances](extract.Options{MaxSteps: 1 << 22}).Extract(t.Context(), document(everybody(14)))
	runtime.GC()
	runtime.ReadMemStats(&after)
	var over *extract.StepsError
	if !errors.As(err, &over) || v.Person.Name != "P0" || len(v.Person.Knows) == 0 || report.Cut == 0 {
		t.Errorf("%.300v", err)
	}
	if mib := int64(after.HeapAlloc-before.HeapAlloc) >> 20; mib > 100 {
		t.Errorf("%d MiB are kept", mib)
	}
	runtime.KeepAlive(v)
}

// To read the data of an element counts what lies in it.
func TestDataOfElementsCounts(t *testing.T) {
	t.Parallel()
	type part struct {
		Name string `extract:"ld=Movie.name"`
	}
	type parts struct {
		Parts []part `extract:"css=div"`
	}
	page := strings.Repeat("<div>", 400) + strings.Repeat("<br>", 5000)
	v, _, err := extract.MustCompile[parts](extract.Options{MaxSteps: 1 << 20}).Extract(t.Context(), document(page))
	if n := len(v.Parts); !errors.As(err, new(*extract.StepsError)) || n == 0 || n > 300 {
		t.Errorf("%d parts, %.100v", n, err)
	}
}

// Errors of what is nested too deep have the bound that all have.
func TestErrorsOfDepthAreBounded(t *testing.T) {
	type nest struct {
		Name  string  `extract:"css=b"`
		Inner []*nest `extract:"css=:self || css= ; all"` // the same place again and again
	}
	_, report, err := extract.MustCompile[nest](extract.Options{MaxSteps: 1 << 23}).Extract(t.Context(), document("<b>x</b><p>y"))
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || !errors.As(err, new(*extract.StepsError)) || len(joined.Unwrap()) > 10_001 || report.Cut == 0 {
		t.Errorf("%.300v", err)
	}
}

// An article and its page that name each other are ordinary: where one would be filled in itself there is nothing.
func TestWhatLeadsBackIsMissing(t *testing.T) {
	t.Parallel()
	type webPage struct {
		Name string `extract:"ld=name"`
		Main *struct {
			Headline string            `extract:"ld=headline"`
			Page     *webPageOfArticle `extract:"ld=isPartOf"`
		} `extract:"ld=mainEntity"`
	}
	v, err := extract.From[struct {
		Page  webPage                     `extract:"ld=WebPage"`
		Who   acquaintance                `extract:"ld=Person"`
		Names map[string]webPageOfArticle `extract:"ld=WebPage ; key=ld=name"`
	}](document(jsonLD(`{"@graph":[{"@type":"Article","@id":"#a","headline":"H","isPartOf":{"@id":"#w"}},
		{"@type":"WebPage","@id":"#w","name":"W","mainEntity":{"@id":"#a"}}]}`) + everybody(3)))
	if err != nil || v.Page.Main.Headline != "H" || v.Page.Main.Page.Main != nil || v.Page.Main.Page.Name != "W" {
		t.Errorf("%+v, %v", v.Page, err)
	}
	if len(v.Who.Knows) != 2 || v.Who.Knows[0].Name != "P1" || len(v.Who.Knows[0].Knows) != 1 || len(v.Names) != 1 {
		t.Errorf("%+v, %+v", v.Who, v.Names)
	}
}

type webPageOfArticle struct {
	Name string `extract:"ld=name"`
	Main *struct {
		Headline string            `extract:"ld=headline"`
		Page     *webPageOfArticle `extract:"ld=isPartOf"`
	} `extract:"ld=mainEntity"`
}
