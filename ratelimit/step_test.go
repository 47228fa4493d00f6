package ratelimit

import (
	"errors"
	"fmt"
	"testing"
	"time"
	"unsafe"
)

// host plays the reports of one host against a policy.
type host struct {
	Policy
	State
	now time.Duration
}

func newHost(p Policy) *host { return &host{Policy: p, now: time.Hour} }

// tell reports an answer of so many at once, which were all begun took before.
func (h *host) tell(n int, r Report, took time.Duration) {
	r.Elapsed = took
	if r.Latency == 0 {
		r.Latency = took
	}
	for range n {
		h.State = h.Step(h.State, r, h.now)
	}
}

// flow lets answers come at a rate for a time.
func (h *host) flow(r Report, perSecond float64, d, took time.Duration) {
	step := time.Duration(float64(time.Second) / perSecond)
	for end := h.now + d; h.now < end; {
		h.now += step
		h.tell(1, r, took)
	}
}

var (
	page      = Report{Class: OK, Status: 200}
	missing   = Report{Class: OK, Status: 404}
	throttled = Report{Class: Throttle, Status: 429}
	forbidden = Report{Class: Block, Status: 403}
	failed    = Report{Class: ServerError, Status: 500}
)

func TestPolicyDefaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		p             Policy
		first, most   int
		pause, rest   time.Duration
		latency, took time.Duration
	}{
		{name: "zero", first: 1, most: 4, pause: 500 * time.Millisecond},
		{name: "no spacing", p: Policy{Spacing: -1}, first: 1, most: 4},
		{name: "more at first than at most", p: Policy{InFlight: 9, MaxInFlight: 3, Spacing: -1}, first: 3, most: 3},
		{name: "no bound", p: Policy{InFlight: 1000, MaxInFlight: -1, Spacing: time.Second}, first: 1000, most: maxPlaces, pause: time.Second},
		{name: "delay", p: Policy{InFlight: 5, MaxInFlight: 9, Delay: 2 * time.Second}, first: 1, most: 1, pause: 500 * time.Millisecond, rest: 2 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var s State
			grown := State{limit: maxPlaces}
			if got := c.p.Places(&s); got != c.first {
				t.Errorf("places at first %d, want %d", got, c.first)
			}
			if got := c.p.Places(&grown); got != c.most {
				t.Errorf("places at most %d, want %d", got, c.most)
			}
			if got := c.p.Pause(&s); got != c.pause {
				t.Errorf("pause %v, want %v", got, c.pause)
			}
			if got := c.p.Rest(&s); got != c.rest {
				t.Errorf("rest %v, want %v", got, c.rest)
			}
		})
	}
}

func TestGrowsFromOneToTheDefaultCap(t *testing.T) {
	t.Parallel()
	s := newSimulation(Policy{Spacing: -1}, &steady{}, 100*time.Millisecond, 1)
	s.run(30 * time.Second)
	if got := s.policy.Places(&s.state); got != DefaultMaxInFlight {
		t.Errorf("%d places after 30 s of good answers", got)
	}
	s = newSimulation(Policy{}, &steady{}, 100*time.Millisecond, 1)
	s.run(30 * time.Second)
	if got := s.policy.Places(&s.state); got != 1 {
		t.Errorf("%d places where one is never used whole", got)
	}
}

func TestOneCutPerEvent_K171(t *testing.T) {
	t.Parallel()
	for _, inFlight := range []int{1, 2, 4, 8, 16, 60} {
		for _, retryAfter := range []time.Duration{0, 30 * time.Second} {
			h := newHost(Policy{InFlight: inFlight, MaxInFlight: 64, Spacing: -1})
			r := throttled
			r.RetryAfter = retryAfter
			for i := range inFlight {
				h.now += time.Duration(i%3) * time.Millisecond
				h.tell(1, r, 50*time.Millisecond)
			}
			if h.Cuts() != 1 {
				t.Errorf("%d in flight, all throttled, Retry-After %v: %d cuts", inFlight, retryAfter, h.Cuts())
			}
			half := max(float64(inFlight), 1) / 2
			if h.Rate() < 0.8*half || h.Rate() > half {
				t.Errorf("%d in flight: ceiling %.2f, want a little less than half of what was asked", inFlight, h.Rate())
			}
			if got, want := h.BlockedUntil(), h.now+retryAfter; retryAfter > 0 && got != want {
				t.Errorf("blocked until %v, want %v", got, want)
			}
		}
	}
}

