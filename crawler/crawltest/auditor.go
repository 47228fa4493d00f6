package crawltest

import (
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seine-go/seine/fetch/robots"
)

// Bounds of an Auditor's account.
const (
	DefaultAuditHosts = 10_000    // hosts, and as many addresses
	DefaultAuditURLs  = 1_000_000 // different requests, over all hosts
	MaxAuditAgents    = 64        // different user agents of a host; further ones are counted together, as ""
	MaxAuditName      = 2048      // bytes of a host, a request or an agent; what is longer is cut
)

// Auditor keeps account of what a crawler asks of the hosts that one or more handlers serve, and when.
//
//	var auditor crawltest.Auditor
//	server := httptest.NewServer(auditor.Handler(site))
//	… // crawl it
//	for _, v := range auditor.Audit().Check(crawltest.Policy{Delay: time.Second}) {
//		t.Error(v)
//	}
//
// An exchange lasts from the head of the request, when it has been read, to the last byte of the response. It ends just
// before that byte is handed over, since a client may act on it before the handler learns that it has gone; so a client
// that waits for each response never appears to have two requests in flight. It also ends when the client goes away.
//
// The zero value is ready. It must not be copied; it is safe for concurrent use, its fields once it is used are not.
// The account costs some microseconds for each request.
type Auditor struct {
	// MaxHosts bounds the hosts of which account is kept. Zero means DefaultAuditHosts, negative no bound. Exchanges with
	// others are counted in Audit.Unlisted.
	MaxHosts int
	// MaxURLs bounds the different requests that are remembered, over all hosts. Zero means DefaultAuditURLs, negative no
	// bound. Others are counted in HostAudit.Unlisted.
	MaxURLs int

	mu        sync.Mutex
	hosts     map[string]*account
	addresses map[string]*account
	all       account
	urls      int
	unlisted  int64
	conns     map[string]*ConnAudit
}

// account is what an Auditor knows of a host.
type account struct {
	HostAudit
	last, lastEnd   time.Time
	lastURL, endURL string
	robotsDone      bool
}

// Exchange is a request that an Auditor is told of by a server that has no http.Handler.
type Exchange struct {
	Host   string     // of the request, with its port where that is not the scheme's
	Addr   netip.Addr // of the server; the zero value for one that does not matter
	Method string     // "" is GET
	Target string     // path and query
	Agent  string     // its User-Agent
}

// Begin tells of an exchange that begins now. The function that it returns tells that it ends, with the status of the
// response, or 0 if there was none; calls after the first do nothing.
func (a *Auditor) Begin(e Exchange) (end func(status int)) {
	host, name := clip(strings.ToLower(e.Host)), clip(e.Target)
	if e.Method != "" && e.Method != http.MethodGet {
		name = clip(e.Method + " " + e.Target)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	accounts := []*account{&a.all}
	byHost := a.of(&a.hosts, host)
	if byHost != nil {
		accounts = append(accounts, byHost)
		a.note(byHost, e, name)
	} else {
		a.unlisted++
	}
	if e.Addr.IsValid() {
		if byAddr := a.of(&a.addresses, e.Addr.Unmap().String()); byAddr != nil {
			accounts = append(accounts, byAddr)
		}
	}
	for _, acc := range accounts {
		acc.begin(now, host+name)
	}
	var once sync.Once
	return func(status int) { once.Do(func() { a.end(accounts, byHost, name, host+name, status) }) }
}

func (a *Auditor) end(accounts []*account, byHost *account, name, url string, status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	for _, acc := range accounts {
		acc.InFlight--
		acc.lastEnd, acc.endURL = now, url
	}
	if byHost == nil {
		return
	}
	if status != 0 && name == robots.Path {
		byHost.robotsDone = true
	}
	if c, ok := byHost.Requests[name]; ok && (status/100 == 2 || status == http.StatusNotModified) {
		c.Answered++
		byHost.Requests[name] = c
	}
}

// of returns the account of a host or an address, nil if there is no room for it. a.mu is held.
func (a *Auditor) of(accounts *map[string]*account, name string) *account {
	if acc := (*accounts)[name]; acc != nil {
		return acc
	}
	if !within(len(*accounts), a.MaxHosts, DefaultAuditHosts) {
		return nil
	}
	if *accounts == nil {
		*accounts = map[string]*account{}
	}
	acc := &account{HostAudit: HostAudit{Host: name, Requests: map[string]Count{}, Agents: map[string]int64{}}}
	(*accounts)[name] = acc
	return acc
}

func within(n, bound, def int) bool {
	if bound == 0 {
		bound = def
	}
	return bound < 0 || n < bound
}

// note counts a request by what it asks for and by who asks. a.mu is held.
func (a *Auditor) note(acc *account, e Exchange, name string) {
	agent := clip(e.Agent)
	if _, known := acc.Agents[agent]; !known && len(acc.Agents) >= MaxAuditAgents {
		agent = ""
	}
	acc.Agents[agent]++
	if name != robots.Path && !acc.robotsDone {
		acc.BeforeRobots++
	}
	c, known := acc.Requests[name]
	switch {
	case known:
	case !within(a.urls, a.MaxURLs, DefaultAuditURLs):
		acc.Unlisted++
		return
	default:
		a.urls++
	}
	if c.Asked++; c.Answered > 0 {
		c.Repeated++
	}
	acc.Requests[name] = c
}

func (acc *account) begin(now time.Time, url string) {
	if acc.Exchanges++; acc.Exchanges > 1 {
		acc.LeastSpacing.take(now.Sub(acc.last), acc.lastURL, url)
		switch {
		case acc.InFlight > 0:
			acc.LeastDelay.take(0, acc.lastURL, url)
		default:
			acc.LeastDelay.take(now.Sub(acc.lastEnd), acc.endURL, url)
		}
	}
	acc.last, acc.lastURL = now, url
	acc.InFlight++
	acc.MaxInFlight = max(acc.MaxInFlight, acc.InFlight)
}

func (g *Gap) take(d time.Duration, before, after string) {
	if g.After == "" || d < g.Least {
		*g = Gap{d, before, after}
	}
}

func clip(s string) string { return strings.Clone(s[:min(len(s), MaxAuditName)]) }

// Handler returns a handler that serves what h does and keeps account of it. Several handlers may share an Auditor.
func (a *Auditor) Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := Exchange{Host: hostOf(r), Method: r.Method, Target: r.URL.RequestURI(), Agent: r.UserAgent()}
		if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
			e.Addr = addrOf(local)
		}
		end := a.Begin(e)
		aw := &auditWriter{ResponseWriter: w, length: -1, head: r.Method == http.MethodHead}
		aw.end = func() { end(aw.status) }
		gone := context.AfterFunc(r.Context(), func() { end(0) })
		defer gone()
		defer end(0) // after a panic
		h.ServeHTTP(aw, r)
		if aw.status == 0 {
			aw.status = http.StatusOK
		}
		aw.end()
	})
}

