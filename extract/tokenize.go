package extract

import "bytes"

// scanner is the tokenizer of the link pass (WHATWG HTML 13.2.5). It makes no tokens: it hands the elements that matter
// to its collector and passes over everything else.
//
// What a tag means depends on the elements that are open. For most pages it is enough to know those of SVG and MathML.
// Where it is not (HTML inside of them, end tags of something else, columns in templates), the scanner stops, in doubt,
// and the page is scanned again with a builder, which follows the construction of the tree and takes longer.
type scanner struct {
	collector
	state   state
	raw     string  // inRaw: name of the end tag that ends it
	escaped escape  // inScript
	dashes  int     // inScript, escaped: how many "-" stand before here, 2 at most
	fresh   bool    // inComment: nothing of it has been passed yet
	long    longTag // inLongTag
	attr    attributes
	window  int // longest tag

	foreign       []foreignElement // open elements of SVG and MathML; none in HTML
	templateStart bool             // no tag since a template's start or end that settles the rules for its content
	frameset      bool             // there was one
	builder       *builder         // knows all open elements; nil for the first try
	filter        *filter          // what the builder gets of the page; nil: everything, and its links are collected
	forms         *formPass        // what asks for forms and their controls; nil: nobody
}

type state uint8

const (
	inData state = iota
	inRaw
	inScript
	inPlaintext
	inComment
	inBogus // bogus comment or doctype
	inCDATA
	inLongTag
	inDoubt
)

// run goes through b, which starts where the last run stopped. It returns how much of b is done: the rest has to come
// again with more behind it, unless b is the last of the page.
func (s *scanner) run(b []byte, last bool) int {
	i, more := 0, true
	for more && i < len(b) {
		switch s.state {
		case inData:
			i, more = s.data(b, i, last)
		case inRaw:
			i, more = s.rawText(b, i)
		case inScript:
			i, more = s.script(b, i)
		case inComment:
			i, more = s.comment(b, i)
		case inBogus:
			i, more = s.until(b, i, ">")
		case inCDATA:
			i, more = s.until(b, i, "]]>")
		case inLongTag:
			i, more = s.longTag(b, i)
		case inPlaintext, inDoubt:
			return len(b)
		}
	}
	return i
}

// data is the data state. Like the functions of the other states it starts at b[i] and returns where it stopped, and
// whether there is more to do there: for another state, or because a tag was too long.
func (s *scanner) data(b []byte, i int, last bool) (int, bool) {
	for {
		if s.builder == nil && len(s.foreign) == 0 {
			i = s.plainTags(b, i)
		}
		if i >= len(b) || b[i] != '<' { // tags often touch
			n := bytes.IndexByte(b[i:], '<')
			if n < 0 {
				n = len(b) - i
			}
			if s.builder != nil {
				s.text(b[i : i+n])
			}
			if i += n; i == len(b) {
				return i, false
			}
		}
		if len(b)-i < 3 && !last || len(b)-i < 2 {
			return i, false
		}
		c := b[i+1]
		end := -1
		switch {
		case class[c]&isLetter != 0:
			end = s.startTag(b, i)
		case c == '/' && len(b)-i > 2 && class[b[i+2]]&isLetter != 0:
			end = s.endTag(b, i)
		case c == '/' && len(b)-i > 2 && b[i+2] == '>':
			s.comments()
			end = i + 3
		case c == '/', c == '?':
			s.comments()
			s.state = inBogus
			end = i + 2
		case c == '!':
			end = s.declaration(b, i, last)
		default:
			s.text(b[i : i+1])
			end = i + 1
		}
		if end < 0 {
			return s.cutTag(b, i, last)
		}
		i = end
		if s.state != inData {
			return i, true
		}
	}
}

// longestPlain is how many bytes of a tag plainTags looks at.
const longestPlain = 16

// plainTags passes over tags that mean nothing, as most of a page do: end tags, and start tags of one or two letters and
// no attributes. It is startTag and endTag for these, and returns where it stopped.
func (s *scanner) plainTags(b []byte, i int) int {
	for {
		if i < len(b) && b[i] != '<' {
			n := bytes.IndexByte(b[i:], '<')
			if n < 0 {
				return i
			}
			i += n
		}
		if len(b)-i < longestPlain {
			return i
		}
		tag := b[i : i+longestPlain : i+longestPlain]
		switch c := tag[1]; {
		case c == '/' && class[tag[2]]&isLetter != 0:
			end := 3
			for end < longestPlain-1 && class[tag[end]]&endsName == 0 {
				end++
			}
			if tag[end] != '>' || end-2 == len("template") {
				return i
			}
			i += end + 1
		case class[c]&isLetter == 0:
			return i
		case class[tag[2]]&endsName == 0 && tag[3] == '>':
			s.templateStart = false
			i += 4
		case tag[2] == '>' && c|0x20 != 'a':
			s.templateStart = false
			i += 3
		default:
			return i
		}
	}
}

