package demosite

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Expect is how often a polite crawl fetches a page.
type Expect int

// What is expected of a page.
const (
	// Once: exactly once.
	Once Expect = iota
	// AtLeastOnce: how often depends on how the client retries errors and follows loops of redirects.
	AtLeastOnce
	// Never: it is linked, but robots.txt or nofollow is in the way.
	Never
	// Duplicate: at most once; it is the same as Page.Canonical, and a client that sees that need not fetch it at all.
	Duplicate
	// SitemapOnly: at most once; no page links to it.
	SitemapOnly
	// Auxiliary: as often as the client likes; a sitemap or a robots.txt.
	Auxiliary
)

// String is the name of the constant in lower case.
func (e Expect) String() string {
	names := []string{"once", "at least once", "never", "duplicate", "sitemap only", "auxiliary"}
	if e < 0 || int(e) >= len(names) {
		return fmt.Sprintf("expect(%d)", int(e))
	}
	return names[e]
}

// Page is the truth about a URL of the site.
type Page struct {
	URL       string
	Host      Host
	Expect    Expect
	Why       string // of Never and SitemapOnly
	Status    int    // of its answer; of one that gets well, the last
	Title     string // what its title element reads; empty when it has none
	Location  string // where it redirects to, as a URL without fragment
	Canonical string // of a Duplicate: the URL it should have
	NoIndex   bool   // it asks not to be kept
}

// Pages is the truth about a crawl from URL that stays within the catalogue and the hosts given, obeys robots.txt as "*",
// follows the links of HTML pages that are not nofollow (a, area, iframe, link, meta refresh: all kinds lead to the same set;
// image sources too, with Images) and no forms. It holds each URL that such a crawl meets on these hosts, in the order of Hosts and by URL, but for
// fragments, and for the calendar, which has no end.
func (s *Site) Pages(hosts ...Host) []Page {
	pagesOf := map[Host]func() []Page{
		Catalogue: s.cataloguePages, People: s.peoplePages, API: s.apiPages, Images: s.imagePages, Mirror: s.mirrorPages,
	}
	var all []Page
	for _, h := range Hosts() {
		if h != Catalogue && !slices.Contains(hosts, h) {
			continue
		}
		pages := append(pagesOf[h](), s.robotsPage(h))
		for i := range pages {
			p := &pages[i]
			p.Host, p.URL, p.Status = h, s.at(h, p.URL), cmp.Or(p.Status, http.StatusOK)
		}
		slices.SortFunc(pages, func(a, b Page) int { return strings.Compare(a.URL, b.URL) })
		all = append(all, pages...)
	}
	return all
}

// robotsPage tells of a host's robots.txt: one host has none, and one has it elsewhere.
func (s *Site) robotsPage(h Host) Page {
	p := Page{URL: "/robots.txt", Expect: Auxiliary}
	switch h {
	case Images:
		p.Status, p.Title = http.StatusNotFound, notFoundTitle
	case Mirror:
		p.Status, p.Location = http.StatusMovedPermanently, s.at(Mirror, mirrorRobots)
	}
	return p
}

// listPages are the pages of a list of n things.
func (s *Site) listPages(path, title string, n int) []Page {
	var pages []Page
	for page := 1; page <= s.pages(n); page++ {
		pages = append(pages, Page{URL: pagePath(path, page), Title: pageTitle(title, page)})
	}
	return pages
}

func (s *Site) cataloguePages() []Page {
	pages := []Page{
		{URL: "/", Title: homeTitle},
		{URL: "/genres", Title: genresTitle},
		{URL: "/years", Title: yearsTitle},
		{URL: "/redirects", Title: redirectsTitle},
		{URL: "/errors", Title: errorsTitle},
		{URL: "/slow", Title: slowTitle},
		{URL: "/charsets", Title: charsetsTitle},
		{URL: "/login", Title: loginTitle},
		{URL: loginAgain, Title: loginTitle},
		{URL: "/members/", Status: http.StatusFound, Location: s.at(Catalogue, loginAgain)},
		{URL: "/feed.atom"},
		{URL: "/sitemap.xml", Expect: Auxiliary},
		{URL: "/sitemap-films.xml", Expect: Auxiliary},
		{URL: "/sitemap-pages.xml.gz", Expect: Auxiliary},
	}
	for _, l := range s.listings {
		pages = append(pages, s.listPages(l.path, l.title, len(l.films))...)
		for _, key := range sortKeys {
			pages = append(pages, Page{URL: l.path + "?sort=" + key, Title: l.title, Expect: Never, Why: "robots.txt disallows /*?sort="})
		}
	}
	pages = append(pages, s.listPages("/torrents", torrentsTitle, len(s.films))...)
	for _, f := range s.films {
		pages = append(pages,
			Page{URL: filmPath(f.ID), Title: f.Title}, Page{URL: cardPath(f.ID), Title: f.Title},
			Page{URL: "/app" + filmPath(f.ID), Title: appTitle})
	}
	return append(pages, s.labPages()...)
}

// sortKeys are the orders that the lists link to.
var sortKeys = []string{"title", "year"}

