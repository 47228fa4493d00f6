package frontiertest

import (
	"errors"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/ratelimit"
)

var paceTests = []test{
	{"R10", "a delay counts from the end of the exchange", delayFromEnd},
	{"R10", "a delay counts from the end of a lease that expired", delayFromExpiry},
	{"R10", "spacing counts from start to start", spacingFromStart},
	{"R10", "spacing counts from when a request was written, where that is told", spacingFromSent},
	{"R10", "a host has its places and no more", placesInFlight},
	{"R10", "what was released untouched is eligible at once", releasedUntouched},
	{"R10", "Retry-After and blocks keep a host closed", blocks},
	{"R10", "a policy of its own is a host's alone and can change", ownPolicy},
	{"R10", "a reservation takes a slot and a place", reservations},
	{"R10", "further exchanges of a lease take slots", slotsUnderLease},
	{"R10", "hosts do not wait for each other", hostsApart},
	{"R10", "a pace that adapts stays within the policy", adaptsWithin},
	{"R10", "a pace that does not adapt stays as it is", doesNotAdapt},
}

func delayFromEnd(e *env) {
	e.open(Options{Pace: crawler.HostPolicy{Delay: 10 * e.unit, MaxInFlight: 8}})
	for i := range 4 {
		e.add(page("a", i))
	}
	l := e.one("A")
	e.none("B", "the host has a request in flight")
	e.pass(20 * e.unit)
	e.none("B", "the host has a request in flight, however long")
	s := done(l, crawler.Done)
	e.must(e.f.Settle(e.ctx(), s))
	b := e.none("A", "the delay has begun only now")
	e.within(b.Next, 10*e.unit)
	e.pass(6 * e.unit)
	e.none("A", "the delay is not over")
	e.pass(4 * e.unit)
	l = e.one("A")
	e.pass(5 * e.unit)
	s = done(l, crawler.Retry)
	s.Report.Since = 4 * e.unit // the exchange ended before the settlement
	e.must(e.f.Settle(e.ctx(), s))
	e.none("A", "the delay is not over")
	e.pass(6 * e.unit)
	l = e.one("A")
	s = done(l, crawler.Done)
	s.Report.Since = 1000 * e.unit // it cannot have ended before it began
	e.must(e.f.Settle(e.ctx(), s))
	e.none("A", "the delay is not over")
	e.pass(10 * e.unit)
	e.one("A")
}

func delayFromExpiry(e *env) {
	e.open(Options{Pace: crawler.HostPolicy{Delay: 10 * e.unit}})
	e.add(page("a", 1))
	e.leaseFor("A", 5*e.unit)
	e.pass(5 * e.unit)
	e.none("B", "the dead holder was in contact until now")
	e.pass(6 * e.unit)
	e.none("B", "the delay is not over")
	e.pass(4 * e.unit)
	e.one("B")
}

func spacingFromStart(e *env) {
	e.open(Options{Pace: crawler.HostPolicy{Spacing: 10 * e.unit, MaxInFlight: 8}})
	for i := range 5 {
		e.add(page("a", i))
	}
	for i := range 3 {
		l := e.one("A")
		if i == 1 {
			e.settle(l, crawler.Done)
		}
		e.within(e.none("B", "it is too near to the last").Next, 10*e.unit)
		e.pass(7 * e.unit)
		e.none("B", "it is too near to the last")
		e.pass(3 * e.unit)
	}
	e.pass(30 * e.unit)
	e.one("A")
	e.none("A", "slots that nobody used are not kept")
}

func spacingFromSent(e *env) {
	e.open(Options{Pace: crawler.HostPolicy{Spacing: 10 * e.unit, MaxInFlight: 1}})
	for i := range 3 {
		e.add(page("a", i))
	}
	l := e.one("A")
	e.pass(20 * e.unit)
	s := done(l, crawler.Done)
	s.Report.Sent, s.Report.Since = 3*e.unit, e.unit // it was written 16 units after the lease, which began its slot
	e.must(e.f.Settle(e.ctx(), s))
	e.within(e.none("A", "its request was written only just").Next, 6*e.unit)
	e.pass(6 * e.unit)
	l = e.one("A")
	e.pass(2 * e.unit)
	s = done(l, crawler.Done)
	s.Report.Sent = 2 * e.unit
	e.must(e.f.Settle(e.ctx(), s))
	e.within(e.none("A", "it was written when its slot began").Next, 8*e.unit)
	e.pass(8 * e.unit)
	e.one("A")
}

