// Package proxy leads connections through other hosts.
//
//	route, err := proxy.Parse("http://user:secret@127.0.0.1:3128")
package proxy

// Route is a chain of proxies. The zero value is a direct connection.
type Route struct{ key string }

// IsZero reports whether the route is a direct connection.
func (r Route) IsZero() bool { return r.key == "" }
