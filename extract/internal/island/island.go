// Package island finds the scripts of a page, in which it carries its data, without building its tree.
package island

import (
	"bytes"
	"slices"
	"strings"
)

// Script is a script element.
type Script struct {
	Type string // the attribute, in lower case and without parameters
	ID   string
	Text []byte // a part of the page
}

// Max is how many scripts of a page are looked at.
const Max = 10_000

// Find finds the scripts of a page without its tree, by the tokenizer's rules (WHATWG HTML 13.2.5): no script begins in
// a comment, an attribute or another element of raw text. What the tree builder adds (scripts in foreign content, which may close
// themselves) is let aside.
func Find(text []byte) (found []Script) {
	for i := 0; len(found) < Max; {
		next := bytes.IndexByte(text[i:], '<')
		if next < 0 || i+next+1 >= len(text) {
			return found
		}
		i += next + 1
		switch c := text[i]; {
		case c == '!' || c == '?' || c == '/' && (i+1 == len(text) || !isLetter(text[i+1])): // a comment, if a bogus one
			i = passMarkup(text, i)
		case c == '/' || isLetter(c):
			var it Script
			var name []byte
			name, i = passTag(text, i, &it)
			switch {
			case bytes.EqualFold(name, []byte("script")):
				end := scriptEnd(text, i)
				it.Text = text[i:end]
				found = append(found, it)
				i = end
			case isRaw(name):
				i = rawEnd(text, i, name)
			}
		}
	}
	return found
}

// passMarkup returns where a comment, or what is taken for one, ends; text[i] is what follows its "<".
func passMarkup(text []byte, i int) int {
	isComment := bytes.HasPrefix(text[i:], []byte("!--"))
	if isComment {
		i += 3
		if rest := text[i:]; bytes.HasPrefix(rest, []byte(">")) || bytes.HasPrefix(rest, []byte("->")) {
			isComment = false
		}
	}
	for from := i; ; {
		n := bytes.IndexByte(text[from:], '>')
		if n < 0 {
			return len(text)
		}
		from += n + 1
		if inside := text[i : from-1]; !isComment || bytes.HasSuffix(inside, []byte("--")) || bytes.HasSuffix(inside, []byte("--!")) {
			return from
		}
	}
}

// passTag reads a tag from its name or slash on and returns the name of a start tag and where the tag ends.
func passTag(text []byte, i int, it *Script) (name []byte, end int) {
	isEnd := text[i] == '/'
	if isEnd {
		i++
	}
	start := i
	for i < len(text) && !endsName(text[i]) {
		i++
	}
	if !isEnd {
		name = text[start:i]
	}
	for {
		for i < len(text) && (isBlank(text[i]) || text[i] == '/') {
			i++
		}
		if i >= len(text) { // a tag without end is none
			return nil, i
		}
		if text[i] == '>' {
			return name, i + 1
		}
		at := i
		for i++; i < len(text) && !endsName(text[i]) && text[i] != '='; i++ {
		}
		key := text[at:i]
		for i < len(text) && isBlank(text[i]) {
			i++
		}
		if i >= len(text) || text[i] != '=' {
			continue
		}
		var value []byte
		value, i = passValue(text, i+1)
		it.set(key, value)
	}
}

func passValue(text []byte, i int) (value []byte, end int) {
	for i < len(text) && isBlank(text[i]) {
		i++
	}
	if i >= len(text) {
		return nil, i
	}
	if q := text[i]; q == '"' || q == '\'' {
		n := bytes.IndexByte(text[i+1:], q)
		if n < 0 {
			return nil, len(text)
		}
		return text[i+1 : i+1+n], i + n + 2
	}
	start := i
	for i < len(text) && !isBlank(text[i]) && text[i] != '>' {
		i++
	}
	return text[start:i], i
}

func (it *Script) set(key, value []byte) {
	switch {
	case it.ID == "" && bytes.EqualFold(key, []byte("id")):
		it.ID = string(value)
	case it.Type == "" && bytes.EqualFold(key, []byte("type")):
		media, _, _ := strings.Cut(string(value), ";")
		it.Type = strings.ToLower(strings.TrimSpace(media))
	}
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

func endsName(c byte) bool { return isBlank(c) || c == '>' || c == '/' }

var rawElements = [][]byte{[]byte("style"), []byte("textarea"), []byte("title"), []byte("xmp"), []byte("iframe"), []byte("noembed"), []byte("noframes")}

func isRaw(name []byte) bool {
	return slices.ContainsFunc(rawElements, func(raw []byte) bool { return bytes.EqualFold(name, raw) })
}

// rawEnd returns where the end tag of an element of raw text begins; the end of the page if there is none.
func rawEnd(text []byte, i int, name []byte) int {
	for {
		at := bytes.Index(text[i:], []byte("</"))
		if at < 0 {
			return len(text)
		}
		i += at
		if isTag(text[i+2:], name) {
			return i
		}
		i += 2
	}
}

// isTag reports whether text begins with the name of a tag and what ends it.
func isTag(text, name []byte) bool {
	return len(text) > len(name) && bytes.EqualFold(text[:len(name)], name) && endsName(text[len(name)])
}

var scriptName = []byte("script")

// scriptEnd returns where the end tag of a script begins. After "<!--" a script may hold another with its end tag (WHATWG
// HTML 13.2.5.20 and after).
func scriptEnd(text []byte, i int) int {
	escaped, double := false, false
	for {
		at := bytes.IndexAny(text[i:], "<-")
		if at < 0 {
			return len(text)
		}
		i += at
		rest := text[i:]
		switch {
		case !escaped && bytes.HasPrefix(rest, []byte("<!--")):
			escaped = true
			i += 2 // "<!-->" ends what it begins
			continue
		case escaped && bytes.HasPrefix(rest, []byte("-->")):
			escaped, double = false, false
		case rest[0] == '<' && len(rest) > 1 && rest[1] == '/' && isTag(rest[2:], scriptName):
			if !double {
				return i
			}
			double = false
		case rest[0] == '<' && escaped && !double && isTag(rest[1:], scriptName):
			double = true
		}
		i++
	}
}
