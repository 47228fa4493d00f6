package frontiertest

import (
	"slices"

	"github.com/seine-go/seine/crawler"
)

var suspectTests = []test{
	{"R8", "suspects are leased alone", suspectsAlone},
	{"R8", "suspects of a closed host do not stop the others", suspectOfClosedHost},
	{"R8", "only deaths while alone count", deathsWhileAlone},
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

func deathsWhileAlone(e *env) {
	e.open(Options{MaxCrashes: 2})
	e.add(page("a", 1), page("a", 2))
	boot := uint64(1)
	die := func() []crawler.Lease {
		boot++
		return e.request(crawler.LeaseRequest{Owner: "A", Boot: boot, Max: 2}).Leases
	}
	e.request(crawler.LeaseRequest{Owner: "A", Boot: boot, Max: 2})
	for range 2 { // each time the other suspect is handed out, or the same again: it dies alone
		if got := die(); len(got) != 1 || !got[0].Suspect || got[0].Attempt != 1 {
			e.failf("%+v, not a suspect whose attempts were no tries", got)
		}
	}
	for range 10 {
		if die(); e.stats().Failed == 2 {
			break
		}
	}
	e.counts(0, 0, 0, 0, 2)
	if boot > 2+2*2 {
		e.failf("two requests took %d restarts to fail twice alone", boot-1)
	}
	e.offer(request(page("a", 1)), crawler.Duplicate)
}

// killer crawls pages with an engine of 32 in flight, of which one kills its process.
func killer(e *env) {
	e.open(Options{MaxCrashes: 3})
	pages, flight := 10_000, 32
	if !e.h.Virtual {
		pages = 500
	}
	for i := range pages {
		e.add(page("a", i))
	}
	deadly := page("a", pages/2)
	boot, deaths, alone := uint64(1), 0, 0
	var held []crawler.Lease
	for step := 0; ; step++ {
		b := e.request(crawler.LeaseRequest{Owner: "A", Boot: boot, Max: flight - len(held)})
		held = append(held, b.Leases...)
		if b.Finished && len(held) == 0 {
			break
		}
		if len(held) == 0 || deaths > 100 {
			e.failf("the crawl stands still after %d deaths: %+v", deaths, e.stats())
		}
		at := step % len(held)
		switch {
		case held[at].Key != deadly:
			e.settle(held[at], crawler.Done)
			held = slices.Delete(held, at, at+1)
		default:
			deaths++
			if len(held) == 1 && held[at].Suspect {
				alone++
			}
			boot, held = boot+1, nil
		}
	}
	e.counts(0, 0, 0, int64(pages-1), 1)
	if alone != 3 || deaths != 4 {
		e.failf("the page was given up after %d deaths, %d of them alone", deaths, alone)
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
