package crawler

import (
	"fmt"
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

	hosts map[string]struct{} // Hosts, where they are many
}

func (s Scope) isZero() bool {
	return len(s.Hosts)+len(s.Domains)+len(s.Prefixes) == 0
}

// check refuses what can never match. field is what holds the scope.
func (s Scope) check(field string) error {
	if err := checkHosts(field+".Hosts", s.Hosts); err != nil {
		return err
	}
	if err := checkDomains(field+".Domains", s.Domains); err != nil {
		return err
	}
	for _, p := range s.Prefixes {
		if u, err := weburl.Parse(p); err != nil || !u.IsHTTP() || u.HasUserInfo() || u.Href() != p {
			return &ConfigError{Field: field + ".Prefixes", Reason: quoted(weburl.Redact(p)) + " is no beginning of an http or https URL as it is serialised"}
		}
	}
	for _, p := range s.Exclude {
		if err := checkExclude(field+".Exclude", p); err != nil {
			return err
		}
	}
	return nil
}

// checkDomains refuses names of domains that are none, that no URL has, or that are anybody's.
func checkDomains(field string, domains []string) error {
	for _, d := range domains {
		u, err := weburl.Parse("http://" + d)
		if err != nil || strings.ContainsAny(d, ":/?#@") || strings.HasPrefix(d, ".") {
			return &ConfigError{Field: field, Reason: quoted(d) + " is no domain"}
		}
		if u.Hostname() != d {
			return &ConfigError{Field: field, Reason: quoted(d) + " is never met: write " + quoted(u.Hostname())}
		}
		if suffix, icann := publicsuffix.PublicSuffix(d); icann && suffix == d {
			return &ConfigError{Field: field, Reason: quoted(d) + " is a public suffix, under which anybody has a site"}
		}
	}
	return nil
}

// checkExclude refuses what no URL begins with, and no path.
func checkExclude(field, p string) error {
	if strings.HasPrefix(p, "/") {
		if u, err := weburl.Parse("http://host" + p); err != nil || !strings.HasPrefix(u.Path(), p) {
			return &ConfigError{Field: field, Reason: quoted(p) + " is no beginning of a path as it is serialised"}
		}
		return nil
	}
	u, err := weburl.Parse(p)
	if err != nil || !u.IsHTTP() {
		return &ConfigError{Field: field, Reason: quoted(weburl.Redact(p)) + " is neither a URL nor a path"}
	}
	if u.HasUserInfo() || !strings.HasPrefix(u.Href(), p) {
		return &ConfigError{Field: field, Reason: quoted(weburl.Redact(p)) + " is no beginning of a URL as it is serialised"}
	}
	return nil
}

// checkHosts refuses names of hosts that are none, and those that no URL has.
func checkHosts(field string, hosts []string) error {
	for _, h := range hosts {
		if h == "*" {
			continue
		}
		u, err := weburl.Parse("http://" + h)
		v, err2 := weburl.Parse("https://" + h)
		if err != nil || err2 != nil || strings.ContainsAny(h, "/?#@") {
			return &ConfigError{Field: field, Reason: quoted(h) + " is no host"}
		}
		if u.Host() != h && v.Host() != h {
			return &ConfigError{Field: field, Reason: quoted(h) + " is never met: write " + quoted(u.Host())}
		}
	}
	return nil
}

// checkSeed refuses a host that was meant for a seed, but lacks its port.
func (s *Scope) checkSeed(href string) error {
	u, ok := weburl.Split(href)
	if !ok || u.Host() == u.Hostname() || s.within(u, href) || !slices.Contains(s.Hosts, u.Hostname()) {
		return nil
	}
	return &ConfigError{Field: "Scope.Hosts", Reason: quoted(u.Hostname()) + " is " + quoted(u.Hostname()) + " on its default port, and not the host of the seed " +
		weburl.Redact(href) + ": write " + quoted(u.Host()) + ", or for any port name it in Scope.Domains"}
}

// indexed returns the scope with its hosts as a set, if they are many.
func (s Scope) indexed() Scope {
	const few = 8
	if len(s.Hosts) > few && !slices.Contains(s.Hosts, "*") {
		s.hosts = make(map[string]struct{}, len(s.Hosts))
		for _, h := range s.Hosts {
			s.hosts[h] = struct{}{}
		}
	}
	return s
}

// also returns the scope with what another one leaves out left out as well.
func (s Scope) also(out Scope) Scope {
	s.Exclude = slices.Concat(s.Exclude, out.Exclude)
	if f, g := s.Func, out.Func; f == nil {
		s.Func = g
	} else if g != nil {
		s.Func = func(url string) bool { return f(url) && g(url) }
	}
	return s
}

// holds reports whether a URL, as it is serialised, is in scope.
func (s *Scope) holds(href string) bool {
	u, ok := weburl.Split(href)
	return ok && s.holdsURL(u)
}

func (s *Scope) holdsURL(u weburl.URL) bool {
	href := u.Href()
	return u.IsHTTP() && s.within(u, href) && s.excludes(u, href) == "" && (s.Func == nil || s.Func(href))
}

// refuse is the error of a URL that is out of scope: it says why, and what to set.
func (s *Scope) refuse(href string) error {
	u, ok := weburl.Split(href)
	reason := ""
	switch {
	case !ok || !u.IsHTTP():
		reason = "it is neither http nor https"
	case !s.within(u, href):
		reason = "its host is to be named in Scope.Hosts as " + quoted(u.Host()) + ", or its domain in Scope.Domains"
	case s.excludes(u, href) != "":
		reason = "Scope.Exclude has " + quoted(s.excludes(u, href))
	default:
		reason = "Scope.Func says so"
	}
	return fmt.Errorf("%w: %s: %s", ErrOutOfScope, weburl.Redact(href), reason)
}

// excludes returns what of Exclude holds a URL, or "".
func (s *Scope) excludes(u weburl.URL, href string) string {
	for _, p := range s.Exclude {
		if strings.HasPrefix(href, p) || p[0] == '/' && strings.HasPrefix(u.Path(), p) {
			return p
		}
	}
	return ""
}

func (s *Scope) within(u weburl.URL, href string) bool {
	if host := u.Host(); s.hosts != nil {
		if _, there := s.hosts[host]; there {
			return true
		}
	} else if slices.Contains(s.Hosts, host) || slices.Contains(s.Hosts, "*") {
		return true
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
