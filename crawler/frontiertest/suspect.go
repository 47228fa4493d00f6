package frontiertest

import (
	"slices"

	"github.com/seine-go/seine/crawler"
)

var suspectTests = []test{
	{"R8", "suspects are leased alone", suspectsAlone},
	{"R8", "suspects of a closed host do not stop the others", suspectOfClosedHost},
	{"R8", "only deaths while alone count", deathsWhileAlone},
	{"R8", "what is given up and never settled is failed", neverSettled},
	{"R8", "many suspects come back in groups", suspectsInGroups},
	{"R8", "a suspect is kept apart before its last death", condemned},
	{"R8", "the death of others acquits a suspect", acquitted},
	{"R8", "a page that kills its process fails and costs no other", killer},
	{"R8", "a negative bound counts nothing", nothingCounted},
}

func suspectsAlone(e *env) {
	e.open(Options{})
	for i := range 6 {
		e.add(page("a", i))
	}
	other := e.one("B")
	e.request(crawler.LeaseRequest{Owner: "A", Boot: 1, Max: 2})
	e.counts(3, 0, 3, 0, 0)
	b := e.request(crawler.LeaseRequest{Owner: "A", Boot: 2, Max: 3}) // both come back
	if len(b.Leases) != 1 || !b.Leases[0].Suspect {
		e.failf("with suspects waiting an engine got %+v", b.Leases)
	}
	suspect := b.Leases[0]
	more := func(owner string, boot uint64) []crawler.Lease {
		return e.request(crawler.LeaseRequest{Owner: owner, Boot: boot, Max: 3}).Leases
	}
	if got := more("A", 2); len(got) != 0 {
		e.failf("beside a suspect an engine got %s", got[0].Key)
	}
	if got := more("B", 1); len(got) != 0 {
		e.failf("an engine with work got %s while a suspect waits", got[0].Key)
	}
	e.settle(other, crawler.Done)
	got := more("B", 1)
	if len(got) != 1 || !got[0].Suspect {
		e.failf("an engine without work got %+v, not the suspect", got)
	}
	if got := more("C", 1); len(got) != 3 || slices.ContainsFunc(got, func(l crawler.Lease) bool { return l.Suspect }) {
		e.failf("with no suspect waiting an engine got %+v", got)
	}
	if got := more("B", 1); len(got) != 0 {
		e.failf("beside a suspect an engine got %s", got[0].Key)
	}
	e.settle(got[0], crawler.Done)
	e.settle(suspect, crawler.Done)
	e.counts(0, 0, 3, 3, 0)
}

func suspectOfClosedHost(e *env) {
	e.open(Options{})
	hosts := upgrade[crawler.HostSetter](e)
	e.add(page("slow", 1))
	e.one("A")
	e.add(page("a", 1), page("a", 2), page("a", 3))
	e.must(hosts.SetHost(e.ctx(), "slow.example", crawler.HostPolicy{Block: 20 * e.unit}))
	b := e.request(crawler.LeaseRequest{Owner: "A", Boot: 2, Max: 2})
	if len(b.Leases) != 2 {
		e.failf("%d leases while the suspect's host is closed, not 2", len(b.Leases))
	}
	e.pass(20 * e.unit)
	if got := e.request(crawler.LeaseRequest{Owner: "A", Boot: 2, Max: 2}).Leases; len(got) != 0 {
		e.failf("an engine with work got %s while a suspect waits", got[0].Key)
	}
	e.settle(b.Leases[0], crawler.Done)
	e.settle(b.Leases[1], crawler.Done)
	got := e.request(crawler.LeaseRequest{Owner: "A", Boot: 2, Max: 2}).Leases
	if len(got) != 1 || got[0].Key != page("slow", 1) || !got[0].Suspect {
		e.failf("%+v, not the suspect", got)
	}
}

// giveUp settles what an owner has that is given up, and reports whether there was something.
func (e *env) giveUp(leases []crawler.Lease) bool {
	for _, l := range leases {
		if l.GivenUp {
			e.settle(l, crawler.Failed)
			return true
		}
	}
	return false
}

