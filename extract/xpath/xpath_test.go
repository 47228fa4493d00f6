package xpath_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/seine-go/seine/extract/xpath"
	"github.com/seine-go/seine/internal/conformance"
)

func parse(t testing.TB, s string) *html.Node {
	t.Helper()
	n, err := html.Parse(strings.NewReader(s))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func Example() {
	root, err := html.Parse(strings.NewReader(`<table><tr><td>Ran<td>1985<tr><td><a href="/t">Tampopo</a><td>1985</table>`))
	if err != nil {
		panic(err)
	}
	nodes, err := xpath.MustCompile("//td[1] | //a/@href").Select(root)
	for _, n := range nodes {
		fmt.Printf("%q ", n.Text())
	}
	fmt.Println(err)
	fmt.Println(xpath.MustCompile("count(//tr)").Text(root))
	_, err = xpath.MustCompile("substring('Ran', //td)").Evaluate(root)
	fmt.Println(err)
	// Output:
	// "Ran" "Tampopo" "/t" <nil>
	// 2 <nil>
	// seine: xpath "substring('Ran', //td)": substring() function first argument type must be number
}

type suiteCase struct {
	Kind, Expr string
	Expect     struct {
		Nodes *int
		Value *string
		Error bool
	}
}

func TestConformance(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(conformance.Dir(t), "selectors", "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var shared struct{ HTML string }
	if err := json.Unmarshal(raw, &shared); err != nil {
		t.Fatal(err)
	}
	doc := parse(t, shared.HTML)
	var cases []conformance.Case[suiteCase]
	for _, c := range conformance.Load[suiteCase](t, "selectors/cases.json") {
		if c.Data.Kind == "xpath" {
			cases = append(cases, c)
		}
	}
	passed, total := conformance.Run(t, "xpath", cases, func(c suiteCase) error { return runCase(c, doc) })
	if !t.Failed() {
		fmt.Printf("shown extraction.1: xpath %d/%d\n", passed, total)
	}
}

func runCase(c suiteCase, doc *html.Node) error {
	e, err := xpath.Compile(c.Expr)
	var value any
	if err == nil {
		value, err = e.Evaluate(doc)
	}
	if c.Expect.Error {
		if !errors.As(err, new(*xpath.Error)) {
			return fmt.Errorf("error %v", err)
		}
		return nil
	}
	if err != nil {
		return err
	}
	if c.Expect.Value != nil {
		if got, err := e.Text(doc); err != nil || got != *c.Expect.Value {
			return fmt.Errorf("%q, %v, want %q", got, err, *c.Expect.Value)
		}
	}
	if c.Expect.Nodes != nil {
		if nodes, ok := value.([]xpath.Node); !ok || len(nodes) != *c.Expect.Nodes {
			return fmt.Errorf("%v, want %d nodes", value, *c.Expect.Nodes)
		}
	}
	return nil
}

func TestSelect(t *testing.T) {
	t.Parallel()
	doc := parse(t, `<!DOCTYPE html><div id=a><p id=p1 class=x>one<b>two</b></p><!--c--><p id=p2>three</p></div><div id=b><p id=p3 lang=en>four</p><svg><a xlink:href="#"/></svg></div>`)
	inner, err := xpath.MustCompile("//div[@id='b']").Select(doc)
	if err != nil || len(inner) != 1 {
		t.Fatal(inner, err)
	}
	for _, c := range []struct {
		from *html.Node
		expr string
		want string
	}{
		{doc, "//p/@id", "p1 p2 p3"},
		{doc, "//p[2]/@id | //p[1]/@id", "p1 p2 p3"},
		{doc, "//p/ancestor::div/@id", "a b"}, // each once
		{doc, "//b/ancestor::*/@id", "a p1"},  // in document order
		{doc, "/html/body/div[2]/p", "four"},
		{doc, "//comment()", "c"},
		{doc, "//@xlink:href", "#"},
		{doc, "//p[@lang]", "four"},
		{doc, "/node()", "onetwothreefour"}, // no doctype
		{inner[0].Node, "p/@id", "p3"},
		{inner[0].Node, "//p/@id", "p1 p2 p3"}, // absolute from anywhere
		{inner[0].Node, ".//p/@id", "p3"},
		{inner[0].Node, "../div[1]/p[1]/@class", "x"},
	} {
		nodes, err := xpath.MustCompile(c.expr).Select(c.from)
		var got []string
		for _, n := range nodes {
			got = append(got, n.Text())
		}
		if strings.Join(got, " ") != c.want || err != nil {
			t.Errorf("%s: %q, %v", c.expr, got, err)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	doc := parse(t, "<p>x</p>")
	for _, s := range []string{"", "//p[", "//p[]", "$x", "nope()", "//p[nope()]", strings.Repeat("(", 300) + "1" + strings.Repeat(")", 300), strings.Repeat("-", 300) + "1", strings.Repeat("a", xpath.MaxExpr+1)} {
		if _, err := xpath.Compile(s); !errors.As(err, new(*xpath.Error)) {
			t.Errorf("%.30q: %v", s, err)
		}
	}
	for _, s := range []string{"1 + 1", "string(//p)", "//p[matches(., '[')]", "sum('x')"} {
		e, err := xpath.Compile(s)
		if err == nil {
			_, err = e.Select(doc)
		}
		if !errors.As(err, new(*xpath.Error)) {
			t.Errorf("%s: %v", s, err)
		}
	}
}

// FuzzExpr holds that no expression panics.
func FuzzExpr(f *testing.F) {
	for _, s := range []string{"//p[1]", "string(//p/@id)", "count(//p) > 1", "//p[matches(.,'x')]", "//a/ancestor::div[1]", "translate('a','b','c')", "-1", "substring('x', -1 div 0)"} {
		f.Add(s)
	}
	doc := parse(f, `<div id=a><p id=p1 class=x>one<b>two</b></p><p>3</p></div>`)
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 200 {
			return
		}
		e, err := xpath.Compile(s)
		if err != nil {
			return
		}
		if nodes, err := e.Select(doc); err == nil {
			seen := map[xpath.Node]bool{}
			for _, n := range nodes {
				if seen[n] {
					t.Fatalf("%q selects a node twice", s)
				}
				seen[n] = true
			}
		}
		e.Text(doc)
	})
}

// What fails leaves no value.
func TestNoValueBesideAnError(t *testing.T) {
	t.Parallel()
	root := parse(t, "<h1>a</h1><a>b</a>")
	failed := 0
	for _, expr := range []string{"//*[sum('a')]", "//a[sum(1)]", "//*[matches(., '(')]", "//*[round('x')]", "//*[replace(., '(', '')]", "sum(//h1)"} {
		e, err := xpath.Compile(expr)
		if err != nil {
			continue
		}
		if value, err := e.Evaluate(root); err != nil {
			if failed++; value != nil {
				t.Errorf("%s: %T beside %v", expr, value, err)
			}
		}
	}
	if failed == 0 {
		t.Error("nothing fails")
	}
}
