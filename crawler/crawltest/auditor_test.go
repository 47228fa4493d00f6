package crawltest_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/crawler/crawltest"
	"github.com/seine-go/seine/internal/memhttp"
)

// rig is an audited host in memory and a client of it.
type rig struct {
	t       *testing.T
	network memhttp.Network
	auditor crawltest.Auditor
	client  http.Client
}

// inBubble runs f with a rig whose exchanges take 100 ms, in virtual time.
func inBubble(t *testing.T, f func(r *rig)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t}
		transport := &http.Transport{DialContext: r.network.DialContext, DisableCompression: true}
		r.client.Transport = transport
		defer transport.CloseIdleConnections()
		f(r)
	})
}

func (r *rig) serve(addr string, h http.HandlerFunc) {
	l, err := r.network.Listen(addr)
	if err != nil {
		r.t.Fatal(err)
	}
	server := &http.Server{Handler: r.auditor.Handler(h)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(r.auditor.Listener(l))
	}()
	r.t.Cleanup(func() {
		_ = server.Close()
		<-ended
	})
}

func slowly(w http.ResponseWriter, r *http.Request) {
	time.Sleep(100 * time.Millisecond)
	if strings.HasPrefix(r.URL.Path, "/broken") {
		w.WriteHeader(http.StatusInternalServerError)
	}
	_, _ = io.WriteString(w, "ok")
}

// get asks and reads to the end.
func (r *rig) get(url string) { r.ask(r.t.Context(), http.MethodGet, url, "seine/1") }

func (r *rig) ask(ctx context.Context, method, url, agent string) {
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		r.t.Error(err)
		return
	}
	req.Header.Set("User-Agent", agent)
	resp, err := r.client.Do(req)
	if err != nil {
		if ctx.Err() == nil {
			r.t.Error(err)
		}
		return
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		r.t.Error(err)
	}
}

// atOnce runs the functions at the same time.
func atOnce(fs ...func()) {
	var group sync.WaitGroup
	for _, f := range fs {
		group.Go(f)
	}
	group.Wait()
}

const films = "http://films.example"

