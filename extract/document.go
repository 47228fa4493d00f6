package extract

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"

	"github.com/seine-go/seine/extract/css"
	"github.com/seine-go/seine/extract/literal"
	"github.com/seine-go/seine/extract/structured"
	"github.com/seine-go/seine/internal/charset"
	"github.com/seine-go/seine/internal/weburl"
)

// Document is a page that is decoded, scanned and parsed when it is asked to be, each once. It may be used by many
// goroutines; nobody may change what it hands out.
type Document struct {
	body []byte
	o    DocumentOptions

	found   func() Encoding
	text    func() ([]byte, error)
	tree    func() (parsed, error)
	built   atomic.Pointer[parsed] // the tree, when it is there
	data    func() *pageData
	read    atomic.Pointer[structured.Data] // what has been read of the page's structured data
	base    func() *weburl.URL
	owners  func() (map[*html.Node]*html.Node, error) // of controls of forms
	value   func() (any, error)
	scripts atomic.Pointer[pageData] // when somebody has asked for them
	mu      sync.Mutex
	hints   [WantAll + 1]*Hints // by what is wanted
}

// DocumentOptions says what a page is.
type DocumentOptions struct {
	// URL is where the page was found, after redirects. References are resolved against it: those of Hints and forms, of
	// structured data, of fields that are URLs; and it is the source url=. Empty leaves references as they are, and Hints has none
	// that are relative.
	URL string
	// Header is the header of the response, for Hints. Nil means none.
	Header http.Header
	// Encoding is a label of the Encoding standard ("utf-8", "gb2312", ...). Empty means that it is found out; see
	// Document.Encoding. A byte order mark counts for more.
	Encoding string
	// Agent is the product token for Hints, as in ScanOptions.
	Agent string
	// MaxLinks bounds the lists of Hints, as in ScanOptions.
	MaxLinks int
	// MaxTree is of how many bytes of text, and with how many tags for each sixteen of them, a tree is built. A tree takes
	// many times the memory of its page. Zero means 32 MiB, negative no limit.
	MaxTree int
	// Limits bounds each piece of JSON: the body, an object of a script, a block of JSON-LD. Zero fields mean 16 MiB,
	// 512 deep, 1,048,576 values.
	Limits literal.Limits
}

type parsed struct {
	root      *html.Node
	flattened bool
}

// NewDocument makes a document of a page as it came. The document keeps body.
func NewDocument(body []byte, o DocumentOptions) *Document {
	d := &Document{body: body, o: o}
	d.found = sync.OnceValue(d.encoding)
	d.text = sync.OnceValues(d.decode)
	d.tree = sync.OnceValues(d.parse)
	d.data = sync.OnceValue(d.readData)
	d.base = sync.OnceValue(d.findBase)
	d.owners = sync.OnceValues(d.formOwners)
	d.value = sync.OnceValues(d.parseJSON)
	return d
}

// Bytes returns the page as it came.
func (d *Document) Bytes() []byte { return d.body }

// URL returns the URL of the page.
func (d *Document) URL() string { return d.o.URL }

// Text returns the page in UTF-8, without a byte order mark. What is no text in its encoding becomes U+FFFD. The error
// is an *EncodingError.
func (d *Document) Text() (string, error) {
	text, err := d.text()
	return string(text), err
}

// Tree returns the tree that golang.org/x/net/html builds of the page with scripting off, so that noscript is parsed.
// Where elements are nested deeper than 512, which that package refuses, where formatting elements that are left open
// would have to be repeated all over the page (500,000 times and more), or where html or body begin more than 64 times, the
// tree is of the page without the start tags that are too many; Flattened tells. The error is that of Text, or a
// *TreeError.
func (d *Document) Tree() (*html.Node, error) {
	p, err := d.tree()
	return p.root, err
}

// Flattened says whether the tree lacks elements of the page; see Tree. It parses the page.
func (d *Document) Flattened() bool {
	p, _ := d.tree()
	return p.flattened
}

// IsFlattened is Flattened for a tree that somebody has asked for; without one it is false. It parses nothing.
func (d *Document) IsFlattened() bool {
	p, built := d.builtTree()
	return built && p.flattened
}

// Selection returns the root of the tree for goquery; it is empty when Tree has an error.
func (d *Document) Selection() *goquery.Selection {
	p, err := d.tree()
	if err != nil {
		return &goquery.Selection{}
	}
	return goquery.NewDocumentFromNode(p.root).Selection
}

