// Package proxy leads connections through other hosts.
//
//	route, err := proxy.Parse("http://user:secret@127.0.0.1:3128")
package proxy
