package extract

import "golang.org/x/net/html/atom"

// passKind is what the tree builder does with an element in the body.
type passKind uint8

const (
	kindPlain    passKind = iota // puts it into the open one
	kindDoubt                    // something of its own
	kindRoot                     // html, head, body
	kindVoid                     // has no content
	kindMeta                     // so, and may be in the head
	kindRaw                      // has no markup in it
	kindHeadRaw                  // so, and may be in the head
	kindNoscript                 // is another in the head
	kindRule                     // hr: is void, closes a paragraph, and stands on a line of its own, as all do up to kindCell
	kindBlock
	kindParagraph
	kindHeading // closes a heading
	kindItem    // closes an item
	kindTerm    // closes terms and descriptions
	kindPre     // loses a newline
	kindForm    // is dropped in another
	kindTable   // holds nothing but parts of tables
	kindCell
	kindAnchor // closes another
	kindButton // closes another
	kindSVG
	kindCount
)

// beginsLine reports whether elements of the kind stand on lines of their own.
func (k passKind) beginsLine() bool { return k >= kindRule && k <= kindCell }

var passKinds = kindsOf(map[passKind][]atom.Atom{
	kindRoot:    {atom.Html, atom.Head, atom.Body},
	kindVoid:    {atom.Area, atom.Br, atom.Embed, atom.Img, atom.Input, atom.Param, atom.Source, atom.Track, atom.Wbr},
	kindMeta:    {atom.Base, atom.Link, atom.Meta},
	kindRaw:     {atom.Iframe, atom.Noembed, atom.Textarea, atom.Xmp},
	kindHeadRaw: {atom.Script, atom.Style, atom.Title},
	kindBlock: {
		atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Center, atom.Details, atom.Dialog, atom.Dir, atom.Div, atom.Dl, atom.Fieldset, atom.Figcaption, atom.Figure,
		atom.Footer, atom.Header, atom.Hgroup, atom.Main, atom.Menu, atom.Nav, atom.Ol, atom.Search, atom.Section, atom.Summary, atom.Ul,
	},
	kindHeading:   {atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6},
	kindTerm:      {atom.Dd, atom.Dt},
	kindPre:       {atom.Listing, atom.Pre},
	kindTable:     {atom.Table, atom.Tbody, atom.Tfoot, atom.Thead, atom.Tr},
	kindCell:      {atom.Td, atom.Th},
	kindNoscript:  {atom.Noscript},
	kindRule:      {atom.Hr},
	kindParagraph: {atom.P},
	kindItem:      {atom.Li},
	kindForm:      {atom.Form},
	kindAnchor:    {atom.A},
	kindButton:    {atom.Button},
	kindSVG:       {atom.Svg},
	kindDoubt: {
		atom.Applet, atom.Basefont, atom.Bgsound, atom.Caption, atom.Col, atom.Colgroup, atom.Command, atom.Frame, atom.Frameset, atom.Image, atom.Isindex, atom.Keygen, atom.Marquee,
		atom.Math, atom.Menuitem, atom.Nobr, atom.Noframes, atom.Object, atom.Optgroup, atom.Option, atom.Plaintext, atom.Rb, atom.Rp, atom.Rt, atom.Rtc, atom.Ruby, atom.Select, atom.Template,
	},
})

func kindsOf(elements map[passKind][]atom.Atom) map[atom.Atom]passKind {
	kinds := map[atom.Atom]passKind{}
	for kind, names := range elements {
		for _, name := range names {
			kinds[name] = kind
		}
	}
	return kinds
}

// isShape are the elements of pictures in SVG that hold nothing but others.
var isShape = map[string]bool{
	"circle": true, "clippath": true, "defs": true, "ellipse": true, "g": true, "line": true, "lineargradient": true, "mask": true, "path": true, "polygon": true, "polyline": true,
	"radialgradient": true, "rect": true, "stop": true, "symbol": true, "use": true,
}
