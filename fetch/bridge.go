package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/seine-go/seine/internal/weburl"
)

// MaxBridgeBody bounds the body of a request that RoundTripper takes, in bytes.
const MaxBridgeBody = 64 << 20

var (
	errRoute      = errors.New("an http.RoundTripper cannot lead a request over a Route; set proxies and names up in the RoundTripper itself")
	errBridgeBody = fmt.Errorf("the body has more than %d bytes", MaxBridgeBody)

	errNilRoundTripper = errors.New("the http.RoundTripper is nil")
	errNilFetcher      = errors.New("the Fetcher is nil")
	errNilURL          = errors.New("the http.Request is nil or has no URL")
	errNoResponse      = errors.New("the http.RoundTripper returned no error, and no response or one without a body")
	errNothing         = errors.New("the Fetcher returned neither a response nor an error")
)

// FromRoundTripper makes a Fetcher of a RoundTripper. It has one exchange for each request: redirects are followed as far
// as rt itself follows them, and else delivered. Where rt has come to, the Request of its http.Response tells, and which
// way, the Response in that, as http.Client has it; an rt that asks elsewhere than it is told, and wants the answer to be
// that of the URL it was told, sets Request to the one that it was given. The body is bounded by Request.MaxBody, for which zero is DefaultMaxBody,
// and decoded where rt has left it coded. HeaderOrder cannot be kept, nor is the address guard there, unless rt has its own. A request with
// a Proxy or a ServerName in its Route is refused: the way is rt's.
func FromRoundTripper(rt http.RoundTripper) Fetcher { return roundTripFetcher{rt} }

type roundTripFetcher struct{ rt http.RoundTripper }

// Fetch gets the answer to a request.
func (r roundTripFetcher) Fetch(ctx context.Context, req *Request) (*Response, error) {
	switch {
	case req == nil:
		return nil, &Error{Op: "check", Kind: ErrInvalid, Err: errNilRequest}
	case r.rt == nil:
		return nil, &Error{Op: "check", URL: req.URL, Kind: ErrInvalid, Err: errNilRoundTripper}
	}
	u, hr, err := httpRequest(ctx, req)
	if err != nil {
		return nil, &Error{Op: "check", URL: req.URL, Kind: ErrInvalid, Err: err}
	}
	resp, err := r.rt.RoundTrip(hr)
	switch {
	case err != nil:
		if resp != nil && resp.Body != nil { // against the rules, but seen
			resp.Body.Close()
		}
		return nil, bridgeError(ctx, req.URL, err)
	case resp == nil || resp.Body == nil:
		return nil, &Error{Op: "round trip", URL: req.URL, Kind: ErrProtocol, Err: errNoResponse}
	}
	defer resp.Body.Close()
	at, hops, err := followed(u, hr, resp)
	if err != nil {
		return nil, &Error{Op: "redirect", URL: req.URL, Kind: ErrProtocol, Redirects: hops, Err: err}
	}
	out := &Response{
		Request: req, URL: at.Href(), Redirects: hops,
		Status: resp.StatusCode, Proto: resp.Proto, Header: resp.Header, FetchedAt: time.Now(),
		charsets: new(charsetMemo),
	}
	size := resp.ContentLength
	if hr.Method == http.MethodHead || resp.StatusCode == http.StatusNotModified {
		size = 0
	}
	res := readBody(resp.Body, bodyInfo{
		size: size, header: bodyHeader(resp), path: at.Path(), limit: orDefault(req.MaxBody, DefaultMaxBody), packed: req.KeepPacked, sink: sinkOf(req, out),
	})
	switch {
	case (res.fatal != nil || res.wireErr != nil) && ctx.Err() != nil:
		return nil, bridgeError(ctx, req.URL, ctx.Err())
	case res.fatal != nil:
		res.fatal.URL, res.fatal.Redirects = out.URL, hops
		return nil, res.fatal
	case res.cut != nil:
		res.cut.URL, res.cut.Redirects = out.URL, hops
		out.Truncated, out.bodyErr = true, res.cut
	}
	out.Body, out.sunk, out.RawSize = res.data, res.sunk, res.rawSize
	if len(resp.Trailer) > 0 {
		out.Trailer = resp.Trailer
	}
	return out, nil
}

