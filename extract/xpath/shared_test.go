package xpath_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"

	"github.com/seine-go/seine/extract/xpath"
)

// sharedExprs are of all kinds: sets of nodes with and without predicates, comparisons, functions that keep what they join.
var sharedExprs = []string{
	"//li", "//li[b = 'x']", "//li[i = //h1]", "//li[last()]", "//li[position() > 2]/b", "//b/ancestor::ul/@id", "(//li)[last()]", "//li | //h1",
	"//li/b = 'z'", "//li[2] = //li[3]", "(//li)[last()] = 'q7x1'", "count(//li) > 9", "//li[2] and //h1", "//li/i + 1",
	"count(//li)", "string(//li[3])", "string-join(//li/i, ',')", "concat(//h1, //li[1])", "normalize-space(//li[2])", "sum(//i)", "-count(//b)",
}

// One expression gives many goroutines, each with a page of its own, what it gives each alone.
func TestExprIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	const users = 8
	var pages [users]*html.Node
	for g := range pages {
		var b strings.Builder
		for i := range 4 + g*5 {
			fmt.Fprintf(&b, "<li>q%d<b>x</b><i>%d</i></li>", i*(g%2), g)
		}
		pages[g] = parse(t, "<h1>3</h1><ul id=u>"+b.String()+"</ul>")
	}
	for _, text := range sharedExprs {
		shared := xpath.MustCompile(text)
		var wait sync.WaitGroup
		for _, page := range pages {
			want, err := xpath.MustCompile(text).Evaluate(page)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			wait.Go(func() {
				for range 25 {
					got, err := shared.Evaluate(page)
					if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
						t.Errorf("%s: %v, %v, want %v", text, got, err, want)
						return
					}
				}
			})
		}
		wait.Wait()
	}
}

// What has been evaluated at one page counts for nothing at the next.
func TestExprKeepsNothing(t *testing.T) {
	t.Parallel()
	pages := []*html.Node{parse(t, "<ul><li>a<li>b"), parse(t, "<p>no list"), parse(t, "<ul><li>b<li>a<li>c")}
	for _, text := range []string{"(//li)[last()] = 'b'", "//li = 'b'", "(//li)[2] = 'a'", "count((//li)[last()])", "//li[last()] = 'c' or //p", "//ul//li//text() = 'c'"} {
		e := xpath.MustCompile(text)
		for range 2 {
			for i, page := range pages {
				want, _ := xpath.MustCompile(text).Evaluate(page)
				if got, err := e.Evaluate(page); err != nil || got != want {
					t.Errorf("%s on page %d: %v, %v, want %v", text, i, got, err, want)
				}
			}
		}
	}
}

// An evaluation that fails leaves the expression as it was.
func TestExprOutlivesItsErrors(t *testing.T) {
	t.Parallel()
	e := xpath.MustCompile("//li[matches(., //p)]")
	bad, good := parse(t, "<p>[</p><ul><li>a"), parse(t, "<p>x</p>")
	for range 3 {
		if _, err := e.Select(bad); !errors.As(err, new(*xpath.Error)) {
			t.Errorf("%v", err)
		}
		if nodes, err := e.Select(good); err != nil || len(nodes) != 0 {
			t.Errorf("%v, %v", nodes, err)
		}
	}
}

// What would take too many steps ends with an error of its own; what takes as many as it may does not.
func TestSteps(t *testing.T) {
	t.Parallel()
	list := parse(t, strings.Repeat("<li>x", 2000))
	deep := parse(t, strings.Repeat("<div>", 300)+strings.Repeat("a text<br>", 2000))
	for _, c := range []struct {
		page *html.Node
		expr string
	}{
		{list, "//li[last()]"},
		{list, "//li[count(preceding::li) > 5]"},
		{list, "//li/following-sibling::li"},
		{deep, "//div[contains(., 'z')]"},
		{deep, "//div//div//div//br"},
	} {
		e := xpath.MustCompile(c.expr)
		steps := 100_000
		if _, err := e.EvaluateWithin(c.page, &steps); !errors.Is(err, xpath.ErrSteps) || !errors.As(err, new(*xpath.Error)) {
			t.Errorf("%s: %v", c.expr, err)
		}
	}
	e := xpath.MustCompile("//li")
	left := xpath.MaxSteps
	if _, err := e.EvaluateWithin(list, &left); err != nil {
		t.Fatal(err)
	}
	needed := xpath.MaxSteps - left
	for _, c := range []struct {
		steps int
		want  error
	}{{needed, nil}, {needed - 1, xpath.ErrSteps}} {
		if _, err := e.EvaluateWithin(list, &c.steps); !errors.Is(err, c.want) {
			t.Errorf("%d of %d steps: %v", c.steps, needed, err)
		}
	}
}
