package fetch

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/seine-go/seine/fetch/identity"
	"github.com/seine-go/seine/fetch/internal/h1"
	"github.com/seine-go/seine/internal/charset"
)

const acceptEncoding = "gzip, deflate, br, zstd"

// accept returns what a browser says that it takes for a kind of request, less the formats that only browsers show.
func accept(k Kind) string {
	switch k {
	case identity.Navigate, identity.Iframe, identity.Form:
		return "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	case identity.Style:
		return "text/css,*/*;q=0.1"
	case identity.Image, identity.Favicon:
		return "image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5"
	}
	return "*/*"
}

// HeaderError names the part of a request that cannot be sent.
type HeaderError struct {
	Name   string // of the field, or "method", "kind", "referer policy" or "charset"
	Reason string
}

// Error returns "header NAME: reason".
func (e *HeaderError) Error() string { return fmt.Sprintf("header %q: %s", e.Name, e.Reason) }

var errNilRequest = errors.New("the request is nil")

// Check returns a *HeaderError that names what of the method, the kind, the policy, the charset and the header cannot be: what would break the
// framing of the request, or say of its body what is not so. The URL is not looked at. A Transport checks each request.
func (r *Request) Check() error {
	if !isToken(r.Method) && r.Method != "" || r.Method == http.MethodConnect {
		return &HeaderError{"method", "not a method that can be sent"}
	}
	if r.Kind > identity.Favicon {
		return &HeaderError{"kind", "none of the kinds"}
	}
	if r.RefererPolicy > OriginWhenCrossOrigin {
		return &HeaderError{"referer policy", "none of the policies"}
	}
	if r.Charset != "" && charset.Lookup(r.Charset) == "" {
		return &HeaderError{"charset", "not the label of an encoding"}
	}
	for _, name := range r.HeaderOrder {
		if !isToken(name) {
			return &HeaderError{name, "a name in the order is not a token"}
		}
	}
	lengths, hosts := 0, 0
	for name, values := range r.Header {
		if !isToken(name) {
			return &HeaderError{name, "the name is not a token"}
		}
		for _, v := range values {
			if !httpguts.ValidHeaderFieldValue(v) {
				return &HeaderError{name, "the value holds a control character"}
			}
		}
		switch {
		case len(name) == len("host") && strings.EqualFold(name, "host"):
			hosts += len(values)
			for _, v := range values {
				if v == "" || strings.ContainsAny(v, " \t/\\?#@") {
					return &HeaderError{name, "not a host"}
				}
			}
		case len(name) == len("content-length") && strings.EqualFold(name, "content-length"):
			lengths += len(values)
			if len(values) > 0 && values[0] != strconv.Itoa(len(r.Body)) {
				return &HeaderError{name, "not the length of the body"}
			}
		case strings.EqualFold(name, "transfer-encoding"):
			return &HeaderError{name, "bodies are sent with their length"}
		}
	}
	if hosts > 1 {
		return &HeaderError{"Host", "more than one"}
	}
	if lengths > 1 {
		return &HeaderError{"Content-Length", "more than one"}
	}
	return nil
}

// isToken reports whether s is a token of RFC 9110 5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`()<>@,;:\"/[]?={}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

// fields writes the header of a hop: in the order that the request gives, or else the Transport's own fields before the
// others.
type fields struct {
	f   *flight
	out []h1.Field
}

// ownNames are the fields that the Transport adds by itself, in their order where the request gives none.
var ownNames = [...]string{"Host", "Connection", "User-Agent", "Accept", "Accept-Encoding", "Authorization", "Content-Length", "Referer", "Cookie"}

const (
	refererIndex = len(ownNames) - 2
	cookieIndex  = len(ownNames) - 1
)

// appendFields appends the fields of the hop, Host and Content-Length included.
func (f *flight) appendFields(out []h1.Field) []h1.Field {
	w := fields{f: f, out: out}
	if len(f.req.HeaderOrder) == 0 {
		for i := range ownNames {
			w.own(i, ownNames[i])
		}
		w.others()
		return w.out
	}
	if !listed(f.req.HeaderOrder, "Host") {
		w.own(0, "Host")
	}
	for i, name := range f.req.HeaderOrder {
		if listed(f.req.HeaderOrder[:i], name) {
			continue
		}
		if own := ownIndex(name); own >= 0 {
			w.own(own, name)
		} else {
			w.given(name, name)
		}
	}
	w.rest()
	return w.out
}

