package robots

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/fetch"
)

func TestOneFetchForManyWaiters_K076(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &web{answer: func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
			elapse(3 * time.Second)
			return always(200, someRules)(ctx, req)
		}}
		c := &Cache{Fetcher: w}
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				if d := check(t, c, fmt.Sprintf("http://h.test/%d", i)); !d.Allowed || d.CrawlDelay != 2*time.Second {
					t.Errorf("%+v", d)
				}
			})
		}
		wg.Wait()
		if w.count() != 1 {
			t.Errorf("%d requests for 50 first visits", w.count())
		}
	})
}

func TestHopsAreNotAskedOfRobots(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &Cache{}
		c.Fetcher = fetch.FetcherFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
			elapse(time.Second)
			if !IsRobots(ctx) {
				check(t, c, req.URL)
			}
			if req.MaxRedirects >= 0 {
				t.Error("the fetcher is to follow redirects, whose hops it would ask of robots")
			}
			if strings.HasPrefix(req.URL, "http://a.test") {
				return always(301, "", "Location", "http://b.test/robots.txt")(ctx, req)
			}
			return always(301, "", "Location", "http://a.test/robots.txt")(ctx, req)
		})
		var wg sync.WaitGroup
		for _, host := range []string{"a.test", "b.test"} {
			wg.Go(func() {
				if d := check(t, c, "http://"+host+"/"); !d.Allowed {
					t.Errorf("%s: %+v", host, d)
				}
			})
		}
		wg.Wait()
		if IsRobots(t.Context()) {
			t.Error("any context is one of a request for robots.txt")
		}
	})
}

func TestWaiterLeavesAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		w := &web{answer: func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
			if ctx.Value(key{}) != "first" || !IsRobots(ctx) {
				t.Error("the values of the first waiter are missing")
			}
			select {
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			case <-time.After(10 * time.Second):
				return always(200, someRules)(ctx, req)
			}
		}}
		c := &Cache{Fetcher: w}
		first, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "first"))
		reason := errors.New("no interest")
		second, cancelSecond := context.WithCancelCause(t.Context())
		third, cancelThird := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancelThird()
		results := make(chan error, 4)
		for _, ctx := range []context.Context{first, second, third, t.Context()} {
			go func() {
				_, err := c.Check(ctx, "http://h.test/")
				results <- err
			}()
			synctest.Wait()
		}
		cancel()
		if err := <-results; !errors.Is(err, context.Canceled) || !errors.Is(err, fetch.ErrCanceled) {
			t.Errorf("first: %v", err)
		}
		cancelSecond(reason)
		if err := <-results; !errors.Is(err, reason) || !errors.Is(err, fetch.ErrCanceled) {
			t.Errorf("second: %v", err)
		}
		if err := <-results; !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, fetch.ErrTimeout) {
			t.Errorf("third: %v", err)
		}
		if err := <-results; err != nil {
			t.Errorf("fourth: %v", err)
		}
		if w.count() != 1 {
			t.Errorf("%d requests", w.count())
		}
		if _, err := c.Check(first, "http://h.test/"); err != nil {
			t.Errorf("what is known needs no waiting: %v", err)
		}
		if _, err := c.Check(first, "http://other.test/"); !errors.Is(err, context.Canceled) || w.count() != 1 {
			t.Errorf("an ended context asks: %v", err)
		}
	})
}

func TestFetchEndsWithTheLastWaiter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Int32
		w := &web{answer: func(ctx context.Context, _ *fetch.Request) (*fetch.Response, error) {
			<-ctx.Done()
			elapse(5 * time.Second) // it takes its time
			ended.Add(1)
			return nil, context.Cause(ctx)
		}}
		store := &mapStore{}
		c := &Cache{Fetcher: w, Store: store}
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			start := time.Now()
			if _, err := c.Check(ctx, "http://h.test/"); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
				t.Errorf("%v after %v", err, time.Since(start))
			}
			cancel()
		}
		if len(c.origins) != 0 {
			t.Errorf("%d origins are remembered of which nothing is known", len(c.origins))
		}
		w.set(always(200, someRules))
		if d := check(t, c, "http://h.test/private"); d.Allowed || d.Err != nil {
			t.Errorf("%+v", d)
		}
		elapse(time.Minute)
		if d := check(t, c, "http://h.test/private"); d.Allowed || d.Err != nil || ended.Load() != 3 || w.count() != 4 {
			t.Errorf("%+v, %d given up, %d requests", d, ended.Load(), w.count())
		}
		if raw := store.keys()["robots/http://h.test"]; bytes.Contains(raw, []byte("unreachable")) {
			t.Errorf("an outage is stored: %s", raw)
		}
	})
}

// TestLateLeaverChangesNothing has a waiter leave at the moment when its flight has just landed.
func TestLateLeaverChangesNothing(t *testing.T) {
	t.Parallel()
	c := &Cache{Fetcher: &web{answer: always(200, someRules)}}
	check(t, c, "http://h.test/")
	e := c.origins["http://h.test"]
	c.leave(e, &flight{waiters: 1, cancel: func() {}})
	if c.idle.Len() != 1 || c.bytes != e.state.bytes {
		t.Errorf("%d idle entries of %d bytes", c.idle.Len(), c.bytes)
	}
}

func TestTimeoutIsAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &web{answer: func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
			<-ctx.Done()
			return nil, &fetch.Error{URL: req.URL, Kind: fetch.ErrTimeout, Err: context.Cause(ctx)}
		}}
		store := &mapStore{}
		for _, timeout := range []time.Duration{0, 7 * time.Second} {
			c := &Cache{Fetcher: w, Timeout: timeout, Store: store}
			start := time.Now()
			d := check(t, c, "http://h.test/")
			if took := time.Since(start); d.Allowed || !errors.Is(d.Err, fetch.ErrTimeout) || took != orDefault(timeout, DefaultTimeout) {
				t.Errorf("%+v after %v", d, took)
			}
		}
		if raw := store.keys()["robots/http://h.test"]; !bytes.Contains(raw, []byte("unreachable")) {
			t.Errorf("the outage is not stored: %s", raw)
		}
		c := &Cache{Fetcher: w, Timeout: -1}
		ctx, cancel := context.WithTimeout(t.Context(), 1000*time.Hour)
		defer cancel()
		if _, err := c.Check(ctx, "http://h.test/"); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

func TestPanicReachesAllWaiters(t *testing.T) {
	t.Parallel()
	reason := errors.New("bug")
	for name, fault := range map[string]func(){"panic": func() { panic(reason) }, "end of the goroutine": runtime.Goexit} {
		synctest.Test(t, func(t *testing.T) {
			w := &web{answer: func(context.Context, *fetch.Request) (*fetch.Response, error) {
				elapse(time.Second)
				fault()
				return nil, nil
			}}
			c := &Cache{Fetcher: w}
			var wg sync.WaitGroup
			for range 10 {
				wg.Go(func() {
					_, err := c.Check(t.Context(), "http://h.test/")
					var typed *fetch.Error
					if !errors.As(err, &typed) || !strings.Contains(err.Error(), "seine: fetch robots http://h.test/robots.txt") {
						t.Errorf("%s: %v", name, err)
					}
					var panicked *PanicError
					if name == "panic" && (!errors.As(err, &panicked) || !errors.Is(err, reason) || len(panicked.Stack) == 0) {
						t.Errorf("%s: %v", name, err)
					}
				})
			}
			wg.Wait()
			w.set(always(200, someRules))
			if d := check(t, c, "http://h.test/"); !d.Allowed || w.count() != 2 || len(c.origins) != 1 {
				t.Errorf("%s: %+v after %d requests", name, d, w.count())
			}
		})
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	ask := func(c *Cache, w *web, hosts ...string) int {
		before := w.count()
		for _, host := range hosts {
			check(t, c, "http://"+host+".test/")
		}
		return w.count() - before
	}
	t.Run("origins", func(t *testing.T) {
		w := &web{answer: always(200, someRules)}
		c := &Cache{Fetcher: w, MaxOrigins: 3}
		if ask(c, w, "a", "b", "c") != 3 || ask(c, w, "c", "b", "a") != 0 {
			t.Error("three are not remembered")
		}
		if ask(c, w, "d") != 1 || ask(c, w, "d", "a", "b") != 0 || ask(c, w, "c") != 1 {
			t.Error("it is not the one asked about longest ago that is forgotten for a fourth")
		}
		if len(c.origins) != 3 || c.idle.Len() != 3 {
			t.Errorf("%d origins are remembered", len(c.origins))
		}
	})
	t.Run("bytes", func(t *testing.T) {
		var big strings.Builder
		big.WriteString("User-agent: *\n")
		for i := range 1000 {
			fmt.Fprintf(&big, "Disallow: /%d\nDisallow: /*%d?\nSitemap: http://h/%d\n", i, i, i)
		}
		w := &web{answer: always(200, big.String())}
		c := &Cache{Fetcher: w, MaxBytes: 1 << 20}
		for i := range 20 {
			ask(c, w, fmt.Sprint("h", i))
		}
		var bytes int64
		for _, e := range c.origins {
			bytes += e.state.bytes
		}
		if bytes != c.bytes || bytes > 1<<20 || len(c.origins) < 1 || len(c.origins) > 19 {
			t.Errorf("%d bytes of %d origins, counted %d", bytes, len(c.origins), c.bytes)
		}
		c = &Cache{Fetcher: w, MaxBytes: 1}
		if ask(c, w, "a", "a", "b", "b", "a") != 3 || len(c.origins) != 1 {
			t.Error("the last one is not kept whatever its size")
		}
	})
	t.Run("none", func(t *testing.T) {
		w := &web{answer: always(404, "")}
		c := &Cache{Fetcher: w, MaxOrigins: -1, MaxBytes: -1}
		for i := range DefaultMaxOrigins + 1 {
			check(t, c, fmt.Sprintf("http://h%d.test/", i))
		}
		if len(c.origins) != DefaultMaxOrigins+1 {
			t.Errorf("%d origins", len(c.origins))
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	c := &Cache{Fetcher: fetch.FetcherFunc(always(200, someRules))}
	b.ReportAllocs()
	for b.Loop() {
		if d, err := c.Check(b.Context(), "http://films.example/title/17?x=1"); err != nil || !d.Allowed {
			b.Fatal(d, err)
		}
	}
}