// Find returns the elements that a CSS selector matches (see package css), in the order of the tree. The error is a
// *css.Error or that of Tree.
func (d *Document) Find(selector string) (*goquery.Selection, error) {
	matcher, err := css.Compile(selector)
	if err != nil {
		return nil, err
	}
	if _, err := d.tree(); err != nil {
		return nil, err
	}
	return d.Selection().FindMatcher(matcher), nil
}

// Hints returns the links and hints of the page; see Scan. They are kept for the next caller.
func (d *Document) Hints(want Want) (*Hints, error) {
	text, err := d.text()
	if err != nil {
		return nil, err
	}
	want &= WantAll
	d.mu.Lock()
	defer d.mu.Unlock()
	if h := d.hints[want]; h != nil {
		return h, nil
	}
	o := ScanOptions{
		URL: d.o.URL, Header: d.o.Header, Agent: d.o.Agent, Encoding: d.found().Name, MaxLinks: d.o.MaxLinks, Want: want,
	}
	h, err := Scan(text, o)
	if err != nil {
		return nil, err
	}
	d.hints[want] = h
	return h, nil
}

// Encoding is the encoding of a page and how it was found.
type Encoding struct {
	Name       string  // of the Encoding standard, in lower case; what the caller said as it stands if nobody knows it
	Source     string  // "caller", "bom", "header", "meta", "xml", "detected", or "default" where nothing speaks for the name
	Confidence float64 // 0 to 1
}

// Encoding returns the encoding of the page: what the caller said, or else the first of these that the bytes do not
// contradict: a byte order mark, UTF-8 beyond doubt, the Content-Type of the header, a meta element or XML declaration
// in the first 16 KiB, what the bytes look like; or windows-1252.
func (d *Document) Encoding() Encoding { return d.found() }

func (d *Document) encoding() Encoding {
	c := charset.Find(d.body, d.o.Header["Content-Type"])
	if d.o.Encoding != "" && c.Source != charset.BOM {
		c = charset.Charset{Name: charset.Lookup(d.o.Encoding), Source: charset.Caller, Confidence: 1}
		if c.Name == "" {
			c.Name = d.o.Encoding
		}
	}
	return Encoding{c.Name, string(c.Source), c.Confidence}
}

func (d *Document) decode() ([]byte, error) {
	label := d.found().Name
	text, err := charset.Decode(d.body, label)
	var unknown *charset.Error
	switch {
	case errors.As(err, &unknown):
		return nil, &EncodingError{Label: label}
	case err != nil:
		return nil, fmt.Errorf("seine: extract: %w", err)
	}
	return text, nil
}

func (d *Document) parse() (parsed, error) {
	text, err := d.text()
	if err != nil {
		return parsed{}, err
	}
	if err := d.checkSize(text); err != nil {
		return parsed{}, err
	}
	p, err := parsePage(text)
	if err == nil {
		d.built.Store(&p)
	}
	return p, err
}

const (
	defaultTree = 32 << 20
	// bytesPerTag is how many bytes of MaxTree allow a tag.
	bytesPerTag = 16
)

// TreeError says that a page is too large to build its tree; see DocumentOptions.MaxTree.
type TreeError struct {
	Bytes, Tags       int // of the page
	MaxBytes, MaxTags int
}

// Error gives the sizes.
func (e *TreeError) Error() string {
	return fmt.Sprintf("seine: extract: no tree of %d bytes with %d tags: more than %d bytes or %d tags", e.Bytes, e.Tags, e.MaxBytes, e.MaxTags)
}

func (d *Document) checkSize(text []byte) error {
	most := d.o.MaxTree
	if most == 0 {
		most = defaultTree
	}
	if most < 0 || len(text) <= most/bytesPerTag {
		return nil
	}
	if tags := bytes.Count(text, []byte("<")); len(text) > most || tags > most/bytesPerTag {
		return &TreeError{len(text), tags, most, most / bytesPerTag}
	}
	return nil
}

// builtTree returns the tree if somebody has asked for it.
func (d *Document) builtTree() (parsed, bool) {
	if p := d.built.Load(); p != nil {
		return *p, true
	}
	return parsed{}, false
}

// EncodingError says that nobody knows the label of an encoding.
type EncodingError struct{ Label string }

func (e *EncodingError) Error() string {
	return fmt.Sprintf("seine: extract: unknown encoding %q", cut(e.Label))
}

// cut shortens what an error repeats of its input.
func cut(s string) string { return s[:min(len(s), maxSkipRef)] }
