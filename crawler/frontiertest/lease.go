package frontiertest

import (
	"math/rand/v2"
	"time"

	"github.com/seine-go/seine/crawler"
)

var leaseTests = []test{
	{"R2", "a lease is exclusive until its time is over", exclusiveUntilTTL},
	{"R2", "extending counts from now", extendCountsFromNow},
	{"R2", "a TTL that is not given is the frontier's", defaultTTL},
	{"R3", "a stale epoch has no effect", staleEpoch},
	{"R3", "a lease that is not the caller's has no effect", foreignLease},
	{"R3", "an exact repeat is answered without error", exactRepeat},
	{"R3", "what is not lost of a batch takes effect", restOfBatch},
	{"R6", "any owner takes back what has expired", anyOwnerReclaims},
	{"R6", "a restarted owner takes back its own at once", restartedOwner},
	{"R7", "state and expiry agree", stateAndExpiryAgree},
}

func (e *env) leaseFor(owner string, ttl time.Duration) crawler.Lease {
	e.t.Helper()
	b := e.request(crawler.LeaseRequest{Owner: owner, Boot: 1, Max: 1, TTL: ttl})
	if len(b.Leases) != 1 {
		e.failf("%s got no lease", owner)
	}
	return b.Leases[0]
}

func exclusiveUntilTTL(e *env) {
	e.open(Options{})
	e.add(page("a", 1))
	first := e.leaseFor("A", 10*e.unit)
	e.none("B", "it is leased")
	e.none("A", "it is leased")
	e.pass(5 * e.unit)
	e.none("B", "it is leased for as long again")
	e.pass(5 * e.unit)
	second := e.one("B")
	if second.Key != first.Key || second.Epoch == first.Epoch || second.Attempt != 1 || !second.Suspect {
		e.failf("after %+v has expired came %+v", first, second)
	}
}

func extendCountsFromNow(e *env) {
	e.open(Options{})
	e.add(page("a", 1))
	l := e.leaseFor("A", 10*e.unit)
	for range 3 {
		e.pass(6 * e.unit)
		e.must(e.f.Extend(e.ctx(), 10*e.unit, l))
		e.none("B", "it was extended")
	}
	e.pass(7 * e.unit)
	e.none("B", "it was extended")
	e.pass(3 * e.unit)
	e.one("B")
	e.lost(e.f.Extend(e.ctx(), 10*e.unit, l), l.Key)
}

func defaultTTL(e *env) {
	e.open(Options{LeaseTTL: 10 * e.unit})
	e.add(page("a", 1))
	b, err := e.f.Lease(e.ctx(), crawler.LeaseRequest{Owner: "A", Boot: 1, Max: 1})
	e.must(err)
	if len(b.Leases) != 1 || b.Leases[0].TTL <= 0 || b.Leases[0].TTL > 10*e.unit {
		e.failf("%+v", b)
	}
	e.none("B", "it is leased")
	e.pass(10 * e.unit)
	e.one("B")
}

func staleEpoch(e *env) {
	e.open(Options{})
	e.add(page("a", 1), page("a", 2))
	old := e.leaseFor("A", 10*e.unit)
	e.pass(10 * e.unit)
	now := e.one("B")
	if now.Key != old.Key {
		e.failf("%s was leased, not the suspect %s", now.Key, old.Key)
	}
	e.unchanged("a stale lease", func() {
		for _, o := range []crawler.Outcome{crawler.Done, crawler.Retry, crawler.Failed, crawler.Released} {
			s := done(old, o)
			if o == crawler.Done {
				s = done(old, o, page("a", 3))
			}
			e.lost(e.f.Settle(e.ctx(), s), old.Key)
		}
		e.lost(e.f.Extend(e.ctx(), 100*e.unit, old), old.Key)
	})
	e.settle(now, crawler.Done)
	e.unchanged("a stale lease of a request that is done", func() {
		e.lost(e.f.Settle(e.ctx(), done(old, crawler.Done)), old.Key)
		e.lost(e.f.Extend(e.ctx(), 100*e.unit, old), old.Key)
		e.lost(e.f.Extend(e.ctx(), 100*e.unit, now), old.Key)
	})
	e.add(page("a", 3)) // what the stale settlement brought was not seen
}

