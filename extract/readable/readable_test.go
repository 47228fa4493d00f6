package readable_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/seine-go/seine/extract/readable"
)

func parse(t testing.TB, page string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

const article = `<html><head><title>Site – The hidden road</title></head><body>
<nav><ul><li><a href=/1>Home, where everything begins and nothing ends</a><li><a href=/2>Films</a></ul></nav>
<div class=side><p><a href=/x>Another text, which is a link from one end to the other, and long</a></p></div>
<div id=content><h1>The hidden road</h1>
<p>Somebody finds a <em>letter</em> in an <strong>old  house</strong>, and takes the <a href="/train?a=(1)">train</a> to where it was written.</p>
<p>The road is hidden, but 1*2 is not [2], and that is all that anybody knows of it.<br>Next line.</p>
<h2>Cast</h2><ul><li>One</li><li>Two<ol><li>a<li>b</ol></li></ul>
<blockquote><p>A quotation that is long enough, with a comma, to count.</p></blockquote>
<pre>x := "a"
y</pre><p>Call <code>f(` + "`x`" + `)</code>. <img src=p.jpg alt="A [poster]"></p>
<table><tr><th>Year<th>Film</tr><tr><td>1954<td>Train</tr></table>
<script>alert("no")</script><p hidden>hidden text, which nobody sees, and nobody should</p></div>
<footer><p>All rights reserved, by somebody, somewhere, for ever and a day, and more.</p></footer></body></html>`

func TestRead(t *testing.T) {
	t.Parallel()
	a, err := readable.Read(parse(t, article), readable.Options{URL: "https://h/d/"})
	if err != nil {
		t.Fatal(err)
	}
	want := `# The hidden road

Somebody finds a *letter* in an **old house**, and takes the [train](https://h/train?a=%281%29) to where it was written.

The road is hidden, but 1\*2 is not \[2\], and that is all that anybody knows of it.\
Next line.

## Cast

- One
- Two

  1. a
  2. b

> A quotation that is long enough, with a comma, to count.

` + "```" + `
x := "a"
y
` + "```" + `

Call ` + "``f(`x`)``" + `. ![A \[poster\]](https://h/d/p.jpg)

| Year | Film |
| --- | --- |
| 1954 | Train |`
	if a.Title != "The hidden road" || a.Markdown != want || a.Cut {
		t.Errorf("%q\n%s", a.Title, a.Markdown)
	}
	if strings.ContainsAny(a.Text, "*#`\\") && !strings.Contains(a.Text, "1*2") || strings.Contains(a.Text, "rights") || strings.Contains(a.Text, "alert") || strings.Contains(a.Text, "nobody sees") || !strings.Contains(a.Text, "Year\tFilm\n1954\tTrain") {
		t.Errorf("%s", a.Text)
	}
}

func TestWhatHasNoText(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"", "<p>short", "<nav><p>A long text, in a navigation, that is none of the main text.</p></nav>", strings.Repeat("<p><a href=/>a link, and long enough to be a paragraph</a></p>", 20)} {
		if a, err := readable.Read(parse(t, page), readable.Options{}); !errors.Is(err, readable.ErrNoText) {
			t.Errorf("%q: %+v, %v", page, a, err)
		}
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	page := parse(t, "<article>"+strings.Repeat("<p>A paragraph, long enough to count as a text – of its own.</p>", 1000)+"</article>")
	a, err := readable.Read(page, readable.Options{MaxBytes: 100})
	if err != nil || !a.Cut || len(a.Text) > 100 || len(a.Markdown) > 100 || !utf8.ValidString(a.Text) {
		t.Errorf("%d, %d, %v", len(a.Text), len(a.Markdown), err)
	}
	if a, err = readable.Read(page, readable.Options{}); err != nil || a.Cut || len(a.Text) < 50_000 {
		t.Errorf("%d, %v", len(a.Text), err)
	}
	if a, err = readable.Read(page, readable.Options{MaxBytes: len(a.Text)}); err != nil || a.Cut {
		t.Errorf("%t, %v", a.Cut, err)
	}
}

// Elements in each other cost no more than their size: what is allocated for a text in a hundred of them is not a multiple of what
// is for the same text in one.
func TestNestingIsCheap(t *testing.T) {
	const text = "A text, long enough to be a paragraph of its own."
	for _, open := range []string{"<b>", "<a href=/>", "<b><span hidden>x</span>", "<div>" + text, "<blockquote>" + text, "<ul><li>", "<table><tr><td>", "<code>", "<pre>"} {
		cost := func(depth int) uint64 {
			root := parse(t, "<article><p>"+text+strings.Repeat(open, depth)+strings.Repeat(text, 2000))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			a, err := readable.Read(root, readable.Options{})
			runtime.ReadMemStats(&after)
			if open == "<a href=/>" && !errors.Is(err, readable.ErrNoText) || open != "<a href=/>" && (err != nil || !strings.Contains(a.Text, text)) {
				t.Errorf("%s: %v", open, err)
			}
			return after.TotalAlloc - before.TotalAlloc
		}
		one, many := cost(1), cost(100)
		if many > 6*one+1<<20 {
			t.Errorf("%s: %d bytes in one, %d in a hundred", open, one, many)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(article)
	f.Add("<ul><li><blockquote><pre>`\n```</pre><li><table><tr><td><ul><li>long enough to be a paragraph, that is</ul></table></ul>")
	f.Fuzz(func(t *testing.T, page string) {
		root, err := html.Parse(strings.NewReader(page))
		if err != nil {
			return
		}
		a, err := readable.Read(root, readable.Options{URL: "https://h/", MaxBytes: 10_000})
		if err == nil && (len(a.Text) > 10_000 || len(a.Markdown) > 10_000 || a.Text == "") {
			t.Fatalf("%d, %d", len(a.Text), len(a.Markdown))
		}
	})
}

func ExampleRead() {
	root, _ := html.Parse(strings.NewReader(`<nav><a href="/">Home</a></nav><article><h1>Alien</h1>
		<p>The crew of a <b>freighter</b> follows a call, and finds what it should not have found.</p></article>`))
	article, err := readable.Read(root, readable.Options{URL: "https://films.example/7"})
	fmt.Println(article.Title, err)
	fmt.Println(article.Markdown)
	// Output:
	// Alien <nil>
	// # Alien
	//
	// The crew of a **freighter** follows a call, and finds what it should not have found.
}
