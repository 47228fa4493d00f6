package demosite_test

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/transform"

	"github.com/seine-go/seine/crawler/crawltest/demosite"
)

// spider is a crawl in its plainest form, breadth first, one request after the other: what Pages is compared with.
type spider struct {
	t        *testing.T
	client   *http.Client
	hosts    map[string]bool // names in scope
	allKinds bool            // follows frames, areas, link elements, refreshes and images, too
	rules    map[string]*rules
	seen     map[string]bool
	queue    []string
	fetched  map[string]visit
	refused  map[string]bool // linked, and not fetched
}

type visit struct {
	status   int
	title    string
	location string
}

func crawl(t *testing.T, site *demosite.Site, allKinds bool, hosts ...demosite.Host) *spider {
	s := &spider{
		t: t, allKinds: allKinds, hosts: map[string]bool{}, rules: map[string]*rules{}, seen: map[string]bool{},
		fetched: map[string]visit{}, refused: map[string]bool{},
		client: &http.Client{
			Transport:     &http.Transport{},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	t.Cleanup(s.client.CloseIdleConnections)
	for _, h := range append(hosts, demosite.Catalogue) {
		s.hosts[site.Name(h)] = true
	}
	for s.add(site.URL(), false); len(s.queue) > 0; {
		next := s.queue[0]
		s.queue = s.queue[1:]
		s.visit(next)
	}
	return s
}

// add queues a URL, or notes that it must not be fetched.
func (s *spider) add(ref string, nofollow bool) {
	u, err := url.Parse(ref)
	if err != nil {
		s.t.Errorf("link %q: %v", ref, err)
		return
	}
	u.Fragment = ""
	if u.Scheme != "http" || !s.hosts[u.Host] {
		return
	}
	key := u.String()
	switch {
	case nofollow || !s.allowed(u):
		s.refused[key] = true
	case !s.seen[key]:
		s.seen[key] = true
		s.queue = append(s.queue, key)
	}
}

func (s *spider) get(u string) (*http.Response, []byte) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, u, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("User-Agent", "plain-spider/1.0")
	resp, err := s.client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		s.t.Fatalf("%s: %v", u, err)
	}
	return resp, body
}

func (s *spider) visit(u string) {
	resp, body := s.get(u)
	v := visit{status: resp.StatusCode}
	if to := resp.Header.Get("Location"); to != "" {
		target, err := resp.Request.URL.Parse(to)
		if err != nil {
			s.t.Fatalf("%s: %v", u, err)
		}
		target.Fragment = ""
		v.location = target.String()
		s.add(v.location, false)
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") && len(body) > 0 {
		doc, err := html.Parse(bytes.NewReader(decoded(s.t, u, body)))
		if err != nil {
			s.t.Fatalf("%s: %v", u, err)
		}
		quiet := false
		for _, tag := range resp.Header.Values("X-Robots-Tag") {
			quiet = quiet || tag == "nofollow" || tag == "none"
		}
		v.title = s.scan(doc, resp.Request.URL, quiet)
	}
	s.fetched[u] = v
}

// decoded turns the pages in other charsets into UTF-8.
func decoded(t *testing.T, u string, body []byte) []byte {
	t.Helper()
	var e encoding.Encoding
	switch {
	case strings.Contains(u, "/charset/gbk/"):
		e = simplifiedchinese.GBK
	case strings.Contains(u, "/charset/windows-1251/"):
		e = charmap.Windows1251
	default:
		return body
	}
	b, _, err := transform.Bytes(e.NewDecoder(), body)
	if err != nil {
		t.Fatalf("%s: %v", u, err)
	}
	return b
}