func foreignLease(e *env) {
	e.open(Options{})
	e.add(page("a", 1), page("a", 2))
	leases := e.lease("A", 2)
	swapped := leases[0]
	swapped.Epoch = leases[1].Epoch
	stolen := leases[0]
	stolen.Owner = "B"
	later := leases[0]
	later.Epoch++
	never := crawler.Lease{Key: page("a", 9), Owner: "A", Epoch: 1}
	e.unchanged("a lease that nobody was given", func() {
		for _, l := range []crawler.Lease{swapped, stolen, never, {Key: leases[0].Key, Owner: "A"}} {
			if l.Epoch == leases[0].Epoch && l.Key == leases[0].Key && l.Owner == "A" {
				continue
			}
			e.lost(e.f.Settle(e.ctx(), done(l, crawler.Done)), l.Key)
			e.lost(e.f.Extend(e.ctx(), e.unit, l), l.Key)
		}
		if later.Epoch != leases[1].Epoch {
			e.lost(e.f.Settle(e.ctx(), done(later, crawler.Done)), later.Key)
		}
	})
}

func exactRepeat(e *env) {
	e.open(Options{})
	for i, o := range []crawler.Outcome{crawler.Done, crawler.Retry, crawler.Failed, crawler.Released} {
		e.add(page("a", i))
		l := e.one("A")
		s := done(l, o)
		s.Delay = 1000 * e.unit
		if o == crawler.Done {
			s = done(l, o, page("later", i))
		}
		e.must(e.f.Settle(e.ctx(), s))
		e.unchanged("the repeat of a settlement", func() {
			e.must(e.f.Settle(e.ctx(), s))
			e.must(e.f.Settle(e.ctx(), s, s))
		})
		if o == crawler.Done {
			e.settle(e.one("A"), crawler.Done)
		}
		e.unchanged("another settlement", func() {
			s := done(l, crawler.Done)
			if o == crawler.Done {
				s = done(l, crawler.Failed)
			}
			e.lost(e.f.Settle(e.ctx(), s), l.Key)
		})
	}
}

func restOfBatch(e *env) {
	e.open(Options{})
	e.add(page("a", 1), page("a", 2), page("a", 3))
	old := e.leaseFor("A", 10*e.unit)
	e.pass(10 * e.unit)
	e.settle(e.one("B"), crawler.Done)
	l := e.lease("B", 2)
	gone := crawler.Lease{Key: "gone", Owner: "B", Epoch: 1 << 60}
	e.lost(e.f.Settle(e.ctx(), done(old, crawler.Done), done(l[0], crawler.Done), done(gone, crawler.Done), done(l[1], crawler.Failed)), old.Key, "gone")
	e.counts(0, 0, 0, 2, 1)
}

func anyOwnerReclaims(e *env) {
	e.open(Options{MaxCrashes: -1})
	const n = 10
	for i := range n {
		e.add(page("a", i))
	}
	for i := range n {
		e.leaseFor("A", time.Duration(10+i)*e.unit)
	}
	e.pass(time.Duration(10+n) * e.unit)
	if got := e.batch("B", n+1); len(got.Leases) != n {
		e.failf("%d of %d expired leases were taken back by one call", len(got.Leases), n)
	}
	e.counts(0, 0, n, 0, 0)
}

func restartedOwner(e *env) {
	e.open(Options{MaxCrashes: -1})
	e.add(page("a", 1), page("a", 2), page("a", 3))
	old := e.lease("A", 2)
	other := e.one("B")
	b := e.request(crawler.LeaseRequest{Owner: "A", Boot: 2, Max: 3})
	if len(b.Leases) != 2 {
		e.failf("a restarted owner got %d of the 2 requests that it had", len(b.Leases))
	}
	e.lost(e.f.Settle(e.ctx(), done(old[0], crawler.Done), done(old[1], crawler.Done)), old[0].Key, old[1].Key)
	e.must(e.f.Extend(e.ctx(), 100*e.unit, other))
	e.must(e.f.Extend(e.ctx(), 100*e.unit, b.Leases...))
	if b := e.request(crawler.LeaseRequest{Owner: "A", Boot: 2, Max: 1}); len(b.Leases) != 0 {
		e.failf("an owner that did not restart got %s again", b.Leases[0].Key)
	}
}

func stateAndExpiryAgree(e *env) {
	e.open(Options{MaxCrashes: -1})
	r := rand.New(rand.NewPCG(1, 2))
	const n = 50
	for i := range n {
		e.add(page("a", i))
	}
	for range 20 {
		for range r.IntN(10) {
			b := e.request(crawler.LeaseRequest{Owner: string(rune('A' + r.IntN(3))), Boot: 1, Max: 1, TTL: time.Duration(1+r.IntN(9)) * e.unit})
			for _, l := range b.Leases {
				if r.IntN(4) == 0 {
					e.settle(l, crawler.Released)
				}
			}
		}
		e.pass(e.unit)
		if s := e.stats(); s.Ready+s.Leased != n {
			e.failf("%d ready and %d leased of %d", s.Ready, s.Leased, n)
		}
	}
	e.pass(10 * e.unit)
	e.counts(n, 0, 0, 0, 0)
	e.lease("A", n)
}
