package ratelimit

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
	"time"
)

// someStates returns states of many kinds of hosts.
func someStates() []State {
	states := []State{{}}
	p := Policy{InFlight: 2, MaxInFlight: 8, Spacing: -1}
	for _, o := range []origin{&rejecting{capacity: 0.5}, &rejecting{capacity: 5}, &queueing{capacity: 20}, &steady{}} {
		s := newSimulation(p, o, 200*time.Millisecond, 1)
		for range 8 {
			s.run(time.Duration(s.rand.IntN(40)) * time.Second)
			states = append(states, s.state)
		}
	}
	h := newHost(Policy{})
	for _, exit := range []string{"a", "b"} {
		h.tell(1, Report{Class: Block, Proxy: exit}, time.Second)
		states = append(states, h.State)
	}
	return states
}

func TestStateRoundTrip(t *testing.T) {
	t.Parallel()
	for i, s := range someStates() {
		b, err := s.AppendBinary([]byte("x"))
		if err != nil || b[0] != 'x' {
			t.Fatalf("state %d: %v", i, err)
		}
		got := State{limit: 7}
		if err := got.UnmarshalBinary(b[1:]); err != nil {
			t.Fatalf("state %d: %v", i, err)
		}
		if got != s {
			t.Errorf("state %d:\n%+v came back as\n%+v", i, s, got)
		}
	}
}

func TestBadStatesAreRefused(t *testing.T) {
	t.Parallel()
	states := someStates()
	good, _ := states[len(states)-1].MarshalBinary()
	changed := func(at int, b byte) []byte {
		c := bytes.Clone(good)
		c[at] = b
		return c
	}
	for _, c := range []struct {
		name string
		b    []byte
	}{
		{"nothing", nil},
		{"a later version", changed(0, stateVersion+1)},
		{"cut", good[:len(good)-1]},
		{"half", good[:len(good)/2]},
		{"a byte more", append(bytes.Clone(good), 0)},
		{"not a number", changed(8, 0xff)},
		{"an unknown flag", changed(len(good)-1, 0x80)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := State{limit: 3}
			if err := s.UnmarshalBinary(c.b); !errors.Is(err, ErrState) {
				t.Errorf("error %v", err)
			}
			if s != (State{limit: 3}) {
				t.Error("the state was changed")
			}
		})
	}
}

// FuzzState: what is read is written the same, and any reports after it lead to a state that can be written and read.
func FuzzState(f *testing.F) {
	for _, s := range someStates() {
		b, _ := s.MarshalBinary()
		f.Add(b, uint64(len(b)))
	}
	f.Fuzz(func(t *testing.T, b []byte, seed uint64) {
		var s State
		if s.UnmarshalBinary(b) != nil {
			return
		}
		if again, _ := s.MarshalBinary(); !bytes.Equal(again, b) {
			t.Fatalf("%x came back as %x", b, again)
		}
		r := rand.New(rand.NewPCG(seed, 2))
		p := Policy{MaxInFlight: r.IntN(20) - 1, Spacing: time.Duration(r.IntN(3) - 1)}
		now := s.last
		for range 50 {
			now += time.Duration(r.Int64N(int64(time.Minute)))
			s = p.Step(s, Report{
				Class: Class(r.IntN(7)), Status: []int{200, 304, 404, 429, 503}[r.IntN(5)], Latency: time.Duration(r.Int64N(int64(time.Second))),
				Elapsed: time.Duration(r.Int64N(int64(3 * time.Second))), RetryAfter: time.Duration(max(r.Int64N(20)-15, 0)) * time.Second,
				Exchanges: r.IntN(4), Proxy: string(rune('a' + r.IntN(4))),
			}, now)
			checkSane(t, p, &s)
			out, _ := s.MarshalBinary()
			var back State
			if err := back.UnmarshalBinary(out); err != nil || back != s {
				t.Fatalf("%+v came back as %+v: %v", s, back, err)
			}
		}
	})
}
