package crawltest_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/crawler/crawltest"
	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/internal/memhttp"
)

// politeSite is a number of hosts whose pages answer after a latency that differs, some of them with redirects within and
// across hosts, with errors that pass, with Retry-After, and with the end of the connection.
type politeSite struct {
	hosts, pages int
	network      memhttp.Network
	mu           sync.Mutex
	tried        map[string]bool
	busy         map[string]time.Duration // of each host: connects and latencies
	connects     int
}

const (
	politeDelay   = time.Second
	politeLatency = 100 * time.Millisecond
)

func (s *politeSite) name(host int) string { return fmt.Sprintf("h%d.example", host%s.hosts) }

// spend takes time of a host.
func (s *politeSite) spend(host string, d time.Duration) {
	s.mu.Lock()
	s.busy[host] += d
	s.mu.Unlock()
	time.Sleep(d)
}

// first reports whether the URL is asked for the first time.
func (s *politeSite) first(url string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	again := s.tried[url]
	s.tried[url] = true
	return !again
}

func (s *politeSite) handler(host int) http.Handler {
	name := s.name(host)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n int
		_, _ = fmt.Sscanf(r.URL.Path, "/page/%d", &n)
		s.spend(name, politeLatency+time.Duration(n%7)*10*time.Millisecond)
		if n%5 == 0 {
			w.Header().Set("Connection", "close")
		}
		first := s.first(name + r.URL.Path)
		switch {
		case r.URL.Path == "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /private/\n")
		case r.URL.Path == "/":
			w.Header().Set("Content-Type", "text/html")
			for i := range s.pages {
				fmt.Fprintf(w, `<a href="/page/%d">page</a><a href="/private/%d">no</a>`, i, i)
			}
		case n%17 == 3 && strings.HasPrefix(r.URL.Path, "/page/"):
			http.Redirect(w, r, fmt.Sprintf("/moved/%d", n), http.StatusFound)
		case n%41 == 7 && strings.HasPrefix(r.URL.Path, "/page/"):
			http.Redirect(w, r, fmt.Sprintf("http://%s/from/%d", s.name(host+1), n), http.StatusFound)
		case n%29 == 11 && first:
			w.WriteHeader(http.StatusInternalServerError)
		case n%67 == 13 && first:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			_, _ = io.WriteString(w, "page")
		}
	})
}

// dial connects slowly.
func (s *politeSite) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	host, _, _ := net.SplitHostPort(addr)
	s.mu.Lock()
	s.connects++
	d := time.Duration(s.connects%4) * 50 * time.Millisecond
	name := host
	for i := range s.hosts {
		if addrs, _ := s.network.LookupNetIP(ctx, "ip", s.name(i)); len(addrs) > 0 && addrs[0].String() == host {
			name = s.name(i)
		}
	}
	s.mu.Unlock()
	s.spend(name, d)
	return s.network.DialContext(ctx, network, addr)
}

// The engine over an audited web in virtual time: exact, and not slower than its politeness demands. A pace that adapts
// may be slower, as some of the hosts complain.
func TestEngineIsPolite(t *testing.T) {
	t.Parallel()
	t.Run("fixed pace", func(t *testing.T) { t.Parallel(); politely(t, 188, true, 1.05) })
	t.Run("adapting", func(t *testing.T) { t.Parallel(); politely(t, 50, false, 1.25) })
}

// politely crawls 50 hosts with as many pages each, and fails if that takes more than a multiple of what the delays and the
// hosts take.
func politely(t *testing.T, pages int, fixed bool, most float64) {
	synctest.Test(t, func(t *testing.T) {
		s := &politeSite{hosts: 50, pages: pages, tried: map[string]bool{}, busy: map[string]time.Duration{}}
		var auditor crawltest.Auditor
		var seeds []string
		for i := range s.hosts {
			s.network.Serve(t, s.name(i)+":80", auditor.Handler(s.handler(i)))
			seeds = append(seeds, "http://"+s.name(i)+"/")
		}
		transport := &fetch.Transport{Dial: s.dial, Resolver: &s.network, AllowPrivate: true}
		defer transport.Close()
		start := time.Now()
		stats := crawl(t, crawler.Config{Fetcher: transport, Delay: politeDelay, FixedPace: fixed}, seeds...)
		took := time.Since(start)

		audit := auditor.Audit()
		for _, v := range audit.Check(crawltest.Policy{Delay: politeDelay, Tolerance: -1, Agent: "seine", Robots: map[string]string{"": "User-agent: *\nDisallow: /private/\n"}}) {
			t.Error(v)
		}
		var bound time.Duration
		for _, h := range audit.Hosts {
			bound = max(bound, time.Duration(h.Exchanges)*politeDelay+s.busy[h.Host])
		}
		if ratio := float64(took) / float64(bound); ratio > most || stats.Failed > 0 || audit.Exchanges < int64(50*pages) {
			t.Errorf("took %v, %.3f of %v; %d exchanges, %+v", took, ratio, bound, audit.Exchanges, stats)
		}
		if stats.Retried == 0 || stats.Moved == 0 || s.connects < 100 {
			t.Errorf("the hard half was not tried: %+v, %d connects", stats, s.connects)
		}
		if !t.Failed() {
			fmt.Printf("shown engine.3: %d exchanges with %d hosts in virtual time, fixed pace %v, %d retries, %d redirects that became requests, %d slow connects: 0 violations; makespan %.3f of max n(D+RTT)\n",
				audit.Exchanges, len(audit.Hosts), fixed, stats.Retried, stats.Moved, s.connects, float64(took)/float64(bound))
		}
	})
}

// crawl follows all links to the end.
func crawl(t *testing.T, cfg crawler.Config, seeds ...string) *crawler.Stats {
	t.Helper()
	cfg.Handler = crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
		p.FollowLinks()
		return nil
	})
	e, err := crawler.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	stats, err := e.Run(t.Context(), seeds...)
	if err != nil {
		t.Error(err)
	}
	return stats
}

// The same on sockets, within the tolerance.
func TestEngineIsPoliteOnSockets(t *testing.T) {
	t.Parallel()
	const delay = 100 * time.Millisecond
	var auditor crawltest.Auditor
	var seeds []string
	for range 4 {
		server := httptest.NewServer(auditor.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			switch {
			case r.URL.Path == "/robots.txt":
				http.NotFound(w, r)
			case r.URL.Path == "/":
				for i := range 12 {
					fmt.Fprintf(w, `<a href="/%d">page</a>`, i)
				}
			case r.URL.Path == "/3":
				http.Redirect(w, r, "/moved", http.StatusFound)
			}
		})))
		defer server.Close()
		seeds = append(seeds, server.URL+"/")
	}
	crawl(t, crawler.Config{AllowPrivate: true, Delay: delay}, seeds...)
	audit := auditor.Audit()
	for _, v := range audit.Check(crawltest.Policy{Delay: delay, Agent: "seine"}) {
		t.Error(v)
	}
	if audit.Exchanges != 4*15 {
		t.Errorf("%d exchanges", audit.Exchanges)
	}
	if !t.Failed() {
		fmt.Printf("shown engine.3: %d exchanges with %d hosts on sockets at a delay of %v: 0 violations of the auditor\n", audit.Exchanges, len(audit.Hosts), delay)
	}
}
