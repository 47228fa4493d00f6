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
	"slices"
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

// What a Transport makes of each behaviour: the kind of its error, or the status, with why the body was cut. Several
// stand where it depends on what comes first.
var outcomes = map[string]string{
	"silent": "timeout", "drip-head": "timeout", "drip-body": "200, timeout|200, too slow|timeout", "drip-chunks": "200, timeout|200, too slow|timeout", "stall-head": "timeout",
	"stall-body": "200, timeout|timeout", "stall-end": "200, timeout|timeout", "endless-body": "200, body limit", "endless-stream": "200, body limit",

	"head-bytes": "header limit", "head-lines": "header limit", "head-cookie": "header limit", "head-line": "header limit", "head-early": "header limit",
	"head-continue": "header limit", "head-trailers": "200, header limit", "head-latin1": "200", "head-fold": "200", "head-lf": "200", "head-nul": "200",
	"head-name": "200", "head-reason": "200", "head-999": "999", "head-20": "protocol", "head-version": "200", "head-1.0": "200", "head-icy": "200",
	"head-none": "protocol", "head-blank": "200", "head-switch": "protocol", "head-304": "304",

	"chunk-size": "200, truncated body", "chunk-overflow": "200, truncated body", "chunk-negative": "200, truncated body", "chunk-crlf": "200, truncated body",
	"chunk-cut": "200, truncated body", "chunk-end": "200, truncated body", "chunk-extension": "200, truncated body", "chunk-bytes": "200",
	"length-long": "200, truncated body", "length-short": "200", "length-smuggle": "200", "length-two": "protocol", "length-negative": "200",
	"length-chunked": "200", "length-huge": "200, body limit", "length-none": "200", "close-now": "connection closed", "close-head": "connection closed",
	"close-next": "200", "reset-now": "connection closed", "reset-head": "connection closed", "reset-body": "200, truncated body|connection closed",

	"bomb-gzip": "200, body limit", "bomb-br": "200, body limit", "bomb-deflate": "200, body limit", "bomb-zstd": "200, body limit",
	"bomb-gzip-gzip": "200, body limit", "bomb-gzip-br": "200, body limit", "bomb-layers": "content coding", "bomb-window": "200, content coding",
	"bomb-unlisted": "200, body limit", "junk-gzip": "200", "junk-br": "200", "junk-deflate": "200", "junk-zstd": "200", "cut-gzip": "200, truncated body",
	"cut-br": "200, truncated body", "cut-deflate": "200, truncated body", "cut-zstd": "200, truncated body", "flip-gzip": "200, content coding",
	"flip-br": "200, content coding|200, truncated body|200", "flip-deflate": "200, content coding", "flip-zstd": "200, content coding", "not-gzip": "200",
	"not-br": "200", "not-deflate": "200", "not-zstd": "200", "raw-deflate": "200", "coding-unknown": "content coding", "coding-empty": "200",

	"charset-utf-8": "200", "charset-latin1": "200", "charset-meta": "200", "charset-two": "200", "charset-bom": "200", "charset-none": "200", "charset-binary": "200",

	"redirect-self": "redirect limit", "redirect-loop": "redirect limit", "redirect-cookie": "200", "redirect-wait": "redirect limit|200",
	"redirect-endless": "redirect limit", "redirect-grow": "redirect limit|redirect refused", "redirect-file": "refused address", "redirect-gopher": "refused address",
	"redirect-script": "refused address", "redirect-data": "refused address", "redirect-private": "refused address", "redirect-metadata": "refused address",
	"redirect-mapped": "refused address", "redirect-number": "refused address", "redirect-origin": "200", "redirect-nowhere": "302", "redirect-empty": "302",
	"redirect-odd": "302", "redirect-bytes": "200", "redirect-long": "200|redirect refused",

	"busy-429": "429", "busy-retry": "429", "busy-once": "503|200", "busy-two": "429", "busy-503": "503", "busy-500": "500",

	"robots-html": "200", "robots-huge": "200, body limit", "robots-line": "200", "robots-delay": "200", "robots-delays": "200", "robots-stars": "200",
	"robots-groups": "200",

	"page-links": "200, body limit", "page-nested": "200, body limit", "page-formatting": "200, body limit", "page-attributes": "200, body limit",
	"page-attribute": "200, body limit", "page-comment": "200, body limit", "page-urls": "200", "page-base": "200", "page-refresh": "200",

	"trap-query": "200", "trap-path": "200", "trap-paths": "200", "trap-calendar": "200", "trap-session": "200", "trap-sid": "200", "trap-self": "200", "trap-sort": "200",

	"tls-good": "200", "tls-expired": "tls", "tls-early": "tls", "tls-name": "tls", "tls-self": "tls", "tls-1.0": "tls", "tls-stall": "tls", "tls-drip": "tls",
	"tls-reset": "tls", "tls-close": "tls", "tls-plain": "tls", "tls-cut": "200",

	"h2-good": "200", "h2-padding": "200", "h2-pieces": "200", "h2-unknown": "200", "h2-fields": "200", "h2-trailers": "200", "h2-goaway-late": "200",
	"h2-http1": "protocol", "h2-no-settings": "protocol", "h2-settings-bad": "protocol", "h2-settings-flood": "protocol", "h2-ping-flood": "protocol",
	"h2-empty-flood": "200, truncated body", "h2-goaway-flood": "protocol", "h2-padding-flood": "200, truncated body", "h2-window-flood": "protocol", "h2-one-stream": "200", "h2-priority-flood": "protocol", "h2-early-flood": "header limit", "h2-continuation-flood": "header limit",
	"h2-head-large": "header limit", "h2-head-bomb": "header limit", "h2-hpack": "protocol", "h2-interleave": "protocol", "h2-frame-large": "200, truncated body|protocol",
	"h2-push": "protocol", "h2-data-first": "protocol", "h2-data-idle": "protocol", "h2-window-zero": "protocol", "h2-window-overflow": "protocol",
	"h2-flow": "200, truncated body|200, body limit", "h2-status-none": "protocol", "h2-status-two": "protocol", "h2-status-late": "protocol", "h2-status-101": "protocol",
	"h2-upper": "protocol", "h2-inject": "protocol", "h2-length-long": "200, truncated body", "h2-length-short": "200, truncated body",
	"h2-trailers-bad": "200, truncated body", "h2-refused": "connection closed", "h2-reset": "connection closed", "h2-reset-body": "200, truncated body",
	"h2-goaway": "connection closed", "h2-goaway-body": "200, truncated body", "h2-close": "connection closed", "h2-close-body": "200, truncated body",
	"h2-silent": "timeout", "h2-stall-body": "200, timeout|timeout", "h2-drip-body": "200, timeout|200, too slow|timeout", "h2-endless": "200, body limit",
}

// outcome is what came of a request, in the words of the table.
func outcome(resp *fetch.Response, err error) string {
	kind := func(err error) string { return strings.TrimPrefix(fetch.KindOf(err).String(), "seine: ") }
	switch {
	case err != nil:
		return kind(err)
	case resp.BodyErr() != nil:
		return fmt.Sprint(resp.Status, ", ", strings.TrimPrefix(kind(resp.BodyErr()), "seine: "))
	}
	return fmt.Sprint(resp.Status)
}

func expected(name, got string) bool { return slices.Contains(strings.Split(outcomes[name], "|"), got) }

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