// scan adds the links of a page and returns its title.
func (s *spider) scan(doc *html.Node, base *url.URL, quiet bool) (title string) {
	type link struct {
		ref      string
		nofollow bool
	}
	var links []link
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "title":
			title = n.FirstChild.Data
		case "base":
			base, _ = base.Parse(attr(n, "href"))
		case "meta":
			content := attr(n, "content")
			switch {
			case attr(n, "name") == "robots":
				quiet = quiet || content == "nofollow" || content == "none"
			case attr(n, "http-equiv") == "refresh" && s.allKinds:
				_, to, _ := strings.Cut(content, "url=")
				links = append(links, link{to, false})
			}
		case "a":
			if has(n, "href") {
				rel := strings.Fields(strings.ToLower(attr(n, "rel")))
				links = append(links, link{attr(n, "href"), slices.Contains(rel, "nofollow")})
			}
		case "area", "link":
			if s.allKinds {
				links = append(links, link{attr(n, "href"), false})
			}
		case "iframe", "img":
			if s.allKinds {
				links = append(links, link{attr(n, "src"), false})
			}
		}
	}
	for _, l := range links {
		if to, err := base.Parse(browserLike(l.ref, base)); err != nil {
			s.t.Errorf("%s: link %q: %v", base, l.ref, err)
		} else {
			s.add(to.String(), l.nofollow || quiet)
		}
	}
	return title
}

