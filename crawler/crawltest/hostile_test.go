package crawltest_test

import (
	"bufio"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
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

const (
	hostileLimit = 4 << 20 // of bodies
	// brotliWindow is what the decoder of brotli takes by itself, however small the limit is: the window that the
	// stream asks for, here 4 MiB, with what it grew from, and its tables.
	brotliWindow    = 12 << 20
	hostilePatience = 300 * time.Millisecond // with what never comes; all else may take what a busy machine takes
	hostileDrip     = 20 * time.Millisecond
	longPatience    = time.Minute
)

// isSlow reports whether waiting for the behaviour ends at a timeout.
func isSlow(name string) bool {
	return strings.Contains(outcomes[name], "timeout") || name == "tls-stall" || name == "tls-drip"
}

// hostile starts a server.
func hostile(t testing.TB, o crawltest.HostileOptions) *crawltest.Hostile {
	t.Helper()
	h, err := crawltest.NewHostile(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// onlyLoopback is a guard that lets tests reach nothing else.
func onlyLoopback(addr netip.Addr) error {
	if !addr.IsLoopback() {
		return fmt.Errorf("%v is not loopback", addr)
	}
	return nil
}

// bounded is a Transport with small bounds.
func bounded(patience time.Duration) *fetch.Transport {
	return &fetch.Transport{
		Guard: onlyLoopback, MaxBody: hostileLimit, HeaderTimeout: patience, IdleReadTimeout: patience, TLSTimeout: patience, Total: 2 * patience,
	}
}

// rounds is how often each behaviour is met: 1,000 exchanges, or 10,000 in the long form, or 300 under the race detector,
// with which they take eight times as long.
func rounds() int {
	n := 1000
	switch {
	case os.Getenv("SEINE_LONG") != "":
		n = 10_000
	case raceEnabled:
		n = 299
	}
	return n/len(crawltest.Behaviours()) + 1
}

// eventually waits for what comes about by itself.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range 1000 {
		if ok() {
			return
		}
		<-tick.C
	}
	t.Errorf("%s: not so after 10 s", what)
}

// TestServeHostile is no test: it is the process in which the server of the tests runs, so that its memory is not counted
// with that of the client.
func TestServeHostile(t *testing.T) {
	if os.Getenv("SEINE_SERVE_HOSTILE") == "" {
		t.Skip("it serves other tests")
	}
	h := hostile(t, crawltest.HostileOptions{Interval: hostileDrip})
	fmt.Println(h.URL(""))
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// farHostile runs a server in a process of its own and returns its base URL.
func farHostile(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestServeHostile$")
	cmd.Env = append(os.Environ(), "SEINE_SERVE_HOSTILE=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "http://") {
		t.Fatalf("%q, %v", line, err)
	}
	return strings.TrimSpace(line)
}

// meeting has exchanges with hostile servers, and notes what they cost.
type meeting struct {
	t             *testing.T
	far           string             // base URL of a server in another process
	near          *crawltest.Hostile // for handshakes
	roots         *x509.CertPool
	tr, impatient *fetch.Transport

	mu      sync.Mutex
	n       int
	longest time.Duration
	most    uint64 // bytes allocated
	name    string // by which
}

// try has an exchange.
func (m *meeting) try(b crawltest.Behaviour) {
	req := &fetch.Request{URL: m.far + b.Name}
	if b.TLS {
		req.URL, req.Route.ServerName.RootCAs = m.near.URL(b.Name), m.roots
	}
	tr := m.tr
	if isSlow(b.Name) {
		tr = m.impatient
	}
	start := time.Now()
	resp, err := tr.Fetch(m.t.Context(), req)
	took := time.Since(start)
	got := outcome(resp, err)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.n++
	m.longest = max(m.longest, took)
	if !expected(b.Name, got) {
		m.t.Errorf("%s: %s, want %s (%v)", b.Name, got, outcomes[b.Name], err)
	}
	if resp != nil && int64(len(resp.Body)) > m.limit() {
		m.t.Errorf("%s: %d bytes", b.Name, len(resp.Body))
	}
}

func (m *meeting) limit() int64 {
	if m.tr.MaxBody == 0 {
		return fetch.DefaultMaxBody
	}
	return m.tr.MaxBody
}

// measure is try, and counts what this process allocates meanwhile; nothing else may run.
func (m *meeting) measure(b crawltest.Behaviour) {
	var m0, m1 runtime.MemStats
	runtime.ReadMemStats(&m0)
	m.try(b)
	runtime.ReadMemStats(&m1)
	used, want := m1.TotalAlloc-m0.TotalAlloc, uint64(3*m.limit()+1<<20)
	if strings.HasSuffix(b.Name, "-br") && m.limit() < fetch.DefaultMaxBody {
		want += brotliWindow
	}
	if used > want && !b.TLS && !raceEnabled { // with it pools forget at random
		m.t.Errorf("%s: %d bytes allocated, want at most %d", b.Name, used, want)
	}
	if used > m.most && !b.TLS {
		m.most, m.name = used, b.Name
	}
}

// Each behaviour is met as the table says, within bounds of memory and time, and nothing is left behind. It is not
// parallel: it counts what the process allocates.
func TestTransportOverHostile(t *testing.T) {
	before := runtime.NumGoroutine()
	var m meeting
	var bombs uint64
	t.Run("exchanges", func(t *testing.T) {
		m = meeting{t: t, far: farHostile(t), near: hostile(t, crawltest.HostileOptions{Interval: hostileDrip}), tr: bounded(longPatience), impatient: bounded(hostilePatience)}
		var err error
		if m.roots, err = m.near.RootCAs(); err != nil {
			t.Fatal(err)
		}
		all := crawltest.Behaviours()
		for _, b := range all {
			m.measure(b)
		}
		m.mix(all, rounds()-1)
		large := meeting{t: t, far: m.far, tr: bounded(longPatience)}
		large.tr.MaxBody = 0
		for _, b := range all {
			if strings.HasPrefix(b.Name, "bomb-") && !raceEnabled {
				large.measure(b)
			}
		}
		bombs = large.most
		for _, tr := range []*fetch.Transport{m.tr, m.impatient, large.tr} {
			tr.Close()
			eventually(t, "no connection is left", func() bool { return tr.Stats().Open == 0 })
		}
	})
	eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
	if m.longest > longPatience {
		t.Errorf("an exchange took %v", m.longest)
	}
	if !t.Failed() {
		fmt.Printf("shown engine.6: %d exchanges of fetch.Transport with %d behaviours: bodies within the limit, each outcome and error as told, %v the longest, nothing left behind\n",
			m.n, len(crawltest.Behaviours()), m.longest.Round(time.Millisecond))
	}
	if !t.Failed() {
		n := 0
		for _, b := range crawltest.Behaviours() {
			if strings.HasPrefix(b.Name, "h2-") {
				n++
			}
		}
		fmt.Printf("shown fetch.2: %d behaviours of HTTP/2 servers by name among them\n", n)
	}
	if !t.Failed() && !raceEnabled {
		fmt.Printf("shown engine.6: one exchange allocated at most %.1f MiB at a limit of 4 MiB (%s, with the window of brotli), and a bomb %.1f MiB at 32 MiB\n",
			float64(m.most)/(1<<20), m.name, float64(bombs)/(1<<20))
	}
}

// mix has each behaviour tried so many times, 16 at a time.
func (m *meeting) mix(all []crawltest.Behaviour, times int) {
	work := make(chan crawltest.Behaviour)
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			for b := range work {
				m.try(b)
			}
		})
	}
	for range times {
		for _, b := range all {
			work <- b
		}
	}
	close(work)
	group.Wait()
}

