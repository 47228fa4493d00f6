package frontiertest

import (
	"errors"
	"slices"

	"github.com/seine-go/seine/crawler"
)

var boundTests = []test{
	{"R13", "one past the bound is refused, and can be added later", refusedAtBound},
	{"R13", "a settlement whose links do not fit has no effect", linksAtBound},
	{"R13", "what is delayed or leased counts", allStatesCount},
	{"R13", "raising is bounded", raisingIsBounded},
}

func refusedAtBound(e *env) {
	const bound = 10
	e.open(Options{MaxPending: bound})
	for i := range bound {
		e.add(page("a", i))
	}
	e.offer(request(page("a", bound)), crawler.Refused)
	e.offer(request(page("a", 0)), crawler.Duplicate)
	e.offer(&crawler.Request{URL: page("a", 0), Priority: 1}, crawler.Raised)
	s, err := e.f.Add(e.ctx(), request(page("a", 1)), request(page("a", 11)), request(page("a", 2)))
	if !errors.Is(err, crawler.ErrFull) || !slices.Equal(s, []crawler.AddStatus{crawler.Duplicate, crawler.Refused, crawler.Duplicate}) {
		e.failf("%v, %v", s, err)
	}
	e.counts(bound, 0, 0, 0, 0)
	e.settle(e.one("A"), crawler.Done)
	e.add(page("a", bound)) // it was not seen
	e.offer(request(page("a", 11)), crawler.Refused)
	e.settle(e.one("A"), crawler.Failed)
	e.add(page("a", 11))
}

func linksAtBound(e *env) {
	const bound = 5
	e.open(Options{MaxPending: bound})
	for i := range bound {
		e.add(page("a", i))
	}
	l := e.lease("A", 2)
	two := done(l[0], crawler.Done, page("a", 1), page("b", 1), page("b", 2))
	e.unchanged("a settlement whose links do not fit", func() {
		if err := e.f.Settle(e.ctx(), two); !errors.Is(err, crawler.ErrFull) {
			e.failf("error %v, not ErrFull", err)
		}
	})
	e.must(e.f.Extend(e.ctx(), 1000*e.unit, l[0]))
	revisit := done(l[0], crawler.Done, page("b", 1))
	revisit.Revisit = e.unit
	if err := e.f.Settle(e.ctx(), revisit); !errors.Is(err, crawler.ErrFull) {
		e.failf("a request that stays and a new one: error %v, not ErrFull", err)
	}
	// Its own place is free, a link that is given twice is one, and what a redirect passed makes room.
	one := done(l[0], crawler.Done, page("a", 1), page("b", 1), page("b", 1), page("a", 0))
	e.must(e.f.Settle(e.ctx(), one))
	e.counts(4, 0, 1, 1, 0)
	passed := done(l[1], crawler.Done, page("b", 2), page("b", 3))
	passed.Seen = []string{page("a", 4), page("a", 4), page("b", 4)}
	e.must(e.f.Settle(e.ctx(), passed))
	e.counts(5, 0, 0, 2, 0)
	e.offer(request(page("b", 5)), crawler.Refused)
}

func allStatesCount(e *env) {
	const bound = 3
	e.open(Options{MaxPending: bound})
	for i := range bound {
		e.add(page("a", i))
	}
	l := e.lease("A", 2)
	s := done(l[0], crawler.Retry)
	s.Delay = 10 * e.unit
	e.must(e.f.Settle(e.ctx(), s))
	e.counts(1, 1, 1, 0, 0)
	e.offer(request(page("a", bound)), crawler.Refused)
	e.request(crawler.LeaseRequest{Owner: "A", Boot: 2, Max: 0}) // it is a suspect now
	e.offer(request(page("a", bound)), crawler.Refused)
	e.pass(10 * e.unit)
	e.offer(request(page("a", bound)), crawler.Refused)
	e.counts(3, 0, 0, 0, 0)
}

func raisingIsBounded(e *env) {
	e.open(Options{MaxPending: 10})
	for i := range 10 {
		e.add(page("a", i))
	}
	for p := 1; p <= 1000; p++ {
		e.offer(&crawler.Request{URL: page("a", p%10), Priority: p}, crawler.Raised)
	}
	e.counts(10, 0, 0, 0, 0)
	var want []string
	for p := 1000; p > 990; p-- {
		want = append(want, page("a", p%10))
	}
	if got := urls(e.lease("A", 10)); !slices.Equal(got, want) {
		e.failf("%q\nnot %q", got, want)
	}
}
