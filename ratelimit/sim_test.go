package ratelimit

import (
	"container/heap"
	"math/rand/v2"
	"time"
)

// simulation is a crawler that always has work for one host, in virtual time: events in order, no clock but its own.
type simulation struct {
	policy Policy
	state  State
	origin origin
	rand   *rand.Rand
	rtt    time.Duration

	now       time.Duration
	events    eventHeap
	seq       int
	inFlight  int
	next      time.Duration // earliest start
	wake      time.Duration // of the last wake-up that was ordered
	onResult  func(Report)
	good      []int // answers, for each second
	throttled []int
	latencies []time.Duration
}

// origin answers a request that arrives now: after how long, and what.
type origin interface {
	answer(s *simulation) (time.Duration, Report)
}

type event struct {
	at  time.Duration
	seq int
	do  func()
}

type eventHeap []event

func (h eventHeap) Len() int { return len(h) }
func (h eventHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].seq < h[j].seq
}
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *eventHeap) Push(x any)   { *h = append(*h, x.(event)) }
func (h *eventHeap) Pop() any {
	old := *h
	e := old[len(old)-1]
	*h = old[:len(old)-1]
	return e
}

func newSimulation(p Policy, o origin, rtt time.Duration, seed uint64) *simulation {
	return &simulation{policy: p, origin: o, rtt: rtt, rand: rand.New(rand.NewPCG(seed, 1)), now: time.Hour}
}

func (s *simulation) after(d time.Duration, do func()) {
	s.seq++
	heap.Push(&s.events, event{s.now + d, s.seq, do})
}

// jitter is a time around d, 0.8 to 1.3 of it.
func (s *simulation) jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.5*s.rand.Float64()))
}

// run lets so much time pass.
func (s *simulation) run(d time.Duration) {
	end := s.now + d
	for range int((end-time.Hour)/time.Second) + 1 - len(s.good) {
		s.good, s.throttled = append(s.good, 0), append(s.throttled, 0)
	}
	s.after(d, func() {})
	s.dispatch()
	for len(s.events) > 0 && s.events[0].at <= end {
		e := heap.Pop(&s.events).(event)
		s.now = e.at
		e.do()
		s.dispatch()
	}
	s.now = end
}

// dispatch starts what may start now.
func (s *simulation) dispatch() {
	for s.inFlight < s.policy.Places(&s.state) {
		at := max(s.next, s.state.BlockedUntil())
		if at > s.now {
			if s.wake <= s.now || at < s.wake {
				s.wake = at
				s.after(at-s.now, func() {})
			}
			return
		}
		s.next = max(s.next, s.now-time.Microsecond) + s.policy.Pause(&s.state)
		s.inFlight++
		start := s.now
		s.after(s.jitter(s.rtt*15/100), func() {
			wait, r := s.origin.answer(s)
			s.after(wait, func() { s.done(start, r) })
		})
	}
}

func (s *simulation) done(start time.Duration, r Report) {
	s.inFlight--
	r.Latency, r.Elapsed, r.Exchanges = s.now-start, s.now-start, 1
	s.state = s.policy.Step(s.state, r, s.now)
	switch second := int((s.now - time.Hour) / time.Second); r.Class {
	case OK:
		s.good[second]++
		s.latencies = append(s.latencies, r.Latency)
	case Throttle:
		s.throttled[second]++
	}
	if s.onResult != nil {
		s.onResult(r)
	}
}

// rejecting admits by a token bucket of a tenth of a second and answers 429 to the rest.
type rejecting struct {
	capacity float64 // a second
	closed   bool    // nothing is admitted
	tokens   float64
	last     time.Duration
}

func (o *rejecting) answer(s *simulation) (time.Duration, Report) {
	o.tokens = min(o.tokens+(s.now-o.last).Seconds()*o.capacity, max(1, o.capacity/10))
	o.last = s.now
	if o.closed || o.tokens < 1 {
		return s.jitter(s.rtt * 15 / 100), Report{Class: Throttle, Status: 429}
	}
	o.tokens--
	return s.jitter(s.rtt * 85 / 100), Report{Class: OK, Status: 200}
}

// queueing is one first-in-first-out server.
type queueing struct {
	capacity float64 // a second
	free     time.Duration
}

func (o *queueing) answer(s *simulation) (time.Duration, Report) {
	o.free = max(o.free, s.now) + time.Duration(float64(time.Second)/o.capacity)
	return o.free - s.now + s.jitter(s.rtt*85/100), Report{Class: OK, Status: 200}
}

// steady takes its time whatever comes; spike holds back all that arrive in a second of it.
type steady struct{ spikeAt, spike time.Duration }

func (o *steady) answer(s *simulation) (time.Duration, Report) {
	wait := s.jitter(s.rtt * 85 / 100)
	if o.spike > 0 && s.now >= o.spikeAt && s.now < o.spikeAt+o.spike {
		wait += o.spikeAt + o.spike - s.now
	}
	return wait, Report{Class: OK, Status: 200}
}
