package frontiertest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/seine-go/seine/crawler"
)

var settleTests = []test{
	{"R4", "done and links are one step", doneAndLinks},
	{"R4", "a settlement that cannot be has no effect at all", impossibleSettlement},
	{"R4", "passed keys are seen, dropped or left", passedKeys},
	{"R4", "what was passed while leased does not come back", passedWhileLeased},
	{"R4", "a next visit is part of the settlement", nextVisit},
	{"R4", "items are part of the settlement or refused", items},
	{"R5", "what two holders tell takes effect once", effectOnce},
	{"R5", "an attempt counts unless it was released", attemptsCount},
	{"R5", "what failed is listed and can be driven again", deadAndRedriven},
}

func doneAndLinks(e *env) {
	e.open(Options{})
	e.add(page("a", 0))
	links := []string{page("a", 1), page("b", 1), page("a", 1), page("a", 0)}
	e.must(e.f.Settle(e.ctx(), done(e.one("A"), crawler.Done, links...)))
	e.counts(2, 0, 0, 1, 0)
	got := urls(e.lease("A", 2))
	slices.Sort(got)
	if want := []string{page("a", 1), page("b", 1)}; !slices.Equal(got, want) {
		e.failf("the links %q became %q", links, got)
	}
}

func impossibleSettlement(e *env) {
	e.open(Options{})
	e.add(page("a", 0), page("a", 9))
	l := e.one("A")
	badLink := done(l, crawler.Done, page("a", 1), page("a", 2))
	badLink.Links[1].Label = string(make([]byte, crawler.MaxLabelBytes+1))
	badLink.Seen = []string{page("a", 3), page("a", 9)}
	badLink.Report.RetryAfter, badLink.Report.Class = time.Hour, 2
	for name, s := range map[string]crawler.Settlement{
		"a link over a bound":          badLink,
		"no outcome":                   {Lease: l},
		"an outcome that is none":      {Lease: l, Outcome: crawler.Released + 1},
		"links of a request that went": done(l, crawler.Retry, page("a", 1)),
	} {
		e.unchanged(name, func() {
			var fault *crawler.RequestError
			if err := e.f.Settle(e.ctx(), s); !errors.As(err, &fault) {
				e.failf("%s: error %v, not a RequestError", name, err)
			}
		})
	}
	e.must(e.f.Extend(e.ctx(), 100*e.unit, l))
	e.settle(l, crawler.Done)
	e.one("A")
	e.add(page("a", 1), page("a", 2), page("a", 3))
}

func passedKeys(e *env) {
	e.open(Options{})
	names := []string{"self", "leased", "ready", "raised", "delayed", "done", "failed"}
	for _, n := range names {
		e.add("https://a.example/" + n)
	}
	e.offer(&crawler.Request{URL: "https://a.example/raised", Priority: -1}, crawler.Duplicate)
	l := map[string]crawler.Lease{}
	for _, lease := range e.lease("A", len(names)) {
		l[lease.Key[len("https://a.example/"):]] = lease
	}
	e.settle(l["ready"], crawler.Released)
	e.settle(l["raised"], crawler.Released)
	e.offer(&crawler.Request{URL: "https://a.example/raised", Priority: 3}, crawler.Raised)
	retry := done(l["delayed"], crawler.Retry)
	retry.Delay = 10 * e.unit
	e.must(e.f.Settle(e.ctx(), retry))
	e.settle(l["done"], crawler.Done)
	e.settle(l["failed"], crawler.Failed)
	e.counts(2, 1, 2, 1, 1)

	s := done(l["self"], crawler.Done, "https://a.example/new", "https://a.example/link")
	for _, n := range append(names, "new", "new", "other") {
		s.Seen = append(s.Seen, "https://a.example/"+n)
	}
	e.must(e.f.Settle(e.ctx(), s))
	e.counts(1, 0, 1, 2, 1)
	if got := e.one("B").Key; got != "https://a.example/link" {
		e.failf("%s was leased, though a redirect had passed it", got)
	}
	for _, n := range append(names, "new", "other") {
		e.offer(request("https://a.example/"+n), crawler.Duplicate)
	}
	e.pass(20 * e.unit)
	e.none("B", "a redirect had passed it")
	e.settle(l["leased"], crawler.Done)
	e.counts(0, 0, 1, 3, 1)
}

// passedWhileLeased passes leases that end in all the ways there are.
func passedWhileLeased(e *env) {
	e.open(Options{})
	names := []string{"died", "done", "expired", "failed", "released", "retried", "revisited"}
	for _, n := range names {
		e.add("https://a.example/" + n)
	}
	e.add("https://b.example/old")
	l := map[string]crawler.Lease{}
	for _, lease := range e.lease("A", len(names)+1) {
		l[lease.Key[len("https://a.example/"):]] = lease
	}
	passes := done(l["old"], crawler.Done)
	for _, n := range names {
		passes.Seen = append(passes.Seen, "https://a.example/"+n)
	}
	e.must(e.f.Settle(e.ctx(), passes))
	e.counts(0, 0, 7, 1, 0)
	e.settle(l["released"], crawler.Released)
	e.settle(l["done"], crawler.Done)
	e.settle(l["failed"], crawler.Failed)
	retried, revisited := done(l["retried"], crawler.Retry), done(l["revisited"], crawler.Done)
	retried.Delay, revisited.Revisit = 10*e.unit, 10*e.unit
	e.must(e.f.Settle(e.ctx(), retried, revisited))
	e.must(e.f.Extend(e.ctx(), time.Hour, l["died"]))
	e.counts(0, 1, 2, 2, 1)
	e.pass(1001 * e.unit) // nobody extends the lease of the one that expires
	got := e.request(crawler.LeaseRequest{Owner: "A", Boot: 2, Max: 9}).Leases
	if len(got) != 1 || got[0].Key != "https://a.example/revisited" || got[0].Suspect {
		e.failf("%d came back, %+v, though a redirect had passed them", len(got), got)
	}
	e.counts(0, 0, 1, 2, 1)
	for _, n := range names {
		e.offer(request("https://a.example/"+n), crawler.Duplicate)
	}
}

