package crawler

import (
	"net/http"

	"github.com/seine-go/seine/extract"
	"github.com/seine-go/seine/fetch/identity"
)

// Form returns the first form that a CSS selector matches, to be filled and given to Submit.
func (p *Page) Form(selector string) (*extract.Form, error) {
	f, err := p.Document().Form(selector)
	p.looked()
	return f, err
}

// Submit stages what a form sends when the button of a name is pressed, "" for the first; its answer becomes a page. It is a
// request as those of Add are, and stored like them: no form with a password should be sent so, but by fetch.Login.
func (p *Page) Submit(f *extract.Form, button string) error {
	s, err := f.Submit(button)
	if err != nil {
		return err
	}
	r := &Request{URL: s.URL, Method: s.Method, Body: s.Body, Kind: identity.Form}
	if s.ContentType != "" {
		r.Header = http.Header{"Content-Type": {s.ContentType}}
	}
	return p.Add(r)
}
