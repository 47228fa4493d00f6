package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/fetch"
)

// delivered collects what a handler got.
type delivered struct {
	mu  sync.Mutex
	got []string
}

func (d *delivered) add(p *crawler.Page) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.got = append(d.got, strings.TrimPrefix(p.URL, "http://films.example"))
}

func (d *delivered) sorted() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return sorted(d.got)
}

// The request of a page that redirects of another led to first comes back when that one has failed, and not when it is done.
func TestOwnRequestWaitsForTheRedirected_K012(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		bubble(t, func(t *testing.T, w *web) {
			w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/old":
					http.Redirect(rw, r, "/new", http.StatusFound)
				case "/new":
					time.Sleep(time.Second)
				}
			})
			var d delivered
			stats, err := run(t, w, crawler.Config{
				IgnoreRobots: true, Spacing: -1, FixedPace: true, PerHost: 2,
				Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
					if p.Request.URL == "http://films.example/old" {
						time.Sleep(15 * time.Second)
						if fails {
							return crawler.Permanent(errors.New("no"))
						}
					}
					d.add(p)
					return nil
				}),
			}, "http://films.example/old", "http://films.example/x", "http://films.example/new")
			if want := []string{"/new", "/x"}; err != nil || !slices.Equal(d.sorted(), want) || !stats.Finished {
				t.Errorf("fails %v: %q, %v, %v", fails, d.sorted(), stats, err)
			}
		})
	}
}

// A page that was delivered by way of a redirect is not tried again when its own request fails after that.
func TestOwnRequestFailsAfterTheRedirected_K012(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		var own atomic.Bool
		w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/old":
				time.Sleep(time.Second)
				http.Redirect(rw, r, "/new", http.StatusFound)
			case r.URL.Path == "/new" && !own.Swap(true):
				time.Sleep(5 * time.Second)
				panic(http.ErrAbortHandler)
			}
		})
		var d delivered
		stats, err := run(t, w, crawler.Config{
			IgnoreRobots: true, Spacing: -1, FixedPace: true, PerHost: 2,
			Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error { d.add(p); return nil }),
		}, "http://films.example/new", "http://films.example/old")
		if want := []string{"/new"}; err != nil || !slices.Equal(d.sorted(), want) || stats.Moved != 1 || !stats.Finished {
			t.Errorf("%q, %v, %v", d.sorted(), stats, err)
		}
	})
}

// Of two pages that lead to each other once, for a cookie, one has come to the other when that is done: it is told as moved,
// and they do not wait for each other.
func TestPagesThatRedirectToEachOther(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
			time.Sleep(10 * time.Millisecond)
			if other := map[string]string{"/a": "/b", "/b": "/a"}[r.URL.Path]; other != "" && r.Header.Get("Cookie") == "" {
				http.SetCookie(rw, &http.Cookie{Name: "seen", Value: "1"})
				http.Redirect(rw, r, other, http.StatusFound)
			}
		})
		var d delivered
		stats, err := run(t, w, crawler.Config{
			IgnoreRobots: true, Spacing: -1, FixedPace: true, PerHost: 2,
			Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error { d.add(p); return nil }),
		}, "http://films.example/a", "http://films.example/b")
		if err != nil || len(d.got) == 0 || stats.Pages+stats.Moved != 2 || !stats.Finished {
			t.Errorf("%q, %v, %v", d.sorted(), stats, err)
		}
	})
}

// What a HEAD, or a POST, came to by redirects is not what a link to that URL asks for.
func TestOtherMethodsLeaveTheirTargetsUnseen(t *testing.T) {
	t.Parallel()
	for _, method := range []string{http.MethodHead, http.MethodPost} {
		bubble(t, func(t *testing.T, w *web) {
			w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/a" {
					http.Redirect(rw, r, "/b", http.StatusTemporaryRedirect)
				}
			})
			var d delivered
			_, err := run(t, w, crawler.Config{
				IgnoreRobots: true, PerHost: 1,
				Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
					d.add(p)
					if p.Request.URL != "http://films.example/" {
						return nil
					}
					return p.Add(&crawler.Request{URL: "/a", Method: method}, &crawler.Request{URL: "/b"})
				}),
			}, "http://films.example/")
			if want := []string{"/", "/b", "/b"}; err != nil || !slices.Equal(d.sorted(), want) {
				t.Errorf("%s: %q, %v", method, d.sorted(), err)
			}
		})
	}
}