// cutTag is for a tag that starts at b[i] and does not end in b.
func (s *scanner) cutTag(b []byte, i int, last bool) (int, bool) {
	if last || len(b)-i < s.window {
		return i, false
	}
	start := i + 1
	isEnd := b[start] == '/'
	if isEnd {
		start++
	}
	end := nameEnd(b, start)
	s.long = longTag{}
	if end < 0 {
		s.long.state, end = longTagName, len(b)
	}
	if !isEnd {
		s.long.id = lookupTag(b[start:end])
	}
	s.skip(b[i:end], "tag longer than the window")
	s.state = inLongTag
	return end, true
}

func (s *scanner) longTag(b []byte, i int) (int, bool) {
	n := s.long.next(b[i:])
	if n < 0 {
		return len(b), false
	}
	s.state = inData
	if !s.inForeign() {
		s.enterText(s.long.id)
	}
	return i + n, true
}

// declaration reads what starts with "<!".
func (s *scanner) declaration(b []byte, i int, last bool) int {
	rest := b[i+2:]
	const cdata = "[CDATA["
	comment, section := startsWith(rest, "--"), startsWith(rest, cdata)
	switch {
	case comment == yes:
		s.comments()
		s.state, s.fresh = inComment, true
		return i + len("<!--")
	case !last && (comment == unknown || section == unknown):
		return -1
	case section == yes && s.inForeign():
		s.state = inCDATA
		return i + len("<!") + len(cdata)
	}
	s.declared(b[i:])
	s.state = inBogus
	return i + 2
}

// nameEnd returns where the tag name that starts at b[i] ends, or -1.
func nameEnd(b []byte, i int) int {
	for ; i < len(b); i++ {
		if class[b[i]]&endsName != 0 {
			return i
		}
	}
	return -1
}

func (s *scanner) startTag(b []byte, i int) int {
	end := nameEnd(b, i+2)
	if end < 0 {
		return -1
	}
	name := b[i+1 : end]
	switch {
	case s.builder != nil:
		return s.buildStart(b, name, i, end)
	case len(s.foreign) > 0:
		return s.foreignStart(b, name, end)
	}
	id := lookupTag(name)
	if id == tagOther {
		s.templateStart = false
		if b[end] == '>' {
			return end + 1
		}
		return tagEnd(b, end)
	}
	end = s.attr.read(b, end)
	if end >= 0 {
		s.htmlStart(id, b[end-2] == '/')
	}
	return end
}

// htmlStart is for the start tag of an element of HTML whose attributes are read.
func (s *scanner) htmlStart(id tagID, slash bool) {
	if id != tagFrame || s.frameset { // a frame elsewhere is dropped
		s.element(id, &s.attr, false)
	}
	s.enterText(id)
	switch id {
	case tagBase, tagBasefont, tagBgsound, tagLink, tagMeta, tagNoframes, tagScript, tagStyle, tagTitle:
		return // these settle nothing in a template
	case tagTemplate:
		s.templateStart = true
		return
	case tagCol:
		if s.templateStart {
			s.doubt() // a template of columns drops everything else in it
		}
	case tagSVG, tagMath:
		if !slash || s.attr.slashInValue {
			s.openForeign([]byte(rootNames[id]), id == tagSVG)
		}
	}
	s.templateStart = false
}

var rootNames = [...]string{tagSVG: "svg", tagMath: "math"}

// doubt stops the scan.
func (s *scanner) doubt() { s.state = inDoubt }

// inForeign says whether the current node is foreign, so that CDATA sections are.
func (s *scanner) inForeign() bool {
	if s.builder != nil {
		return s.builder.isForeign()
	}
	return len(s.foreign) > 0
}

// enterText goes over to the state for the content of an element of HTML.
func (s *scanner) enterText(id tagID) {
	switch id {
	case tagFrameset:
		s.frameset = true
	case tagScript:
		s.state, s.escaped = inScript, notEscaped
	case tagPlaintext:
		s.state = inPlaintext
	case tagIframe, tagNoembed, tagNoframes, tagStyle, tagTextarea, tagTitle, tagXmp:
		s.state, s.raw = inRaw, rawText[id]
	}
}

func (s *scanner) endTag(b []byte, i int) int {
	end := nameEnd(b, i+3)
	if end < 0 {
		return -1
	}
	name := b[i+2 : end]
	if b[end] == '>' {
		end++
	} else if end = tagEnd(b, end); end < 0 {
		return -1
	}
	switch {
	case s.builder != nil:
		s.buildEnd(b, name, i, end)
	case len(s.foreign) > 0:
		s.foreignEnd(name)
	case len(name) == len("template") && lookupTag(name) == tagTemplate:
		s.templateStart = true
	}
	return end
}
