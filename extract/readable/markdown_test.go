package readable_test

import (
	"strings"
	"testing"

	"github.com/seine-go/seine/extract/readable"
)

// What a page has of Markdown's signs is text in it, and what it has of elements is Markdown, however they stand in each other.
func TestMarkdownOfUglyPages(t *testing.T) {
	t.Parallel()
	const text = "This is a long paragraph, with commas, and enough text to be the main text of the page, really."
	for _, tt := range []struct{ page, want string }{
		{`<p>a<br># x</p>`, "a\\\n\\# x"},
		{`<p>a<br>- x<br>+ y<br>=== z</p>`, "a\\\n\\- x\\\n\\+ y\\\n\\=== z"},
		{`<p>a<br>1. x<br>2) y</p>`, "a\\\n1\\. x\\\n2\\) y"},
		{`<p><span>12</span>. x <span>12</span>. y</p>`, "12\\. x 12. y"},
		{`<p>&amp;lt;b&amp;gt; &amp;copy; &amp;#60; AT&amp;T a&amp;b;</p>`, "\\&lt;b\\&gt; \\&copy; \\&#60; AT&T a\\&b;"},
		{`<p>~~gone~~</p>`, "\\~\\~gone\\~\\~"},
		{`<p>wow!<a href=/x>pic</a> ! <a href=/x>y</a></p>`, "wow\\![pic](https://h/x) ! [y](https://h/x)"},
		{`<h2>T<br>S <code>a|b</code> #</h2>`, "## T S `a|b` \\#"},
		{`<h2><div>T</div><p>S</p></h2>`, "## T S"},
		{`<pre>a<br>b</pre>`, "```\na\nb\n```"},
		{`<table><tr><td>a<table><tr><td>i<td>j</table><td>b</table>`, "| a i j | b |\n| --- | --- |"},
		{`<table><tr><td><code>x|y</code><td>z|<b>c|d</b></table>`, "| `x\\|y` | z\\|**c\\|d** |\n| --- | --- |"},
		{`<table><tr><td>a<tr><td>b<td>c<td>d</table>`, "| a | | |\n| --- | --- | --- |\n| b | c | d |"},
		{`<table><caption>A <b>cap</b></caption><tr><td>a</table>`, "A **cap**\n\n| a |\n| --- |"},
		{`<table><tr><td>a<br>b<ul><li>c<li>d</ul><td><pre>e
f</pre></table>`, "| a b c d | e f |\n| --- | --- |"},
		{`<p style="DISPLAY : NONE">secret</p><p style="Visibility: hidden">secret</p>`, ""},
		{`<a href=/card><div>Card <b>title</b></div><p>More</p></a>`, "[Card **title** More](https://h/card)"},
		{`<a href=/a_b><div>` + text + `</div><div>` + text + `</div><div>` + text + `</div><div>` + text + `</div></a>`, "§\n\n§\n\n§\n\n§\n\n[https://h/a\\_b](https://h/a_b)"},
		{
			`<p><img data-src=/i.jpg src="data:image/gif;base64,x" alt="p|c"><img src=blank.gif data-original=r.jpg><img srcset="s.jpg 1x, t.jpg 2x"></p>`,
			"![p\\|c](https://h/i.jpg)![](https://h/d/r.jpg)![](https://h/d/s.jpg)",
		},
		{`<p><a href="/a|b">x</a></p>`, "[x](https://h/a%7Cb)"},
		{`<p><b>foo:</b>bar <b>foo:</b> bar a<b>“x”</b> y<i>z</i>z <b>(q)</b></p>`, "foo:bar **foo:** bar a“x” y*z*z **(q)**"},
		{`<p>C# is a#b #</p>`, "C# is a#b \\#"},
	} {
		a, err := readable.Read(parse(t, "<article><p>"+text+"</p>"+tt.page+"<p>"+text+"</p></article>"), readable.Options{URL: "https://h/d/"})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.ReplaceAll(a.Markdown, text, "§")
		got = strings.Trim(strings.TrimSuffix(strings.TrimPrefix(got, "§"), "§"), "\n")
		if got != tt.want {
			t.Errorf("%s\n%q, want\n%q", tt.page, got, tt.want)
		}
		if strings.Contains(a.Text, "secret") {
			t.Errorf("%s: %q", tt.page, a.Text)
		}
	}
}
