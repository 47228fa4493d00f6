// Package crawler crawls: seeds in, pages out, politely.
//
//	for page, err := range crawler.Crawl(ctx, "https://films.example/") {
//		if err != nil {
//			log.Print(err)
//			continue
//		}
//		fmt.Println(page.URL, page.Text("h1"))
//		page.Follow("a[href]") // stays within the seeds' hosts unless told otherwise
//	}
//
// By default an Engine obeys robots.txt (and fetches nothing of a host whose robots.txt cannot be had, see
// Config.RobotsPatience) and crawl-delay, says who it is, asks a host for at most two pages in a second, one
// at a time at first, slows down where a host complains, and refuses private addresses. It installs no signal handler, reads no environment variable and
// writes nothing to standard output.
package crawler

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seine-go/seine/dedupe"
	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/fetch/cookie"
	"github.com/seine-go/seine/fetch/robots"
)

// Engine runs a crawl. It is safe for concurrent use, but runs one crawl at a time.
type Engine struct {
	cfg       Config
	fetcher   fetch.Fetcher    // the whole chain
	own       fetch.Fetcher    // its innermost part
	transport *fetch.Transport // that own fetches with; closed by Close if the engine made it
	robots    *robots.Cache    // nil when robots.txt is ignored
	reserver  HostReserver     // nil if the frontier cannot
	log       *slog.Logger
	count     counters
	running   atomic.Bool
	several   atomic.Bool // a host may have more than one exchange under way
	addresses addresses
	mu        sync.Mutex
	delays    map[string]time.Duration // crawl-delays that the frontier was told
	resting   rests                    // hosts whose crawl-delay the frontier cannot keep
	hosts     map[string]struct{}      // of the seeds of all runs, for a Config without a scope
	scope     *Scope                   // in force
	replaced  *Scope                   // what SetScope was given
	run       *run                     // that goes on, or the last
	since     time.Time                // when it began; zero when none goes on
	elapsed   time.Duration            // of those before
	closes    bool
	strict    bool        // keys are those of the Strict profile
	refers    bool        // requests keep the page that they came from
	named     bool        // the Config says which UserAgent
	look      func() load // in place of a look at the process; for tests
}

// New returns an engine, or a *ConfigError that names the field that cannot be. Nothing is fetched before Run or Pages.
func New(cfg Config) (*Engine, error) {
	named := cfg.UserAgent != ""
	if err := cfg.check(); err != nil {
		return nil, err
	}
	e := &Engine{named: named, cfg: cfg, log: cfg.Logger, delays: map[string]time.Duration{}}
	e.strict = cfg.Canonical.Profile() == dedupe.Strict
	e.several.Store(cfg.PerHost != 1)
	e.addresses.set(cfg.Address)
	e.reserver, _ = cfg.Frontier.(HostReserver)
	if err := e.chain(); err != nil {
		return nil, err
	}
	if !cfg.IgnoreRobots {
		e.robots = &robots.Cache{Fetcher: counted{e}, Agent: cfg.Agent, Log: cfg.Logger, RetryMin: robotsRetry}
	}
	return e, nil
}

