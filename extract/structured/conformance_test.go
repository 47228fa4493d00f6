package structured_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/seine-go/seine/extract"
	"github.com/seine-go/seine/extract/jsonpath"
	"github.com/seine-go/seine/extract/structured"
	"github.com/seine-go/seine/internal/conformance"
)

type suiteCase struct {
	Kind, HTML, Base, Expected string
	Want                       []wanted
}

type wanted struct {
	Source, Path string
	Value        any
	As           string
}

func TestConformance(t *testing.T) {
	dir := filepath.Join(conformance.Dir(t), "structured-data")
	cases := conformance.Load[suiteCase](t, "structured-data/index.json")
	cases = append(cases, conformance.Load[suiteCase](t, "structured-data/own.json")...)
	passed, total := conformance.Run(t, "structured-data", cases, func(c suiteCase) error {
		if c.Want != nil {
			return checkOwn(c)
		}
		page, err := os.ReadFile(filepath.Join(dir, c.HTML))
		if err != nil {
			return err
		}
		want, err := os.ReadFile(filepath.Join(dir, c.Expected))
		if err != nil {
			return err
		}
		return check(c, page, want)
	})
	if !t.Failed() {
		fmt.Printf("shown extraction.1: structured-data %d/%d\n", passed, total)
	}
}

func read(page []byte, base string) (*structured.Data, error) {
	root, err := html.Parse(strings.NewReader(string(page)))
	if err != nil {
		return nil, err
	}
	return structured.Read(root, structured.Options{URL: base}), nil
}

func check(c suiteCase, page, raw []byte) error {
	d, err := read(page, c.Base)
	if err != nil {
		return err
	}
	var got, want any
	switch c.Kind {
	case "jsonld", "jsonld-invalid":
		got = d.JSONLD
	case "microdata":
		got = d.Microdata
	case "rdfa-expanded":
		got = d.RDFa
	case "opengraph":
		return checkOpenGraph(d, raw)
	default:
		return fmt.Errorf("a kind that nobody knows: %s", c.Kind)
	}
	text, err := json.Marshal(got)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &got); err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		return err
	}
	if c.Kind == "rdfa-expanded" {
		got, want = unordered(got), unordered(want)
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("got %s, errors %v", text, d.Errors)
	}
	return nil
}

// unordered brings the lists in v into an order of their own.
func unordered(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = unordered(v[k])
		}
	case []any:
		for i := range v {
			v[i] = unordered(v[i])
		}
		sort.Slice(v, func(i, j int) bool {
			a, _ := json.Marshal(v[i])
			b, _ := json.Marshal(v[j])
			return string(a) < string(b)
		})
	}
	return v
}

func checkOpenGraph(d *structured.Data, raw []byte) error {
	var want []struct{ Properties [][2]string }
	if err := json.Unmarshal(raw, &want); err != nil {
		return err
	}
	known := func(name string) bool {
		prefix, _, _ := strings.Cut(name, ":")
		return slices.Contains([]string{"og", "music", "video", "article", "book", "profile"}, prefix)
	}
	var got, expected [][2]string
	for _, p := range d.OpenGraph {
		if known(p.Name) {
			got = append(got, [2]string{p.Name, p.Content})
		}
	}
	for _, w := range want {
		for _, p := range w.Properties {
			if known(p[0]) {
				expected = append(expected, p)
			}
		}
	}
	if !reflect.DeepEqual(got, expected) {
		return fmt.Errorf("got %v", got)
	}
	return nil
}

func checkOwn(c suiteCase) error {
	d, err := read([]byte(c.HTML), c.Base)
	if err != nil {
		return err
	}
	for _, w := range c.Want {
		var got any
		switch w.Source {
		case "jsonld":
			v, _ := d.Find(w.Path)
			got = structured.Text(v)
		case "opengraph":
			list := d.Content(w.Path)
			got = list
			if _, several := w.Value.([]any); !several && len(list) == 1 {
				got = list[0]
			}
		case "state":
			p, err := jsonpath.Compile(w.Path)
			if err != nil {
				return err
			}
			for _, s := range extract.NewDocument([]byte(c.HTML), extract.DocumentOptions{}).States() {
				v, err := s.Value()
				if err != nil {
					return err
				}
				if found := p.Select(v); len(found) > 0 {
					got = found[0]
				}
			}
		}
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(w.Value)
		if string(a) != string(b) {
			return fmt.Errorf("%s %s: %s, want %s", w.Source, w.Path, a, b)
		}
	}
	return nil
}