// The engine meets the same on the default bounds of time, in virtual time: the crawl ends, each failure has a type, and
// nothing is left behind, or the bubble would say so.
func TestEngineOverHostile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, network := hostileInMemory(t, crawltest.HostileOptions{Elsewhere: "http://127.0.0.1"})
		var seeds []string
		for _, b := range crawltest.Behaviours() {
			for i := 0; i < rounds() && !b.TLS; i++ {
				host := "127.0.0.1"
				if strings.HasPrefix(b.Name, "busy-") {
					host = "127.0.0.2" // which is to be left alone for long
				}
				seeds = append(seeds, fmt.Sprintf("http://%s/%s?i=%d", host, b.Name, i))
			}
		}
		met := map[string]int{}
		var mu sync.Mutex
		note := func(url, got string) {
			mu.Lock()
			defer mu.Unlock()
			name := behaviourOf(url)
			if met[name]++; !expected(name, got) {
				t.Errorf("%s: %s, want %s", url, got, outcomes[name])
			}
		}
		cfg := crawler.Config{
			IgnoreRobots: true, AllStatuses: true, Spacing: -1, PerHost: 16, MaxAttempts: -1, Scope: crawler.Scope{Hosts: []string{"*"}},
			Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
				if p.IsHTML() {
					p.Links()
				}
				note(p.Request.URL, outcome(p.Response, nil))
				return nil
			}),
			Hooks: crawler.Hooks{Failed: func(_ context.Context, err *crawler.PageError) {
				var failure *fetch.Error
				if !errors.As(err, &failure) {
					t.Errorf("%s: %T %v", err.Request.URL, err.Err, err)
					return
				}
				note(err.Request.URL, outcome(nil, failure))
			}},
		}
		stats, took := overHostile(t, network, cfg, seeds...)
		if !stats.Finished || stats.Pages+stats.Failed+stats.Refused+stats.Moved < int64(len(seeds)) {
			t.Errorf("%+v of %d seeds", stats, len(seeds))
		}
		if open := h.Stats().Open; open > 0 {
			t.Errorf("%d connections are open", open)
		}
		if !t.Failed() {
			fmt.Printf("shown engine.6: a crawl of %d hostile seeds in virtual time ended after %v: %d pages, %d failures, %d behaviours met, each failure with a type, nothing left behind\n",
				len(seeds), took.Round(time.Second), stats.Pages, stats.Failed+stats.Refused, len(met))
		}
	})
}

