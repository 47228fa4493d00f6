package fetch

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/seine-go/seine/fetch/internal/h1"
)

var errProxyAuth = errors.New("the proxy wants other credentials (407)")

// forwarded reports whether the hop is sent to its proxy as a request with the whole URL (RFC 9112 3.2.2), and not through a
// tunnel: plain HTTP, unless it is to be brought to another host than that of the URL, which the proxy would not know of.
func (f *flight) forwarded() bool {
	return f.url.Scheme() == "http" && f.route.ServerName.Dial == "" && f.route.Proxy.Forwards()
}

// guardForwarded asks the Guard about the host of a hop that is forwarded: a connection to the proxy serves them all.
func (f *flight) guardForwarded() *Error {
	if !f.forwarded() {
		return nil
	}
	host, _ := f.dialHost()
	return f.t.guardLiteral(host)
}

// forward makes a request over HTTP/1 one for the proxy. Its credentials, which count for more than those of the request, are
// the last field, and no part of what is told as sent.
func (f *flight) forward(r *h1.Request) (told []h1.Field) {
	r.Target = "http://" + f.url.Host() + r.Target
	value := f.route.Proxy.Authorization()
	if value == "" {
		return r.Header
	}
	r.Header = slices.DeleteFunc(r.Header, func(field h1.Field) bool { return strings.EqualFold(field.Name, "proxy-authorization") })
	told = r.Header
	r.Header = append(r.Header, h1.Field{Name: "Proxy-Authorization", Value: value})
	return told
}

// refusedByProxy is the error of an answer that says that the proxy forwards nothing without other credentials.
func (f *flight) refusedByProxy(status int) *Error {
	if status != http.StatusProxyAuthRequired || !f.forwarded() {
		return nil
	}
	return &Error{Op: "proxy", Kind: ErrProxy, Final: true, Err: errProxyAuth}
}
