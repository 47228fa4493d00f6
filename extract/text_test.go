package extract_test

import (
	"testing"

	"github.com/seine-go/seine/extract"
)

// Texts do not run together where people read two lines, and have no code in them, with a tree and without.
func TestTextOfElements(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, page, want string }{
		{"br", "a<br>b<br/>c", "a\nb\nc"},
		{"br and blanks", "a<br>\nb <br>c<br><br>d", "a\n\nb c\nd"},
		{"blocks", "a<p>b</p><p>c</p>d<section>e<section>f</section></section>g", "a\nb\nc\nd\ne\nf\ng"},
		{"inline", "a<b>b</b><i>c<u>d</u></i>e", "abcde"},
		{"cells", "<table><tbody><tr><th>a</th><td>b</td></tr><tr><td>c</td></tr></tbody></table>", "a\nb\nc"},
		{"lists", "<ul><li>a</li><li>b</li></ul><dl><dt>c</dt><dd>d</dd></dl>", "a\nb\nc\nd"},
		{"scripts and styles", "a<script>var x</script><style>y{}</style> b", "a b"},
		{"templates", "a<template><p>x</p></template>b", "ab"},
		{"options", "<select><option>a<option>b</select>", "a\nb"},
		{"at the ends", "<br><p>a</p><br><hr>", "a"},
		{"nothing", "<br><hr>", ""},
	} {
		type one struct {
			T string   `extract:"css=main ; raw"`
			L []string `extract:"css=b"`
		}
		type other struct {
			T string `extract:"xpath=//main ; raw"`
		}
		page := "<!doctype html><html><head><title>t</title></head><body><main>" + tt.page + "</main></body></html>"
		v, err := extract.From[one](document(page))
		w, otherErr := extract.From[other](document(page))
		if v.T != tt.want || w.T != tt.want || err != nil || otherErr != nil {
			t.Errorf("%s: %q, %v, in the tree %q, %v, want %q", tt.name, v.T, err, w.T, otherErr, tt.want)
		}
	}
	code, err := extract.From[struct {
		S string `extract:"css=script"`
		O string `extract:"css=p@own"`
	}](document("<p>a<br>b<script>var x</script></p>"))
	if err != nil || code.S != "var x" || code.O != "a\nb" {
		t.Errorf("%+v, %v", code, err)
	}
}
