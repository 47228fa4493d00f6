package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/internal/memhttp"
	"github.com/seine-go/seine/ratelimit"
)

func okHandler(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") }

func mustFetch(t testing.TB, tr *Transport, url string) *Response {
	t.Helper()
	resp, err := tr.Fetch(t.Context(), &Request{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func TestIdleConnectionsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var n memhttp.Network
		for i := range 3 {
			n.Serve(t, fmt.Sprintf("host%d.example:80", i), http.HandlerFunc(okHandler))
		}
		tr := memTransport(&n, &Transport{IdleTimeout: 10 * time.Second})
		for i := range 3 {
			mustFetch(t, tr, fmt.Sprintf("http://host%d.example/", i))
			<-time.After(4 * time.Second)
		}
		// At 12 s: the first has been idle for 12, the second for 8, the third for 4.
		synctest.Wait()
		if n.Open() != 2 {
			t.Errorf("%d connections after 12 s", n.Open())
		}
		if r := mustFetch(t, tr, "http://host1.example/"); !r.Trace.Reused {
			t.Error("the second is gone")
		}
		<-time.After(7 * time.Second)
		synctest.Wait()
		if n.Open() != 1 {
			t.Errorf("%d connections after 19 s", n.Open())
		}
		<-time.After(4 * time.Second)
		synctest.Wait()
		if s := tr.Stats(); n.Open() != 0 || s.Open != 0 || s.Idle != 0 || s.Opened != 3 {
			t.Errorf("%d connections after 23 s, %+v", n.Open(), s)
		}
		if len(tr.pool.hosts) != 0 {
			t.Errorf("%d hosts are remembered", len(tr.pool.hosts))
		}
		tr.Close()
	})
}

func TestIdleConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tr    *Transport
		hosts int
		want  int
	}{
		{&Transport{MaxIdle: 6}, 2, 6},
		{&Transport{MaxIdle: 8}, 2, 8},
		{&Transport{MaxIdle: 100}, 2, 8},
		{&Transport{MaxIdlePerHost: 3}, 2, 6},
		{&Transport{MaxIdlePerHost: 4}, 2, 8},
		{&Transport{MaxIdle: -1, MaxIdlePerHost: -1}, 2, 8},
		{&Transport{}, 2, 8},
	} {
		synctest.Test(t, func(t *testing.T) {
			const each = 4
			var n memhttp.Network
			var inside sync.WaitGroup
			inside.Add(c.hosts * each)
			wait := make(chan struct{})
			for i := range c.hosts {
				n.Serve(t, fmt.Sprintf("host%d.example:80", i), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					inside.Done()
					<-wait
					okHandler(w, r)
				}))
			}
			tr := memTransport(&n, c.tr)
			defer tr.Close()
			var all sync.WaitGroup
			for i := range c.hosts * each {
				all.Go(func() { mustFetch(t, tr, fmt.Sprintf("http://host%d.example/", i%c.hosts)) })
			}
			inside.Wait()
			close(wait)
			all.Wait()
			if s := tr.Stats(); s.Idle != c.want || s.Open != c.want || n.Open() != c.want {
				t.Errorf("%d and %d idle: %+v, %d open", c.tr.MaxIdle, c.tr.MaxIdlePerHost, s, n.Open())
			}
		})
	}
}

func TestCloseRefusesAndEndsAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var n memhttp.Network
		inside, release := make(chan struct{}), make(chan struct{})
		n.Serve(t, "films.example:80", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/slow" {
				close(inside)
				<-release
			}
			okHandler(w, r)
		}))
		tr := memTransport(&n, &Transport{})
		mustFetch(t, tr, "http://films.example/")
		var all sync.WaitGroup
		all.Go(func() {
			if r := mustFetch(t, tr, "http://films.example/slow"); string(r.Body) != "ok" {
				t.Errorf("the request under way: %q", r.Body)
			}
		})
		<-inside
		tr.Close()
		if _, err := tr.Fetch(t.Context(), &Request{URL: "http://films.example/"}); !errors.Is(err, errClosed) {
			t.Errorf("after Close: %v", err)
		}
		close(release)
		all.Wait()
		if n.Open() != 0 {
			t.Errorf("%d connections are open", n.Open())
		}
		if err := tr.Close(); err != nil {
			t.Errorf("closed again: %v", err)
		}
	})
}

// gateLog is a Gate that counts.
type gateLog struct {
	log[string]
	reports log[ratelimit.Report]
	inside  atomic.Int32
	refuse  error
	delay   time.Duration
}

