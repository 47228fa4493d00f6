package extract

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"testing"

	"github.com/seine-go/seine/internal/conformance"
)

// hintCase is a case of the html-hints suite. What it expects is kept by name: a key that is absent is not compared, a
// null is.
type hintCase struct {
	URL      string
	Headers  [][2]string
	HTML     string
	Agent    string
	Encoding string
	Expected map[string]any
	AnyOf    []map[string]any `json:"any_of"`
}

func TestConformanceHTMLHints(t *testing.T) {
	cases := conformance.Load[hintCase](t, "sitemaps-feeds/html-hints.json")
	conformance.Show(t, "first-crawl.4", "html-hints", cases, func(c hintCase) error {
		header := http.Header{}
		for _, h := range c.Headers {
			header.Add(h[0], h[1])
		}
		hints, err := Scan([]byte(c.HTML), ScanOptions{URL: c.URL, Header: header, Agent: c.Agent, Encoding: c.Encoding, Want: WantAll})
		if err != nil {
			return err
		}
		wanted := c.AnyOf
		if len(wanted) == 0 {
			wanted = []map[string]any{c.Expected}
		}
		for _, want := range wanted {
			if err = compareHints(hints, want); err == nil {
				return nil
			}
		}
		return err
	})
}

func compareHints(h *Hints, want map[string]any) error {
	if len(want) == 0 {
		return fmt.Errorf("nothing is expected")
	}
	for key, value := range want {
		got, ok := hintOf(h, key)
		if !ok {
			return fmt.Errorf("unknown expectation %q", key)
		}
		if key == "robots" {
			sortAny(got)
			sortAny(value)
		}
		if isNothing(value) && isNothing(got) {
			continue
		}
		if !reflect.DeepEqual(got, value) {
			return fmt.Errorf("%s: got %v, want %v", key, got, value)
		}
	}
	return nil
}

func isNothing(v any) bool {
	list, isList := v.([]any)
	return v == nil || isList && len(list) == 0
}

func sortAny(v any) {
	if list, ok := v.([]any); ok {
		slices.SortFunc(list, func(a, b any) int { return slices.Compare([]string{fmt.Sprint(a)}, []string{fmt.Sprint(b)}) })
	}
}

// hintOf gives what the suite calls key, in the types of decoded JSON.
func hintOf(h *Hints, key string) (any, bool) {
	text := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	list := func(s []string) any {
		out := []any{}
		for _, v := range s {
			out = append(out, v)
		}
		return out
	}
	switch key {
	case "links", "nofollow":
		var urls []string
		for _, l := range h.Links {
			if key == "links" || l.NoFollow {
				urls = append(urls, l.URL)
			}
		}
		return list(urls), true
	case "magnets":
		return list(h.Magnets), true
	case "base":
		return text(h.Base), true
	case "canonical":
		return text(h.Canonical), true
	case "next":
		return text(h.Next), true
	case "refresh":
		if h.Refresh == nil {
			return nil, true
		}
		return []any{float64(h.Refresh.Seconds), h.Refresh.URL}, true
	case "robots":
		return list(h.Robots), true
	case "images":
		return list(h.Images), true
	case "feeds":
		return list(h.Feeds), true
	case "alternates":
		out := map[string]any{}
		for lang, url := range h.Alternates {
			out[lang] = url
		}
		if len(out) == 0 {
			return nil, true
		}
		return out, true
	}
	return nil, false
}
