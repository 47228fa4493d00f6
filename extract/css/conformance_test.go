package css_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/seine-go/seine/extract/css"
	"github.com/seine-go/seine/internal/conformance"
)

type suiteCase struct {
	Kind, Expr string
	Expect     struct {
		Nodes *int
		Error bool
	}
}

// The cases say how many elements a selector selects, not which: these are compared with the definitions in
// TestEqualsNaiveMatcher and with cascadia.
func TestConformance(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(conformance.Dir(t), "selectors", "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var shared struct{ HTML string }
	if err := json.Unmarshal(raw, &shared); err != nil {
		t.Fatal(err)
	}
	doc, err := html.Parse(strings.NewReader(shared.HTML))
	if err != nil {
		t.Fatal(err)
	}
	var cases []conformance.Case[suiteCase]
	for _, c := range conformance.Load[suiteCase](t, "selectors/cases.json") {
		if c.Data.Kind == "css" {
			cases = append(cases, c)
		}
	}
	passed, total := conformance.Run(t, "css", cases, func(c suiteCase) error {
		s, err := css.Compile(c.Expr)
		switch {
		case c.Expect.Error:
			if err == nil {
				return fmt.Errorf("no error")
			}
			return nil
		case err != nil:
			return err
		case c.Expect.Nodes == nil:
			return fmt.Errorf("nothing is expected")
		}
		all := s.MatchAll(doc)
		seen := map[*html.Node]bool{}
		for _, n := range all {
			seen[n] = true
		}
		if len(all) != *c.Expect.Nodes || len(seen) != len(all) {
			return fmt.Errorf("%d nodes, want %d", len(all), *c.Expect.Nodes)
		}
		return nil
	})
	if !t.Failed() {
		fmt.Printf("shown extraction.1: css %d/%d\n", passed, total)
	}
}
