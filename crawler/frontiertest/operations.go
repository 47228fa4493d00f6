package frontiertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/crawler"
)

// ModelOptions say how random operations are made.
type ModelOptions struct {
	Ops  int    // how many; zero means 1,000
	Seed uint64 // the same seed makes the same operations
	// Lax leaves out what the rules leave open: which of several open hosts is visited first.
	Lax bool
	// Crawls is over how many frontiers the operations are spread, each with other options. Zero means one for each
	// 1,000 operations.
	Crawls int
}

// RunModel makes random operations of several owners on frontiers and on a reference model, and compares what they
// answer: additions, leases with expiry and restarts of owners, all outcomes with links, passed keys and next visits,
// policies, dead requests, ended contexts, on frontiers that are mostly nearly full. A failure names the seed.
func RunModel(t *testing.T, harness func(t *testing.T) Harness, o ModelOptions) {
	ops := cmp.Or(o.Ops, 1000)
	crawls := cmp.Or(o.Crawls, max(1, ops/1000))
	for i := range crawls {
		h := harness(t)
		body := func(t *testing.T) {
			newOperations(newEnv(t, "model", h), o, uint64(i)).run(ops / crawls)
		}
		if h.Virtual {
			synctest.Test(t, body)
		} else {
			body(t)
		}
		if t.Failed() {
			return
		}
	}
}

// operations is one run of random operations.
type operations struct {
	*env
	r       *rand.Rand
	m       *model
	lax     bool
	boots   map[string]uint64
	leases  []crawler.Lease // given out, the latest last, held or not
	last    crawler.Settlement
	settled map[uint64]crawler.Outcome // by epoch
	step    int
}

func newOperations(e *env, o ModelOptions, crawl uint64) *operations {
	ops := &operations{env: e, r: rand.New(rand.NewPCG(o.Seed, crawl)), lax: o.Lax, boots: map[string]uint64{"A": 1, "B": 1, "C": 1}, settled: map[uint64]crawler.Outcome{}}
	ops.rule = fmt.Sprintf("model, seed %d, frontier %d", o.Seed, crawl)
	opt := Options{MaxPending: []int{0, 3, 12, 30}[ops.r.IntN(4)], MaxCrashes: []int{0, 1, -1, 2}[ops.r.IntN(4)]}
	opt.CrashPause = []time.Duration{-1, 2 * e.unit, 8 * e.unit}[ops.r.IntN(3)]
	if ops.r.IntN(2) == 0 {
		opt.AgeStep = 3 * e.unit
	}
	opt.Pace = []crawler.HostPolicy{free, {Delay: 2 * e.unit, Spacing: -1, MaxInFlight: 2}, {Delay: -1, Spacing: e.unit, MaxInFlight: 2}, {Delay: -1, Spacing: -1, MaxInFlight: 1}}[ops.r.IntN(4)]
	ops.open(opt)
	ops.m = &model{opt: opt, records: map[string]*record{}, hosts: map[string]*host{}, boots: map[string]uint64{}, heard: map[string]time.Duration{}, passed: map[string]bool{}}
	return ops
}

func (o *operations) run(n int) {
	for o.step = range n {
		switch p := o.r.IntN(100); {
		case p < 22:
			o.add()
		case p < 47:
			o.lease()
		case p < 72:
			o.settle()
		case p < 76:
			o.extend()
		case p < 79:
			o.setHost()
		case p < 81:
			o.redrive()
		case p < 83:
			o.cancelled()
		default:
			d := time.Duration(o.r.IntN(4)) * o.unit
			o.pass(d)
			o.m.pass(d)
		}
		o.compare()
	}
}

// request makes one of few keys, so that operations meet.
func (o *operations) request() *crawler.Request {
	i := o.r.IntN(60)
	r := &crawler.Request{URL: page(string(rune('a'+i%5)), i), Priority: []int{0, 0, 0, 1, -2, 3, 100, -100}[o.r.IntN(8)], Depth: i}
	if i%7 == 0 {
		r.Key = page(string(rune('a'+i%5)), 1000+i)
	}
	return r
}

func (o *operations) requests(most int) (all []*crawler.Request) {
	for range o.r.IntN(most + 1) {
		all = append(all, o.request())
	}
	return all
}

func (o *operations) add() {
	reqs := o.requests(4)
	got, err := o.f.Add(o.ctx(), reqs...)
	var want []crawler.AddStatus
	for _, r := range reqs {
		want = append(want, o.m.add(r))
	}
	if !slices.Equal(got, want) || (err != nil) != slices.Contains(want, crawler.Refused) || err != nil && !errors.Is(err, crawler.ErrFull) {
		o.failf("step %d: Add: %v, %v; not %v", o.step, got, err, want)
	}
}