func placesInFlight(e *env) {
	e.open(Options{Pace: crawler.HostPolicy{Spacing: -1, MaxInFlight: 3}})
	for i := range 9 {
		e.add(page("a", i))
	}
	b := e.batch("A", 9)
	if len(b.Leases) != 3 {
		e.failf("%d in flight, not 3", len(b.Leases))
	}
	e.none("B", "the host has 3 in flight")
	for i, o := range []crawler.Outcome{crawler.Done, crawler.Retry, crawler.Failed} {
		e.settle(b.Leases[i], o)
		e.one("B")
		e.none("A", "the host has 3 in flight")
	}
}

func releasedUntouched(e *env) {
	for name, pace := range map[string]crawler.HostPolicy{"delay": {Delay: 10 * e.unit}, "spacing": {Spacing: 10 * e.unit}} {
		e.open(Options{Pace: pace})
		e.add(page(name, 1))
		for range 3 {
			e.settle(e.one("A"), crawler.Released)
		}
		s := done(e.one("A"), crawler.Released)
		s.Delay = 5 * e.unit
		e.must(e.f.Settle(e.ctx(), s))
		e.within(e.none("A", "it was released for later").Next, 5*e.unit)
		e.pass(5 * e.unit)
		e.one("A")
	}
}

func blocks(e *env) {
	e.open(Options{})
	hosts := upgrade[crawler.HostSetter](e)
	for i := range 6 {
		e.add(page("a", i))
	}
	l := e.lease("A", 3)
	for i, class := range []ratelimit.Class{ratelimit.Throttle, ratelimit.ServerError, ratelimit.OK} {
		s := done(l[i], crawler.Done)
		s.Report.Class, s.Report.RetryAfter = class, 10*e.unit
		e.must(e.f.Settle(e.ctx(), s))
		if class == ratelimit.OK {
			e.one("A") // a page may name a time for other reasons
			break
		}
		e.within(e.none("A", "the host asked to be left alone").Next, 10*e.unit)
		e.pass(10 * e.unit)
	}
	e.must(hosts.SetHost(e.ctx(), "a.example", crawler.HostPolicy{Block: 10 * e.unit}))
	e.add(page("b", 1))
	if got := e.one("A").Key; got != page("b", 1) {
		e.failf("%s was leased though its host is blocked", got)
	}
	e.within(e.none("A", "its host is blocked").Next, 10*e.unit)
	e.pass(10 * e.unit)
	e.one("A")
}

func ownPolicy(e *env) {
	e.open(Options{Pace: crawler.HostPolicy{Spacing: -1, MaxInFlight: 2}})
	hosts := upgrade[crawler.HostSetter](e)
	set := func(host string, p crawler.HostPolicy) {
		e.t.Helper()
		e.must(hosts.SetHost(e.ctx(), host, p))
	}
	set("own.example", crawler.HostPolicy{MaxInFlight: 1})
	for i := range 8 {
		e.add(page("own", i))
	}
	l := e.one("A")
	e.none("A", "the host has a place of its own")
	set("own.example", crawler.HostPolicy{MaxInFlight: 3})
	more := e.lease("A", 2)
	e.none("A", "the host has 3 in flight")
	set("own.example", crawler.HostPolicy{Delay: 10 * e.unit}) // one in flight from now on
	e.settle(l, crawler.Done)
	e.settle(more[0], crawler.Done)
	e.pass(20 * e.unit)
	e.none("A", "the host has a delay, and one in flight")
	e.settle(more[1], crawler.Done)
	e.none("A", "the delay is not over")
	e.pass(10 * e.unit)
	l = e.one("A")
	set("own.example", crawler.HostPolicy{Delay: -1, MaxInFlight: -1})
	e.lease("A", 4)
	e.settle(l, crawler.Done)

	e.add(page("a", 1), page("a", 2), page("a", 3))
	e.lease("A", 2)
	set("", crawler.HostPolicy{MaxInFlight: 3})
	e.one("A")
	if err := hosts.SetHost(e.ctx(), "a.example", crawler.HostPolicy{Block: -1}); err == nil {
		e.failf("a negative block was taken")
	}
}