func deathsWhileAlone(e *env) {
	e.open(Options{MaxCrashes: 2, CrashPause: -1})
	e.add(page("a", 1), page("a", 2))
	boot := uint64(1)
	die := func() []crawler.Lease {
		boot++
		return e.request(crawler.LeaseRequest{Owner: "A", Boot: boot, Max: 2}).Leases
	}
	e.request(crawler.LeaseRequest{Owner: "A", Boot: boot, Max: 2})
	for i := range 2 { // the one that died alone is handed out again: it dies once more
		if got := die(); len(got) != 1 || !got[0].Suspect || got[0].Attempt != 1 || got[0].Crashes != i || got[0].GivenUp {
			e.failf("%+v, not a suspect whose attempts were no tries", got)
		}
	}
	for range 10 {
		for got := die(); e.giveUp(got); {
			got = die()
		}
		if e.stats().Failed == 2 {
			break
		}
	}
	e.counts(0, 0, 0, 0, 2)
	if boot > 2+2*2+2 {
		e.failf("two requests took %d restarts to fail twice alone", boot-1)
	}
	e.offer(request(page("a", 1)), crawler.Duplicate)
}

// A holder that does not settle what is given up has it so often, and then it is failed.
func neverSettled(e *env) {
	e.open(Options{MaxCrashes: 2, CrashPause: -1})
	e.add(page("a", 1))
	for boot := range uint64(5) {
		got := e.request(crawler.LeaseRequest{Owner: "A", Boot: boot, Max: 2}).Leases
		if len(got) != 1 || got[0].Crashes != max(int(boot)-1, 0) || got[0].GivenUp != (boot > 2) {
			e.failf("after %d deaths: %+v", boot, got)
		}
	}
	if b := e.request(crawler.LeaseRequest{Owner: "A", Boot: 9, Max: 2}); !b.Finished {
		e.failf("it is leased for ever: %+v", b)
	}
	e.counts(0, 0, 0, 0, 1)
}

// suspectsInGroups has an owner die that had many: they come back in eighths.
func suspectsInGroups(e *env) {
	const many = 200
	e.open(Options{CrashPause: -1, Pace: crawler.HostPolicy{Delay: -1, Spacing: -1, MaxInFlight: many}})
	for i := range many + 10 {
		e.add(page("a", i))
	}
	e.request(crawler.LeaseRequest{Owner: "A", Boot: 1, Max: many})
	got := e.request(crawler.LeaseRequest{Owner: "A", Boot: 2, Max: many}).Leases
	if len(got) != many/8 || slices.ContainsFunc(got, func(l crawler.Lease) bool { return !l.Suspect }) {
		e.failf("%d leases after the death of an owner that had %d", len(got), many)
	}
	e.settle(got[0], crawler.Done)
	e.settle(got[1], crawler.Done)
	more := e.request(crawler.LeaseRequest{Owner: "A", Boot: 2, Max: many}).Leases
	if len(more) != 2 || !more[0].Suspect || !more[1].Suspect {
		e.failf("in the place of two suspects that are done came %+v", more)
	}
	for i, size := range []int{many / 8 / 8, 1} { // those that died again come first
		got = e.request(crawler.LeaseRequest{Owner: "A", Boot: uint64(3 + i), Max: many}).Leases
		if len(got) != size || !got[0].Suspect {
			e.failf("%d leases, not a group of %d", len(got), size)
		}
	}
	for rounds := 1; ; rounds++ {
		for _, l := range got {
			e.settle(l, crawler.Done)
		}
		if got = e.request(crawler.LeaseRequest{Owner: "A", Boot: 4, Max: many}).Leases; len(got) == 0 || !got[0].Suspect {
			break
		}
		if rounds > 3+9+9 { // alone, of 25, of 200
			e.failf("after %d rounds there are suspects still", rounds)
		}
	}
	e.counts(0, 0, 10, many, 0)
}