// chain builds the fetch chain.
func (e *Engine) chain() error {
	switch f := e.cfg.Fetcher.(type) {
	case nil:
		e.closes = true
		e.transport = &fetch.Transport{
			AllowPrivate: e.cfg.AllowPrivate, MaxBody: e.cfg.MaxBody,
			MaxIdle: max(e.cfg.Concurrency, mostInFlight), MaxIdlePerHost: e.cfg.Concurrency,
		}
	case *fetch.Transport:
		if f.Gate != nil || f.CheckHop != nil {
			return &ConfigError{Field: "Fetcher", Reason: "the Transport has a Gate or a CheckHop; the engine asks its own"}
		}
		if e.cfg.AllowPrivate && !f.AllowPrivate || e.cfg.MaxBody != 0 {
			return &ConfigError{Field: "Fetcher", Reason: "AllowPrivate and MaxBody are for the engine's own Transport; set them on the one given"}
		}
		if f.UserAgent != "" && e.named && f.UserAgent != e.cfg.UserAgent {
			return &ConfigError{Field: "UserAgent", Reason: "differs from that of the Transport given"}
		}
		if f.Cookies != nil && e.cfg.Cookies != nil {
			return &ConfigError{Field: "Cookies", Reason: "the Transport given opens jars itself"}
		}
		e.transport = f
	default:
		if e.cfg.AllowPrivate {
			return &ConfigError{Field: "AllowPrivate", Reason: "is for the engine's own Transport; the Fetcher given decides by itself where it connects"}
		}
		if e.cfg.Cookies != nil {
			return &ConfigError{Field: "Cookies", Reason: "are for a fetch.Transport; the Fetcher given keeps cookies by itself"}
		}
		e.own, e.transport = foreign{e, f}, new(fetch.Transport) // which knows what is secret for everybody
	}
	if e.own == nil {
		e.own = e.transport.Under(fetch.Terms{Gate: gate{e}, CheckHop: e.checkHop, UserAgent: e.cfg.UserAgent, Cookies: e.jars()})
	}
	e.fetcher = e.own
	for i := len(e.cfg.Middleware) - 1; i >= 0; i-- {
		field, m := fmt.Sprintf("Middleware[%d]", i), e.cfg.Middleware[i]
		if m == nil {
			return &ConfigError{Field: field, Reason: "is nil"}
		}
		f := m(e.fetcher)
		if f == nil || isNil(f) {
			return &ConfigError{Field: field, Reason: "returned a nil Fetcher"}
		}
		if w, ok := f.(interface{ WantsInitiator() bool }); ok {
			e.refers = e.refers || w.WantsInitiator()
		}
		e.fetcher = f
	}
	return nil
}

// jars opens the jars of sessions.
func (e *Engine) jars() func(ctx context.Context, session string) (*cookie.Jar, error) {
	if e.cfg.Cookies != nil {
		return e.cfg.Cookies
	}
	var inMemory cookie.Jars
	return func(ctx context.Context, session string) (*cookie.Jar, error) {
		if session == "" {
			return nil, nil
		}
		return inMemory.Open(ctx, session)
	}
}

func orNone(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// Stats returns what the engine has done since it was made; Elapsed is how long it has been running.
func (e *Engine) Stats() *Stats {
	s := e.count.snapshot()
	e.mu.Lock()
	defer e.mu.Unlock()
	s.Elapsed = e.elapsed
	if !e.since.IsZero() {
		s.Elapsed += time.Since(e.since)
	}
	return s
}

// Close ends the idle connections of the engine's own Transport. It must not be called while the engine runs.
func (e *Engine) Close() error {
	if e.closes {
		return e.transport.Close()
	}
	return nil
}

// Run crawls until nothing is left to do, the budget is spent or ctx ends, and returns what was done. Seeds are parsed
// as browsers do; a bad one is an error and nothing is fetched. Without seeds it goes on where the last run stopped.
// When ctx ends, requests in flight are handed back to the frontier, and the error is the cause. What does not end within
// Config.Grace then is left behind, and named in an *AbandonedError beside it.
func (e *Engine) Run(ctx context.Context, seeds ...string) (*Stats, error) {
	if e.cfg.Handler == nil {
		return nil, &ConfigError{Field: "Handler", Reason: "is nil; only Pages does without"}
	}
	return e.crawl(ctx, e.cfg.Handler, nil, seeds)
}

// crawl is Run with the handler, and told of failures.
func (e *Engine) crawl(ctx context.Context, h Handler, failed func(*PageError), seeds []string) (*Stats, error) {
	if !e.running.CompareAndSwap(false, true) {
		return nil, ErrRunning
	}
	defer e.running.Store(false)
	before := e.count.snapshot()
	r := newRun(ctx, e, h, failed)
	defer r.release()
	e.begins(r)
	err := r.crawl(seeds)
	stats := e.count.snapshot().less(before)
	stats.Elapsed = e.ends()
	r.mu.Lock()
	defer r.mu.Unlock()
	stats.Finished, stats.Spent = r.finished, r.ranOut
	if err == nil && r.finished && r.resumed && !r.fresh.Load() {
		err = ErrFinished
	}
	return stats, err
}

func (e *Engine) begins(r *run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.run, e.since = r, time.Now()
}

// ends adds to what the engine has spent on its runs, and returns what the last one took.
func (e *Engine) ends() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	took := time.Since(e.since)
	e.elapsed, e.since = e.elapsed+took, time.Time{}
	return took
}

