package crawler

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/PuerkitoBio/goquery"

	"github.com/seine-go/seine/extract"
	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/internal/charset"
	"github.com/seine-go/seine/internal/weburl"
)

// Page is an answer in the hands of a Handler. It is used by one goroutine at a time. What it holds is ordinary memory
// and may be kept, and what reads (Text, Find, Links, Hints …) works for ever; what stages (Follow, Add, Save) works until
// the handler returns, or the loop asks for the next page. Then Add and Save are errors, and Follow stages nothing.
type Page struct {
	URL      string // that was answered at last, after redirects
	Request  *Request
	Response *fetch.Response
	Depth    int // links from a seed
	Attempt  int // counted from 1

	v       *visit
	s       *scratch
	items   []Item
	doc     *extract.Document
	hints   *extract.Hints
	reports []*extract.Report // of On and Items
	values  []pathValue
	referer http.Header         // of its links, where they have one
	staged  map[string]struct{} // keys of the links, once there are as many as may be
	beyond  int                 // links that were left out because there were as many as may be
	cut     bool                // the body is not whole

	trapped int       // links that a rule against traps left out
	trap    TrapError // the first of them
}

type pathValue struct{ name, value string }

// errOver is what staging on a page that is over comes to.
var errOver = errors.New("seine: the page is over: it was staged on after its handler had returned")

// over reports whether nothing can be staged any more.
func (p *Page) over() bool { return p.v == nil || p.v.over.Load() }

// fault keeps the first error of methods that return none; it fails the page.
func (p *Page) fault(err error) {
	if !p.over() {
		err = Permanent(err)
		p.v.fault.CompareAndSwap(nil, &err)
	}
}

// Document returns the page's document, which is parsed when it is first asked, as HTML whatever the page is.
func (p *Page) Document() *extract.Document {
	if p.doc == nil {
		o := p.scanOptions()
		p.doc = extract.NewDocument(p.Response.Body, extract.DocumentOptions{URL: o.URL, Header: o.Header, Agent: o.Agent, MaxLinks: o.MaxLinks, Encoding: p.charset()})
	}
	return p.doc
}

// charset returns the encoding that the request told for the answer, "" if it left that to the answer.
func (p *Page) charset() string {
	if p.Response.Request == nil {
		return ""
	}
	return charset.Lookup(p.Response.Request.Charset)
}

func (p *Page) scanOptions() extract.ScanOptions {
	o := extract.ScanOptions{URL: p.URL, Header: p.Response.Header}
	if p.v != nil {
		o.Agent, o.MaxLinks = p.v.e.cfg.Agent, p.v.e.cfg.MaxLinks
	}
	return o
}

// Find returns what a CSS selector matches. A bad selector fails the page, and matches nothing. Of a page whose elements are
// nested too deep the tree lacks some (extract.Document.Tree), so that Find, Text, Attr and Follow may match less than the
// page has; such a page is logged and counted in Stats.Flattened. Links and FollowLinks need no tree and lack nothing.
func (p *Page) Find(selector string) *goquery.Selection {
	s, err := p.Document().Find(selector)
	p.looked()
	if err != nil {
		p.fault(err)
		return &goquery.Selection{}
	}
	return s
}

// looked notes whether the tree that somebody has looked at lacks elements.
func (p *Page) looked() {
	if p.v != nil && p.doc.IsFlattened() {
		p.v.flattened.Store(true)
	}
}

// Text returns the text of the first element that a CSS selector matches, blanks at its ends cut off; "" if there is
// none. A bad selector fails the page.
func (p *Page) Text(selector string) string {
	return strings.TrimSpace(p.Find(selector).First().Text())
}

// Attr returns an attribute of the first element that a CSS selector matches; "" if there is none. A bad selector
// fails the page.
func (p *Page) Attr(selector, name string) string {
	value, _ := p.Find(selector).First().Attr(name)
	return strings.TrimSpace(value)
}