// Sixteen are in flight at a settled host when it begins to throttle, and the answers come over a while.
func TestOneCutPerEventUnderACeiling_K171(t *testing.T) {
	t.Parallel()
	h := newHost(Policy{InFlight: 16, MaxInFlight: 16, Spacing: -1})
	h.flow(page, 100, 10*time.Second, 150*time.Millisecond)
	begun := h.now
	for range 16 {
		h.now += 60 * time.Millisecond
		h.tell(1, throttled, h.now-begun+time.Millisecond)
	}
	h.now += time.Second
	h.tell(1, page, 50*time.Millisecond)
	if h.Cuts() != 1 {
		t.Errorf("%d cuts", h.Cuts())
	}
}

// The next cut is for requests that were begun under the new pace, not for those that saw the old one.
func TestLateAnswersOfAnEventAreIgnored(t *testing.T) {
	t.Parallel()
	h := newHost(Policy{InFlight: 4, MaxInFlight: 4, Spacing: -1})
	h.tell(4, throttled, 10*time.Millisecond)
	rate := h.Rate()
	h.now += 10 * time.Second
	h.tell(20, throttled, 10*time.Second+time.Millisecond) // begun before the cut
	if h.Cuts() != 1 || h.Rate() != rate {
		t.Errorf("%d cuts, ceiling %v, was %v", h.Cuts(), h.Rate(), rate)
	}
	h.flow(throttled, 1.8, time.Second, 10*time.Millisecond)
	if h.Cuts() != 2 || h.Rate() >= rate {
		t.Errorf("%d cuts, ceiling %v, was %v", h.Cuts(), h.Rate(), rate)
	}
}

func TestFastThrottlesLowerTheRate_K172(t *testing.T) {
	t.Parallel()
	h := newHost(Policy{InFlight: 4, MaxInFlight: 64, Spacing: -1})
	h.flow(page, 50, 10*time.Second, 60*time.Millisecond)
	h.flow(throttled, 50, 3*time.Second, time.Millisecond)
	if h.Rate() == 0 || h.Rate() > 50 || h.Pause(&h.State) < time.Second/50 {
		t.Errorf("ceiling %v, pause %v after 3 s of quick refusals", h.Rate(), h.Pause(&h.State))
	}
}

func TestFastErrorsNeverRaise_K172(t *testing.T) {
	t.Parallel()
	for _, r := range []Report{missing, forbidden, failed, {Class: OK, Status: 301}, {Class: OK, Status: 410}, {Class: OK}, {Class: NetError}} {
		h := newHost(Policy{InFlight: 2, MaxInFlight: 64, Spacing: -1})
		h.tell(2, throttled, time.Millisecond)
		rate, limit := h.Rate(), h.limit
		h.flow(r, 200, 2*time.Minute, time.Millisecond)
		if h.Rate() > rate || h.limit > limit {
			t.Errorf("%v %d: ceiling %v, was %v; L %v, was %v", r.Class, r.Status, h.Rate(), rate, h.limit, limit)
		}
		h = newHost(Policy{InFlight: 2, MaxInFlight: 64, Spacing: -1})
		h.flow(r, 200, 2*time.Minute, 20*time.Millisecond)
		if h.limit > 2 {
			t.Errorf("%v %d: L %v, was 2", r.Class, r.Status, h.limit)
		}
	}
	for _, status := range []int{200, 206, 304} {
		h := newHost(Policy{InFlight: 2, MaxInFlight: 64, Spacing: -1})
		h.flow(Report{Class: OK, Status: status}, 200, time.Minute, 20*time.Millisecond)
		if h.limit <= 2 {
			t.Errorf("%d: L %v, was 2", status, h.limit)
		}
	}
}

func TestRetryAfterIsBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		r    Report
		want time.Duration
	}{
		{"seconds", Report{Class: Throttle, Status: 429, RetryAfter: 30 * time.Second}, 30 * time.Second},
		{"at the cap", Report{Class: Throttle, Status: 503, RetryAfter: time.Hour}, time.Hour},
		{"past the cap", Report{Class: Throttle, Status: 503, RetryAfter: time.Hour + 1}, time.Hour},
		{"ten days", Report{Class: Throttle, Status: 429, RetryAfter: 240 * time.Hour}, time.Hour},
		{"in the past", Report{Class: Throttle, Status: 429, RetryAfter: -5 * time.Second}, 0},
		{"zero", Report{Class: Throttle, Status: 429}, 0},
		{"of a server error", Report{Class: ServerError, Status: 500, RetryAfter: time.Minute}, time.Minute},
		{"of a page", Report{Class: OK, Status: 200, RetryAfter: time.Minute}, 0},
		{"of an exit that is blocked", Report{Class: Block, Status: 403, RetryAfter: time.Minute}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHost(Policy{})
			h.tell(1, c.r, time.Millisecond)
			if got := max(h.BlockedUntil()-h.now, 0); got != c.want && !(c.want == 0 && h.BlockedUntil() == 0) {
				t.Errorf("blocked for %v, want %v", got, c.want)
			}
			if c.r.Class == Throttle && (h.Rate() == 0 || h.holdUntil < h.now+max(minHold, c.want)) {
				t.Errorf("ceiling %v, held for %v", h.Rate(), h.holdUntil-h.now)
			}
		})
	}
}

// A block is told at once, also by an answer of an event that was dealt with.
func TestLaterRetryAfterCounts(t *testing.T) {
	t.Parallel()
	h := newHost(Policy{InFlight: 2, Spacing: -1})
	h.tell(2, throttled, 10*time.Millisecond)
	late := throttled
	late.RetryAfter = time.Minute
	h.now += 5 * time.Millisecond
	h.tell(1, late, 12*time.Millisecond)
	if h.BlockedUntil() != h.now+time.Minute || h.Cuts() != 1 {
		t.Errorf("blocked until %v at %v, %d cuts", h.BlockedUntil(), h.now, h.Cuts())
	}
	shorter := throttled
	shorter.RetryAfter = time.Second
	h.tell(1, shorter, 20*time.Millisecond)
	if h.BlockedUntil() != h.now+time.Minute {
		t.Errorf("a shorter wait replaced the longer one: %v", h.BlockedUntil()-h.now)
	}
}

func TestBlockIsNotCongestion(t *testing.T) {
	t.Parallel()
	blocked := func(exit string) Report { return Report{Class: Block, Status: 403, Proxy: exit} }
	for _, c := range []struct {
		name  string
		exits []string
		gap   time.Duration
		cuts  uint32
	}{
		{"one exit", []string{"a", "a", "a", "a", "a"}, time.Second, 0},
		{"two exits", []string{"a", "b", "a", "b", "b", "a"}, time.Second, 0},
		{"three exits", []string{"a", "b", "c"}, time.Second, 1},
		{"three exits, direct among them", []string{"a", "", "c"}, time.Second, 1},
		{"at the end of five minutes", []string{"a", "b", "c"}, 150 * time.Second, 1},
		{"past five minutes", []string{"a", "b", "c"}, 151 * time.Second, 0},
		{"six exits", []string{"a", "b", "c", "d", "e", "f"}, 10 * time.Second, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHost(Policy{})
			for _, exit := range c.exits {
				h.now += c.gap
				h.tell(1, blocked(exit), 20*time.Millisecond)
			}
			if h.Cuts() != c.cuts {
				t.Errorf("%d cuts, want %d", h.Cuts(), c.cuts)
			}
		})
	}
}