func (o *operations) lease() {
	owner := string(rune('A' + o.r.IntN(3)))
	if o.r.IntN(12) == 0 {
		o.boots[owner]++
	}
	want := crawler.LeaseRequest{Owner: owner, Boot: o.boots[owner], Max: o.r.IntN(5), TTL: time.Duration(1+o.r.IntN(9)) * o.unit}
	b := o.env.request(want)
	o.m.reboot(owner, want.Boot)
	for i, l := range b.Leases {
		o.granted(l, want, i)
	}
	if want.Max > 0 {
		o.m.asks(owner)
	}
	suspects, ready := o.m.next()
	fits := slices.ContainsFunc(suspects, func(r *record) bool { return o.m.fitsGroup(r, owner) })
	if len(b.Leases) < want.Max && (fits || !o.m.restrained(owner) && len(ready) > 0) {
		o.failf("step %d: %d leases of %d, though more could be had", o.step, len(b.Leases), want.Max)
	}
	if b.Finished != (o.m.pending() == 0) {
		o.failf("step %d: finished is %v with %d pending", o.step, b.Finished, o.m.pending())
	}
	if len(b.Leases) < want.Max {
		at, known := o.m.earliest(owner)
		if known && (b.Next <= 0 || b.Next > max(1, at-o.m.now)) || !known && b.Next != 0 {
			o.failf("step %d: the next lease in %v, but it can be had in %v (%v)", o.step, b.Next, at-o.m.now, known)
		}
	}
}

// granted checks one lease.
func (o *operations) granted(l crawler.Lease, want crawler.LeaseRequest, i int) {
	r := o.m.records[l.Key]
	suspects, ready := o.m.next()
	own := o.m.held(l.Owner, "")
	switch {
	case r == nil || !slices.Contains(suspects, r) && !slices.Contains(ready, r):
		o.failf("step %d: %s was leased, which is not its turn: %+v\n%s", o.step, l.Key, r, o.turn(r))
	case len(suspects) > 0 && !l.Suspect || l.Suspect != (r.state == isSuspect):
		o.failf("step %d: %s was leased while suspects wait", o.step, l.Key)
	case len(own) > 0 && !l.Suspect && own[0].group > 0, l.Suspect && !o.m.fitsGroup(r, l.Owner):
		o.failf("step %d: %s was leased beside others, though a suspect is among them", o.step, l.Key)
	case l.Suspect && !o.m.first(r, l.Owner):
		o.failf("step %d: %s was leased before a suspect that more is counted against", o.step, l.Key)
	case l.Crashes != r.crashes || l.GivenUp != o.m.givenUp(r):
		o.failf("step %d: odd lease %+v of %+v", o.step, l, r)
	case l.Attempt != r.attempts+1 || l.Request.Priority != r.priority || l.TTL != want.TTL:
		o.failf("step %d: odd lease %+v of %+v", o.step, l, r)
	}
	if !l.Suspect && !o.lax {
		for _, other := range ready {
			if o.m.allowed(other) < o.m.allowed(r) {
				o.failf("step %d: %s was leased, though %s could be had earlier", o.step, l.Key, other.key)
			}
		}
	}
	for _, old := range o.leases {
		if old.Epoch == l.Epoch {
			o.failf("step %d: epoch %d was given twice", o.step, l.Epoch)
		}
	}
	o.m.lease(r, l, want.Boot)
	if o.leases = append(o.leases, l); len(o.leases) > 40 {
		o.leases = o.leases[10:]
	}
}

// turn tells what should have come instead of a record.
func (o *operations) turn(r *record) string {
	if r == nil {
		return ""
	}
	_, ready := o.m.next()
	for _, other := range ready {
		if other.host == r.host {
			return fmt.Sprintf("before it is %+v", other)
		}
	}
	return fmt.Sprintf("its host opens at %v, has a place is %v; it is %v", o.m.opens(r.host), o.m.hasPlace(r.host), o.m.now)
}

func (o *operations) settle() {
	if len(o.leases) == 0 {
		return
	}
	if o.r.IntN(8) == 0 && o.last.Outcome != 0 {
		if err := o.f.Settle(o.ctx(), o.last); err != nil {
			o.failf("step %d: the exact repeat of a settlement: %v", o.step, err)
		}
		return
	}
	s := crawler.Settlement{Lease: o.leases[max(0, len(o.leases)-1-o.r.IntN(12))], Outcome: crawler.Outcome(1 + o.r.IntN(4))}
	if o.r.IntN(2) == 0 {
		s.Outcome = crawler.Done
	}
	if s.Outcome != crawler.Released || o.r.IntN(2) == 0 {
		s.Report.Exchanges, s.Report.Since = 1, time.Duration(o.r.IntN(3))*o.unit
	}
	s.Delay = time.Duration(o.r.IntN(6)-1) * o.unit
	if s.Outcome == crawler.Done {
		s.Links = o.requests(4)
		if o.r.IntN(4) == 0 {
			s.Revisit = time.Duration(1+o.r.IntN(8)) * o.unit
		}
		for range o.r.IntN(3) {
			s.Seen = append(s.Seen, keyOf(o.request()))
		}
	}
	err := o.f.Settle(o.ctx(), s)
	held, room := o.m.settle(&s)
	var lost *crawler.LeaseLostError
	switch {
	case held && room && err == nil:
		o.last, o.settled[s.Lease.Epoch] = s, s.Outcome
	case held && !room && errors.Is(err, crawler.ErrFull):
	case !held && errors.As(err, &lost) && slices.Equal(lost.Keys, []string{s.Lease.Key}):
	case !held && err == nil && o.settled[s.Lease.Epoch] == s.Outcome: // told again
	default:
		o.failf("step %d: Settle of %s as %v: %v; held is %v, room is %v", o.step, s.Lease.Key, s.Outcome, err, held, room)
	}
}