func (g *gateLog) Enter(ctx context.Context, host string, addr netip.Addr) (func(ratelimit.Report), error) {
	g.add(host + " " + addr.String())
	if g.delay > 0 {
		select {
		case <-time.After(g.delay):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if g.refuse != nil {
		return nil, g.refuse
	}
	g.inside.Add(1)
	var once atomic.Bool
	return func(r ratelimit.Report) {
		if once.Swap(true) {
			panic("leave was called twice")
		}
		g.inside.Add(-1)
		g.reports.add(r)
	}, nil
}

// TestDeadConnectionIsReplacedOnce: a host that closes a kept connection as the request comes is asked once more, if the
// request may be repeated.
func TestDeadConnectionIsReplacedOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method string
		unread bool // the connection is dead before the request is written
		live   int  // requests that a connection answers before it dies as it reads one more
		ok     bool
		served int32 // requests that reach the host after the first
	}{
		{"GET", false, 1, true, 2},
		{"HEAD", false, 1, true, 2},
		{"PUT", false, 1, true, 2},
		{"DELETE", false, 1, true, 2},
		{"POST", false, 1, false, 1},
		{"PATCH", false, 1, false, 1},
		{"GET", true, 1, true, 1},
		{"POST", true, 1, true, 1},
		{"GET", false, 0, false, 2}, // the fresh one dies too: no third
	} {
		synctest.Test(t, func(t *testing.T) {
			var n memhttp.Network
			var requests, conns atomic.Int32
			die := make(chan struct{})
			serveMem(t, &n, "films.example:80", func(conn net.Conn) {
				live := 1
				if conns.Add(1) > 1 {
					live = c.live
				}
				for i := 0; ; i++ {
					if c.unread && conns.Load() == 1 && i == 1 {
						<-die
						return
					}
					if _, err := readTarget(conn); err != nil {
						return
					}
					requests.Add(1)
					if i >= live {
						return
					}
					io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
				}
			})
			gate := &gateLog{}
			tr := memTransport(&n, &Transport{Gate: gate})
			defer tr.Close()
			mustFetch(t, tr, "http://films.example/")
			requests.Store(0)
			close(die)
			synctest.Wait()
			resp, err := tr.Fetch(t.Context(), &Request{URL: "http://films.example/", Method: c.method})
			if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrClosed) || requests.Load() != c.served {
				t.Errorf("%+v: %v after %d requests", c, err, requests.Load())
			}
			if err == nil && !resp.Trace.Retried {
				t.Errorf("%+v: Trace.Retried is not set", c)
			}
			entered := 2 // the first request, and this
			if c.served == 2 {
				entered++ // a repetition passes the Gate as well
			}
			if got := len(gate.take()); got != entered || gate.inside.Load() != 0 || len(gate.reports.take()) != entered {
				t.Errorf("%+v: entered %d times", c, got)
			}
		})
	}
}

func TestGate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var n memhttp.Network
		answers := map[string]string{
			"/ok": "200 OK", "/busy": "429 No\r\nRetry-After: 7", "/away": "302 Found\r\nLocation: http://other.example:8080/ok", "/down": "503 No",
			"/busy503": "503 No\r\nRetry-After: 7", "/denied": "403 No", "/gone": "404 No", "/broken": "500 No",
		}
		for _, addr := range []string{"films.example:80", "other.example:8080"} {
			serveMem(t, &n, addr, func(conn net.Conn) {
				for {
					target, err := readTarget(conn)
					if err != nil || answers[target] == "" {
						return
					}
					fmt.Fprintf(conn, "HTTP/1.1 %s\r\nContent-Length: 2\r\n\r\nok", answers[target])
				}
			})
		}
		gate := &gateLog{}
		tr := memTransport(&n, &Transport{Gate: gate})
		defer tr.Close()
		for _, c := range []struct {
			path   string
			hosts  string
			report ratelimit.Report // of the last exchange
		}{
			{"/ok", "[films.example 198.18.0.1]", ratelimit.Report{Class: ratelimit.OK, Status: 200, Bytes: 2}},
			{"/gone", "[films.example 198.18.0.1]", ratelimit.Report{Class: ratelimit.OK, Status: 404, Bytes: 2}},
			{"/busy", "[films.example 198.18.0.1]", ratelimit.Report{Class: ratelimit.Throttle, Status: 429, Bytes: 2, RetryAfter: 7 * time.Second}},
			{"/busy503", "[films.example 198.18.0.1]", ratelimit.Report{Class: ratelimit.Throttle, Status: 503, Bytes: 2, RetryAfter: 7 * time.Second}},
			{"/down", "[films.example 198.18.0.1]", ratelimit.Report{Class: ratelimit.ServerError, Status: 503, Bytes: 2}},
			{"/broken", "[films.example 198.18.0.1]", ratelimit.Report{Class: ratelimit.ServerError, Status: 500, Bytes: 2}},
			{"/denied", "[films.example 198.18.0.1]", ratelimit.Report{Class: ratelimit.Block, Status: 403, Bytes: 2}},
			{"/away", "[films.example 198.18.0.1 other.example:8080 198.18.0.2]", ratelimit.Report{Class: ratelimit.OK, Status: 200, Bytes: 2}},
			{"/closed", "[films.example 198.18.0.1 films.example 198.18.0.1]", ratelimit.Report{Class: ratelimit.NetError}},
		} {
			tr.Fetch(t.Context(), &Request{URL: "http://films.example" + c.path})
			if got := fmt.Sprint(gate.take()); got != c.hosts || gate.inside.Load() != 0 {
				t.Errorf("%s: entered %s, %d inside", c.path, got, gate.inside.Load())
			}
			reports := gate.reports.take()
			got := reports[len(reports)-1]
			c.report.Exchanges = 1
			got.Latency, got.Elapsed = 0, 0
			if got != c.report {
				t.Errorf("%s: %+v", c.path, got)
			}
		}
	})
}

func TestGateRefuses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var n memhttp.Network
		n.Serve(t, "films.example:80", http.HandlerFunc(okHandler))
		full := errors.New("another engine has the host")
		for _, c := range []struct {
			gate *gateLog
			kind ErrorKind
			err  error
		}{
			{&gateLog{refuse: full}, ErrUnknown, full},
			{&gateLog{refuse: &Error{Kind: ErrRefused}}, ErrRefused, nil},
			{&gateLog{delay: time.Hour}, ErrTimeout, context.DeadlineExceeded},
		} {
			tr := memTransport(&n, &Transport{Gate: c.gate})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			_, err := tr.Fetch(ctx, &Request{URL: "http://films.example/"})
			cancel()
			var e *Error
			if !errors.As(err, &e) || e.Kind != c.kind || c.err != nil && !errors.Is(err, c.err) || n.Dialled() != 0 {
				t.Errorf("%v", err)
			}
			tr.Close()
		}
	})
}
