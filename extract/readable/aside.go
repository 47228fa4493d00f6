package readable

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seine-go/seine/internal/htmltree"
)

// asides says which elements of a page are none of the main text.
type asides struct {
	form    *html.Node // that holds the page, as ASP.NET writes it; other forms are asides
	remarks bool       // what readers say, and what asks them for consent, is aside
}

// has reports whether an element is aside.
func (a asides) has(n *html.Node) bool {
	return isAside(n) || n.DataAtom == atom.Form && n != a.form || a.remarks && isRemark(n)
}

// pageForm returns the form in which the larger part of a page's text stands, or nil.
func pageForm(root *html.Node) (found *html.Node) {
	total, most := 0, 0
	var form, end *html.Node
	here := 0
	for n := root; n != nil; {
		if form != nil && n == end {
			form = nil
		}
		switch {
		case n.Type == html.TextNode:
			runes := length(n.Data)
			total += runes
			if form != nil {
				here += runes
			}
		case n.Type == html.ElementNode && isAside(n):
			n = htmltree.After(n, root)
			continue
		case n.DataAtom == atom.Form && form == nil:
			form, end, here = n, htmltree.After(n, root), 0
		}
		if form != nil && here > most {
			found, most = form, here
		}
		n = htmltree.Next(n, root)
	}
	if 2*most <= total {
		return nil
	}
	return found
}

// remarks are what the first word of an id or a class is called by.
var remarks = map[string]bool{
	"comment": true, "comments": true, "commentlist": true, "disqus": true, "respond": true,
	"cookie": true, "cookies": true, "cookiebar": true, "cookiebanner": true, "consent": true, "gdpr": true,
}

// isRemark reports whether an element is named as one that has the comments of readers, or asks for consent.
func isRemark(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Html, atom.Body, atom.Main:
		return false
	}
	for _, a := range n.Attr {
		if a.Namespace != "" || a.Key != "id" && a.Key != "class" {
			continue
		}
		for name := range strings.FieldsSeq(a.Val) {
			if i := strings.IndexAny(name, "-_"); i > 0 {
				name = name[:i]
			}
			if len(name) <= len("cookiebanner") && remarks[strings.ToLower(name)] {
				return true
			}
		}
	}
	return false
}

// isAside reports whether an element is never main text: navigation, controls, scripts, what is hidden.
func isAside(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Nav, atom.Aside, atom.Footer, atom.Button, atom.Select,
		atom.Iframe, atom.Object, atom.Svg, atom.Head, atom.Dialog, atom.Textarea, atom.Input:
		return true
	}
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return true
		case "aria-hidden":
			if a.Val == "true" {
				return true
			}
		case "role":
			switch a.Val {
			case "navigation", "banner", "contentinfo", "complementary", "search", "dialog":
				return true
			}
		case "style":
			style := strings.ToLower(strings.Join(strings.Fields(a.Val), ""))
			if strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden") {
				return true
			}
		}
	}
	return false
}
