package frontiertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
)

// env is what a test works with. Its methods end the test when a rule is broken.
type env struct {
	t    testing.TB
	rule string
	h    Harness
	f    crawler.Frontier
	unit time.Duration
}

func newEnv(t testing.TB, rule string, h Harness) *env {
	e := &env{t: t, rule: rule, h: h, unit: h.Unit}
	if e.unit <= 0 {
		e.unit = 100 * time.Millisecond
	}
	return e
}

// free is the pace of hosts that may be visited at any time.
var free = crawler.HostPolicy{Delay: -1, Spacing: -1, MaxInFlight: 64}

func (e *env) open(o Options) {
	e.t.Helper()
	if o.Pace == (crawler.HostPolicy{}) {
		o.Pace = free
	}
	e.f = e.h.Open(e.t, o)
}

func (e *env) ctx() context.Context { return e.t.Context() }

func (e *env) failf(format string, args ...any) {
	e.t.Helper()
	e.t.Fatalf(e.rule+": "+format, args...)
}

func (e *env) must(err error) {
	e.t.Helper()
	if err != nil {
		e.failf("%v", err)
	}
}

// pass lets the frontier's clock go on.
func (e *env) pass(d time.Duration) {
	if e.h.Advance != nil {
		e.h.Advance(d)
		return
	}
	time.Sleep(d)
}

func request(url string) *crawler.Request { return &crawler.Request{URL: url} }

// page is the i-th URL of a host.
func page(host string, i int) string { return fmt.Sprintf("https://%s.example/%d", host, i) }

// add adds requests that must be new.
func (e *env) add(urls ...string) {
	e.t.Helper()
	for _, url := range urls {
		e.offer(request(url), crawler.Added)
	}
}

// offer adds a request and checks the answer.
func (e *env) offer(r *crawler.Request, want crawler.AddStatus) {
	e.t.Helper()
	got, err := e.f.Add(e.ctx(), r)
	if want == crawler.Refused {
		if !errors.Is(err, crawler.ErrFull) {
			e.failf("Add of %s to a full frontier: error %v", r.URL, err)
		}
	} else if err != nil {
		e.failf("Add of %s: %v", r.URL, err)
	}
	if len(got) != 1 || got[0] != want {
		e.failf("Add of %s: %v, not %v", r.URL, got, want)
	}
}

// batch leases as an owner that never restarts.
func (e *env) batch(owner string, most int) crawler.LeaseBatch {
	e.t.Helper()
	return e.request(crawler.LeaseRequest{Owner: owner, Boot: 1, Max: most})
}

func (e *env) request(want crawler.LeaseRequest) crawler.LeaseBatch {
	e.t.Helper()
	if want.TTL == 0 {
		want.TTL = 1000 * e.unit
	}
	b, err := e.f.Lease(e.ctx(), want)
	e.must(err)
	if len(b.Leases) > max(want.Max, 0) {
		e.failf("%d leases, though %d were asked for", len(b.Leases), want.Max)
	}
	for _, l := range b.Leases {
		if l.Request == nil || l.Owner != want.Owner || l.Attempt < 1 || l.TTL <= 0 || l.TTL > want.TTL {
			e.failf("odd lease: %+v", l)
		}
	}
	return b
}

// lease leases exactly so many.
func (e *env) lease(owner string, n int) []crawler.Lease {
	e.t.Helper()
	b := e.batch(owner, n)
	if len(b.Leases) != n {
		e.failf("%s got %d leases, not %d", owner, len(b.Leases), n)
	}
	return b.Leases
}

func (e *env) one(owner string) crawler.Lease {
	e.t.Helper()
	return e.lease(owner, 1)[0]
}

// none checks that nothing is to be had and returns what was answered.
func (e *env) none(owner, why string) crawler.LeaseBatch {
	e.t.Helper()
	b := e.batch(owner, 1)
	if len(b.Leases) != 0 {
		e.failf("%s got %s: %s", owner, b.Leases[0].Key, why)
	}
	return b
}

// urls lists the URLs of leases.
func urls(leases []crawler.Lease) (all []string) {
	for _, l := range leases {
		all = append(all, l.Request.URL)
	}
	return all
}

func (e *env) settle(l crawler.Lease, o crawler.Outcome) {
	e.t.Helper()
	e.must(e.f.Settle(e.ctx(), done(l, o)))
}

// done is a settlement after one exchange that has just ended.
func done(l crawler.Lease, o crawler.Outcome, links ...string) crawler.Settlement {
	s := crawler.Settlement{Lease: l, Outcome: o}
	if o != crawler.Released {
		s.Report.Exchanges = 1
	}
	for _, url := range links {
		s.Links = append(s.Links, request(url))
	}
	return s
}

// lost checks that an error lists exactly these keys as lost.
func (e *env) lost(err error, keys ...string) {
	e.t.Helper()
	var lost *crawler.LeaseLostError
	if !errors.As(err, &lost) || !slices.Equal(lost.Keys, keys) {
		e.failf("error %v, not a LeaseLostError of %q", err, keys)
	}
}

// stats reads the counts, after what has expired was taken back.
func (e *env) stats() crawler.FrontierStats {
	e.t.Helper()
	e.request(crawler.LeaseRequest{Owner: "auditor", Boot: 1})
	s, err := e.f.Stats(e.ctx())
	e.must(err)
	return s
}

// counts checks how many requests are ready, delayed, leased, done and failed.
func (e *env) counts(ready, delayed, leased, done, failed int64) {
	e.t.Helper()
	s := e.stats()
	if s.Ready != ready || s.Delayed != delayed || s.Leased != leased || s.Done != done || s.Failed != failed {
		e.failf("ready, delayed, leased, done, failed are %d %d %d %d %d, not %d %d %d %d %d",
			s.Ready, s.Delayed, s.Leased, s.Done, s.Failed, ready, delayed, leased, done, failed)
	}
}

// unchanged checks that a call has no effect.
func (e *env) unchanged(what string, call func()) {
	e.t.Helper()
	before := e.stats()
	var dump []byte
	if e.h.Dump != nil {
		dump = e.h.Dump(e.t, e.f)
	}
	call()
	if after := e.stats(); after.Ready != before.Ready || after.Delayed != before.Delayed || after.Leased != before.Leased || after.Done != before.Done || after.Failed != before.Failed {
		e.failf("%s changed the counts from %+v to %+v", what, before, after)
	}
	if e.h.Dump != nil && !bytes.Equal(dump, e.h.Dump(e.t, e.f)) {
		e.failf("%s changed what is kept", what)
	}
}

// setter, reserver and the like return an upgrade of the frontier, or skip the test.
func upgrade[T any](e *env) T {
	e.t.Helper()
	u, ok := e.f.(T)
	if !ok {
		e.t.Skipf("%s: the frontier is no %T", e.rule, *new(*T))
	}
	return u
}

// reopen restarts the frontier, or skips the test.
func (e *env) reopen() {
	e.t.Helper()
	if e.h.Reopen == nil {
		e.t.Skipf("%s: the frontier does not outlive its process (no Reopen)", e.rule)
	}
	e.f = e.h.Reopen(e.t, e.f)
}