func reservations(e *env) {
	e.open(Options{Pace: crawler.HostPolicy{Delay: 10 * e.unit}})
	r := upgrade[crawler.HostReserver](e)
	e.add(page("a", 1), page("b", 1))
	under := e.one("A")
	if under.Key != page("a", 1) {
		under = e.one("A")
	}
	ask := crawler.ReserveRequest{Host: "c.example", Under: under, TTL: 20 * e.unit}
	res, err := r.ReserveHost(e.ctx(), ask)
	if err != nil || res.ID == 0 || res.Wait != 0 || res.Host != "c.example" {
		e.failf("%+v, %v", res, err)
	}
	if _, err := r.ReserveHost(e.ctx(), ask); !errors.Is(err, crawler.ErrBusy) {
		e.failf("the only place was booked twice: error %v", err)
	}
	e.add(page("c", 1))
	for b := e.batch("B", 9); len(b.Leases) > 0; b = e.batch("B", 9) {
		if got := urls(b.Leases); got[0] == page("c", 1) {
			e.failf("a host whose only place is booked was leased")
		}
	}
	e.must(r.ReleaseHost(e.ctx(), res, crawler.HostReport{Exchanges: 1}))
	e.must(r.ReleaseHost(e.ctx(), res, crawler.HostReport{Exchanges: 1}))
	e.none("B", "the delay after the reserved exchange is not over")
	res, err = r.ReserveHost(e.ctx(), ask)
	if err != nil || res.Wait <= 5*e.unit || res.Wait > 10*e.unit {
		e.failf("the slot after an exchange is in %v, %v", res.Wait, err)
	}
	e.pass(19 * e.unit)
	e.none("B", "the place is booked")
	e.pass(e.unit) // it expires
	e.none("B", "the delay after a reservation that expired is not over")
	e.pass(10 * e.unit)
	e.one("B")
}

func slotsUnderLease(e *env) {
	e.open(Options{Pace: crawler.HostPolicy{Spacing: 10 * e.unit, MaxInFlight: 4}})
	r := upgrade[crawler.HostReserver](e)
	e.add(page("a", 1), page("a", 2))
	l := e.one("A")
	for i := 1; i <= 2; i++ {
		res, err := r.ReserveHost(e.ctx(), crawler.ReserveRequest{Host: "a.example", Under: l})
		if want := time.Duration(i) * 10 * e.unit; err != nil || res.ID != 0 || res.Wait > want || res.Wait < want-5*e.unit {
			e.failf("further exchange %d may start in %v, %v; not in %v", i, res.Wait, err, want)
		}
		e.must(r.ReleaseHost(e.ctx(), res, crawler.HostReport{Exchanges: 1}))
	}
	e.pass(20 * e.unit)
	e.none("A", "two slots were booked")
	e.pass(10 * e.unit)
	e.one("A")
}

func hostsApart(e *env) {
	e.open(Options{Pace: crawler.HostPolicy{Delay: 1000 * e.unit}})
	for i := range 5 {
		for _, host := range []string{"a", "b", "c"} {
			e.add(page(host, i))
		}
	}
	hosts := map[string]bool{}
	for _, l := range e.lease("A", 3) {
		hosts[l.Request.Host()] = true
	}
	if len(hosts) != 3 {
		e.failf("3 leases are of %d hosts", len(hosts))
	}
	e.none("A", "each host has one in flight")
}

// adaptsWithin reports answers that a controller takes for a sign that more could be had.
func adaptsWithin(e *env) {
	e.open(Options{Pace: crawler.HostPolicy{Spacing: 10 * e.unit, InFlight: 1, MaxInFlight: 2, Adapt: crawler.SwitchOn}})
	for i := range 20 {
		e.add(page("a", i))
	}
	for i := range 6 {
		s := done(e.one("A"), crawler.Done)
		e.pass(2 * e.unit)
		s.Report.Class, s.Report.Status, s.Report.Latency, s.Report.Elapsed = ratelimit.OK, []int{200, 404}[i%2], 2*e.unit, 2*e.unit
		e.must(e.f.Settle(e.ctx(), s))
		e.pass(5 * e.unit)
		e.none("A", "it is too near to the last, however well the host answers")
		e.pass(3 * e.unit)
	}
	e.open(Options{Pace: crawler.HostPolicy{Spacing: -1, InFlight: 1, MaxInFlight: 2, Adapt: crawler.SwitchOn}})
	for i := range 20 {
		e.add(page("a", i))
	}
	if n := len(e.batch("A", 9).Leases); n > 2 {
		e.failf("%d in flight, not 2 at most", n)
	}
}

func doesNotAdapt(e *env) {
	e.open(Options{})
	e.must(upgrade[crawler.HostSetter](e).SetHost(e.ctx(), "a.example", crawler.HostPolicy{MaxInFlight: 3, Adapt: crawler.SwitchOff}))
	for i := range 30 {
		e.add(page("a", i))
	}
	for _, class := range []ratelimit.Class{ratelimit.Throttle, ratelimit.Block, ratelimit.ServerError, ratelimit.NetError, ratelimit.OK} {
		for _, l := range e.lease("A", 3) {
			s := done(l, crawler.Done)
			s.Report.Class, s.Report.Elapsed = class, e.unit
			e.must(e.f.Settle(e.ctx(), s))
		}
		e.pass(e.unit)
	}
}