// A request that is one death from being given up is kept apart. Whether others die meanwhile tells what its own deaths
// were worth.
func keptApart(e *env, other bool) {
	pause := 20 * e.unit
	e.open(Options{MaxCrashes: 2, CrashPause: pause})
	e.add(page("a", 1))
	e.one("A")
	lease := func(boot uint64) crawler.LeaseBatch {
		return e.request(crawler.LeaseRequest{Owner: "A", Boot: boot, Max: 2})
	}
	if got := lease(2).Leases; len(got) != 1 || got[0].Crashes != 0 {
		e.failf("%+v, not the suspect", got)
	}
	b := lease(3)
	if len(b.Leases) > 0 || b.Finished {
		e.failf("a suspect is not kept apart: %+v", b)
	}
	e.within(b.Next, pause)
	e.add(page("b", 1), page("b", 2))
	if got := lease(3).Leases; len(got) != 2 || got[0].Suspect {
		e.failf("beside a suspect that is kept apart came %+v", got)
	}
	if other { // and now it is time for the others
		for range 3 { // two of them alone, at most
			got := lease(4).Leases
			if len(got) != 1 || !got[0].Suspect || got[0].Crashes != 0 {
				e.failf("%+v, not a suspect against which nothing is counted", got)
			}
			e.settle(got[0], crawler.Done)
		}
		e.counts(0, 0, 0, 3, 0)
		return
	}
	for _, l := range lease(3).Leases {
		e.failf("%s was leased too early", l.Key)
	}
	e.pass(pause)
	if got := lease(3).Leases; len(got) != 0 {
		e.failf("an engine with work got %s while a suspect waits", got[0].Key)
	}
}

func acquitted(e *env) { keptApart(e, true) }

func condemned(e *env) { keptApart(e, false) }

// killer crawls pages with an engine of 32 in flight, of which one kills its process.
func killer(e *env) {
	pause := 10 * e.unit
	e.open(Options{MaxCrashes: 3, CrashPause: pause})
	pages, flight := 10_000, 32
	if !e.h.Virtual {
		pages = 500
	}
	for i := range pages {
		e.add(page("a", i))
	}
	deadly := page("a", pages/2)
	boot, deaths, counted := uint64(1), 0, 0
	var held []crawler.Lease
	for step := 0; ; step++ {
		b := e.request(crawler.LeaseRequest{Owner: "A", Boot: boot, Max: flight - len(held)})
		held = append(held, b.Leases...)
		if b.Finished && len(held) == 0 {
			break
		}
		if len(held) == 0 && b.Next > 0 && b.Next <= pause { // it is kept apart
			e.pass(pause)
			continue
		}
		if len(held) == 0 || deaths > 100 {
			e.failf("the crawl stands still after %d deaths: %+v", deaths, e.stats())
		}
		at := step % len(held)
		switch {
		case held[at].GivenUp:
			counted = held[at].Crashes
			e.settle(held[at], crawler.Failed)
			held = nil
		case held[at].Key != deadly:
			e.settle(held[at], crawler.Done)
			held = slices.Delete(held, at, at+1)
		default:
			deaths++
			boot, held = boot+1, nil
		}
	}
	e.counts(0, 0, 0, int64(pages-1), 1)
	if counted != 3 || deaths != 5 { // one in company, one in a group of four
		e.failf("the page was given up after %d deaths, of which %d counted", deaths, counted)
	}
}

func nothingCounted(e *env) {
	e.open(Options{MaxCrashes: -1})
	e.add(page("a", 1), page("a", 2))
	for boot := range uint64(20) {
		b := e.request(crawler.LeaseRequest{Owner: "A", Boot: boot, Max: 2})
		if len(b.Leases) != 2 || b.Leases[0].Suspect || b.Leases[1].Suspect {
			e.failf("after %d deaths: %+v", boot, b.Leases)
		}
	}
	e.counts(0, 0, 2, 0, 0)
}
