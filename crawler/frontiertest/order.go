package frontiertest

import (
	"slices"
	"time"

	"github.com/seine-go/seine/crawler"
)

var orderTests = []test{
	{"R11", "in a host: priority, due time, arrival", orderInHost},
	{"R11", "requests age", requestsAge},
	{"R11", "across hosts: earliest allowed first", earliestHostFirst},
	{"R11", "new hosts do not starve the old", noStarvation},
	{"R11", "equal hosts take turns", hostsTakeTurns},
	{"R12", "a retry waits its delay", retryWaits},
	{"R12", "delayed requests come back in order", delayedInOrder},
}

func orderInHost(e *env) {
	e.open(Options{})
	put := func(i, priority int) {
		e.t.Helper()
		e.offer(&crawler.Request{URL: page("a", i), Priority: priority}, crawler.Added)
	}
	put(0, 0)
	first := e.one("A")
	put(1, 0)
	put(2, 7)
	put(3, -40_000)
	put(4, 0)
	put(5, 40_000)
	put(6, 39_999)
	put(7, 7)
	put(8, 1<<30)
	s := done(first, crawler.Retry)
	s.Delay = e.unit
	e.must(e.f.Settle(e.ctx(), s))
	e.pass(2 * e.unit)
	put(9, 0)
	e.lease("B", 0)
	want := []string{page("a", 8), page("a", 5), page("a", 6), page("a", 2), page("a", 7), page("a", 1), page("a", 4), page("a", 0), page("a", 9), page("a", 3)}
	var got []string
	for range want {
		got = append(got, e.one("A").Request.URL)
	}
	if !slices.Equal(got, want) {
		e.failf("%q\nnot %q", got, want)
	}
}

func requestsAge(e *env) {
	e.open(Options{AgeStep: 10 * e.unit})
	put := func(i, priority int) {
		e.t.Helper()
		e.offer(&crawler.Request{URL: page("a", i), Priority: priority}, crawler.Added)
	}
	put(0, 0)
	put(1, -3)
	e.pass(15 * e.unit)
	put(2, 1) // worth 10 units: not enough against one that has waited 15
	put(3, 2) // worth 20
	e.pass(30 * e.unit)
	put(4, 1)
	want := []string{page("a", 3), page("a", 0), page("a", 2), page("a", 1), page("a", 4)}
	if got := urls(e.lease("A", 5)); !slices.Equal(got, want) {
		e.failf("%q\nnot %q", got, want)
	}
}

func earliestHostFirst(e *env) {
	e.open(Options{Pace: crawler.HostPolicy{Spacing: -1, MaxInFlight: 4}})
	hosts := upgrade[crawler.HostSetter](e)
	names := []string{"c", "a", "d", "b"}
	for i, name := range names {
		e.must(hosts.SetHost(e.ctx(), name+".example", crawler.HostPolicy{Block: 10 * e.unit * map[string]time.Duration{"a": 1, "b": 2, "c": 3, "d": 4}[name]}))
		e.add(page(name, i))
	}
	e.none("A", "all hosts are blocked")
	e.pass(50 * e.unit)
	if got, want := urls(e.lease("A", 4)), []string{page("a", 1), page("b", 3), page("c", 0), page("d", 2)}; !slices.Equal(got, want) {
		e.failf("%q\nnot %q", got, want)
	}
}

func noStarvation(e *env) {
	e.open(Options{})
	e.add(page("old", 1))
	for i := range 50 { // each time a new host has come, one lease is to be had
		e.pass(e.unit)
		e.add(page("new"+string(rune('a'+i%26))+string(rune('a'+i/26)), 1))
		if l := e.one("A"); l.Key == page("old", 1) {
			return
		}
	}
	e.failf("a host was passed over 50 times by hosts that came after it")
}

func hostsTakeTurns(e *env) {
	e.open(Options{})
	const hosts, each = 4, 10
	for i := range each {
		for h := range hosts {
			e.add(page(string(rune('a'+h)), i))
		}
	}
	served := map[string]int{}
	for range hosts * each / 2 {
		l := e.one("A")
		served[l.Request.Host()]++
		e.settle(l, crawler.Done)
		e.pass(e.unit / 10)
	}
	for host, n := range served {
		if n != each/2 {
			e.failf("%s was visited %d times of %d", host, n, hosts*each/2)
		}
	}
}

func retryWaits(e *env) {
	e.open(Options{})
	e.add(page("a", 1))
	s := done(e.one("A"), crawler.Retry)
	s.Delay = 10 * e.unit
	e.must(e.f.Settle(e.ctx(), s))
	e.counts(0, 1, 0, 0, 0)
	e.pass(7 * e.unit)
	e.within(e.none("A", "its delay is not over").Next, 3*e.unit)
	e.pass(3 * e.unit)
	e.counts(1, 0, 0, 0, 0)
	if l := e.one("B"); l.Attempt != 2 || l.Suspect {
		e.failf("a retry is %+v", l)
	}
}

func delayedInOrder(e *env) {
	e.open(Options{})
	const n = 6
	var want []string
	for i := range n {
		e.add(page("a", i))
	}
	for i, l := range e.lease("A", n) {
		s := done(l, crawler.Retry)
		s.Delay = e.unit * (10 - time.Duration(i))
		if i%2 == 0 {
			s.Delay = -1
		}
		e.must(e.f.Settle(e.ctx(), s))
	}
	for i := 0; i < n; i += 2 { // at once
		want = append(want, page("a", i))
	}
	e.pass(20 * e.unit)
	for i := n - 1; i > 0; i -= 2 { // the least delay first
		want = append(want, page("a", i))
	}
	if got := urls(e.lease("A", n)); !slices.Equal(got, want) {
		e.failf("%q\nnot %q", got, want)
	}
}