// bodyHeader returns the header that says how the body is coded.
func bodyHeader(resp *http.Response) http.Header {
	if !resp.Uncompressed || resp.Header["Content-Encoding"] == nil {
		return resp.Header
	}
	h := resp.Header.Clone()
	h.Del("Content-Encoding")
	return h
}

// httpRequest returns the URL of a request, and the request as the standard library knows it. What of the URL net/url would write otherwise goes as it stands.
func httpRequest(ctx context.Context, req *Request) (u weburl.URL, hr *http.Request, err error) {
	if !req.Route.Proxy.IsZero() || !req.Route.ServerName.isZero() {
		return u, nil, errRoute
	}
	if u, err = weburl.Parse(req.URL); err != nil {
		return u, nil, err
	}
	if !u.IsHTTP() {
		return u, nil, errScheme
	}
	if err := req.Check(); err != nil {
		return u, nil, err
	}
	hr = &http.Request{
		Method: req.Method, Host: u.Host(), Header: req.Header.Clone(),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if hr.Method == "" {
		hr.Method = http.MethodGet
	}
	if hr.Header == nil {
		hr.Header = make(http.Header, 1)
	}
	hr.URL, err = url.Parse(u.WithoutFragment().WithoutUserInfo().Href())
	if err != nil || hr.URL.RequestURI() != u.RequestTarget() {
		hr.URL = &url.URL{Scheme: u.Scheme(), Host: u.Host(), Opaque: u.RequestTarget()}
		if strings.HasPrefix(hr.URL.Opaque, "//") {
			hr.URL.Opaque = "//" + u.Host() + hr.URL.Opaque
		}
	}
	for name, values := range req.Header {
		if strings.EqualFold(name, "host") {
			delete(hr.Header, name)
			if len(values) > 0 {
				hr.Host = values[0]
			}
		}
	}
	if _, there := headerValues(req.Header, "Referer"); !there {
		if value := req.RefererPolicy.Referer(req.Initiator, req.URL); value != "" {
			hr.Header.Set("Referer", value)
		}
	}
	if auth := basicAuth(u.Username(), u.Password()); auth != "" && hr.Header.Get("Authorization") == "" {
		hr.Header.Set("Authorization", auth)
	}
	if len(req.Body) > 0 {
		hr.ContentLength = int64(len(req.Body))
		hr.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(req.Body)), nil }
		hr.Body, _ = hr.GetBody()
	}
	return u, hr.WithContext(ctx), nil
}

func bridgeError(ctx context.Context, url string, err error) *Error {
	var known *Error
	var timeout interface{ Timeout() bool }
	switch {
	case ctx.Err() != nil:
		e := contextError(ctx, "round trip")
		e.URL = url
		return e
	case errors.As(err, &known):
		return &Error{Op: "round trip", URL: url, Kind: known.Kind, Final: known.Final, Err: err}
	case errors.As(err, &timeout) && timeout.Timeout():
		return &Error{Op: "round trip", URL: url, Kind: ErrTimeout, Err: err}
	case isNotFound(err):
		return &Error{Op: "round trip", URL: url, Kind: ErrDNS, Final: true, Err: err}
	case isCertificateFault(err):
		return &Error{Op: "round trip", URL: url, Kind: ErrTLS, Final: true, Err: err}
	}
	kind := ErrClosed
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		kind = ErrConnect
	}
	return &Error{Op: "round trip", URL: url, Kind: kind, Err: err}
}

// RoundTripper makes a RoundTripper of a Fetcher, for http.Client and for httputil.ReverseProxy. Redirects are left to whoever uses it. The
// body has been read when RoundTrip returns and is decoded: the response has no Content-Encoding then, and says
// Uncompressed. Of a body that was cut the last Read returns the reason. Response.TLS is nil, of https too: what is known of the
// handshake stands in the Trace of the Fetcher's own Response.
func RoundTripper(f Fetcher) http.RoundTripper { return fetcherTripper{f} }