// hostOf is the host that was asked, without the port that the scheme implies.
func hostOf(r *http.Request) string {
	port := ":80"
	if r.TLS != nil {
		port = ":443"
	}
	return strings.TrimSuffix(r.Host, port)
}

func addrOf(a net.Addr) netip.Addr {
	if p, err := netip.ParseAddrPort(a.String()); err == nil {
		return p.Addr()
	}
	return netip.Addr{}
}

// auditWriter sees the last byte of a response coming. It belongs to one handler.
type auditWriter struct {
	http.ResponseWriter
	end     func()
	status  int
	written int64
	length  int64 // promised; -1 if it is not
	head    bool  // of a request that gets no body
}

// Unwrap is for http.ResponseController.
func (w *auditWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader notes the status.
func (w *auditWriter) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
		if n, ok := contentLength(w.Header()); ok {
			w.length = n
		}
		if w.head || status == http.StatusNoContent || status == http.StatusNotModified {
			w.length = 0
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write ends the exchange when it is about to write what was promised to the last byte.
func (w *auditWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.written += int64(len(p))
	if w.length >= 0 && w.written >= w.length {
		w.end()
	}
	return w.ResponseWriter.Write(p)
}

// ReadFrom keeps the way of net/http by which files are sent without being copied.
func (w *auditWriter) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{w}, r)
}

// Flush hands over what was written; of a response without a body that is all of it.
func (w *auditWriter) Flush() { _ = w.FlushError() }

// FlushError is Flush with its error.
func (w *auditWriter) FlushError() error {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.length == 0 {
		w.end()
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Audit returns the account of this moment.
func (a *Auditor) Audit() *Audit {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := &Audit{
		Hosts: list(a.hosts), Addresses: list(a.addresses), Exchanges: a.all.Exchanges, InFlight: a.all.InFlight,
		MaxInFlight: a.all.MaxInFlight, Unlisted: a.unlisted, Connections: map[string]ConnAudit{},
	}
	for name, c := range a.conns {
		out.Connections[name] = *c
	}
	return out
}

func list(accounts map[string]*account) []HostAudit {
	out := make([]HostAudit, 0, len(accounts))
	for _, name := range slices.Sorted(maps.Keys(accounts)) {
		h := accounts[name].HostAudit
		h.Requests, h.Agents = maps.Clone(h.Requests), maps.Clone(h.Agents)
		out = append(out, h)
	}
	return out
}
