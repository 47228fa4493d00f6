package css

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/seine-go/seine/internal/growthtest"
	"github.com/seine-go/seine/internal/htmltree"
)

// The naive matcher follows the definitions: it tries every element for every part, and remembers nothing.

func naiveMatch(c *chain, i int, n *html.Node) bool {
	if !(&matcher{}).passes(c.parts[i].tests, n) {
		return false
	}
	if i == 0 {
		return true
	}
	for _, e := range naiveLeft(c.parts[i].before, n) {
		if naiveMatch(c, i-1, e) {
			return true
		}
	}
	return false
}

func naiveLeft(b combinator, n *html.Node) (list []*html.Node) {
	for s := previous(n); s != nil && (b == sibling || b == adjacent); s = previous(s) {
		if list = append(list, s); b == adjacent {
			break
		}
	}
	for p := parent(n); p != nil && (b == child || b == descendant); p = parent(p) {
		if list = append(list, p); b == child {
			break
		}
	}
	return list
}

// naiveHas tries from the anchor on to the right.
func naiveHas(c *chain, i int, anchor *html.Node) bool {
	if i == len(c.parts) {
		return true
	}
	for _, e := range naiveRight(c.parts[i].before, anchor) {
		if (&matcher{}).passes(c.parts[i].tests, e) && naiveHas(c, i+1, e) {
			return true
		}
	}
	return false
}

func naiveRight(b combinator, n *html.Node) (list []*html.Node) {
	for s := following(n); s != nil && (b == sibling || b == adjacent); s = following(s) {
		if list = append(list, s); b == adjacent {
			break
		}
	}
	for e := htmltree.Next(n, n); e != nil && (b == child || b == descendant); e = htmltree.Next(e, n) {
		if e.Type == html.ElementNode && (b == descendant || e.Parent == n) {
			list = append(list, e)
		}
	}
	return list
}

// randomPage has elements in each other, and some with more children than are looked at one by one.
func randomPage(r *rand.Rand) *html.Node {
	var b strings.Builder
	var add func(depth int)
	add = func(depth int) {
		children := r.IntN(5)
		if r.IntN(6) == 0 {
			children = few + r.IntN(few)
		}
		for range children {
			name := string("abiu"[min(r.IntN(12), 3)])
			fmt.Fprintf(&b, "<x-%s class=c%d>t%d", name, r.IntN(20), r.IntN(4))
			if depth > 0 && r.IntN(3) == 0 {
				add(depth - 1)
			}
			fmt.Fprintf(&b, "</x-%s>", name)
		}
	}
	add(4)
	root, err := html.Parse(strings.NewReader(b.String()))
	if err != nil {
		panic(err)
	}
	return root
}

func randomChain(r *rand.Rand, relative bool) string {
	text := ""
	for i := range 1 + r.IntN(3) {
		if i > 0 || relative {
			text += []string{" ", " > ", " + ", " ~ "}[r.IntN(4)]
		}
		text += []string{"x-a", "x-b", "x-i", "x-u", ".c1", "x-u.c2", ":not(x-u)", "x-b:first-child", ":nth-child(3n of x-u)"}[r.IntN(9)]
	}
	return text
}

// Selectors and relative selectors select what the definitions say, on pages with few siblings and with many.
func TestEqualsNaiveMatcher(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 15 {
		page := randomPage(r)
		plain, relative := randomChain(r, false), randomChain(r, true)
		p := parser{s: plain}
		list, err := p.selectors(0)
		q := parser{s: relative + ")"}
		inner, err2 := q.list(')', true)
		if err != nil || err2 != nil {
			t.Fatalf("%s: %v, %s: %v", plain, err, relative, err2)
		}
		m := matcher{}
		for n := page; n != nil; n = htmltree.Next(n, page) {
			if n.Type != html.ElementNode {
				continue
			}
			if got, want := m.any(list, n), naiveMatch(list[0], len(list[0].parts)-1, n); got != want {
				t.Fatalf("%s: %t at %s", plain, got, n.Data)
			}
			if got, want := m.has(inner, n), naiveHas(inner[0], 0, n); got != want {
				t.Fatalf(":has(%s): %t at %s", relative, got, n.Data)
			}
		}
	}
}

// The elements, among many siblings.
func TestHasAmongManySiblings(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("<u></u>", 40)
	for _, c := range []struct{ page, selector, want string }{
		{"<div><i id=i1></i><a></a>" + many + "<i id=i2></i>" + many + "<b></b></div>", "i:has(~ a ~ b)", "i1"},
		{"<div><i id=i1></i>" + many + "<i id=i2></i><a></a>" + many + many + "<b></b></div>", "i:has(+ a ~ b)", "i2"},
		{"<div><i id=i1></i>" + many + "<i id=i2></i><a></a>" + many + many + "<b></b></div>", "i:has(~ a + u ~ b), u:has(+ b) + b", "i1 i2 "},
	} {
		root, err := html.Parse(strings.NewReader(c.page))
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, n := range MustCompile(c.selector).MatchAll(root) {
			id, _ := attr(n, "id", "id", false)
			ids = append(ids, id)
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.selector, got, c.want)
		}
	}
}

// Each test of an element may look at much of the page; all of them together look at it a few times.
func TestSelectorsAreLinear(t *testing.T) {
	t.Parallel()
	flat := func(size int) string { return "<ul>" + strings.Repeat("<li>x", size/16) + "</ul>" }
	deep := func(size int) string {
		return strings.Repeat("<div>", min(400, size/64)) + strings.Repeat("text<i>a</i>", size/32)
	}
	fields := func(size int) string { return "<fieldset disabled>" + strings.Repeat("<input>", size/16) }
	for _, c := range []struct {
		selector string
		page     func(int) string
	}{
		{"li:has(~ .x)", flat},
		{"li:has(~ li .x)", flat},
		{"li:has(+ li ~ .x)", flat},
		{"li:not(:has(~ li))", flat},
		{"li ~ li.x ~ li", flat},
		{"li:nth-last-of-type(3)", flat},
		{"div:contains(zzz)", deep},
		{"div:has(.x)", deep},
		{"div:has(u > .x):has(.y)", deep},
		{"i:is(div:has(.x) i)", deep},
		{"input:disabled", fields},
	} {
		s := MustCompile(c.selector)
		roots := map[int]*html.Node{}
		growthtest.Linear(t, c.selector, func(size int) string {
			page := c.page(size)
			roots[len(page)], _ = html.Parse(strings.NewReader(page))
			return page
		}, func(page string) { s.MatchAll(roots[len(page)]) })
	}
}

// Texts of elements in each other are found whether few or many nodes are looked at.
func TestContainsInLargePages(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, fewNodes * 2} {
		filler := "<section>" + strings.Repeat("<p>some<b>thing</b>", n) + "</section>"
		root, err := html.Parse(strings.NewReader(filler + "<div id=d><i>Al</i>ien<em></em></div><div>A lien</div>" + filler))
		if err != nil {
			t.Fatal(err)
		}
		for selector, want := range map[string]int{"div:contains(alien)": 1, "i:contains(alien)": 0, "em:contains(a)": 0, "body:contains(ALIENa)": 1, "section:contains(gsome)": min(n-1, 1) * 2, "b:contains(thing)": 2 * n, "p:contains('')": 2 * n} {
			if got := len(MustCompile("p:contains(nothing), " + selector).MatchAll(root)); got != want {
				t.Errorf("%s among %d: %d, want %d", selector, n, got, want)
			}
		}
	}
}