type fetcherTripper struct{ f Fetcher }

// CloseIdleConnections passes on to a Fetcher that has the method, as http.Client expects it.
func (t fetcherTripper) CloseIdleConnections() {
	if c, ok := t.f.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// RoundTrip has one exchange.
func (t fetcherTripper) RoundTrip(hr *http.Request) (*http.Response, error) {
	if hr == nil || hr.URL == nil {
		if hr != nil && hr.Body != nil {
			hr.Body.Close()
		}
		return nil, &Error{Op: "check", Kind: ErrInvalid, Err: errNilURL}
	}
	req, err := fetchRequest(hr)
	if err != nil {
		return nil, err
	}
	if t.f == nil {
		return nil, &Error{Op: "check", URL: req.URL, Kind: ErrInvalid, Err: errNilFetcher}
	}
	resp, err := t.f.Fetch(hr.Context(), req)
	switch {
	case err != nil:
		return nil, err
	case resp == nil:
		return nil, &Error{Op: "round trip", URL: req.URL, Kind: ErrInvalid, Err: errNothing}
	}
	return httpResponse(hr, resp), nil
}

// httpResponse returns a response as the standard library knows it.
func httpResponse(hr *http.Request, resp *Response) *http.Response {
	out := &http.Response{
		Status: statusText(resp.Status), StatusCode: resp.Status, Proto: resp.Proto, Header: resp.Header.Clone(), Trailer: resp.Trailer,
		ContentLength: int64(len(resp.Body)), Body: io.NopCloser(bytes.NewReader(resp.Body)), Request: hr,
	}
	if out.Header == nil {
		out.Header = http.Header{}
	}
	out.ProtoMajor, out.ProtoMinor, _ = http.ParseHTTPVersion(resp.Proto)
	if hr.Method == http.MethodHead {
		out.ContentLength = -1
		if n, err := strconv.ParseInt(out.Header.Get("Content-Length"), 10, 64); err == nil && n >= 0 {
			out.ContentLength = n
		}
		return out
	}
	if out.Header["Content-Encoding"] != nil {
		out.Uncompressed = true
		out.Header.Del("Content-Encoding")
	}
	out.Header.Del("Transfer-Encoding")
	if out.Header.Get("Content-Length") != "" && resp.Status != http.StatusNotModified {
		out.Header.Set("Content-Length", strconv.Itoa(len(resp.Body)))
	}
	if why := resp.BodyErr(); why != nil || resp.Truncated {
		if why == nil {
			why = io.ErrUnexpectedEOF
		}
		out.ContentLength = -1
		out.Header.Del("Content-Length")
		out.Body = io.NopCloser(io.MultiReader(bytes.NewReader(resp.Body), failing{why}))
	}
	return out
}

// failing is a reader that has nothing but an error.
type failing struct{ err error }

// Read returns the error.
func (f failing) Read([]byte) (int, error) { return 0, f.err }

func statusText(code int) string {
	return strings.TrimSpace(strconv.Itoa(code) + " " + http.StatusText(code))
}

// fetchRequest reads the body of hr and closes it, as a RoundTripper must.
func fetchRequest(hr *http.Request) (*Request, error) {
	body, err := requestBody(hr)
	if err != nil {
		return nil, err
	}
	req := &Request{URL: hr.URL.String(), Method: hr.Method, Header: hr.Header, Body: body, MaxRedirects: -1}
	if host := hr.Host != "" && hr.Host != hr.URL.Host; host || hr.Close {
		req.Header = hr.Header.Clone()
		if req.Header == nil {
			req.Header = http.Header{}
		}
		if host {
			req.Header["Host"] = []string{hr.Host}
		}
		if hr.Close {
			req.Header["Connection"] = []string{"close"}
		}
	}
	return req, nil
}
