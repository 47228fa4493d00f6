package demosite

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"net/http"
	"time"
)

const (
	sitemapSpace = "http://www.sitemaps.org/schemas/sitemap/0.9"
	atomSpace    = "http://www.w3.org/2005/Atom"
	feedEntries  = 20
)

// catalogueRobots has two groups; the longest rule wins, so that one page below /private/ is open.
const catalogueRobots = `# Robots are welcome where people are.
User-agent: *
Disallow: /private/
Allow: /private/press.html
Disallow: /*?sort=

User-agent: greedybot
User-agent: greedierbot
Disallow: /
`

type sitemapEntry struct {
	Loc     string `xml:"loc"`
	LastMod string `xml:"lastmod,omitempty"`
}

// routeDiscovery serves what tells clients of pages: robots.txt, sitemaps (one as a gzip file) and an Atom feed.
func (s *Site) routeDiscovery(mux *http.ServeMux) {
	mux.HandleFunc("GET /robots.txt", s.serveRobots(func() string {
		return catalogueRobots + "\nSitemap: " + s.at(Catalogue, "/sitemap.xml") + "\n"
	}))
	mux.HandleFunc("GET /sitemap.xml", func(w http.ResponseWriter, r *http.Request) {
		s.sendXML(w, r, "application/xml", struct {
			XMLName xml.Name       `xml:"sitemapindex"`
			Space   string         `xml:"xmlns,attr"`
			Entries []sitemapEntry `xml:"sitemap"`
		}{Space: sitemapSpace, Entries: []sitemapEntry{
			{Loc: s.at(Catalogue, "/sitemap-films.xml")}, {Loc: s.at(Catalogue, "/sitemap-pages.xml.gz")},
		}})
	})
	mux.HandleFunc("GET /sitemap-films.xml", func(w http.ResponseWriter, r *http.Request) {
		var entries []sitemapEntry
		for _, f := range s.films {
			entries = append(entries, sitemapEntry{s.at(Catalogue, filmPath(f.ID)), changed(s.opts.Seed, f.ID).Format(time.RFC3339)})
		}
		s.sendXML(w, r, "application/xml", urlSet(entries))
	})
	mux.HandleFunc("GET /sitemap-pages.xml.gz", func(w http.ResponseWriter, r *http.Request) {
		var entries []sitemapEntry
		for _, path := range s.sitemapPaths() {
			entries = append(entries, sitemapEntry{Loc: s.at(Catalogue, path)})
		}
		s.content(w, r, "application/gzip", changed(s.opts.Seed, 0), s.zipped(marshalXML(urlSet(entries))))
	})
	mux.HandleFunc("GET /feed.atom", s.serveFeed)
}

// sitemapPaths are the pages of the second sitemap: lists, and those that nothing else names.
func (s *Site) sitemapPaths() []string {
	var paths []string
	for _, l := range s.listings {
		paths = append(paths, l.path)
	}
	for _, l := range leaves {
		if l.expect == SitemapOnly {
			paths = append(paths, l.path)
		}
	}
	return paths
}

func urlSet(entries []sitemapEntry) any {
	return struct {
		XMLName xml.Name       `xml:"urlset"`
		Space   string         `xml:"xmlns,attr"`
		Entries []sitemapEntry `xml:"url"`
	}{Space: sitemapSpace, Entries: entries}
}

func (s *Site) serveFeed(w http.ResponseWriter, r *http.Request) {
	type link struct {
		Rel  string `xml:"rel,attr,omitempty"`
		Href string `xml:"href,attr"`
	}
	type entry struct {
		ID      string `xml:"id"`
		Title   string `xml:"title"`
		Updated string `xml:"updated"`
		Link    link   `xml:"link"`
		Summary string `xml:"summary"`
	}
	var entries []entry
	for i := len(s.films) - 1; i >= 0 && len(entries) < feedEntries; i-- {
		f := s.film(i + 1)
		entries = append(entries, entry{
			ID: fmt.Sprintf("tag:films.test,2024:film/%d", f.ID), Title: f.Title, Link: link{Href: f.URL},
			Updated: changed(s.opts.Seed, f.ID).Format(time.RFC3339), Summary: f.Plot,
		})
	}
	s.sendXML(w, r, "application/atom+xml", struct {
		XMLName xml.Name `xml:"feed"`
		Space   string   `xml:"xmlns,attr"`
		ID      string   `xml:"id"`
		Title   string   `xml:"title"`
		Updated string   `xml:"updated"`
		Author  string   `xml:"author>name"`
		Links   []link   `xml:"link"`
		Entries []entry  `xml:"entry"`
	}{
		Space: atomSpace, ID: "tag:films.test,2024:films", Title: homeTitle, Author: "The film catalogue",
		Updated: changed(s.opts.Seed, 0).Format(time.RFC3339), Entries: entries,
		Links: []link{{"self", s.at(Catalogue, "/feed.atom")}, {"", s.URL()}},
	})
}

func (s *Site) sendXML(w http.ResponseWriter, r *http.Request, contentType string, v any) {
	s.content(w, r, contentType, changed(s.opts.Seed, 0), marshalXML(v))
}

func marshalXML(v any) []byte {
	var b bytes.Buffer
	b.WriteString(xml.Header)
	enc := xml.NewEncoder(&b)
	enc.Indent("", " ")
	if err := enc.Encode(v); err != nil {
		panic(fmt.Errorf("demosite: %w", err)) // a fault of this package
	}
	b.WriteByte('\n')
	return b.Bytes()
}
