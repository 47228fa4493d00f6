package demosite_test

import (
	"encoding/xml"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler/crawltest/demosite"
)

func TestSitemapsAndFeedNameWhatThereIs(t *testing.T) {
	t.Parallel()
	site := demosite.New(demosite.Options{})
	robots := ask(site, "GET", site.URL()+"robots.txt").Body.String()
	_, index, _ := strings.Cut(robots, "Sitemap: ")
	type locations struct {
		Maps []string `xml:"sitemap>loc"`
		URLs []string `xml:"url>loc"`
	}
	read := func(u string) (l locations) {
		w := ask(site, "GET", u)
		var body io.Reader = w.Body
		if strings.HasSuffix(u, ".gz") {
			if w.Header().Get("Content-Encoding") != "" || w.Header().Get("Content-Type") != "application/gzip" {
				t.Errorf("%s: header %v", u, w.Header())
			}
			body = strings.NewReader(unzip(t, body))
		}
		if err := xml.NewDecoder(body).Decode(&l); err != nil {
			t.Fatalf("%s: %v", u, err)
		}
		return l
	}
	named := map[string]bool{}
	for _, m := range read(strings.TrimSpace(index)).Maps {
		for _, u := range read(m).URLs {
			named[u] = true
		}
	}
	for _, p := range site.Pages() {
		if isFilm := strings.HasPrefix(p.URL, site.URL()+"film/"); (isFilm || p.Expect == demosite.SitemapOnly) != named[p.URL] &&
			!strings.Contains(p.URL, "/genre/") && !strings.Contains(p.URL, "/year/") && !strings.HasSuffix(p.URL, "/films") {
			t.Errorf("%s: in a sitemap %v", p.URL, named[p.URL])
		}
		delete(named, p.URL)
	}
	if len(named) > 0 {
		t.Errorf("sitemaps name what there is not: %v", named)
	}
	var feed struct {
		Entries []struct {
			Title   string    `xml:"title"`
			Updated time.Time `xml:"updated"`
			Link    struct {
				Href string `xml:"href,attr"`
			} `xml:"link"`
		} `xml:"entry"`
	}
	if err := xml.Unmarshal(ask(site, "GET", site.URL()+"feed.atom").Body.Bytes(), &feed); err != nil {
		t.Fatal(err)
	}
	films := site.Films()
	if len(feed.Entries) != 20 {
		t.Fatalf("%d entries", len(feed.Entries))
	}
	for i, e := range feed.Entries {
		if f := films[len(films)-1-i]; e.Title != f.Title || e.Link.Href != f.URL || e.Updated.IsZero() {
			t.Errorf("entry %d: %+v, want film %d", i, e, f.ID)
		}
	}
}

func TestRobotsDifferByHost(t *testing.T) {
	t.Parallel()
	site := demosite.New(demosite.Options{CrawlDelay: 250 * time.Millisecond})
	for h, part := range map[demosite.Host]string{
		demosite.Catalogue: "Disallow: /private/\nAllow: /private/press.html\n",
		demosite.People:    "Crawl-delay: 0.25\n",
		demosite.API:       "User-agent: greedybot\nDisallow: /\n",
	} {
		w := ask(site, "GET", site.HostURL(h)+"robots.txt")
		if !strings.Contains(w.Body.String(), part) || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
			t.Errorf("%s: %q", h, w.Body)
		}
	}
	if w := ask(demosite.New(demosite.Options{CrawlDelay: -1}), "GET", "http://people.films.test/robots.txt"); strings.Contains(w.Body.String(), "delay") {
		t.Errorf("no delay is wanted: %q", w.Body)
	}
}

func TestMirrorGivesTheSameBytesUnderEveryURL(t *testing.T) {
	t.Parallel()
	site := demosite.New(demosite.Options{Films: 9})
	kinds := 0
	for _, p := range site.Pages(demosite.Mirror) {
		if p.Expect != demosite.Duplicate {
			continue
		}
		kinds++
		if got, want := ask(site, "GET", p.URL), ask(site, "GET", p.Canonical); got.Code != 200 || got.Body.String() != want.Body.String() {
			t.Errorf("%s is not %s (%d)", p.URL, p.Canonical, got.Code)
		}
		doc := parse(t, ask(site, "GET", p.URL).Body.String())
		for _, l := range find(doc, "link", "") {
			if attr(l, "rel") == "canonical" && attr(l, "href") != p.Canonical {
				t.Errorf("%s: canonical %s", p.URL, attr(l, "href"))
			}
		}
	}
	if kinds != 27 {
		t.Errorf("%d duplicates, want 27", kinds)
	}
	for _, path := range []string{"film/0", "film/10", "film/1;x/y", "watch", "watch?film=10", "film/1%3B", "session/"} {
		if w := ask(site, "GET", site.HostURL(demosite.Mirror)+path); (w.Code == 200) != (path == "film/1%3B") {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

func TestTheCalendarGoesOn(t *testing.T) {
	t.Parallel()
	site := demosite.New(demosite.Options{Trap: true})
	if body := ask(site, "GET", site.URL()).Body.String(); !strings.Contains(body, "/calendar/") {
		t.Error("the trap is not set")
	}
	if body := ask(demosite.New(demosite.Options{}), "GET", site.URL()).Body.String(); strings.Contains(body, "/calendar/") {
		t.Error("the trap is set unasked")
	}
	for _, tt := range []struct {
		path, before, after string
		code                int
	}{
		{"calendar/2024/1", "/calendar/2023/12", "/calendar/2024/2", 200},
		{"calendar/2024/12", "/calendar/2024/11", "/calendar/2025/1", 200},
		{"calendar/1/1", "", "/calendar/1/2", 200},
		{"calendar/9999/12", "/calendar/9999/11", "", 200},
		{"calendar/10000/1", "", "", 404},
		{"calendar/2024/13", "", "", 404},
		{"calendar/2024/01", "", "", 404},
		{"calendar/0/1", "", "", 404},
	} {
		w := ask(site, "GET", site.URL()+tt.path)
		got := map[string]string{}
		for _, a := range find(parse(t, w.Body.String()), "a", "") {
			if rel := attr(a, "rel"); rel != "" {
				got[rel] = attr(a, "href")
			}
		}
		if w.Code != tt.code || got["prev"] != tt.before || got["next"] != tt.after {
			t.Errorf("%s: %d, %v", tt.path, w.Code, got)
		}
	}
}

func TestListsSortWhenAsked(t *testing.T) {
	t.Parallel()
	site := demosite.New(demosite.Options{PerPage: 100})
	doc := parse(t, ask(site, "GET", site.URL()+"films?sort=title").Body.String())
	if got := texts(find(doc, "a", "title")); len(got) != 48 || !slices.IsSorted(got) {
		t.Errorf("by title: %q", got)
	}
	doc = parse(t, ask(site, "GET", site.URL()+"films?sort=year").Body.String())
	if got := texts(find(doc, "span", "year")); len(got) != 48 || !slices.IsSorted(got) {
		t.Errorf("by year: %q", got)
	}
	for _, path := range []string{"films?page=2", "films?page=0", "films?page=-1", "films?page=", "genre/none", "year/1900", "film/49", "film/x"} {
		if w := ask(site, "GET", site.URL()+path); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}
