package frontiertest

import (
	"github.com/seine-go/seine/crawler"
)

var inspectTests = []test{
	{"R7", "an Inspector tells the state of each request", inspectorTellsStates},
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