func (o *operations) extend() {
	if len(o.leases) == 0 {
		return
	}
	l := o.leases[max(0, len(o.leases)-1-o.r.IntN(12))]
	ttl := time.Duration(1+o.r.IntN(9)) * o.unit
	err := o.f.Extend(o.ctx(), ttl, l)
	r := o.m.records[l.Key]
	if r != nil && r.state == isLeased && r.owner == l.Owner && r.epoch == l.Epoch {
		o.must(err)
		r.until = o.m.now + ttl
		return
	}
	o.lost(err, l.Key)
}

func (o *operations) setHost() {
	setter, is := o.f.(crawler.HostSetter)
	if !is {
		return
	}
	name := string(rune('a'+o.r.IntN(5))) + ".example"
	p := crawler.HostPolicy{
		Delay: time.Duration(o.r.IntN(4)-1) * o.unit, Spacing: time.Duration(o.r.IntN(4)-1) * o.unit, MaxInFlight: o.r.IntN(5) - 1,
		Block: max(0, time.Duration(o.r.IntN(8)-5)*o.unit),
	}
	o.must(setter.SetHost(o.ctx(), name, p))
	h := o.m.host(name)
	h.policy.Delay, h.policy.Spacing, h.policy.MaxInFlight = cmp.Or(p.Delay, h.policy.Delay), cmp.Or(p.Spacing, h.policy.Spacing), cmp.Or(p.MaxInFlight, h.policy.MaxInFlight)
	if p.Block > 0 {
		h.blocked = o.m.now + p.Block
	}
}

func (o *operations) redrive() {
	lister, is := o.f.(crawler.DeadLister)
	if !is {
		return
	}
	var dead []string
	for d, err := range lister.Dead(o.ctx()) {
		o.must(err)
		dead = append(dead, d.Key)
	}
	slices.Sort(dead)
	var want []string
	for _, r := range o.m.those(func(r *record) bool { return r.state == isFailed }) {
		want = append(want, r.key)
	}
	slices.Sort(want)
	if !slices.Equal(dead, want) {
		o.failf("step %d: the dead are %q, not %q", o.step, dead, want)
	}
	if len(dead) == 0 {
		return
	}
	key := dead[o.r.IntN(len(dead))]
	n, err := lister.Redrive(o.ctx(), key, "unknown")
	if o.m.opt.MaxPending > 0 && o.m.pending() >= int64(o.m.opt.MaxPending) {
		if n != 0 || !errors.Is(err, crawler.ErrFull) {
			o.failf("step %d: Redrive on a full frontier: %d, %v", o.step, n, err)
		}
		return
	}
	if n != 1 || err != nil {
		o.failf("step %d: Redrive: %d, %v", o.step, n, err)
	}
	r := o.m.records[key]
	r.attempts, r.crashes = 0, 0
	o.m.ready(r, o.m.now)
}

func (o *operations) cancelled() {
	ended, cancel := context.WithCancel(o.ctx())
	cancel()
	_, addErr := o.f.Add(ended, o.request())
	_, leaseErr := o.f.Lease(ended, crawler.LeaseRequest{Owner: "A", Boot: 1 << 40, Max: 1})
	if !errors.Is(addErr, context.Canceled) || !errors.Is(leaseErr, context.Canceled) {
		o.failf("step %d: with an ended context: %v, %v", o.step, addErr, leaseErr)
	}
}

// compare checks the counts.
func (o *operations) compare() {
	s, err := o.f.Stats(o.ctx())
	o.must(err)
	m := o.m
	want := [5]int64{m.count(isReady, isSuspect), m.count(isDelayed), m.count(isLeased), m.count(isDone), m.count(isFailed)}
	if got := [5]int64{s.Ready, s.Delayed, s.Leased, s.Done, s.Failed}; got != want {
		o.failf("step %d: ready, delayed, leased, done, failed are %d, not %d", o.step, got, want)
	}
	if s.Finished != (m.pending() == 0) {
		o.failf("step %d: finished is %v with %d pending", o.step, s.Finished, m.pending())
	}
}
