package crawler

import (
	"net"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/seine-go/seine/internal/weburl"
)

// Scope says what belongs to a crawl. A URL is in scope if it is within the hosts, domains or prefixes, nothing of
// Exclude holds it, and Func, where there is one, says so too. The zero value stands for the hosts of the seeds.
type Scope struct {
	Hosts    []string // "films.example" on its default port, "films.example:8080", "*" for any; compared as a whole
	Domains  []string // "films.example" holds itself and "www.films.example", on any port, but not "myfilms.example"
	Prefixes []string // "https://films.example/title/": of the URL, byte by byte
	Exclude  []string // prefixes of URLs, or "/path" of any host

	Func func(url string) bool
}

func (s Scope) isZero() bool {
	return len(s.Hosts)+len(s.Domains)+len(s.Prefixes) == 0
}

// check refuses what can never match.
func (s Scope) check() error {
	for _, h := range s.Hosts {
		if h == "*" {
			continue
		}
		u, err := weburl.Parse("http://" + h)
		v, err2 := weburl.Parse("https://" + h)
		if err != nil || err2 != nil || strings.ContainsAny(h, "/?#@") {
			return &ConfigError{Field: "Scope.Hosts", Reason: quoted(h) + " is no host"}
		}
		if u.Host() != h && v.Host() != h {
			return &ConfigError{Field: "Scope.Hosts", Reason: quoted(h) + " is never met: write " + quoted(u.Host())}
		}
	}
	for _, d := range s.Domains {
		if _, err := weburl.Parse("http://" + d); err != nil || d != strings.ToLower(d) || strings.ContainsAny(d, ":/?#@") || strings.HasPrefix(d, ".") {
			return &ConfigError{Field: "Scope.Domains", Reason: quoted(d) + " is no domain"}
		}
		if suffix, icann := publicsuffix.PublicSuffix(d); icann && suffix == d {
			return &ConfigError{Field: "Scope.Domains", Reason: quoted(d) + " is a public suffix, under which anybody has a site"}
		}
	}
	for _, p := range s.Prefixes {
		if u, err := weburl.Parse(p); err != nil || !u.IsHTTP() || u.Href() != p {
			return &ConfigError{Field: "Scope.Prefixes", Reason: quoted(p) + " is no beginning of an http or https URL as it is serialised"}
		}
	}
	for _, p := range s.Exclude {
		if u, err := weburl.Parse(p); !strings.HasPrefix(p, "/") && (err != nil || !u.IsHTTP()) {
			return &ConfigError{Field: "Scope.Exclude", Reason: quoted(p) + " is neither a URL nor a path"}
		}
	}
	return nil
}

// holds reports whether a URL, as it is serialised, is in scope.
func (s *Scope) holds(href string) bool {
	u, ok := weburl.Split(href)
	return ok && s.holdsURL(u)
}

func (s *Scope) holdsURL(u weburl.URL) bool {
	href := u.Href()
	if !u.IsHTTP() || !s.within(u, href) {
		return false
	}
	for _, p := range s.Exclude {
		if strings.HasPrefix(href, p) || p[0] == '/' && strings.HasPrefix(u.Path(), p) {
			return false
		}
	}
	return s.Func == nil || s.Func(href)
}

func (s *Scope) within(u weburl.URL, href string) bool {
	host := u.Host()
	for _, h := range s.Hosts {
		if h == host || h == "*" {
			return true
		}
	}
	if len(s.Domains) > 0 {
		name := u.Hostname()
		for _, d := range s.Domains {
			if name == d || strings.HasSuffix(name, d) && name[len(name)-len(d)-1] == '.' && net.ParseIP(name) == nil {
				return true
			}
		}
	}
	return slices.ContainsFunc(s.Prefixes, func(p string) bool { return strings.HasPrefix(href, p) })
}

func quoted(s string) string { return `"` + s + `"` }