// Hints returns the links and what else the page tells a crawler. They are found without a tree. A page that is not HTML
// tells what its header does, and nothing else.
func (p *Page) Hints() *extract.Hints {
	if p.hints != nil {
		return p.hints
	}
	var err error
	switch {
	case !p.IsHTML():
		p.hints, err = extract.Scan(nil, p.scanOptions()) // the header may have links all the same
	case p.charset() == "" && charset.HeaderLabel(p.Response.Header["Content-Type"]) == "utf-8":
		p.hints, err = extract.Scan(p.Response.Body, p.scanOptions())
		if err == nil && doubtful(p.hints) { // it may be something else, whatever the header says
			p.hints, err = p.Document().Hints(0)
		}
	default:
		p.hints, err = p.Document().Hints(0)
	}
	if err != nil {
		p.fault(err)
		p.hints = &extract.Hints{}
	}
	return p.hints
}

// doubtful reports whether a link has what stands for bytes that are not UTF-8.
func doubtful(h *extract.Hints) bool {
	for i := range h.Links {
		if strings.Contains(h.Links[i].URL, "%EF%BF%BD") {
			return true
		}
	}
	return false
}

// Links returns the links of the page, in its order.
func (p *Page) Links() []extract.Link {
	h := p.Hints()
	if p.v != nil {
		p.v.unread.Store(int64(h.LinksCut))
	}
	return h.Links
}

// FollowLinks stages all links of the page that are in scope and may be followed, and returns how many.
func (p *Page) FollowLinks() int {
	n := 0
	for _, l := range p.Links() {
		if p.follow(l.URL, l.NoFollow) {
			n++
		}
	}
	return n
}

// Follow stages the links of the elements that a CSS selector matches: their href, src, or data-href. Those that are
// out of scope, too deep, or not to be followed are left out. It returns how many were staged; a link that was staged
// or fetched before counts, but is fetched once. A bad selector fails the page. A page that is not HTML has no elements to
// follow, whatever Find makes of it.
func (p *Page) Follow(selector string) int {
	if selector == "a[href]" { // what the link pass finds anyway
		n := 0
		for _, l := range p.Links() {
			if l.Kind == extract.Anchor && p.follow(l.URL, l.NoFollow) {
				n++
			}
		}
		return n
	}
	if !p.IsHTML() {
		return 0
	}
	base, err := p.base()
	if err != nil {
		p.fault(err)
		return 0
	}
	n := 0
	for _, s := range p.Find(selector).EachIter() {
		for _, attr := range [...]string{"href", "src", "data-href"} {
			ref, ok := s.Attr(attr)
			if !ok {
				continue
			}
			rel, _ := s.Attr("rel")
			if u, err := base.Resolve(ref); err == nil && p.follow(u.WithoutFragment().Href(), hasWord(rel, "nofollow")) {
				n++
			}
			break
		}
	}
	return n
}

// base returns the URL that references of the page are resolved against.
func (p *Page) base() (weburl.URL, error) {
	if b := p.Hints().Base; b != "" {
		return weburl.Parse(b)
	}
	return weburl.Parse(p.URL)
}

func hasWord(list, word string) bool {
	for f := range strings.FieldsSeq(list) {
		if strings.EqualFold(f, word) {
			return true
		}
	}
	return false
}

// follow stages a link whose URL is serialised already.
func (p *Page) follow(url string, noFollow bool) bool {
	v := p.v
	if p.over() {
		return false
	}
	u, ok := weburl.Split(url)
	if !ok || !v.e.cfg.IgnoreNoFollow && (noFollow || p.Hints().NoFollow) || p.Depth >= v.e.cfg.MaxDepth || !v.r.scope.holdsURL(u) {
		return false
	}
	if rule := v.e.cfg.Traps.check(u); rule != "" {
		v.e.count.trapped.Add(1)
		if p.trapped++; p.trapped == 1 {
			p.trap = TrapError{URL: url, Rule: rule}
		}
		return false
	}
	if u.HasUserInfo() { // a credential, which is not stored
		url = u.WithoutUserInfo().Href()
	}
	r := Request{URL: url, Header: p.refer(nil), Depth: p.Depth + 1, Session: p.Request.Session}
	if !v.e.strict || !u.IsPlain() { // else it is its own key
		var err error
		if p.s.key, err = v.e.setKey(&r, p.s.key); err != nil {
			return false // the link pass has parsed it: no profile refuses such a URL but for its length
		}
	}
	if !p.stage(r) {
		p.beyond++
		return false
	}
	return true
}

