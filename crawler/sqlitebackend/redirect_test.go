package sqlitebackend

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seine-go/seine/crawler"
)

// passing is a site with a page that answers nobody before another has come to it by a redirect.
type passing struct {
	http.Handler
	asked  chan struct{} // the page is, for the first time
	closed chan struct{} // it answers
	n      atomic.Int32
}

func newPassing() *passing {
	s := &passing{asked: make(chan struct{}), closed: make(chan struct{})}
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, `<a href="/page">page</a> <a href="/old">old</a>`)
		case "/old":
			<-s.asked
			http.Redirect(w, r, "/page", http.StatusFound)
		case "/page":
			if s.n.Add(1) == 1 {
				close(s.asked)
				select {
				case <-s.closed:
				case <-r.Context().Done():
				}
			}
		}
	})
	return s
}

// visitPassing crawls the site. It saves one item for each delivery, and calls over when one has come by way of /old.
func visitPassing(ctx context.Context, db *DB, url, life string, over func()) error {
	var n atomic.Int32
	eng, err := crawler.New(crawler.Config{
		Name: "passing", Frontier: db.Frontier(), Store: db.Store(), IgnoreRobots: true, AllowPrivate: true, Spacing: -1, PerHost: -1,
		Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			p.FollowLinks()
			return p.Save(fmt.Sprintf("visit/%s/%d", life, n.Add(1)), strings.TrimPrefix(p.URL, url))
		}),
		Hooks: crawler.Hooks{Settle: func(ctx context.Context, s crawler.Stage) (context.Context, func(crawler.StageEnd)) {
			return ctx, func(e crawler.StageEnd) {
				if e.Outcome == crawler.Done && strings.HasSuffix(s.Request.URL, "/old") {
					over()
				}
			}
		}},
	})
	if err != nil {
		return err
	}
	defer eng.Close()
	_, err = eng.Run(ctx, url+"/")
	return err
}

// A page that was delivered by way of a redirect while its own request was under way is not delivered again by the next
// life, whether the first was ended in order or died.
func TestRedirectedPageIsDeliveredOnceOverLives_K012(t *testing.T) {
	for _, dies := range []bool{false, true} {
		w, s := newWorld(t), newPassing()
		site := httptest.NewServer(s)
		defer site.Close()
		db := w.open(t, w.path(), Options{})
		next := db
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		err := visitPassing(ctx, db, site.URL, "first", func() {
			if dies {
				next = w.die(t, db, nil)
			}
			stop()
		})
		close(s.closed)
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if err := visitPassing(t.Context(), next, site.URL, "second", func() {}); err != nil && !errors.Is(err, crawler.ErrFinished) {
			t.Fatal(err)
		}
		var got []string
		for item, err := range next.Store().Scan(t.Context(), "visit/") {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(item.Value))
		}
		if slices.Sort(got); !slices.Equal(got, []string{`"/"`, `"/page"`}) {
			t.Errorf("dies is %v: delivered are %s", dies, got)
		}
		if s, err := next.Frontier().Stats(t.Context()); err != nil || !s.Finished {
			t.Errorf("dies is %v: %+v, %v", dies, s, err)
		}
	}
}