func nextVisit(e *env) {
	e.open(Options{})
	e.add(page("a", 1))
	for visit := range 3 {
		l := e.one("A")
		if l.Attempt != 1 {
			e.failf("visit %d begins with attempt %d", visit, l.Attempt)
		}
		s := done(l, crawler.Done)
		s.Revisit = 10 * e.unit
		e.must(e.f.Settle(e.ctx(), s))
		e.counts(0, 1, 0, 0, 0)
		e.pass(5 * e.unit)
		b := e.none("A", "its next visit is not due")
		e.within(b.Next, 5*e.unit)
		e.pass(5 * e.unit)
	}
	e.settle(e.one("A"), crawler.Done)
	e.counts(0, 0, 0, 1, 0)
}

// within checks that a frontier does not let wait longer than it must.
func (e *env) within(next, most time.Duration) {
	e.t.Helper()
	if next <= 0 || next > most {
		e.failf("the next lease is said to be had in %v, but it is in %v", next, most)
	}
}

func items(e *env) {
	e.open(Options{})
	e.add(page("a", 1))
	l := e.one("A")
	s := done(l, crawler.Done)
	s.Items = []crawler.Item{{Key: "film/1", Value: []byte("x")}}
	if _, is := e.f.(crawler.ItemSettler); is {
		e.must(e.f.Settle(e.ctx(), s))
		e.counts(0, 0, 0, 1, 0)
		return
	}
	e.unchanged("items that nobody keeps", func() {
		if err := e.f.Settle(e.ctx(), s); err == nil {
			e.failf("a frontier that is no ItemSettler took items and said nothing")
		}
	})
}

func effectOnce(e *env) {
	e.open(Options{})
	e.add(page("a", 0))
	first := e.leaseFor("A", 10*e.unit)
	e.pass(10 * e.unit)
	second := e.one("B")
	e.lost(e.f.Settle(e.ctx(), done(first, crawler.Done, page("first", 1))), first.Key)
	s := done(second, crawler.Done, page("second", 1))
	for range 3 {
		e.must(e.f.Settle(e.ctx(), s))
	}
	e.lost(e.f.Settle(e.ctx(), done(first, crawler.Done, page("first", 1))), first.Key)
	e.counts(1, 0, 0, 1, 0)
	if got := e.one("B").Key; got != page("second", 1) {
		e.failf("%s came of it", got)
	}
}

func attemptsCount(e *env) {
	e.open(Options{})
	e.add(page("a", 1))
	for i, step := range []struct {
		outcome crawler.Outcome
		want    int
	}{
		{crawler.Released, 1}, {crawler.Retry, 1}, {crawler.Released, 2}, {crawler.Released, 2}, {crawler.Retry, 2}, {crawler.Failed, 3},
	} {
		l := e.one("A")
		if l.Attempt != step.want {
			e.failf("lease %d is attempt %d, not %d", i, l.Attempt, step.want)
		}
		e.settle(l, step.outcome)
	}
	e.counts(0, 0, 0, 0, 1)
}

func deadAndRedriven(e *env) {
	e.open(Options{})
	dead := upgrade[crawler.DeadLister](e)
	const n = 5
	var keys []string
	for i := range n {
		keys = append(keys, page("a", i))
		e.offer(&crawler.Request{URL: keys[i], Label: strconv.Itoa(i), Priority: -i}, crawler.Added)
		s := done(e.one("A"), crawler.Failed)
		s.Reason = fmt.Sprint("status ", i)
		e.must(e.f.Settle(e.ctx(), s))
	}
	e.add(page("b", 1))
	list := func() (got []string) {
		for d, err := range dead.Dead(e.ctx()) {
			e.must(err)
			if d.Request.Label != d.Reason[len("status "):] || d.Attempts != 1 || d.Key != d.Request.URL {
				e.failf("odd entry of the dead: %+v", d)
			}
			got = append(got, d.Key)
		}
		return got
	}
	if got := list(); !slices.Equal(got, keys) {
		e.failf("the dead are %q, not %q", got, keys)
	}
	for range dead.Dead(e.ctx()) {
		break
	}
	got, err := dead.Redrive(e.ctx(), keys[1], "unknown", keys[3], page("b", 1), keys[1])
	if err != nil || got != 2 {
		e.failf("%d were driven again, %v; not 2", got, err)
	}
	e.counts(3, 0, 0, 0, n-2)
	if got := list(); !slices.Equal(got, []string{keys[0], keys[2], keys[4]}) {
		e.failf("the dead are %q", got)
	}
	for _, l := range e.lease("A", 3) {
		if l.Attempt != 1 {
			e.failf("%s was driven again as attempt %d", l.Key, l.Attempt)
		}
		e.settle(l, crawler.Done)
	}
	e.counts(0, 0, 0, 3, n-2)
}
