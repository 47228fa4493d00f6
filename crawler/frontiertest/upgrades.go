package frontiertest

import (
	"github.com/seine-go/seine/crawler"
)

var upgradeTests = []test{
	{"R7", "an Inspector tells the state of each request", inspectorTellsStates},
	{"R1", "a Restarter forgets what is done", restarterForgets},
}

// inspectorTellsStates takes a request through its states.
func inspectorTellsStates(e *env) {
	e.open(Options{})
	in := upgrade[crawler.Inspector](e)
	key := page("a", 1)
	state := func(want crawler.RequestState, when string) crawler.Inspection {
		e.t.Helper()
		var i crawler.Inspection
		e.unchanged("Inspect", func() {
			var err error
			i, err = in.Inspect(e.ctx(), key, "a.example")
			e.must(err)
		})
		if i.State != want {
			e.failf("the state is %v %s, not %v", i.State, when, want)
		}
		return i
	}
	if i := state(crawler.StateUnknown, "before Add"); i.Queued != 0 || i.InFlight != 0 || i.Opens != 0 {
		e.failf("a host that was never heard of: %+v", i)
	}
	e.add(key, page("a", 2), page("b", 1))
	if i := state(crawler.StateReady, "after Add"); i.Queued != 2 {
		e.failf("%d are queued for the host, not 2", i.Queued)
	}
	retry := done(e.one("A"), crawler.Retry)
	if retry.Lease.Key != key {
		e.failf("%s was leased before %s", retry.Lease.Key, key)
	}
	if i := state(crawler.StateLeased, "after Lease"); i.Attempts != 1 || i.InFlight != 1 || i.Places != free.MaxInFlight {
		e.failf("a request that is leased: %+v", i)
	}
	retry.Delay = 10 * e.unit
	e.must(e.f.Settle(e.ctx(), retry))
	if i := state(crawler.StateDelayed, "after a retry"); i.Due <= 0 || i.Due > 10*e.unit {
		e.failf("it is due in %v, not in %v at the most", i.Due, 10*e.unit)
	}
	for _, l := range e.lease("A", 2) {
		e.settle(l, crawler.Done)
	}
	e.pass(10 * e.unit)
	failed := done(e.one("A"), crawler.Failed)
	failed.Reason = "because"
	e.must(e.f.Settle(e.ctx(), failed))
	if i := state(crawler.StateFailed, "after it was given up"); i.Attempts != 2 || i.Reason != "because" {
		e.failf("a request that failed: %+v", i)
	}
	key = page("b", 1)
	state(crawler.StateDone, "of one that is done")
}

// restarterForgets checks that all of a finished crawl, and only of one, can be added again.
func restarterForgets(e *env) {
	e.open(Options{})
	again := upgrade[crawler.Restarter](e)
	refused := func(when string) {
		e.t.Helper()
		e.unchanged("Restart "+when, func() {
			if err := again.Restart(e.ctx()); err == nil {
				e.failf("Restart succeeds %s", when)
			}
		})
	}
	e.must(again.Restart(e.ctx())) // of nothing
	e.add(page("a", 1), page("a", 2), page("b", 1))
	e.offer(&crawler.Request{URL: page("b", 1), Priority: 5}, crawler.Raised) // leaves something behind, perhaps
	refused("with requests ready")
	leases := e.lease("A", 3)
	refused("with requests leased")
	for _, l := range leases {
		s := done(l, crawler.Done)
		switch l.Key {
		case page("b", 1):
			s.Seen = []string{page("c", 1)}
		case page("a", 1):
			s.Outcome, s.Delay = crawler.Retry, 10*e.unit
		case page("a", 2):
			s.Outcome = crawler.Failed
		}
		e.must(e.f.Settle(e.ctx(), s))
	}
	refused("with a request delayed")
	e.pass(10 * e.unit)
	e.settle(e.one("A"), crawler.Done)
	e.counts(0, 0, 0, 2, 1)
	e.must(again.Restart(e.ctx()))
	e.counts(0, 0, 0, 0, 0)
	e.add(page("a", 1), page("a", 2), page("b", 1), page("c", 1))
	for _, l := range e.lease("A", 4) {
		if l.Attempt != 1 {
			e.failf("%s was tried %d times already", l.Key, l.Attempt-1)
		}
		e.settle(l, crawler.Done)
	}
	e.none("A", "after a restart each was leased once")
	e.counts(0, 0, 0, 4, 0)
	if d, ok := e.f.(crawler.DeadLister); ok {
		for range d.Dead(e.ctx()) {
			e.failf("what had failed is listed after Restart")
		}
	}
}
