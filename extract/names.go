package extract

// Classes of bytes in markup.
const (
	isLetter     = 1 << iota // starts a tag name
	isSpace                  // WHATWG ASCII whitespace; CR is one since newlines are not normalised before
	endsName                 // ends a tag name: space, "/", ">"
	endsAttr                 // ends an attribute name: endsName or "="
	endsValue                // ends an unquoted value: space, ">"
	betweenAttrs             // space, "/"
)

var class = func() (t [256]uint8) {
	for c := 'a'; c <= 'z'; c++ {
		t[c] |= isLetter
		t[c-'a'+'A'] |= isLetter
	}
	for _, c := range " \t\n\r\f" {
		t[c] |= isSpace | endsName | endsAttr | endsValue | betweenAttrs
	}
	t['/'] |= endsName | endsAttr | betweenAttrs
	t['>'] |= endsName | endsAttr | endsValue
	t['='] |= endsAttr
	return t
}()

// tagID names the elements that the link pass has to tell apart.
type tagID uint8

const (
	tagOther tagID = iota
	tagA
	tagArea
	tagBase
	tagBasefont
	tagBgsound
	tagCol
	tagFrame
	tagFrameset
	tagIframe
	tagImg
	tagLink
	tagMath
	tagMeta
	tagNoembed
	tagNoframes
	tagPlaintext
	tagScript
	tagSource
	tagStyle
	tagSVG
	tagTemplate
	tagTextarea
	tagTitle
	tagXmp
)

// lookupTag finds the element of a name in any case. "image" is what the tree builder takes for img.
func lookupTag(name []byte) tagID {
	if len(name) == 1 {
		if name[0]|0x20 == 'a' {
			return tagA
		}
		return tagOther
	}
	if len(name) == 2 || len(name) > 9 {
		return tagOther
	}
	var buf [9]byte
	switch string(lower(buf[:0], name)) {
	case "area":
		return tagArea
	case "base":
		return tagBase
	case "basefont":
		return tagBasefont
	case "bgsound":
		return tagBgsound
	case "col":
		return tagCol
	case "frame":
		return tagFrame
	case "frameset":
		return tagFrameset
	case "iframe":
		return tagIframe
	case "img", "image":
		return tagImg
	case "link":
		return tagLink
	case "math":
		return tagMath
	case "meta":
		return tagMeta
	case "noembed":
		return tagNoembed
	case "noframes":
		return tagNoframes
	case "plaintext":
		return tagPlaintext
	case "script":
		return tagScript
	case "source":
		return tagSource
	case "style":
		return tagStyle
	case "svg":
		return tagSVG
	case "template":
		return tagTemplate
	case "textarea":
		return tagTextarea
	case "title":
		return tagTitle
	case "xmp":
		return tagXmp
	}
	return tagOther
}

// rawText holds the elements whose content is no markup, with what the tokenizer looks for at their end. With
// scripting off, noscript is not among them.
var rawText = [...]string{
	tagIframe:   "iframe",
	tagNoembed:  "noembed",
	tagNoframes: "noframes",
	tagScript:   "script",
	tagStyle:    "style",
	tagTextarea: "textarea",
	tagTitle:    "title",
	tagXmp:      "xmp",
}

// attrID names the attributes that are read.
type attrID uint8

const (
	attrHref attrID = iota
	attrXlinkHref
	attrRel
	attrSrc
	attrSrcset
	attrDataSrc
	attrDataSrcset
	attrDataOriginal
	attrDataLazySrc
	attrName
	attrContent
	attrHTTPEquiv
	attrHreflang
	attrType
	attrEncoding
	attrFont // color, face or size: what makes font an HTML element in SVG
	attrCount
)

func lookupAttr(name []byte) (attrID, bool) {
	if len(name) < 3 || len(name) > 13 {
		return 0, false
	}
	switch string(name) { // the usual ones, as they are usually written
	case "href":
		return attrHref, true
	case "class", "style", "title":
		return 0, false
	}
	var buf [13]byte
	switch string(lower(buf[:0], name)) {
	case "href":
		return attrHref, true
	case "xlink:href":
		return attrXlinkHref, true
	case "rel":
		return attrRel, true
	case "src":
		return attrSrc, true
	case "srcset":
		return attrSrcset, true
	case "data-src":
		return attrDataSrc, true
	case "data-srcset":
		return attrDataSrcset, true
	case "data-original":
		return attrDataOriginal, true
	case "data-lazy-src":
		return attrDataLazySrc, true
	case "name":
		return attrName, true
	case "content":
		return attrContent, true
	case "http-equiv":
		return attrHTTPEquiv, true
	case "hreflang":
		return attrHreflang, true
	case "type":
		return attrType, true
	case "encoding":
		return attrEncoding, true
	case "color", "face", "size":
		return attrFont, true
	}
	return 0, false
}

// breakout says whether a start tag ends foreign content (WHATWG HTML 13.2.6.5). So does font when it has an
// attribute of attrFont.
func breakout(name []byte) bool {
	var buf [16]byte
	if len(name) > len(buf) {
		return false
	}
	switch string(lower(buf[:0], name)) {
	case "b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed",
		"h1", "h2", "h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu", "meta", "nobr", "ol",
		"p", "pre", "ruby", "s", "small", "span", "strong", "strike", "sub", "sup", "table", "tt", "u", "ul", "var":
		return true
	}
	return false
}

// lower appends src in ASCII lower case.
func lower(dst, src []byte) []byte {
	for _, c := range src {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// equalFold compares b with s, which is in lower case, without regard to ASCII case.
func equalFold(b []byte, s string) bool {
	if len(b) != len(s) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != s[i] {
			return false
		}
	}
	return true
}
