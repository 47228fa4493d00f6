// Package adapter is a site adapter to copy: all that is to be known about crawling one site, as a plain value.
package adapter

import (
	"context"
	"iter"

	"github.com/seine-go/seine/crawler"
)

// Film is what the adapter saves, under "film/" and the film's number. The tags say where its fields are found on a page;
// a page without a title or with a year that is none fails, and says which field it was.
type Film struct {
	ID       string   `json:"id"       extract:"url= ; re=/\\d+$/ ; required"`
	Title    string   `json:"title"    extract:"css=h1.title || css=title ; required"`
	Year     int      `json:"year"     extract:"css=.year ; required ; min=1880"`
	Director string   `json:"director" extract:"css=a.director || css=.credits a"`
	Genres   []string `json:"genres"   extract:"css=ul.genres a"`
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
	crawler.On(&f.Mux, "/film/{id}", f.film)
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

func (f *Films) film(_ context.Context, p *crawler.Page, film Film) error {
	return p.Save("film/"+film.ID, film)
}
