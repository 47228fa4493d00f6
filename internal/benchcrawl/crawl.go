package main

import (
	"context"
	"fmt"
	"hash/crc32"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/crawler/sqlitebackend"
	"github.com/seine-go/seine/extract"
)

// crawl follows every link of the site.
func crawl(o options) error {
	u, err := url.Parse(o.url)
	if err != nil {
		return fmt.Errorf("-url: %w", err)
	}
	var pages, links, failed atomic.Int64
	var f fields
	cfg := crawler.Config{
		Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			pages.Add(1)
			links.Add(int64(len(p.Links())))
			p.FollowLinks()
			if o.fields {
				f.take(p)
			}
			return nil
		}),
		IgnoreRobots: true, AllowPrivate: true, Spacing: -1, Delay: o.delay, Concurrency: o.c, PerHost: -1,
		Hooks: crawler.Hooks{Failed: func(context.Context, *crawler.PageError) { failed.Add(1) }},
	}
	if o.perHost > 0 {
		cfg.PerHost = o.perHost
	}
	if o.hosts > 1 {
		port := ":" + u.Port()
		cfg.Scope = crawler.Scope{Hosts: []string{"*"}, Func: func(href string) bool {
			rest, ok := strings.CutPrefix(href, "http://127.0.")
			host, _, _ := strings.Cut(rest, "/")
			return ok && strings.HasSuffix(host, port)
		}}
	}
	if o.db != "" {
		db, err := sqlitebackend.Open(context.Background(), o.db, sqlitebackend.Options{})
		if err != nil {
			return err
		}
		defer db.Close()
		cfg.Frontier, cfg.Store = db.Frontier(), db.Store()
	}
	eng, err := crawler.New(cfg)
	if err != nil {
		return err
	}
	defer eng.Close()
	start := time.Now()
	if _, err := eng.Run(context.Background(), o.url); err != nil {
		return err
	}
	l := line{Pages: pages.Load(), Links: links.Load(), Errors: failed.Load()}
	if o.fields {
		n, crc := f.pages.Load(), f.crc.Load()
		l.Fields, l.FieldsCRC = &n, &crc
	}
	return l.print(start)
}

// fields takes up five values of each page: a count of the pages that had them all, and the sum of the checksums of
// their lines.
type fields struct {
	pages atomic.Int64
	crc   atomic.Uint32
}

// film is what is taken of a page, as it stands there.
type film struct {
	Title    string   `extract:"css=h1.title ; raw ; required"`
	Year     string   `extract:"css=span.year ; raw ; required"`
	Rating   string   `extract:"css=span.rating ; raw ; required"`
	Director string   `extract:"css=span.director ; raw ; required"`
	Genres   []string `extract:"css=ul.genres li ; raw ; required"`
}

func (f *fields) take(p *crawler.Page) {
	v, err := extract.From[film](p.Document())
	if err != nil {
		return
	}
	f.pages.Add(1)
	f.crc.Add(crc32.ChecksumIEEE([]byte(strings.Join([]string{v.Title, v.Year, v.Rating, v.Director, strings.Join(v.Genres, ",")}, "\n"))))
}