// Each kind of violation is planted alone and found alone; what stands at the edge of a rule is none.
func TestAuditorFindsWhatIsPlanted(t *testing.T) {
	t.Parallel()
	const delay = time.Second
	strict := crawltest.Policy{Delay: delay, Spacing: delay + 100*time.Millisecond, Tolerance: -1}
	with := func(change func(p *crawltest.Policy)) crawltest.Policy {
		p := strict
		change(&p)
		return p
	}
	tests := []struct {
		name   string
		policy crawltest.Policy
		crawl  func(r *rig, pause func(time.Duration))
		want   []crawltest.Rule
	}{
		{"clean", strict, func(r *rig, pause func(time.Duration)) {
			pause(delay)
			r.get(films + "/a")
			pause(delay)
			r.get(films + "/broken")
			pause(delay)
			r.get(films + "/broken")
			pause(delay)
			r.get(films + "/robots.txt?not")
		}, nil},
		{"a nanosecond early", strict, func(r *rig, pause func(time.Duration)) {
			pause(delay - 1)
			r.get(films + "/a")
		}, []crawltest.Rule{crawltest.RuleDelay, crawltest.RuleSpacing}},
		{"from the start instead of the end", with(func(p *crawltest.Policy) { p.Spacing = delay }), func(r *rig, pause func(time.Duration)) {
			pause(delay - 100*time.Millisecond)
			r.get(films + "/a")
		}, []crawltest.Rule{crawltest.RuleDelay}},
		{"spacing alone", with(func(p *crawltest.Policy) { p.Delay, p.Spacing = 0, 2*time.Second }), func(r *rig, pause func(time.Duration)) {
			pause(delay)
			r.get(films + "/a")
		}, []crawltest.Rule{crawltest.RuleSpacing}},
		{"within the tolerance", crawltest.Policy{Delay: delay}, func(r *rig, pause func(time.Duration)) {
			pause(delay * 9 / 10)
			r.get(films + "/a")
		}, nil},
		{"beyond the tolerance", crawltest.Policy{Delay: delay}, func(r *rig, pause func(time.Duration)) {
			pause(delay*9/10 - 1)
			r.get(films + "/a")
		}, []crawltest.Rule{crawltest.RuleDelay}},
		{"within the least tolerance", crawltest.Policy{Delay: 10 * time.Millisecond}, func(r *rig, pause func(time.Duration)) {
			pause(5 * time.Millisecond)
			r.get(films + "/a")
		}, nil},
		{"two at a time", crawltest.Policy{}, func(r *rig, _ func(time.Duration)) {
			atOnce(func() { r.get(films + "/a") }, func() { r.get(films + "/b") })
		}, []crawltest.Rule{crawltest.RuleInFlight}},
		{"as many as may be", crawltest.Policy{MaxInFlight: 2, TotalInFlight: 2, MaxConnections: 2}, func(r *rig, _ func(time.Duration)) {
			atOnce(func() { r.get(films + "/a") }, func() { r.get(films + "/b") })
		}, nil},
		{"two over all and two connections", crawltest.Policy{MaxInFlight: -1, TotalInFlight: 1, MaxConnections: 1}, func(r *rig, _ func(time.Duration)) {
			atOnce(func() { r.get(films + "/a") }, func() { r.get(films + "/b") })
		}, []crawltest.Rule{crawltest.RuleConnections, crawltest.RuleInFlight}},
		{"disallowed", crawltest.Policy{Agent: "seine", Robots: map[string]string{"films.example": "User-agent: *\nAllow: /\nUser-agent: seine\nDisallow: /private\n"}}, func(r *rig, _ func(time.Duration)) {
			r.get(films + "/private/x?y")
			r.get(films + "/public")
		}, []crawltest.Rule{crawltest.RuleDisallowed}},
		{"robots.txt of all hosts", crawltest.Policy{Robots: map[string]string{"": "User-agent: *\nDisallow: /x", "other.example": ""}}, func(r *rig, _ func(time.Duration)) {
			r.ask(r.t.Context(), http.MethodPost, films+"/x", "seine")
		}, []crawltest.Rule{crawltest.RuleDisallowed}},
		{"crawl-delay", crawltest.Policy{Tolerance: -1, Robots: map[string]string{"": "User-agent: *\nCrawl-delay: 2"}}, func(r *rig, pause func(time.Duration)) {
			pause(2*time.Second - 1)
			r.get(films + "/a")
		}, []crawltest.Rule{crawltest.RuleDelay}},
		{"agent", crawltest.Policy{Agent: "Seine"}, func(r *rig, _ func(time.Duration)) {
			r.ask(r.t.Context(), http.MethodGet, films+"/a", "Go-http-client/1.1")
		}, []crawltest.Rule{crawltest.RuleAgent}},
		{"repeat", crawltest.Policy{}, func(r *rig, _ func(time.Duration)) {
			r.get(films + "/a")
			r.get(films + "/a")
		}, []crawltest.Rule{crawltest.RuleRepeat}},
		{"allowed repeat", crawltest.Policy{AllowRepeats: true}, func(r *rig, _ func(time.Duration)) {
			r.get(films + "/a")
			r.get(films + "/a")
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				r.serve("films.example:80", slowly)
				r.get(films + "/robots.txt")
				tt.crawl(r, time.Sleep)
				r.check(tt.policy, tt.want...)
			})
		})
	}
}

// check compares the rules that were broken, in their order, and that each text says where.
func (r *rig) check(p crawltest.Policy, want ...crawltest.Rule) {
	r.t.Helper()
	var got []crawltest.Rule
	for _, v := range r.auditor.Audit().Check(p) {
		got = append(got, v.Rule)
		if v.Text == "" || !strings.HasPrefix(v.String(), string(v.Rule)+": ") {
			r.t.Errorf("%#v", v)
		}
	}
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		r.t.Errorf("found %q, want %q", r.auditor.Audit().Check(p), want)
	}
}

