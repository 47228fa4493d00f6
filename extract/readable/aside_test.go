package readable_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seine-go/seine/extract/readable"
)

const (
	paragraph = "<p>This is a paragraph of the article, which is long enough, with commas, to be taken as text by anyone.</p>"
	remark    = "<div class=comment><p>I think this film is great, really great, and you should see it, all of you.</p></div>"
	cookies   = "<p>We use cookies, and other things, to make this site better, and to show ads, and more. Please accept, or refuse.</p>"
	login     = "<p>You must log in, with a name, and with a password, to go on from here.</p><input name=u><button>Go</button>"
)

// What surrounds an article is not it, however much it is, and what holds it is not beside it.
func TestWhatTheMainTextIs(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		page      string
		has, lack []string
	}{
		"a form holds the page":           {"<body><form id=aspnetForm><div class=menu><a href=1>x</a></div><div class=main>" + paragraph + paragraph + "</div><select><option>a</select></form>", []string{"paragraph of"}, []string{"x"}},
		"a form, and its text in itself":  {"<body><form>" + paragraph + paragraph + "</form>", []string{"paragraph of"}, nil},
		"a form in the text":              {"<article>" + paragraph + paragraph + "<form>" + login + "</form>" + paragraph + "</article>", []string{"paragraph of"}, []string{"log in"}},
		"two line breaks":                 {"<body><div id=nav><a href=/>Home</a></div><div class=content>First paragraph, with words, and more words, of the article.<br><br>Second paragraph, with words, of the article.<br/> <br/>Third one, also long, also with commas.</div><div class=foot>Copyright, by us</div>", []string{"First", "Second", "Third"}, []string{"Home", "Copyright"}},
		"two line breaks among others":    {"<body><table><tr><td><a href=1>a</a><td><b>Bold, as a beginning</b> of the first paragraph, with words.<br><br>Second paragraph, with words, of the article.<tr><td>Copyright, by us</table>", []string{"Bold", "Second"}, []string{"Copyright"}},
		"comments":                        {"<h1>T</h1><article>" + paragraph + "</article><div id=comments>" + strings.Repeat(remark, 50) + "</div>", []string{"paragraph of"}, []string{"great"}},
		"comments in the article":         {"<article>" + paragraph + paragraph + "<section class='x Comments-list'>" + strings.Repeat(remark, 50) + "</section></article>", []string{"paragraph of"}, []string{"great"}},
		"cookies":                         {"<div class=cookie-banner>" + cookies + cookies + "</div><article><h1>News</h1><p>The film, made in 1979, is good.</p></article>", []string{"1979"}, []string{"cookies"}},
		"nothing but comments":            {"<body class=comments-open><nav><a href=/>Home</a></nav><div id=comments>" + strings.Repeat(remark, 3) + "</div>", []string{"great"}, []string{"Home"}},
		"names that only have the word":   {"<body class='comments-open'><div class='has-comments'>" + paragraph + "</div>", []string{"paragraph of"}, nil},
		"a long line beside a paragraph":  {"<article>" + paragraph + "<div>A text without line breaks, in an element of its own, as some have it.</div></article>", []string{"paragraph of", "without line breaks"}, nil},
		"line breaks in verse are no two": {"<article>" + paragraph + "<div>A line of a poem, with words and words,<br>another line of the poem, with more,<br>and another.</div></article>", []string{"paragraph of", "another line"}, nil},
	} {
		a, err := readable.Read(parse(t, tt.page), readable.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, want := range tt.has {
			if !strings.Contains(a.Text, want) || !strings.Contains(a.Markdown, want) {
				t.Errorf("%s: no %q in %s", name, want, a.Text)
			}
		}
		for _, other := range tt.lack {
			if strings.Contains(a.Text, other) && other != "x" || strings.HasPrefix(a.Text, "x") {
				t.Errorf("%s: %q in %s", name, other, a.Text)
			}
		}
	}
	short := "<p>Short.</p><form>" + login + "</form>" + strings.Repeat("<p>Other words</p>", 10)
	if a, err := readable.Read(parse(t, short), readable.Options{}); !errors.Is(err, readable.ErrNoText) {
		t.Errorf("a form beside other text: %+v, %v", a, err)
	}
}
