package frontiertest

import (
	"context"
	"time"

	"github.com/seine-go/seine/crawler"
)

var endTests = []test{
	{"R14", "finished is nothing ready, delayed or leased", finishedIsNothingLeft},
	{"R14", "an open producer holds the end", producersHoldTheEnd},
	{"R14", "random crawls end exactly when they should", func(e *env) { runCrawls(e, 20, 1) }},
	{"R14", "every change is counted", changesAreCounted},
}

// finished checks what Lease and Stats say of the end.
func (e *env) finished(want bool, when string) {
	e.t.Helper()
	if b := e.request(crawler.LeaseRequest{Owner: "auditor", Boot: 1, Max: 0}); b.Finished != want {
		e.failf("Lease says finished = %v %s", b.Finished, when)
	}
	s, err := e.f.Stats(e.ctx())
	e.must(err)
	if s.Finished != want {
		e.failf("Stats says finished = %v %s", s.Finished, when)
	}
}

func finishedIsNothingLeft(e *env) {
	e.open(Options{})
	e.finished(true, "of an empty frontier")
	e.add(page("a", 1))
	e.finished(false, "with a request ready")
	l := e.leaseFor("A", 10*e.unit)
	e.finished(false, "with a request leased")
	s := done(l, crawler.Retry)
	s.Delay = 10 * e.unit
	e.must(e.f.Settle(e.ctx(), s))
	e.finished(false, "with a request delayed")
	e.pass(10 * e.unit)
	e.leaseFor("A", 10*e.unit)
	e.pass(10 * e.unit)
	e.finished(false, "with a lease expired")
	l = e.one("A")
	e.must(e.f.Settle(e.ctx(), done(l, crawler.Done, page("a", 2))))
	e.finished(false, "with a link")
	s = done(e.one("A"), crawler.Done)
	s.Revisit = 10 * e.unit
	e.must(e.f.Settle(e.ctx(), s))
	e.finished(false, "with a next visit")
	e.pass(10 * e.unit)
	e.settle(e.one("A"), crawler.Failed)
	e.finished(true, "when nothing is left")
	if b := e.batch("A", 1); len(b.Leases) != 0 || !b.Finished || b.Next != 0 {
		e.failf("when nothing is left a lease is answered with %+v", b)
	}
}

func producersHoldTheEnd(e *env) {
	e.open(Options{})
	p := upgrade[crawler.Producers](e)
	open := func(name string, units int) func(context.Context) error {
		e.t.Helper()
		end, err := p.OpenProducer(e.ctx(), name, time.Duration(units)*e.unit)
		e.must(err)
		return end
	}
	one, two := open("one", 100), open("two", 100)
	e.finished(false, "with two producers open")
	e.must(one(e.ctx()))
	e.must(one(e.ctx()))
	e.finished(false, "with a producer open")
	again := open("two", 100)
	e.must(two(e.ctx()))
	e.finished(false, "with a producer that opened again")
	e.add(page("a", 1))
	e.must(again(e.ctx()))
	e.finished(false, "with what the producer added")
	e.settle(e.one("A"), crawler.Done)
	e.finished(true, "with all producers closed")

	late := open("three", 10)
	e.pass(6 * e.unit)
	renewed := open("three", 10)
	e.pass(6 * e.unit)
	e.finished(false, "with a producer that renewed its time")
	e.pass(4 * e.unit)
	e.finished(true, "with a producer whose time is over")
	e.must(late(e.ctx()))
	e.must(renewed(e.ctx()))
	if _, err := p.OpenProducer(e.ctx(), "four", 0); err == nil {
		e.failf("a producer was opened for no time")
	}
	e.finished(true, "after a producer that was refused")
}

// changesAreCounted: over shards, two reads with equal change counters must mean that nothing has happened in between.
func changesAreCounted(e *env) {
	e.open(Options{})
	last := e.stats().Changes
	changed := func(what string) {
		e.t.Helper()
		now := e.stats().Changes
		if now == last {
			e.failf("%s did not change the counter", what)
		}
		last = now
	}
	e.add(page("a", 1))
	changed("Add")
	l := e.leaseFor("A", 10*e.unit)
	changed("Lease")
	e.settle(l, crawler.Released)
	changed("Settle")
	e.leaseFor("A", 10*e.unit)
	changed("Lease")
	e.pass(10 * e.unit)
	changed("the expiry of a lease")
	e.must(e.f.Settle(e.ctx(), done(e.one("A"), crawler.Done, page("a", 2))))
	changed("Settle")
	if now := e.stats().Changes; now != last {
		e.failf("reading changed the counter")
	}
}