func ownIndex(name string) int {
	return slices.IndexFunc(ownNames[:], func(own string) bool { return len(own) == len(name) && strings.EqualFold(own, name) })
}

func listed(order []string, name string) bool {
	return slices.ContainsFunc(order, func(s string) bool { return len(s) == len(name) && strings.EqualFold(s, name) })
}

// own writes one of the Transport's own fields, or what the request gives in its place.
func (w *fields) own(i int, as string) {
	switch i {
	case refererIndex:
		w.refererField(as)
		return
	case cookieIndex:
		w.cookieField(as)
		return
	}
	if w.given(ownNames[i], as) {
		return
	}
	f, v := w.f, ""
	switch i {
	case 0:
		v = f.url.Host()
	case 1:
		v = "keep-alive"
	case 2:
		v = f.userAgent
	case 3:
		v = accept(f.req.Kind)
	case 4:
		v = acceptEncoding
	case 5:
		v = f.basic
	case 6:
		if f.body != nil || f.method == "POST" || f.method == "PUT" || f.method == "PATCH" {
			v = strconv.Itoa(len(f.body))
		}
	}
	if v != "" {
		w.add(as, v)
	}
}

func (w *fields) add(name, value string) { w.out = append(w.out, h1.Field{Name: name, Value: value}) }

// given writes the fields of the request with a name, whatever their case, and reports whether there are any. as is the
// spelling where the request orders one; where it does not, that of the request is kept.
func (w *fields) given(name, as string) bool {
	r := w.f.req
	if len(r.Header) == 0 {
		return false
	}
	var few [2]string
	keys := few[:0]
	for key := range r.Header {
		if len(key) == len(name) && strings.EqualFold(key, name) && !w.f.left(key) {
			keys = append(keys, key)
		}
	}
	if len(keys) > 1 {
		slices.Sort(keys)
	}
	for _, key := range keys {
		if len(r.HeaderOrder) == 0 {
			as = key
		}
		for _, v := range r.Header[key] {
			w.out = append(w.out, h1.Field{Name: as, Value: v})
		}
	}
	return len(keys) > 0
}

// others writes the fields of the request that are none of the Transport's own, in alphabetical order.
func (w *fields) others() {
	var few [16]string
	names := few[:0]
	for key := range w.f.req.Header {
		if ownIndex(key) < 0 && !listed(w.f.req.HeaderOrder, key) && !w.f.left(key) {
			names = append(names, key)
		}
	}
	slices.SortFunc(names, compareFold)
	for _, name := range names {
		for _, v := range w.f.req.Header[name] {
			w.out = append(w.out, h1.Field{Name: name, Value: v})
		}
	}
}

// rest writes in alphabetical order all that the order does not list.
func (w *fields) rest() {
	from := len(w.out)
	for i, name := range ownNames {
		if i > 0 && !listed(w.f.req.HeaderOrder, name) {
			w.own(i, name)
		}
	}
	w.others()
	slices.SortStableFunc(w.out[from:], func(a, b h1.Field) int { return compareFold(a.Name, b.Name) })
}

// compareFold orders names without regard to case, and equal ones by it.
func compareFold(a, b string) int {
	for i := range min(len(a), len(b)) {
		if c := int(lower(a[i])) - int(lower(b[i])); c != 0 {
			return c
		}
	}
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// left reports whether a field of the request stays behind on this hop.
func (f *flight) left(name string) bool {
	if f.foreign && f.t.IsSecret(name) || f.otherHost && strings.EqualFold(name, "host") {
		return true
	}
	return f.withoutBody && len(name) > 8 && strings.EqualFold(name[:8], "content-")
}

// IsSecret reports whether a header field, by its name in any case, must not reach another origin.
func (t *Transport) IsSecret(name string) bool {
	return strings.EqualFold(name, "authorization") || strings.EqualFold(name, "cookie") ||
		strings.EqualFold(name, "proxy-authorization") || listed(t.SecretHeaders, name)
}

// basicAuth returns the Authorization of a URL's user info, "" without one.
func basicAuth(user, password string) string {
	if user == "" && password == "" {
		return ""
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(percentDecode(user)+":"+percentDecode(password)))
}

func percentDecode(s string) string {
	if t, err := url.PathUnescape(s); err == nil {
		return t
	}
	return s
}