func TestAuditorSeesRobotsAfterPages(t *testing.T) {
	t.Parallel()
	for name, crawl := range map[string]func(r *rig){
		"never":       func(r *rig) { r.get(films + "/a") },
		"afterwards":  func(r *rig) { r.get(films + "/a"); r.get(films + "/robots.txt") },
		"at the time": func(r *rig) { atOnce(func() { r.get(films + "/robots.txt") }, func() { r.get(films + "/a") }) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				r.serve("films.example:80", slowly)
				crawl(r)
				r.check(crawltest.Policy{MaxInFlight: -1}, crawltest.RuleRobotsFirst)
				r.check(crawltest.Policy{MaxInFlight: -1, IgnoreRobots: true})
			})
		})
	}
}

// Two hosts on one address are polite each for itself, but not to the address.
func TestAuditorKnowsAddresses(t *testing.T) {
	inBubble(t, func(r *rig) {
		const addr = "http://198.51.100.1"
		r.serve("198.51.100.1:80", slowly)
		for _, host := range []string{"a.example", "b.example"} {
			req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, addr+"/", nil)
			if err != nil {
				r.t.Fatal(err)
			}
			req.Host = host
			resp, err := r.client.Do(req)
			if err != nil {
				r.t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		r.check(crawltest.Policy{IgnoreRobots: true, Delay: time.Second})
		r.check(crawltest.Policy{IgnoreRobots: true, AddressDelay: time.Second}, crawltest.RuleDelay)
		r.check(crawltest.Policy{IgnoreRobots: true, AddressSpacing: time.Second}, crawltest.RuleSpacing)
		audit := r.auditor.Audit()
		if len(audit.Addresses) != 1 || audit.Addresses[0].Host != "198.51.100.1" || len(audit.Hosts) != 2 {
			r.t.Errorf("%+v", audit)
		}
	})
}

// An exchange ends when the last byte is about to go, whatever the handler does afterwards, or when the client goes.
func TestAuditorEndsExchangesInTime(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, method string
		handler      http.HandlerFunc
		patience     time.Duration
		took         time.Duration
		answered     int64
	}{
		{"of known length", "GET", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "4")
			_, _ = io.WriteString(w, "fo")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(time.Second)
			_, _ = io.WriteString(w, "ur")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(time.Hour)
		}, 0, time.Second, 1},
		{"of unknown length", "GET", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "four")
			w.(http.Flusher).Flush()
			time.Sleep(time.Second)
		}, 0, time.Second, 1},
		{"HEAD", "HEAD", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "4")
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			time.Sleep(time.Hour)
		}, 0, 0, 1},
		{"without a body", "GET", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNoContent)
			_ = http.NewResponseController(w).Flush()
			time.Sleep(time.Hour)
		}, 0, 0, 1},
		{"nothing written", "GET", func(http.ResponseWriter, *http.Request) { time.Sleep(time.Second) }, 0, time.Second, 1},
		{"early hints", "GET", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			time.Sleep(time.Second)
			w.WriteHeader(http.StatusTeapot)
		}, 0, time.Second, 0},
		{"client gone", "GET", func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			time.Sleep(time.Hour)
		}, time.Minute, time.Minute, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				r.serve("films.example:80", func(w http.ResponseWriter, req *http.Request) {
					if req.Method != http.MethodOptions {
						tt.handler(w, req)
					}
				})
				ctx := r.t.Context()
				if tt.patience > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.patience)
					defer cancel()
				}
				start := time.Now()
				r.ask(ctx, tt.method, films+"/a", "")
				synctest.Wait()
				time.Sleep(2*time.Hour - time.Since(start)) // after whatever the handler does
				r.ask(r.t.Context(), "OPTIONS", films+"/b", "")
				h := r.auditor.Audit().Hosts[0]
				name := "/a"
				if tt.method != "GET" {
					name = tt.method + " /a"
				}
				if got := h.LeastSpacing.Least - h.LeastDelay.Least; got != tt.took || h.Requests[name] != (crawltest.Count{Asked: 1, Answered: tt.answered}) {
					r.t.Errorf("took %v, want %v; %+v", got, tt.took, h)
				}
			})
		})
	}
}

