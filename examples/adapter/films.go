// Package adapter is a site adapter to copy: all that is to be known about crawling one site, as a plain value.
package adapter

import (
	"context"
	"iter"
	"strconv"
	"strings"

	"github.com/PuerkitoBio/goquery"

	"github.com/seine-go/seine/crawler"
)

// Film is what the adapter saves, under "film/" and the film's number.
type Film struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Year     int      `json:"year"`
	Director string   `json:"director"`
	Genres   []string `json:"genres"`
}

// Films crawls the film catalogue at a host. It is a crawler.Site.
type Films struct {
	crawler.Mux
	host string
}

// New returns the adapter for a host, "films.example" or "127.0.0.1:8080".
func New(host string) *Films {
	f := &Films{host: host}
	f.HandleFunc("/films", f.list)
	f.HandleFunc("/film/{id}", f.film)
	return f
}

// Name, Hosts and Seeds make it a crawler.Site.
func (f *Films) Name() string    { return "films" }
func (f *Films) Hosts() []string { return []string{f.host} }
func (f *Films) Seeds(context.Context) iter.Seq2[*crawler.Request, error] {
	return func(yield func(*crawler.Request, error) bool) {
		yield(&crawler.Request{URL: "http://" + f.host + "/films"}, nil)
	}
}

func (f *Films) list(_ context.Context, p *crawler.Page) error {
	p.Follow("li.film a.title, a[rel=next]")
	return nil
}

func (f *Films) film(_ context.Context, p *crawler.Page) error {
	year, err := strconv.Atoi(p.Text(".year"))
	if err != nil {
		return crawler.Permanent(err)
	}
	genres := p.Find("ul.genres a").Map(func(_ int, s *goquery.Selection) string { return strings.TrimSpace(s.Text()) })
	return p.Save("film/"+p.PathValue("id"), Film{p.PathValue("id"), p.Text("h1.title"), year, p.Text("a.director"), genres})
}