// browserLike does to a reference what browsers do (WHATWG URL, 4.4) and net/url does not.
func browserLike(ref string, base *url.URL) string {
	ref = strings.Trim(ref, " \t\r\n")
	ref = strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(ref)
	if i := strings.IndexAny(ref, ":?#"); i < 0 || ref[i] != ':' {
		ref = strings.ReplaceAll(ref, `\`, "/")
	}
	if rest, ok := strings.CutPrefix(ref, base.Scheme+":"); ok && !strings.HasPrefix(rest, "//") {
		return rest
	}
	return ref
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

// rules are those of robots.txt for "*".
type rules struct {
	lines []rule
}

type rule struct {
	allow bool
	size  int
	path  *regexp.Regexp
}

func (s *spider) allowed(u *url.URL) bool {
	r := s.rules[u.Host]
	if r == nil {
		r = &rules{}
		s.rules[u.Host] = r
		resp, body := s.get("http://" + u.Host + "/robots.txt")
		if to := resp.Header.Get("Location"); to != "" {
			next, _ := resp.Request.URL.Parse(to)
			resp, body = s.get(next.String())
		}
		if resp.StatusCode == http.StatusOK {
			r.read(string(body))
		}
	}
	allow, size := true, -1
	for _, line := range r.lines {
		if line.path.MatchString(u.RequestURI()) && (line.size > size || line.size == size && line.allow) {
			allow, size = line.allow, line.size
		}
	}
	return allow
}

func (r *rules) read(text string) {
	mine := false
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "User-agent":
			mine = value == "*"
		case "Allow", "Disallow":
			if mine {
				pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(value), `\*`, ".*")
				r.lines = append(r.lines, rule{key == "Allow", len(value), regexp.MustCompile(pattern)})
			}
		}
	}
}

// TestPagesAreWhatAPlainCrawlFinds: neither is made from the other.
func TestPagesAreWhatAPlainCrawlFinds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		opts     demosite.Options
		allKinds bool
		hosts    []demosite.Host
	}{
		{name: "catalogue", opts: demosite.Options{Slow: -1, Films: 20}},
		{name: "catalogue, all kinds of links", opts: demosite.Options{Slow: -1, Seed: 2, Films: 20}, allKinds: true},
		{name: "with people", opts: demosite.Options{Slow: -1, Seed: 3, Films: 13}, hosts: []demosite.Host{demosite.People}},
		{name: "with mirror", opts: demosite.Options{Slow: -1, Seed: 4, Films: 25}, hosts: []demosite.Host{demosite.Mirror}},
		{name: "everything", opts: demosite.Options{Slow: -1, Seed: 5}, hosts: demosite.Hosts()},
		{name: "everything, all kinds of links", opts: demosite.Options{Slow: -1, Seed: 6, Films: 14}, allKinds: true, hosts: demosite.Hosts()},
		{name: "one film", opts: demosite.Options{Slow: -1, Seed: 7, Films: 1, PerPage: 1}, hosts: demosite.Hosts()},
		{name: "exactly a page", opts: demosite.Options{Slow: -1, Seed: 8, Films: 12, PerPage: 12}, hosts: demosite.Hosts()},
		{name: "one film a page", opts: demosite.Options{Slow: -1, Seed: 9, Films: 7, PerPage: 1}, hosts: demosite.Hosts()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			site := start(t, tt.opts)
			s := crawl(t, site, tt.allKinds, tt.hosts...)
			listed := map[string]bool{}
			for _, p := range site.Pages(tt.hosts...) {
				if listed[p.URL] {
					t.Errorf("%s is listed twice", p.URL)
				}
				listed[p.URL] = true
				s.compare(p)
			}
			for u := range s.fetched {
				if !listed[u] {
					t.Errorf("%s was found and is not listed", u)
				}
			}
			for u := range s.refused {
				if !listed[u] {
					t.Errorf("%s was refused and is not listed", u)
				}
			}
			for _, f := range site.Check(tt.hosts...) {
				t.Errorf("check: %v", f)
			}
		})
	}
}

// compare holds what the crawl met against what the site tells of a page.
func (s *spider) compare(p demosite.Page) {
	got, fetched := s.fetched[p.URL]
	switch p.Expect {
	case demosite.Never:
		if fetched || !s.refused[p.URL] {
			s.t.Errorf("%s: fetched %v, refused %v; should be refused: %s", p.URL, fetched, s.refused[p.URL], p.Why)
		}
	case demosite.SitemapOnly, demosite.Auxiliary:
		if fetched {
			s.t.Errorf("%s: linked, though %v", p.URL, p.Expect)
		}
	default:
		if !fetched {
			s.t.Errorf("%s: not found, though %v", p.URL, p.Expect)
			return
		}
		if p.Expect == demosite.AtLeastOnce && p.Status == http.StatusOK {
			if got.status == http.StatusOK {
				s.t.Errorf("%s: was well at once", p.URL)
			}
			return
		}
		if want := (visit{p.Status, p.Title, p.Location}); got != want {
			s.t.Errorf("%s: got %+v, want %+v", p.URL, got, want)
		}
		if p.Expect == demosite.Duplicate && s.fetched[p.Canonical].title != got.title {
			s.t.Errorf("%s: title %q, but %q at %s", p.URL, got.title, s.fetched[p.Canonical].title, p.Canonical)
		}
	}
}

// TestCheckFindsWhatCrawlersDoWrong plants faults after a clean crawl.
func TestCheckFindsWhatCrawlersDoWrong(t *testing.T) {
	t.Parallel()
	site := start(t, demosite.Options{Films: 6, Slow: -1, Trap: true})
	if got := len(site.Check()); got < 30 {
		t.Errorf("before any request: %d faults, want one for each page", got)
	}
	get := func(h demosite.Host, path string) {
		resp, err := http.Get(strings.TrimSuffix(site.HostURL(h), "/") + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	for _, p := range site.Pages() {
		if p.Expect == demosite.Once || p.Expect == demosite.AtLeastOnce {
			site.Handler().ServeHTTP(discard{http.Header{}}, mustRequest(t, p.URL))
		}
	}
	if faults := site.Check(); len(faults) > 0 {
		t.Fatalf("clean crawl: %v", faults)
	}
	get(demosite.Catalogue, "/calendar/2031/5") // no fault where the trap is set
	get(demosite.People, "/robots.txt")         // nor this anywhere
	get(demosite.Catalogue, "/film/1")
	get(demosite.Catalogue, "/private/")
	get(demosite.Catalogue, "/nofollow/link")
	get(demosite.Catalogue, "/no-link/comment")
	get(demosite.People, "/person/1")
	var got []string
	for _, f := range site.Check() {
		u, err := url.Parse(f.URL)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, u.Path+": "+f.Problem)
	}
	want := []string{
		"/film/1: fetched more than once",
		"/nofollow/link: every link to it says nofollow",
		"/private/: robots.txt disallows /private/",
		"/no-link/comment: not a page that is linked",
		"/person/1: outside the hosts of the crawl",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got faults\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	site.Reset()
	if got := site.Stats().Requests; got != 0 {
		t.Errorf("after Reset: %d requests", got)
	}
}

func mustRequest(t *testing.T, u string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, u, nil)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// discard is a ResponseWriter that can nothing but take an answer.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}

func start(t *testing.T, opts demosite.Options) *demosite.Site {
	t.Helper()
	site := demosite.New(opts)
	if err := site.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := site.Close(); err != nil {
			t.Error(err)
		}
	})
	return site
}