// A handler's panic ends the exchange, and is still a panic.
func TestAuditorSurvivesPanics(t *testing.T) {
	t.Parallel()
	var a crawltest.Auditor
	h := a.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	func() {
		defer func() {
			if recover() != http.ErrAbortHandler {
				t.Error("the panic was lost")
			}
		}()
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "https://films.example:443/", nil))
	}()
	if audit := a.Audit(); audit.InFlight != 0 || audit.Hosts[0].Host != "films.example" || audit.Hosts[0].Requests["/"].Answered != 0 {
		t.Errorf("%+v", audit)
	}
}

// The account is bounded, and says what it has no room for.
func TestAuditorIsBounded(t *testing.T) {
	t.Parallel()
	a := crawltest.Auditor{MaxHosts: 2, MaxURLs: 3}
	ask := func(host, target, agent string) {
		a.Begin(crawltest.Exchange{Host: host, Target: target, Agent: agent, Addr: netip.MustParseAddr("::ffff:192.0.2.1")})(200)
	}
	for i := range crawltest.MaxAuditAgents + 2 {
		ask("A.example", "/", fmt.Sprint("agent ", i))
	}
	ask("b.example", "/"+strings.Repeat("x", crawltest.MaxAuditName-1), "")
	ask("b.example", "/"+strings.Repeat("x", crawltest.MaxAuditName), "") // not told from the one before
	ask("b.example", "/2", "")
	p := crawltest.Policy{IgnoreRobots: true, AllowRepeats: true}
	if v := a.Audit().Check(p); len(v) != 0 {
		t.Errorf("at the bounds: %v", v)
	}
	ask("b.example", "/3", "")
	ask("c.example", "/", "")
	audit := a.Audit()
	if v := audit.Check(p); len(v) != 2 || v[0].Rule != crawltest.RuleUnlisted || v[1].Rule != crawltest.RuleUnlisted {
		t.Errorf("past the bounds: %v", v)
	}
	first := audit.Hosts[0]
	if first.Host != "a.example" || len(first.Agents) != crawltest.MaxAuditAgents+1 || first.Agents[""] != 2 || audit.Addresses[0].Host != "192.0.2.1" {
		t.Errorf("%+v", first)
	}
	if audit.Exchanges != crawltest.MaxAuditAgents+2+5 || audit.Unlisted != 1 || audit.Hosts[1].Unlisted != 1 {
		t.Errorf("%+v", audit)
	}
}

// Connections over which nothing comes are seen by a Listener alone.
func TestAuditorCountsConnections(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var a crawltest.Auditor
	l := a.Listener(inner)
	defer l.Close()
	for i, text := range []string{"", "x"} {
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if c := a.Audit().Connections[l.Addr().String()]; c.Open != 1 || c.Opened != int64(i+1) {
			t.Errorf("%+v", c)
		}
		_, _ = io.WriteString(client, text)
		client.Close()
		_, _ = io.Copy(io.Discard, server)
		server.Close()
		server.Close()
	}
	if c := a.Audit().Connections[l.Addr().String()]; c != (crawltest.ConnAudit{Opened: 2, MaxOpen: 1, Unused: 1}) {
		t.Errorf("%+v", c)
	}
}

func BenchmarkAuditor(b *testing.B) {
	var a crawltest.Auditor
	h := a.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "http://films.example/", nil)
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(w, r)
	}
}
