package cookie

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

var errNilCookieJar = errors.New("seine: cookie: the http.CookieJar is nil")

// HTTP returns the jar as net/http knows jars. An http.Client loses what http.Cookie cannot carry: values that hold other
// characters than ASCII are sent without them, and names that are no tokens not at all.
func (j *Jar) HTTP() http.CookieJar { return httpJar{j} }

type httpJar struct{ jar *Jar }

// SetCookies implements http.CookieJar. The lines as they came are used where they are there.
func (h httpJar) SetCookies(u *url.URL, cookies []*http.Cookie) {
	if u == nil {
		return
	}
	lines := make([]string, 0, len(cookies))
	for _, c := range cookies {
		switch {
		case c == nil:
		case c.Raw != "":
			lines = append(lines, c.Raw)
		default:
			lines = append(lines, setCookieLine(c))
		}
	}
	h.jar.Set(Exchange{URL: u.String()}, lines...)
}

// setCookieLine writes the line of a cookie that somebody has made, whatever its value holds.
func setCookieLine(c *http.Cookie) string {
	var b strings.Builder
	b.WriteString(c.Name + "=" + quoted(c))
	attribute := func(name, value string, given bool) {
		if given {
			b.WriteString("; " + name)
		}
		if given && value != "" {
			b.WriteString("=" + value)
		}
	}
	attribute("Path", c.Path, c.Path != "")
	attribute("Domain", c.Domain, c.Domain != "")
	attribute("Expires", c.Expires.UTC().Format(http.TimeFormat), !c.Expires.IsZero())
	attribute("Max-Age", strconv.Itoa(c.MaxAge), c.MaxAge != 0)
	attribute("Secure", "", c.Secure)
	attribute("HttpOnly", "", c.HttpOnly)
	attribute("Partitioned", "", c.Partitioned)
	attribute("SameSite", map[http.SameSite]string{
		http.SameSiteLaxMode: "Lax", http.SameSiteStrictMode: "Strict", http.SameSiteNoneMode: "None",
	}[c.SameSite], c.SameSite > http.SameSiteDefaultMode)
	return b.String()
}

func quoted(c *http.Cookie) string {
	if c.Quoted {
		return `"` + c.Value + `"`
	}
	return c.Value
}

// Cookies implements http.CookieJar.
func (h httpJar) Cookies(u *url.URL) []*http.Cookie {
	if u == nil {
		return nil
	}
	var cookies []*http.Cookie
	for _, c := range h.jar.Cookies(Exchange{URL: u.String()}) {
		out := &http.Cookie{Name: c.Name, Value: c.Value}
		if n := len(c.Value); n > 1 && c.Value[0] == '"' && c.Value[n-1] == '"' {
			out.Value, out.Quoted = c.Value[1:n-1], true
		}
		cookies = append(cookies, out)
	}
	return cookies
}

// Import adds the cookies that an http.CookieJar has for the given URLs. It tells names and values alone: each cookie is
// kept for the host of its URL and all its paths, for https alone where the URL is, until the session ends.
func (j *Jar) Import(from http.CookieJar, urls ...string) error {
	if from == nil {
		return errNilCookieJar
	}
	for _, raw := range urls {
		u, err := url.Parse(raw)
		if err != nil {
			return &Error{Err: errURL}
		}
		p, err := Exchange{URL: raw}.place()
		if err != nil {
			return &Error{Err: err}
		}
		for _, c := range from.Cookies(u) {
			err := j.Add(Cookie{Name: c.Name, Value: quoted(c), Domain: p.host, HostOnly: true, Path: "/", Secure: p.secure})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