// labPages are the pages of the catalogue below /lab.
func (s *Site) labPages() []Page {
	var pages []Page
	for _, l := range leaves {
		pages = append(pages, Page{URL: l.path, Title: l.title, Expect: l.expect, Why: l.why, NoIndex: l.noIndex()})
	}
	for _, h := range hops() {
		p := Page{URL: h.path, Status: h.status, Expect: h.expect}
		switch to, _, _ := strings.Cut(s.location(h), "#"); {
		case strings.HasPrefix(to, "../.."):
			p.Location = s.at(Catalogue, to[len("../.."):])
		case strings.HasPrefix(to, "?"):
			p.Location = s.at(Catalogue, h.path+to)
		case strings.HasPrefix(to, "/"):
			p.Location = s.at(Catalogue, to)
		default:
			p.Location = to
		}
		pages = append(pages, p)
	}
	for _, path := range landings() {
		pages = append(pages, Page{URL: path, Title: landedTitle})
	}
	for _, ill := range illnesses {
		p := Page{URL: ill.path, Title: ill.title(), Status: ill.status}
		if ill.times > 0 {
			p.Status = http.StatusOK
		}
		if ill.transient() {
			p.Expect = AtLeastOnce
		}
		pages = append(pages, p)
	}
	for _, p := range slowPages {
		pages = append(pages, Page{URL: p.path, Title: p.title})
	}
	for _, p := range s.charsetPages() {
		pages = append(pages, Page{URL: p.path, Title: p.title})
	}
	return pages
}

func (s *Site) peoplePages() []Page {
	pages := append(s.listPages("/", peopleTitle, len(s.people)), Page{URL: "/landed", Title: landingTitle})
	for _, p := range s.people {
		pages = append(pages, Page{URL: personPath(p.ID), Title: p.Name})
	}
	return pages
}

func (s *Site) apiPages() []Page {
	pages := []Page{{URL: "/", Title: apiTitle}, {URL: "/api/internal/queue", Expect: Never, Status: http.StatusNotFound, Why: "robots.txt disallows /api/internal/"}}
	for page := 1; page <= s.pages(len(s.films)); page++ {
		pages = append(pages, Page{URL: apiListPath(page)})
	}
	for _, f := range s.films {
		pages = append(pages, Page{URL: apiFilmPath(f.ID)})
	}
	return pages
}

func (s *Site) imagePages() []Page {
	pages := []Page{{URL: "/", Title: imagesTitle}}
	for _, f := range s.films {
		pages = append(pages, Page{URL: f.Poster})
	}
	return pages
}

func (s *Site) mirrorPages() []Page {
	pages := append(s.listPages("/", mirrorTitle, len(s.films)), Page{URL: mirrorRobots, Expect: Auxiliary})
	for _, f := range s.films {
		path := filmPath(f.ID)
		pages = append(pages, Page{URL: path, Title: f.Title}, Page{
			URL: sessionPath(s.opts.Seed, f.ID), Title: sessionTitle, Expect: Never, Why: "robots.txt disallows /session/",
		})
		for _, other := range s.duplicates(f.ID) {
			pages = append(pages, Page{URL: other, Title: f.Title, Expect: Duplicate, Canonical: s.at(Mirror, path)})
		}
	}
	return pages
}

// Fault is a difference between what was fetched and what should have been.
type Fault struct {
	URL      string // a method other than GET stands before it
	Requests int
	Problem  string
}

func (f Fault) String() string {
	return fmt.Sprintf("%s: %s (%d requests)", f.URL, f.Problem, f.Requests)
}

// Check compares the requests since New or Reset with Pages of the same hosts, after a crawl. No fault means that each page
// was fetched as often as expected, and nothing else. Faults come in the order of Pages, then those of other URLs.
func (s *Site) Check(hosts ...Host) []Fault {
	stats := s.Stats()
	var faults []Fault
	known := map[string]bool{}
	for _, p := range s.Pages(hosts...) {
		known[p.URL] = true
		n := stats.Hosts[p.Host].Targets[strings.TrimPrefix(p.URL, s.at(p.Host, ""))].Requests
		if problem := p.problem(n); problem != "" {
			faults = append(faults, Fault{p.URL, n, problem})
		}
	}
	for _, h := range Hosts() {
		inScope := h == Catalogue || slices.Contains(hosts, h)
		var strays []Fault
		for target, t := range stats.Hosts[h].Targets {
			if problem := s.stray(h, target, inScope, known); problem != "" {
				strays = append(strays, Fault{s.targetURL(h, target), t.Requests, problem})
			}
		}
		slices.SortFunc(strays, func(a, b Fault) int { return strings.Compare(a.URL, b.URL) })
		faults = append(faults, strays...)
	}
	if stats.Untracked > 0 {
		faults = append(faults, Fault{s.URL(), stats.Untracked, "more or longer URLs than the site can tell apart"})
	}
	return faults
}

func (p Page) problem(requests int) string {
	switch {
	case p.Expect == Never && requests > 0:
		return p.Why
	case requests == 0 && (p.Expect == Once || p.Expect == AtLeastOnce):
		return "not fetched"
	case requests > 1 && (p.Expect == Once || p.Expect == Duplicate || p.Expect == SitemapOnly):
		return "fetched more than once"
	}
	return ""
}

// targetURL puts a host before a target of its Stats.
func (s *Site) targetURL(h Host, target string) string {
	if method, path, ok := strings.Cut(target, " "); ok {
		return method + " " + s.at(h, path)
	}
	return s.at(h, target)
}

// stray says what is wrong with a request that Pages does not tell of.
func (s *Site) stray(h Host, target string, inScope bool, known map[string]bool) string {
	switch {
	case target == "/robots.txt" || h == Mirror && target == mirrorRobots || target == "/favicon.ico":
		return ""
	case !inScope:
		return "outside the hosts of the crawl"
	case known[s.at(h, target)]:
		return ""
	case s.opts.Trap && h == Catalogue && strings.HasPrefix(target, calendarPrefix):
		return ""
	default:
		return "not a page that is linked"
	}
}