// hostileInMemory serves at port 80 of 127.0.0.1 and 127.0.0.2 of a network in memory.
func hostileInMemory(t *testing.T, o crawltest.HostileOptions) (*crawltest.Hostile, *memhttp.Network) {
	t.Helper()
	h, err := crawltest.NewHostile(o)
	if err != nil {
		t.Fatal(err)
	}
	network := new(memhttp.Network)
	for _, addr := range []string{"127.0.0.1:80", "127.0.0.2:80"} {
		l, err := network.Listen(addr)
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = h.Serve(l) }()
	}
	t.Cleanup(func() { _ = h.Close() })
	return h, network
}

// overHostile crawls to the end.
func overHostile(t *testing.T, network *memhttp.Network, cfg crawler.Config, seeds ...string) (*crawler.Stats, time.Duration) {
	t.Helper()
	tr := &fetch.Transport{Dial: network.DialContext, Resolver: network, Guard: onlyLoopback, MaxBody: hostileLimit}
	cfg.Fetcher = tr
	e, err := crawler.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	stats, err := e.Run(t.Context(), seeds...)
	took := time.Since(start)
	if err != nil {
		t.Error(err)
	}
	tr.Close()
	synctest.Wait()
	if n := network.Open(); n > 0 {
		t.Errorf("%d connections are open", n)
	}
	return stats, took
}

func behaviourOf(url string) string {
	_, path, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	name, _, _ := strings.Cut(path, "?")
	name, _, _ = strings.Cut(name, "/")
	return name
}