// panicky is a Site whose seeds panic once three pages are under way.
type panicky struct {
	crawler.HandlerFunc
	busy <-chan struct{}
}

func (panicky) Name() string    { return "panicky" }
func (panicky) Hosts() []string { return []string{"films.example"} }

func (s panicky) Seeds(context.Context) iter.Seq2[*crawler.Request, error] {
	return func(yield func(*crawler.Request, error) bool) {
		for _, url := range []string{"http://films.example/1", "http://films.example/2", "http://films.example/3"} {
			if !yield(&crawler.Request{URL: url}, nil) {
				return
			}
		}
		for range 3 {
			<-s.busy
		}
		panic("seeds")
	}
}

// Pages under way when a panic ends the run go back to the frontier.
func TestPanicElsewhereCostsNoPage_K008(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		busy := make(chan struct{}, 3)
		w.serve(t, "films.example", func(_ http.ResponseWriter, r *http.Request) {
			busy <- struct{}{}
			<-r.Context().Done()
		})
		frontier := crawler.NewMemory(crawler.MemoryOptions{})
		stats, err := run(t, w, crawler.Config{
			Frontier: frontier, IgnoreRobots: true, Spacing: -1, FixedPace: true, PerHost: 3,
			Handler: panicky{func(context.Context, *crawler.Page) error { return nil }, busy},
		})
		var panicked *crawler.PanicError
		if !errors.As(err, &panicked) || stats.Failed != 0 {
			t.Errorf("%v, %v", stats, err)
		}
		if left, err := frontier.Stats(t.Context()); err != nil || left.Ready+left.Delayed != 3 {
			t.Errorf("%+v, %v", left, err)
		}
	})
}

// Pages whose links have no room do not wait for each other for ever.
func TestFullFrontierEnds_K022(t *testing.T) {
	t.Parallel()
	for _, seeds := range []int{1, 2, 5} {
		bubble(t, func(t *testing.T, w *web) {
			w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
				var to []string
				for i := range 20 {
					to = append(to, r.URL.Path+"/"+string(rune('a'+i)))
				}
				pages(map[string]string{r.URL.Path: links(to...)})(rw, r)
			})
			start := time.Now()
			_, err := run(t, w, crawler.Config{
				IgnoreRobots: true, Frontier: crawler.NewMemory(crawler.MemoryOptions{MaxPending: 10}),
				Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error { p.FollowLinks(); return nil }),
			}, numbered("films.example", seeds)...)
			if took := time.Since(start); !errors.Is(err, crawler.ErrFull) || took > 5*time.Minute {
				t.Errorf("%d seeds: %v after %v", seeds, err, took)
			}
		})
	}
}

// A page that was left behind after Grace is fetched and delivered by the next run.
func TestPageLeftBehindComesAgain(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/a" {
				http.Redirect(rw, r, "/b", http.StatusFound)
			}
		})
		var d delivered
		hang, begun := make(chan struct{}), make(chan struct{}, 1)
		defer close(hang)
		first := true
		ctx, cancel := context.WithCancel(t.Context())
		cfg := crawler.Config{IgnoreRobots: true, Grace: time.Second, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			if first {
				first = false
				begun <- struct{}{}
				<-hang
				return nil
			}
			d.add(p)
			return nil
		})}
		eng := pagesOf(t, w, cfg)
		go func() { <-begun; cancel() }()
		var left *crawler.AbandonedError
		if _, err := eng.Run(ctx, "http://films.example/a"); !errors.As(err, &left) {
			t.Errorf("first run: %v", err)
		}
		time.Sleep(2 * time.Minute) // its lease ends
		if _, err := eng.Run(t.Context()); err != nil || !slices.Equal(d.sorted(), []string{"/b"}) {
			t.Errorf("%q, %v", d.sorted(), err)
		}
	})
}

