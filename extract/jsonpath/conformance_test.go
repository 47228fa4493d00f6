package jsonpath_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/seine-go/seine/extract/jsonpath"
	"github.com/seine-go/seine/internal/conformance"
)

type suiteCase struct {
	Selector        string
	Document        json.RawMessage
	Result          *[]json.RawMessage
	Results         [][]json.RawMessage
	InvalidSelector bool `json:"invalid_selector"`
}

func TestConformance(t *testing.T) {
	cases := conformance.Load[suiteCase](t, "jsonpath/cts.json")
	passed, total := conformance.Run(t, "jsonpath", cases, runCase)
	if !t.Failed() {
		fmt.Printf("shown extraction.1: jsonpath %d/%d\n", passed, total)
	}
}

func runCase(c suiteCase) error {
	p, err := jsonpath.Compile(c.Selector)
	if (err != nil) != c.InvalidSelector {
		return fmt.Errorf("compile: %v", err)
	}
	if err != nil {
		return nil
	}
	doc, err := jsonpath.Parse(c.Document)
	if err != nil {
		return err
	}
	got := p.Select(doc)
	if err := agrees(p, c.Document, got); err != nil {
		return err
	}
	want := c.Results
	if c.Result != nil {
		want = append(want, *c.Result)
	}
	for _, list := range want {
		if equal(got, list) {
			return nil
		}
	}
	return fmt.Errorf("got %v", got)
}

func equal(got []any, want []json.RawMessage) bool {
	if len(got) != len(want) {
		return false
	}
	for i, raw := range want {
		v, err := jsonpath.Parse(raw)
		if err != nil || !reflect.DeepEqual(got[i], v) {
			return false
		}
	}
	return true
}

// agrees says whether the lookup in bytes finds what was selected from the tree.
func agrees(p *jsonpath.Path, doc []byte, selected []any) error {
	raw, ok, err := p.Find(doc)
	if !p.Definite() {
		if err != jsonpath.ErrIndefinite {
			return fmt.Errorf("find: %v", err)
		}
		return nil
	}
	if err != nil || ok != (len(selected) == 1) {
		return fmt.Errorf("find: %s, %v, %v; selected %v", raw, ok, err, selected)
	}
	if ok {
		v, err := jsonpath.Parse(raw)
		if err != nil || !reflect.DeepEqual(v, selected[0]) {
			return fmt.Errorf("find: %s, not %v: %v", raw, selected[0], err)
		}
	}
	return nil
}
