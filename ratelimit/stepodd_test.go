package ratelimit

import (
	"math"
	"testing"
	"time"
)

func TestSenselessReports(t *testing.T) {
	t.Parallel()
	big := time.Duration(math.MaxInt64)
	times := []time.Duration{-big - 1, -1, 0, 1, time.Second, big}
	h := newHost(Policy{InFlight: 3, MaxInFlight: -1, Spacing: -1})
	for class := None; class < NetError+3; class++ {
		for i, d := range times {
			for j, now := range times {
				r := Report{Class: class, Status: -7 * i, Latency: d, Elapsed: times[j], Since: -d, RetryAfter: d, Exchanges: int(d), Bytes: int64(d)}
				h.State = h.Step(h.State, r, now)
				checkSane(t, h.Policy, &h.State)
			}
		}
	}
	if h.BlockedUntil() > h.last+time.Hour {
		t.Errorf("blocked for %v", h.BlockedUntil()-h.last)
	}
}

// checkSane fails for a state that no host can be in.
func checkSane(t *testing.T, p Policy, s *State) {
	t.Helper()
	if n := p.Places(s); n < 1 || n > maxPlaces {
		t.Fatalf("%d places", n)
	}
	if d := p.Pause(s); d < 0 || d > 5*time.Minute {
		t.Fatalf("a pause of %v", d)
	}
	if s.smooth < 0 || s.base < 0 || s.failing < 0 || math.IsNaN(s.limit) {
		t.Fatalf("impossible state %+v", *s)
	}
}

// A count that is full does not begin anew: a ceiling without a cut would be impossible.
func TestCutsDoNotWrap(t *testing.T) {
	t.Parallel()
	h := newHost(Policy{})
	h.flow(throttled, 1, 10*time.Second, time.Millisecond)
	h.cuts = math.MaxUint32
	h.flow(throttled, 1, 10*time.Minute, time.Millisecond)
	b, _ := h.MarshalBinary()
	if err := new(State).UnmarshalBinary(b); h.Cuts() != math.MaxUint32 || err != nil {
		t.Errorf("%d cuts, %v", h.Cuts(), err)
	}
}

// A clock that runs back is taken for one that stands.
func TestTimeNeverRunsBack(t *testing.T) {
	t.Parallel()
	h := newHost(Policy{Spacing: -1})
	h.flow(page, 10, 5*time.Second, 50*time.Millisecond)
	last := h.last
	h.State = h.Step(h.State, page, h.now-time.Minute)
	if h.last != last {
		t.Errorf("the time went from %v to %v", last, h.last)
	}
}

func TestPolicyMayChange(t *testing.T) {
	t.Parallel()
	s := newSimulation(Policy{InFlight: 32, MaxInFlight: 32, Spacing: -1}, &steady{}, 100*time.Millisecond, 1)
	s.run(10 * time.Second)
	s.policy = Policy{MaxInFlight: 3, Spacing: -1}
	if got := s.policy.Places(&s.state); got != 3 {
		t.Errorf("%d places", got)
	}
	s.policy.Delay = time.Second
	if got := s.policy.Places(&s.state); got != 1 {
		t.Errorf("%d places with a delay", got)
	}
}
