package htmltree

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestWalk(t *testing.T) {
	t.Parallel()
	doc, err := html.Parse(strings.NewReader("<body><ul><li>a<b>b</b>c<li>d</ul><p>e"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var list *html.Node
	for n := doc; n != nil; n = Next(n, doc) {
		if n.Type == html.ElementNode {
			names = append(names, n.Data)
		}
		if n.Data == "ul" {
			list = n
		}
	}
	if got := strings.Join(names, " "); got != "html head body ul li b li p" {
		t.Error(got)
	}
	if got := Text(list); got != "abcd" {
		t.Error(got)
	}
	if n := After(list, doc); n == nil || n.Data != "p" || After(list, list) != nil {
		t.Errorf("behind the list: %v", n)
	}
	if got := Text(&html.Node{Type: html.ElementNode, Data: "br"}); got != "" {
		t.Error(got)
	}
}
