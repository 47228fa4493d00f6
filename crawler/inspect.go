package crawler

import (
	"context"
	"time"
)

// Inspector is a Frontier that tells what it knows of a request and its host, without changing anything.
type Inspector interface {
	// Inspect looks at the request of a key, and at the host whether or not the request is known.
	Inspect(ctx context.Context, key, host string) (Inspection, error)
}

// Inspection is what a frontier knows of a request and its host at one moment.
type Inspection struct {
	State    RequestState
	Attempts int           // tries that counted, for StateFailed and StateLeased
	Due      time.Duration // until it may be leased, for StateDelayed
	Reason   string        // for StateFailed

	HostInspection
}

// HostInspection is what a frontier knows of a host at one moment.
type HostInspection struct {
	Host     string
	Queued   int           // requests of the host that are ready
	InFlight int           // exchanges of the host
	Places   int           // for exchanges of the host
	Opens    time.Duration // until the host may be visited, if it has a free place; zero now
	Pause    time.Duration // from start to start of exchanges with the host
	Rest     time.Duration // from the end of one to the start of the next
	Rate     float64       // exchanges a second that the host was found to bear; 0: it never complained
	Cuts     uint32        // how often that was lowered
	Stalled  error         // a *ratelimit.StallError if the host has not answered properly for long, else nil
}

// RequestState is where a request is in a frontier.
type RequestState uint8

// The states.
const (
	StateUnknown RequestState = iota // never seen, or the frontier does not tell
	StateReady                       // queued
	StateDelayed                     // queued, and not due yet
	StateLeased                      // being worked on
	StateDone                        // done, refused, or passed by a redirect
	StateFailed                      // given up
)

var stateNames = [...]string{"unknown", "ready", "delayed", "leased", "done", "failed"}

// String returns the name of the state.
func (s RequestState) String() string { return name(stateNames[:], int(s)) }

var _ Inspector = (*Memory)(nil)

// Inspect implements Inspector. For a request that is delayed or leased its time grows with the number of those.
func (m *Memory) Inspect(ctx context.Context, key, host string) (Inspection, error) {
	var i Inspection
	err := m.ask(ctx, func(now time.Duration) (err error) {
		i, err = m.inspect(m.keys.hash(key), host, now)
		return err
	})
	return i, err
}

func (m *Memory) inspect(h uint64, host string, now time.Duration) (i Inspection, err error) {
	i.HostInspection = m.inspectHost(host, now)
	switch m.keys.state(h) {
	case ready, again, suspect:
		i.State = StateReady
	case waiting:
		i.State = StateDelayed
		err = m.delayed.each(&m.arena, func(e *delayedEntry) {
			if e.hash == h {
				i.Due = e.due - now
			}
		})
	case leased, passed:
		i.State = StateLeased
		for _, l := range m.holds.byID {
			if l.lease && l.hash == h {
				i.Attempts = l.attempt
			}
		}
	case finished, dropped:
		i.State = StateDone
	case failed:
		i.State = StateFailed
		if d := m.dead.byHash[h]; d != nil {
			i.Attempts, i.Reason = d.attempts, d.reason
		}
	}
	return i, err
}

// inspectHost looks at a host, known or not.
func (m *Memory) inspectHost(name string, now time.Duration) HostInspection {
	h := m.hosts[name]
	if h == nil { // nothing keeps it from being visited
		h = &memHost{policy: m.policies[name]}
	}
	p, s := h.pace(m), h.learned()
	return HostInspection{
		Host: name, Queued: max(h.queue.n-h.queue.stale, 0), InFlight: h.inFlight, Places: p.Places(s), Opens: max(h.opens()-now, 0),
		Pause: p.Pause(s), Rest: p.Rest(s), Rate: s.Rate(), Cuts: s.Cuts(), Stalled: p.Stalled(s),
	}
}
