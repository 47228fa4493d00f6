package frontiertest

import (
	"github.com/seine-go/seine/crawler"
)

var restartTests = []test{
	{"R6", "a restarted frontier gives an owner its own back at once", restartGivesBack},
	{"R8", "deaths while alone are remembered over restarts", restartCountsDeaths},
	{"R4", "what was passed while leased does not come back after a restart", restartKeepsPassed},
	{"R8", "the death of a process without suspects acquits them", restartKeepsApart},
	{"R10", "blocks and policies survive a restart", restartKeepsPace},
	{"R12", "delays and retries survive a restart", restartKeepsDelays},
	{"R9", "after the loss of the log's end work is redone, never lost", cutTail},
}

func restartGivesBack(e *env) {
	e.open(Options{MaxCrashes: -1})
	e.add(page("a", 1), page("a", 2), page("a", 3))
	old := e.lease("A", 2)
	e.settle(old[0], crawler.Done)
	e.reopen()
	b := e.request(crawler.LeaseRequest{Owner: "A", Boot: 2, Max: 3})
	if len(b.Leases) != 2 {
		e.failf("%d leases after a restart, not 2", len(b.Leases))
	}
	e.lost(e.f.Settle(e.ctx(), done(old[1], crawler.Done)), old[1].Key)
	e.offer(request(page("a", 1)), crawler.Duplicate)
	e.counts(0, 0, 2, 1, 0)
}

func restartCountsDeaths(e *env) {
	e.open(Options{MaxCrashes: 3, CrashPause: -1})
	e.add(page("a", 1))
	for boot := range uint64(4) { // the first death is of one that was not leased alone
		if got := len(e.request(crawler.LeaseRequest{Owner: "A", Boot: boot, Max: 1}).Leases); got != 1 {
			e.failf("%d leases after %d deaths", got, boot)
		}
		e.reopen()
	}
	got := e.request(crawler.LeaseRequest{Owner: "A", Boot: 5, Max: 1}).Leases
	if len(got) != 1 || !got[0].GivenUp || got[0].Crashes != 3 {
		e.failf("after four deaths: %+v", got)
	}
	e.settle(got[0], crawler.Failed)
	e.counts(0, 0, 0, 0, 1)
}

func restartKeepsPassed(e *env) {
	e.open(Options{})
	e.add(page("a", 1), page("b", 1), page("c", 1))
	leases := map[string]crawler.Lease{}
	for _, l := range e.lease("A", 3) {
		leases[l.Key] = l
	}
	s := done(leases[page("a", 1)], crawler.Done)
	s.Seen = []string{page("b", 1)}
	e.must(e.f.Settle(e.ctx(), s))
	e.reopen()
	got := e.request(crawler.LeaseRequest{Owner: "A", Boot: 2, Max: 1}).Leases
	if len(got) != 1 || got[0].Key != page("c", 1) {
		e.failf("after a restart %+v came back, not what no redirect had passed", got)
	}
	e.settle(got[0], crawler.Done)
	e.counts(0, 0, 0, 2, 0)
	e.offer(request(page("b", 1)), crawler.Duplicate)
}

// restartKeepsApart has a process die while a suspect is kept apart, or before it was leased.
func restartKeepsApart(e *env) {
	e.open(Options{MaxCrashes: 2, CrashPause: 1000 * e.unit})
	e.add(page("a", 1))
	lease := func(boot uint64, crashes int) {
		got := e.request(crawler.LeaseRequest{Owner: "A", Boot: boot, Max: 1}).Leases
		if len(got) != 1 || got[0].Crashes != crashes {
			e.failf("%+v, not the suspect, with %d crashes", got, crashes)
		}
		e.reopen()
	}
	lease(1, 0)
	lease(2, 0)
	e.none("A", "it is kept apart")
	e.reopen() // a process died that held nothing
	lease(4, 0)
	e.none("A", "it is kept apart again")
}

func restartKeepsPace(e *env) {
	e.open(Options{})
	hosts := upgrade[crawler.HostSetter](e)
	e.add(page("a", 1), page("b", 1), page("b", 2), page("b", 3))
	e.must(hosts.SetHost(e.ctx(), "a.example", crawler.HostPolicy{Block: 20 * e.unit}))
	e.must(hosts.SetHost(e.ctx(), "b.example", crawler.HostPolicy{Delay: 30 * e.unit}))
	e.settle(e.one("A"), crawler.Done)
	e.reopen()
	e.none("A", "one host is blocked, the other has its delay")
	e.pass(20 * e.unit)
	if got := e.one("A").Key; got != page("a", 1) {
		e.failf("%s was leased before its time", got)
	}
	e.pass(10 * e.unit)
	e.one("A")
	e.none("A", "the host has a delay and one in flight")
}

func restartKeepsDelays(e *env) {
	e.open(Options{})
	e.add(page("a", 1), page("a", 2))
	l := e.lease("A", 2)
	s := done(l[0], crawler.Retry)
	s.Delay = 20 * e.unit
	r := done(l[1], crawler.Done)
	r.Revisit = 30 * e.unit
	e.must(e.f.Settle(e.ctx(), s, r))
	e.reopen()
	e.counts(0, 2, 0, 0, 0)
	e.within(e.none("A", "its delay is not over").Next, 20*e.unit)
	e.pass(20 * e.unit)
	if l := e.one("A"); l.Key != page("a", 1) || l.Attempt != 2 {
		e.failf("after the delay came %+v", l)
	}
	e.pass(10 * e.unit)
	e.one("A")
}

// cutTail crawls a tree and loses the end of the log now and then.
func cutTail(e *env) {
	if e.h.CutTail == nil {
		e.t.Skipf("R9: the frontier keeps no log (no CutTail)")
	}
	e.open(Options{MaxCrashes: -1})
	const pages, each = 200, 3
	visited := map[string]bool{}
	e.add(page("a", 0))
	seed := func() { // a caller whose Add was lost adds again
		_, err := e.f.Add(e.ctx(), request(page("a", 0)))
		e.must(err)
	}
	for step, boot := 0, uint64(1); ; step++ {
		b := e.request(crawler.LeaseRequest{Owner: "A", Boot: boot, Max: 4})
		if len(b.Leases) == 0 && b.Finished {
			break
		}
		if step > 100*pages {
			e.failf("the crawl has no end: %+v", e.stats())
		}
		for _, l := range b.Leases {
			var i int
			for _, c := range l.Key[len("https://a.example/"):] {
				i = 10*i + int(c-'0')
			}
			visited[l.Key] = true
			var links []string
			for k := range each {
				if n := each*i + k + 1; n < pages {
					links = append(links, page("a", n))
				}
			}
			e.must(e.f.Settle(e.ctx(), done(l, crawler.Done, links...)))
		}
		if step%7 == 6 && step < 100 {
			e.f = e.h.CutTail(e.t, e.f)
			boot++
			seed()
		}
	}
	for i := range pages {
		if !visited[page("a", i)] {
			e.failf("%s is lost", page("a", i))
		}
	}
}
