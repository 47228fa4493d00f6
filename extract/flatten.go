package extract

import (
	"bytes"
	"fmt"
	"io"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxDepth is how deep start tags may be nested when a page is flattened. The parser takes 512; what it adds by itself
// (html, body, tbody, formatting elements that it opens again) needs room.
const maxDepth = 400

// parseFlattened parses a page that is nested too deep: without the start tags below maxDepth, or, where open formatting
// elements pile up beyond what nesting shows, with every element closed where it starts.
func parseFlattened(text []byte) (*html.Node, error) {
	f := flattener{open: map[string]int{}, dropped: map[string]int{}}
	root, err := parseTree(f.run(text))
	if err == nil {
		return root, nil
	}
	f = flattener{closeAll: true}
	root, err = parseTree(f.run(text))
	if err != nil {
		return nil, fmt.Errorf("seine: extract: parse: %w", err)
	}
	return root, nil
}

// flattener copies a page without the tags that make it too deep. It follows the nesting as it is written.
type flattener struct {
	closeAll bool
	stack    []string       // names of the elements that are open, as far as tags tell
	open     map[string]int // how often each is in the stack
	dropped  map[string]int // start tags that were left out, whose end tags have to be, too
	out      bytes.Buffer
}

func (f *flattener) run(text []byte) []byte {
	z := html.NewTokenizer(bytes.NewReader(text))
	for {
		tt := z.Next()
		if tt == html.ErrorToken {
			if z.Err() == io.EOF {
				f.out.Write(z.Raw())
			}
			return f.out.Bytes()
		}
		raw := z.Raw()
		switch tt {
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			raw = bytes.Clone(raw) // TagName lowers the name in place
			name, _ := z.TagName()
			if string(name) == "noscript" {
				z.NextIsNotRawText()
			}
			if tt == html.EndTagToken {
				f.end(string(name), raw)
			} else {
				f.start(string(name), raw)
			}
		default:
			f.out.Write(raw)
		}
	}
}

func (f *flattener) start(name string, raw []byte) {
	switch {
	case isVoid(name) || isRaw(name) || name == "html" || name == "head" || name == "body":
		f.out.Write(raw)
	case f.closeAll:
		if name != "frameset" {
			f.out.Write(raw)
			fmt.Fprintf(&f.out, "</%s>", name)
		}
	case len(f.stack) > 0 && f.stack[len(f.stack)-1] == name && closesItself(name):
		f.out.Write(raw)
	case len(f.stack) >= maxDepth:
		f.dropped[name]++
	default:
		f.stack = append(f.stack, name)
		f.open[name]++
		f.out.Write(raw)
	}
}

func (f *flattener) end(name string, raw []byte) {
	switch {
	case f.closeAll:
		if isRaw(name) {
			f.out.Write(raw)
		}
	case f.dropped[name] > 0:
		f.dropped[name]--
	default:
		f.out.Write(raw)
		f.pop(name)
	}
}

// pop closes the innermost element of the name and those inside it. Formatting elements inside stay: the parser opens
// them again.
func (f *flattener) pop(name string) {
	if f.open[name] == 0 {
		return
	}
	at := len(f.stack) - 1
	for f.stack[at] != name {
		at--
	}
	inside := f.stack[at+1:]
	f.stack = f.stack[:at]
	f.open[name]--
	for _, n := range inside {
		if isFormatting(n) {
			f.stack = append(f.stack, n)
		} else {
			f.open[n]--
		}
	}
}

func isVoid(name string) bool {
	switch atom.Lookup([]byte(name)) {
	case atom.Area, atom.Base, atom.Basefont, atom.Bgsound, atom.Br, atom.Col, atom.Embed, atom.Frame, atom.Hr, atom.Image,
		atom.Img, atom.Input, atom.Keygen, atom.Link, atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}

func isRaw(name string) bool {
	id := lookupTag([]byte(name))
	return id == tagPlaintext || int(id) < len(rawText) && rawText[id] != ""
}

func closesItself(name string) bool {
	switch name {
	case "p", "li", "dt", "dd", "option", "tr", "td", "th":
		return true
	}
	return false
}

func isFormatting(name string) bool {
	switch name {
	case "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u":
		return true
	}
	return false
}