// Of 100 pages and 100 redirects to them, all linked from one page and many under way, each page comes once.
func TestPagesAndRedirectsToThemComeOnce_K012(t *testing.T) {
	t.Parallel()
	for seed := range 10 {
		bubble(t, func(t *testing.T, w *web) {
			var refs []string
			for i := range 100 {
				refs = append(refs, fmt.Sprintf("/r/%d", i), fmt.Sprintf("/p/%d", (i*37+seed)%100))
			}
			w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
				if n, ok := strings.CutPrefix(r.URL.Path, "/r/"); ok {
					http.Redirect(rw, r, "/p/"+n, http.StatusFound)
					return
				}
				body := map[string]string{r.URL.Path: "one"}
				if r.URL.Path == "/" {
					body["/"] = links(refs...)
				}
				pages(body)(rw, r)
			})
			var d delivered
			stats, err := run(t, w, crawler.Config{
				IgnoreRobots: true, Spacing: -1, FixedPace: true, PerHost: 40,
				Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
					p.FollowLinks()
					time.Sleep(time.Duration(len(p.URL)*seed) * time.Millisecond)
					d.add(p)
					return nil
				}),
			}, "http://films.example/")
			if got := d.sorted(); err != nil || len(got) != 101 || len(slices.Compact(got)) != 101 || stats.Pages != 101 {
				t.Errorf("%d: %d pages, %v, %v", seed, len(got), stats, err)
			}
		})
	}
}

// What a middleware fetches beside a page, such as a login, is not the page: where its redirects lead stays unseen.
func TestFetchesOfAMiddlewareLeaveTheirTargetsUnseen(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/login" {
				http.Redirect(rw, r, "/account", http.StatusFound)
				return
			}
			pages(map[string]string{"/": links("/account"), "/account": "mine"})(rw, r)
		})
		var once sync.Once
		login := func(next fetch.Fetcher) fetch.Fetcher {
			return fetch.FetcherFunc(func(ctx context.Context, q *fetch.Request) (*fetch.Response, error) {
				once.Do(func() {
					if r, err := next.Fetch(ctx, &fetch.Request{URL: "http://films.example/login"}); err != nil || r.URL != "http://films.example/account" {
						t.Errorf("login: %v", err)
					}
				})
				return next.Fetch(ctx, q)
			})
		}
		var d delivered
		_, err := run(t, w, crawler.Config{
			IgnoreRobots: true, Middleware: []fetch.Middleware{login},
			Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error { d.add(p); p.FollowLinks(); return nil }),
		}, "http://films.example/")
		if want := []string{"/", "/account"}; err != nil || !slices.Equal(d.sorted(), want) {
			t.Errorf("%q, %v", d.sorted(), err)
		}
	})
}

// Chains that became requests of their own on the way end at a page that was delivered before: it is not delivered again. One
// that comes back to where it began is.
func TestMovedChainsAskWhatWasDelivered(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "www.example", func(rw http.ResponseWriter, r *http.Request) {
			time.Sleep(100 * time.Millisecond)
			switch {
			case r.URL.Path == "/consent":
				http.Redirect(rw, r, "http://films.example/back?ok", http.StatusFound)
			case r.URL.Path != "/" && !strings.HasPrefix(r.URL.Path, "/hold"):
				http.Redirect(rw, r, "/", http.StatusFound)
			}
		})
		asked := 0
		w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Millisecond)
			switch {
			case r.URL.Path == "/back" && r.URL.RawQuery == "ok":
				http.Redirect(rw, r, "/back", http.StatusFound)
			case r.URL.Path == "/back":
				if asked++; asked == 1 {
					http.Redirect(rw, r, "http://www.example/consent", http.StatusFound)
				}
			default:
				http.Redirect(rw, r, "http://www.example"+r.URL.Path, http.StatusMovedPermanently)
			}
		})
		var d delivered
		seeds := []string{"http://www.example/", "http://www.example/hold1", "http://www.example/hold2", "http://films.example/back"}
		for i := range 10 {
			seeds = append(seeds, fmt.Sprintf("http://films.example/x%d", i))
		}
		stats, err := run(t, w, crawler.Config{
			IgnoreRobots: true, Spacing: -1, FixedPace: true, PerHost: 1,
			Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error { d.add(p); return nil }),
		}, seeds...)
		want := []string{"/back", "http://www.example/", "http://www.example/hold1", "http://www.example/hold2"}
		if err != nil || !slices.Equal(d.sorted(), want) {
			t.Errorf("%q, %v, %v", d.sorted(), stats, err)
		}
	})
}
