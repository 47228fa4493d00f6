package crawler

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/internal/weburl"
)

// Bounds of a request. A request beyond one is refused with an error that names it.
const (
	MaxDataBytes   = 64 << 10 // of Data
	MaxBodyBytes   = 1 << 20  // of Body
	MaxHeaderBytes = 64 << 10 // of all header names and values
	MaxLabelBytes  = 256      // of Label, Session and the other names
)

// maxRequestKey bounds a key: the longest URL, with method and hash of the body before it.
const maxRequestKey = 72 << 10

// Request is a request as a frontier keeps it: plain values that survive a restart, and no secrets. Whatever is secret
// or live (credentials, cookies, connections) is named, by Session for one, and found again when the request is sent.
type Request struct {
	URL    string // absolute; the engine writes it as the URL standard serialises it
	Method string // "" is GET
	Header http.Header
	Body   []byte
	Kind   fetch.Kind

	// Key is the identity of the request: what has the same key is fetched once. Empty means method, canonical URL and
	// body.
	Key string

	Label string          // chosen by the application, to tell its requests apart
	Data  json.RawMessage // the application's own JSON

	Session  string // names the jar of cookies and the exit that belong together; links that are followed keep that of their page
	Priority int    // greater is sooner
	Depth    int    // links from a seed
	Hops     int    // redirects on the way from the request that a page or seed named
}

// key returns the identity under which the frontier knows the request.
func (r *Request) key() string {
	if r.Key != "" {
		return r.Key
	}
	return r.URL
}

// Host returns the host and, where it is not the default, the port of the URL: what politeness goes by. It is "" for a
// URL that is none.
func (r *Request) Host() string {
	u, ok := weburl.Split(r.URL)
	if !ok {
		return ""
	}
	return u.Host()
}

// check refuses what cannot be stored.
func (r *Request) check() error {
	switch {
	case r.Depth < 0 || r.Hops < 0:
		return &RequestError{URL: r.URL, Field: "Depth", Reason: "or Hops is negative"}
	case len(r.Key) > maxRequestKey:
		return &RequestError{URL: r.URL, Field: "Key", Reason: "longer than a URL may be"}
	case len(r.Data) > MaxDataBytes:
		return &RequestError{URL: r.URL, Field: "Data", Reason: "larger than 64 KiB"}
	case len(r.Data) > 0 && !json.Valid(r.Data):
		return &RequestError{URL: r.URL, Field: "Data", Reason: "not JSON"}
	case len(r.Body) > MaxBodyBytes:
		return &RequestError{URL: r.URL, Field: "Body", Reason: "larger than 1 MiB"}
	case len(r.Label) > MaxLabelBytes:
		return &RequestError{URL: r.URL, Field: "Label", Reason: "longer than 256 bytes"}
	case len(r.Session) > MaxLabelBytes:
		return &RequestError{URL: r.URL, Field: "Session", Reason: "longer than 256 bytes"}
	}
	if r.Method == "" && r.Header == nil && r.Kind == 0 { // a link, as nearly all are
		return nil
	}
	return r.checkSending()
}

// checkSending refuses what could not be sent, and the headers that are not stored.
func (r *Request) checkSending() error {
	if err := r.fetchRequest(0, false).Check(); err != nil {
		field := "Header"
		var part *fetch.HeaderError
		if errors.As(err, &part) && (part.Name == "method" || part.Name == "kind") {
			field = strings.ToUpper(part.Name[:1]) + part.Name[1:]
		}
		return &RequestError{URL: r.URL, Field: field, Err: err}
	}
	size := 0
	for name, values := range r.Header {
		switch http.CanonicalHeaderKey(name) {
		case "Authorization", "Cookie", "Proxy-Authorization":
			return &RequestError{URL: r.URL, Field: "Header", Reason: name + " is a credential and is not stored"}
		}
		for _, v := range values {
			size += len(name) + len(v)
		}
	}
	if size > MaxHeaderBytes {
		return &RequestError{URL: r.URL, Field: "Header", Reason: "larger than 64 KiB"}
	}
	return nil
}

// fetchRequest is the request as the fetch chain takes it. Where redirects lead to that became a request of its own is told of
// the page before them as at a hop that the Transport takes by itself; if refers is set, every host is told so of the page in Referer.
func (r *Request) fetchRequest(maxHops int, refers bool) *fetch.Request {
	req := &fetch.Request{
		URL: r.URL, Method: r.Method, Header: r.Header, Body: r.Body, Kind: r.Kind, MaxRedirects: orNone(maxHops),
		Route: fetch.Route{Session: r.Session},
	}
	if r.Hops == 0 && !refers {
		return req
	}
	for name, values := range r.Header {
		if !strings.EqualFold(name, "referer") || len(values) == 0 {
			continue
		}
		req.Header, req.Initiator = r.Header.Clone(), values[0]
		if delete(req.Header, name); req.RefererPolicy.Referer(req.Initiator, req.URL) != "" {
			req.Header[name] = []string{req.RefererPolicy.Referer(req.Initiator, req.URL)}
		}
	}
	return req
}
