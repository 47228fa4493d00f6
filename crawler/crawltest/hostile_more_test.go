package crawltest_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/crawler/crawltest"
	"github.com/seine-go/seine/fetch"
)

// The table of outcomes and that of the behaviours are the same, and every behaviour says what it does.
func TestBehavioursAreListed(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, b := range crawltest.Behaviours() {
		if outcomes[b.Name] == "" || b.Doc == "" || seen[b.Name] {
			t.Errorf("%q: outcome %q, %q", b.Name, outcomes[b.Name], b.Doc)
		}
		seen[b.Name] = true
	}
	if len(outcomes) != len(seen) {
		t.Errorf("%d outcomes of %d behaviours", len(outcomes), len(seen))
	}
}

// What comes behind an answer is no part of the next; a kept connection that closes as the request comes is replaced.
func TestConnectionsAfterHostileAnswers(t *testing.T) {
	t.Parallel()
	h := hostile(t, crawltest.HostileOptions{})
	tr := bounded(longPatience)
	defer tr.Close()
	get := func(name string) *fetch.Response {
		resp, err := tr.Fetch(t.Context(), &fetch.Request{URL: h.URL(name), Header: http.Header{"Authorization": {"secret"}}})
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	for _, name := range []string{"length-short", "length-smuggle", "junk-gzip", "junk-zstd", "head-trailers", "chunk-crlf"} {
		get(name)
		if resp := get("echo"); !strings.HasPrefix(string(resp.Body), "GET /echo HTTP/1.1\r\n") {
			t.Errorf("after %s: %q", name, resp.Body)
		}
	}
	get("close-next")
	if resp := get("echo"); !resp.Trace.Retried || resp.Status != http.StatusOK {
		t.Errorf("after close-next: %d, %+v", resp.Status, resp.Trace)
	}
	if resp := get("redirect-origin"); !strings.Contains(string(resp.Body), "Host: localhost:") || strings.Contains(string(resp.Body), "secret") {
		t.Errorf("the other origin got %q", resp.Body)
	}
}

// Every trap leads on and on: 30 links deep no URL comes twice.
func TestTrapsHaveNoEnd(t *testing.T) {
	t.Parallel()
	h := hostile(t, crawltest.HostileOptions{})
	tr := bounded(longPatience)
	defer tr.Close()
	href := regexp.MustCompile(`href="([^"]*)"[^"]*$`) // the last
	for _, b := range crawltest.Behaviours() {
		if !strings.HasPrefix(b.Name, "trap-") {
			continue
		}
		url, seen := h.URL(b.Name), map[string]bool{}
		for range 30 {
			if seen[url] {
				t.Errorf("%s: %s came twice", b.Name, url)
				break
			}
			seen[url] = true
			resp, err := tr.Fetch(t.Context(), &fetch.Request{URL: url})
			if err != nil {
				t.Fatal(err)
			}
			ref := href.FindStringSubmatch(string(resp.Body))
			if ref == nil {
				t.Fatalf("%s: no link in %q", url, resp.Body)
			}
			base, err := http.NewRequest(http.MethodGet, url, nil)
			if err != nil {
				t.Fatal(err)
			}
			next, err := base.URL.Parse(strings.ReplaceAll(ref[1], "&amp;", "&"))
			if err != nil {
				t.Fatal(err)
			}
			url = next.String()
		}
	}
}

// Whatever robots.txt is, the crawl of its host ends as RFC 9309 has it, and the page of the host beside it is fetched.
func TestEngineOverHostileRobots(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		robots  string
		fetched bool
	}{
		{"", true},
		{"robots-html", true},
		{"robots-huge", true}, // the rule that forbids all lies beyond what is read
		{"robots-line", true},
		{"robots-delays", true},
		{"robots-stars", true},
		{"robots-groups", true},
		{"redirect-endless", true}, // unavailable: 2.3.1.2
		{"busy-500", false},
		{"busy-503", false},
		{"silent", false},
		{"drip-body", false},
		{"reset-now", false},
		{"endless-stream", true},
	} {
		t.Run(tt.robots, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				_, network := hostileInMemory(t, crawltest.HostileOptions{Robots: tt.robots})
				network.Serve(t, "127.0.0.3:80", http.NotFoundHandler())
				fetched, other := false, time.Duration(0)
				start := time.Now()
				cfg := crawler.Config{Concurrency: 2, AllStatuses: true, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
					if strings.Contains(p.URL, "127.0.0.3") {
						other = time.Since(start)
					} else {
						fetched = true
					}
					return nil
				})}
				stats, took := overHostile(t, network, cfg, "http://127.0.0.1/echo", "http://127.0.0.3/")
				if fetched != tt.fetched || other == 0 || other > 2*time.Second || !stats.Finished || took > 24*time.Hour {
					t.Errorf("fetched %v, want %v; the other host after %v; %+v after %v", fetched, tt.fetched, other, stats, took)
				}
			})
		})
	}
}

func TestHostileServer(t *testing.T) {
	t.Parallel()
	if _, err := crawltest.NewHostile(crawltest.HostileOptions{Robots: "tls-good"}); err == nil {
		t.Error("a handshake was taken for robots.txt")
	}
	h := hostile(t, crawltest.HostileOptions{MaxConns: 2})
	if u := h.URL("no-such"); u != "" {
		t.Errorf("%q", u)
	}
	if a, b := h.URL("tls-good"), h.URL("tls-good"); a == "" || a != b {
		t.Errorf("%q, %q", a, b)
	}
	addr := strings.TrimSuffix(strings.TrimPrefix(h.URL(""), "http://"), "/")
	for range 3 { // one more than may be
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	eventually(t, "one connection too many is refused", func() bool { return h.Stats().Refused == 1 && h.Stats().Open == 2 })
	for range 2 {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
	if s := h.Stats(); s.Open != 0 {
		t.Errorf("%+v", s)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Serve(l); err == nil {
		t.Error("a closed server serves")
	}
	if err := h.ServeTLS(l, "silent"); err == nil {
		t.Error("silent is no handshake")
	}
}

// A client of small patience meets three behaviours.
func ExampleHostile() {
	server, err := crawltest.NewHostile(crawltest.HostileOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := server.Start(); err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	client := fetch.Transport{AllowPrivate: true, MaxBody: 1 << 20, HeaderTimeout: 50 * time.Millisecond}
	defer client.Close()
	for _, name := range []string{"silent", "redirect-self", "length-two"} {
		_, err := client.Fetch(context.Background(), &fetch.Request{URL: server.URL(name)})
		var failure *fetch.Error
		fmt.Println(name, errors.As(err, &failure) && failure.Kind != fetch.ErrUnknown)
	}
	// Output:
	// silent true
	// redirect-self true
	// length-two true
}
