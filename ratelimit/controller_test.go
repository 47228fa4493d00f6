package ratelimit

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// wide is a policy that leaves the pace to the controller.
var wide = Policy{InFlight: 2, MaxInFlight: 256, Spacing: -1}

func sum(v []int) (n int) {
	for _, x := range v {
		n += x
	}
	return n
}

func mean(v []time.Duration) time.Duration {
	var total time.Duration
	for _, d := range v {
		total += d
	}
	return total / time.Duration(max(len(v), 1))
}

// seeds is how many random sequences an origin is tried with.
func seeds(n uint64) uint64 {
	if raceEnabled {
		return 1
	}
	return n
}

// settled is the first second from which three together are within 15 % of the capacity.
func settled(perSecond []int, capacity float64) int {
	for i := 0; i+3 <= len(perSecond); i++ {
		if m := float64(sum(perSecond[i:i+3])) / 3; m >= 0.85*capacity && m <= 1.15*capacity {
			return i
		}
	}
	return len(perSecond)
}

// swings counts how often means of five seconds leave the 15 % around the capacity.
func swings(perSecond []int, capacity float64) (n int) {
	inside := true
	for i := 0; i+5 <= len(perSecond); i += 5 {
		m := float64(sum(perSecond[i:i+5])) / 5
		now := m >= 0.85*capacity && m <= 1.15*capacity
		if inside && !now {
			n++
		}
		inside = now
	}
	return n
}

// share is throttled answers in a hundred.
func share(throttled, good []int) float64 {
	return 100 * float64(sum(throttled)) / float64(max(sum(throttled)+sum(good), 1))
}

func TestCapacityStep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rtt    time.Duration
		within int // seconds
	}{{50 * time.Millisecond, 20}, {500 * time.Millisecond, 40}} {
		var worst [3]int
		var most float64
		oscillations := 0
		for seed := range seeds(8) {
			o := &rejecting{capacity: 100}
			s := newSimulation(wide, o, c.rtt, seed)
			lengths := [3]int{100, 100 + int(seed), 100} // so that the rise meets each phase of a hold
			from := 0
			for i, capacity := range []float64{100, 20, 100} {
				o.capacity = capacity
				s.run(time.Duration(lengths[i]) * time.Second)
				part, refused := s.good[from:], s.throttled[from:]
				worst[i] = max(worst[i], settled(part, capacity))
				most = max(most, share(refused[c.within:], part[c.within:]))
				oscillations = max(oscillations, swings(part[c.within:], capacity))
				from += lengths[i]
			}
		}
		if slices.Max(worst[:]) > c.within {
			t.Errorf("RTT %v: settled after %v s, want %d", c.rtt, worst, c.within)
		}
		if most > 1 {
			t.Errorf("RTT %v: %.2f %% of the answers were 429 in steady state", c.rtt, most)
		}
		if oscillations > 2 {
			t.Errorf("RTT %v: %d oscillations", c.rtt, oscillations)
		}
		if !t.Failed() {
			fmt.Printf("shown engine.4: capacity 100, 20, 100 req/s, RTT %v, %d seeds: within 15 %% after at most %d, %d, %d s (bar %d); 429s in steady state at most %.2f %% (bar 1); oscillations %d\n",
				c.rtt, seeds(8), worst[0], worst[1], worst[2], c.within, most, oscillations)
		}
	}
}

// At low rates an epoch has few results, and each refusal weighs much. A jitter of 37 ms at RTT 500 ms lets an origin that
// saves up nothing bear 73 % of 10 req/s at best.
func TestSteadyRejection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		capacity float64
		share    [2]float64 // of the capacity, at least, by RTT
	}{{0.5, [2]float64{.75, .75}}, {1, [2]float64{.8, .8}}, {2, [2]float64{.8, .78}}, {5, [2]float64{.8, .73}}, {10, [2]float64{.8, .65}}, {20, [2]float64{.9, .85}}, {100, [2]float64{.9, .9}}} {
		var used, refused [2]float64
		for i, rtt := range []time.Duration{50 * time.Millisecond, 500 * time.Millisecond} {
			used[i] = 1
			for seed := range seeds(3) {
				s := newSimulation(wide, &rejecting{capacity: c.capacity}, rtt, seed)
				warm, length := 600, 1200
				if c.capacity < 2 {
					warm, length = 3600, 7200
				} else if raceEnabled && c.capacity > 20 {
					warm, length = 100, 200
				}
				s.run(time.Duration(warm+length) * time.Second)
				used[i] = min(used[i], float64(sum(s.good[warm:]))/float64(length)/c.capacity)
				refused[i] = max(refused[i], share(s.throttled[warm:], s.good[warm:]))
			}
			if used[i] < c.share[i] {
				t.Errorf("capacity %v, RTT %v: only %.0f %% of it used", c.capacity, rtt, 100*used[i])
			}
			if refused[i] > 1.25 || refused[i] > 1 && c.capacity >= 20 {
				t.Errorf("capacity %v, RTT %v: %.2f %% of the answers were 429", c.capacity, rtt, refused[i])
			}
		}
		if !t.Failed() {
			fmt.Printf("shown engine.4: rejecting above %v req/s, RTT 50 and 500 ms: %.0f and %.0f %% of it used, 429s %.2f and %.2f %%\n",
				c.capacity, 100*used[0], 100*used[1], refused[0], refused[1])
		}
	}
}