// Pages crawls like Run and hands out one page at a time. A page is nil exactly when the error is not: then a request
// has failed, which is a *PageError, or the crawl has. What is staged on a page takes effect when the loop asks for the
// next. Breaking off the loop stops the crawl and joins everything; the page that it stood at is done. One that the loop's
// body panicked at, or ended its goroutine at, is not: it goes back to the frontier.
func (e *Engine) Pages(ctx context.Context, seeds ...string) iter.Seq2[*Page, error] {
	return func(yield func(*Page, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		h := &handOut{turns: make(chan turn), inHand: make(chan struct{}, 1), stopped: ctx.Done()}
		done := make(chan error, 1)
		go func() {
			_, err := e.crawl(ctx, h, h.fail, seeds)
			done <- err
		}()
		var err error
		ended := false
		defer func() { // also when the loop was left by a panic
			cancel(errBroken)
			if !ended {
				<-done
			} else if err != nil {
				yield(nil, err)
			}
		}()
		for !ended {
			select {
			case t := <-h.turns:
				if !h.give(t, yield) {
					return
				}
			case err = <-done:
				ended = true
			}
		}
	}
}

// errBroken ends a crawl whose loop was left.
var errBroken = errors.New("seine: the loop over the pages was left")

// Crawl is Pages on an engine with the default Config.
func Crawl(ctx context.Context, seeds ...string) iter.Seq2[*Page, error] {
	return func(yield func(*Page, error) bool) {
		e, err := New(Config{})
		if err != nil {
			yield(nil, err)
			return
		}
		defer e.Close()
		e.Pages(ctx, seeds...)(yield)
	}
}

// handOut is the handler of Pages: each page and each failure takes a turn of the loop.
type handOut struct {
	turns   chan turn
	inHand  chan struct{} // has one while the loop's body runs
	stopped <-chan struct{}
}

type turn struct {
	page *Page
	err  error
	over chan bool // whether the body came to its end
}

// give gives the loop its turn, and reports whether it goes on.
func (h *handOut) give(t turn, yield func(*Page, error) bool) (more bool) {
	h.inHand <- struct{}{}
	done := false
	defer func() {
		if t.page != nil {
			t.page.v.over.Store(true)
		}
		<-h.inHand
		t.over <- done
	}()
	more = yield(t.page, t.err)
	done = true
	return more
}

// wait waits until the loop's body does not run.
func (h *handOut) wait() {
	h.inHand <- struct{}{}
	<-h.inHand
}

// HandlePage implements Handler.
func (h *handOut) HandlePage(ctx context.Context, p *Page) error { return h.take(ctx, turn{page: p}) }

func (h *handOut) fail(err *PageError) { h.take(context.Background(), turn{err: err}) }

func (h *handOut) take(ctx context.Context, t turn) error {
	t.over = make(chan bool, 1)
	select {
	case h.turns <- t:
		if !<-t.over {
			return errReleased
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-h.stopped:
		return errBroken
	}
}

// newBoot draws a number that differs at each start.
func newBoot() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:])
}