// stage keeps a request unless the page has as many different ones as MaxLinks allows, and reports whether it is staged.
func (p *Page) stage(r Request) bool {
	if p.staged == nil && len(p.s.links) >= p.v.e.cfg.MaxLinks {
		p.index()
	}
	if p.staged != nil {
		if _, there := p.staged[r.key()]; there {
			return true
		}
		if len(p.s.links) >= p.v.e.cfg.MaxLinks {
			return false
		}
		p.staged[r.key()] = struct{}{}
	}
	p.s.links = append(p.s.links, r)
	return true
}

// index finds out which of the staged requests are the same, which matters only at the bound.
func (p *Page) index() {
	p.staged = make(map[string]struct{}, len(p.s.links))
	p.s.links = slices.DeleteFunc(p.s.links, func(r Request) bool {
		_, twice := p.staged[r.key()]
		p.staged[r.key()] = struct{}{}
		return twice
	})
}

// Add stages requests. URLs are resolved against the page. Depth is one more than the page's, and Session that of the
// page, unless they are set. A request that is nil, cannot be sent or stored, is out of scope, or is one more than
// Config.MaxLinks allows a page, is an error and none is staged.
func (p *Page) Add(reqs ...*Request) error {
	if p.over() {
		return errOver
	}
	base, err := p.base()
	if err != nil {
		return err
	}
	ready := make([]Request, 0, len(reqs))
	for _, r := range reqs {
		if r == nil {
			return &RequestError{Reason: "is nil"}
		}
		u, err := base.Resolve(r.URL)
		if err != nil {
			return &RequestError{URL: r.URL, Err: err}
		}
		c := *r
		c.URL = u.Href()
		made, err := p.made(&c)
		if err != nil {
			return err
		}
		ready = append(ready, *made)
	}
	if err := p.room(ready); err != nil {
		return err
	}
	for _, r := range ready {
		p.stage(r)
	}
	return nil
}

// made checks and completes a request that a handler made.
func (p *Page) made(r *Request) (*Request, error) {
	if r.Depth == 0 {
		r.Depth = p.Depth + 1
	}
	if r.Session == "" {
		r.Session = p.Request.Session
	}
	r.Header = p.refer(r.Header)
	r, err := p.v.e.seed(r)
	switch {
	case err != nil:
		return nil, err
	case r.Depth > p.v.e.cfg.MaxDepth:
		return nil, p.v.e.tooDeep(r.URL)
	case !p.v.r.scope.holds(r.URL):
		return nil, p.v.r.scope.refuse(r.URL)
	}
	return r, nil
}

// room refuses requests that are more than the page may have.
func (p *Page) room(reqs []Request) error {
	most := p.v.e.cfg.MaxLinks
	if len(reqs) <= most-len(p.s.links) {
		return nil
	}
	if p.staged == nil {
		p.index()
	}
	fresh := map[string]struct{}{}
	for _, r := range reqs {
		if _, there := p.staged[r.key()]; !there {
			fresh[r.key()] = struct{}{}
		}
		if len(p.s.links)+len(fresh) > most {
			return &RequestError{URL: r.URL, Reason: fmt.Sprintf("is beyond the %d links that Config.MaxLinks allows a page", most)}
		}
	}
	return nil
}

// Save stages a value under a key of the Store, as JSON, or as it is if it is a []byte. Keys that begin with "seine/" are
// the engine's.
func (p *Page) Save(key string, value any) error {
	if p.over() {
		return errOver
	}
	if err := CheckItem(key, nil); err != nil {
		return err
	}
	if strings.HasPrefix(key, reservedKeys) {
		return fmt.Errorf("seine: save %q: such keys are the engine's", key)
	}
	b, ok := value.([]byte)
	if !ok {
		var err error
		if b, err = json.Marshal(value); err != nil {
			return fmt.Errorf("seine: save %q: %w", key, err)
		}
	}
	if err := CheckItem(key, b); err != nil {
		return err
	}
	p.items = append(p.items, Item{Key: key, Value: b})
	return nil
}

// PathValue returns what a wildcard of the Mux's pattern matched; "" if there is no such wildcard.
func (p *Page) PathValue(name string) string {
	for _, v := range p.values {
		if v.name == name {
			return v.value
		}
	}
	return ""
}