func TestQueueingOriginDoesNotDrift(t *testing.T) {
	t.Parallel()
	for _, rtt := range []time.Duration{50 * time.Millisecond, 500 * time.Millisecond} {
		for seed := range seeds(2) {
			o := &queueing{capacity: 20}
			s := newSimulation(wide, o, rtt, seed)
			s.run(time.Hour)
			unloaded := rtt + time.Second/20
			n := len(s.latencies)
			first, last, all := mean(s.latencies[n/6:n/3]), mean(s.latencies[n-n/6:]), mean(s.latencies)
			rate := float64(n) / 3600
			if all > 6*unloaded {
				t.Errorf("RTT %v: latency %v of %v unloaded", rtt, all, unloaded)
			}
			if last > first*5/4 {
				t.Errorf("RTT %v: latency rose from %v to %v within the hour", rtt, first, last)
			}
			if rate < 19 {
				t.Errorf("RTT %v: %.1f of 20 req/s", rtt, rate)
			}
			if !t.Failed() && seed == 0 {
				fmt.Printf("shown engine.4: queueing, 20 req/s, RTT %v, 1 h: %.1f req/s, L %d, latency %v = %.1f × unloaded (bar 6), first part to last %v to %v\n",
					rtt, rate, s.policy.Places(&s.state), all.Round(time.Millisecond), float64(all)/float64(unloaded), first.Round(time.Millisecond), last.Round(time.Millisecond))
			}
		}
	}
}

func TestSlowByNatureReachesTheCap(t *testing.T) {
	t.Parallel()
	for seed := range seeds(2) {
		s := newSimulation(Policy{InFlight: 2, MaxInFlight: 64, Spacing: -1}, &steady{}, 1200*time.Millisecond, seed)
		reached := 0
		for second := 1; second <= 300; second++ {
			s.run(time.Second)
			places := s.policy.Places(&s.state)
			if places == 64 && reached == 0 {
				reached = second
			}
			if reached > 0 && places < 64 {
				t.Fatalf("seed %d: L fell to %d after %d s", seed, places, second)
			}
		}
		if reached == 0 || reached > 60 {
			t.Errorf("seed %d: L_max reached after %d s", seed, reached)
		}
		if !t.Failed() && seed == 0 {
			fmt.Printf("shown engine.4: constant 1.2 s: L_max = 64 after %d s, and kept\n", reached)
		}
	}
}

func TestOneSpikeIsOneCutAtMost(t *testing.T) {
	t.Parallel()
	for seed := range seeds(2) {
		o := &steady{spikeAt: time.Hour + 100*time.Second, spike: time.Second}
		s := newSimulation(Policy{InFlight: 2, MaxInFlight: 60, Spacing: -1}, o, 50*time.Millisecond, seed)
		s.run(100 * time.Second)
		before := s.state.limit
		if before != 60 {
			t.Fatalf("seed %d: L %v before the spike", seed, before)
		}
		cuts, least, last := 0, before, before
		s.onResult = func(Report) {
			if s.state.limit < last {
				cuts++
			}
			last = s.state.limit
			least = min(least, last)
		}
		s.run(20 * time.Second)
		if cuts > 1 || last != 60 {
			t.Errorf("seed %d: %d cuts, down to %.1f, at last %.1f", seed, cuts, least, last)
		}
		if !t.Failed() && seed == 0 {
			fmt.Printf("shown engine.4: 60 in flight, one 1 s spike: %d cuts, L at least %.0f\n", cuts, least)
		}
	}
}

// An origin that refuses everything for a minute is asked ever more seldom, and found again.
func TestOutageEnds(t *testing.T) {
	t.Parallel()
	o := &rejecting{capacity: 20}
	s := newSimulation(wide, o, 50*time.Millisecond, 1)
	s.run(100 * time.Second)
	o.closed = true
	s.run(60 * time.Second)
	refused := sum(s.throttled[100:])
	if refused > 60 {
		t.Errorf("%d requests were refused within the minute", refused)
	}
	o.closed = false
	s.run(300 * time.Second)
	back := settled(s.good[160:], 20)
	if back > 300 {
		t.Errorf("back after %d s", back)
	}
	if !t.Failed() {
		fmt.Printf("shown engine.4: outage of a minute, all 429: %d requests refused, back after %d s\n", refused, back)
	}
}