func TestErrorsLowerL(t *testing.T) {
	t.Parallel()
	for _, r := range []Report{failed, {Class: NetError}} {
		h := newHost(Policy{InFlight: 16, MaxInFlight: 16, Spacing: -1})
		for range 100 { // a fifth: no more than that is borne
			h.now += 100 * time.Millisecond
			h.tell(1, r, 50*time.Millisecond)
			h.tell(4, page, 50*time.Millisecond)
		}
		if h.limit < 10 {
			t.Errorf("%v: L %v at a fifth", r.Class, h.limit)
		}
		h.flow(r, 50, 20*time.Second, 50*time.Millisecond)
		if h.limit != 1 || h.Rate() != 0 {
			t.Errorf("%v: L %v, ceiling %v when all fail", r.Class, h.limit, h.Rate())
		}
	}
}

func TestStall(t *testing.T) {
	t.Parallel()
	h := newHost(Policy{})
	h.flow(page, 1, time.Minute, 100*time.Millisecond)
	h.flow(failed, 1, StallAfter-time.Second, 100*time.Millisecond)
	if err := h.Stalled(&h.State); err != nil {
		t.Errorf("a second before: %v", err)
	}
	h.flow(failed, 1, time.Second, 100*time.Millisecond)
	var stall *StallError
	if err := h.Stalled(&h.State); !errors.As(err, &stall) || stall.For != StallAfter {
		t.Errorf("at %v: %v", StallAfter, err)
	}
	h.tell(1, missing, time.Millisecond)
	if err := h.Stalled(&h.State); err != nil {
		t.Errorf("after an answer: %v", err)
	}
}

// A host that is asked once a day, or has asked to be left alone, is not stalled by the second failure.
func TestStallCountsOnlyTimesOfAsking(t *testing.T) {
	t.Parallel()
	h := newHost(Policy{})
	for range 7 {
		h.now += 24 * time.Hour
		h.tell(1, failed, time.Second)
	}
	if err := h.Stalled(&h.State); err != nil {
		t.Errorf("seven failures in a week: %v", err)
	}
	h = newHost(Policy{})
	r := throttled
	r.RetryAfter = time.Hour
	for range 10 {
		h.tell(1, r, time.Second)
		h.now += time.Hour + time.Second
	}
	if err := h.Stalled(&h.State); err != nil {
		t.Errorf("ten hours of Retry-After: %v", err)
	}
}

// What was counted before a long rest says nothing of the pace after it.
func TestRestForgetsCounts(t *testing.T) {
	t.Parallel()
	h := newHost(Policy{InFlight: 4, Spacing: -1})
	h.flow(page, 20, 10*time.Second, 100*time.Millisecond)
	h.now += 6 * time.Hour
	h.tell(8, throttled, 20*time.Millisecond)
	if h.Cuts() != 1 || h.Rate() < 1 {
		t.Errorf("%d cuts, ceiling %v: as if the rest had been the pace", h.Cuts(), h.Rate())
	}
}

// A chain of exchanges in one report counts with each of them, since each passed the host's pace.
func TestExchangesCount(t *testing.T) {
	t.Parallel()
	h := newHost(Policy{InFlight: 64, MaxInFlight: 64, Spacing: -1})
	chain := page
	chain.Exchanges = 3
	h.tell(2, chain, time.Millisecond)
	if h.epoch.results != 6 || h.epoch.good != 6 {
		t.Errorf("%d results, %d good, want 6", h.epoch.results, h.epoch.good)
	}
}

func TestStateIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(State{}); n > 400 {
		t.Errorf("%d bytes", n)
	}
	h := newHost(Policy{Spacing: -1})
	if n := testing.AllocsPerRun(100, func() { h.flow(page, 10, time.Second, time.Millisecond) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	fmt.Printf("shown engine.4: state of a host %d bytes, 0 allocations a report\n", unsafe.Sizeof(State{}))
}

func BenchmarkStep(b *testing.B) {
	for _, c := range []struct {
		name string
		r    Report
	}{{"good", page}, {"throttled", throttled}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			p, r, now := Policy{Spacing: -1}, c.r, time.Hour
			r.Latency, r.Elapsed = 50*time.Millisecond, 60*time.Millisecond
			var s State
			for b.Loop() {
				now += 20 * time.Millisecond
				s = p.Step(s, r, now)
			}
		})
	}
}
