package crawler

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// expire takes back the leases and reservations whose time is over.
func (m *Memory) expire(now time.Duration) {
	for len(m.holds.ends) > 0 && m.holds.ends[0].until <= now {
		m.takeBack(m.holds.ends[0], now)
	}
}

// reboot takes back what an owner held before it started anew.
func (m *Memory) reboot(want LeaseRequest, now time.Duration) {
	o := m.holds.byOwner[want.Owner]
	if o == nil || o.boot == want.Boot {
		return
	}
	for _, l := range m.holds.inOrder() {
		if l.owner == want.Owner {
			m.takeBack(l, now)
		}
	}
}

// endHold ends a hold of which nothing was reported: that its holder was in contact to the end must be assumed.
func (m *Memory) endHold(l *hold, now time.Duration) {
	m.stir++
	m.letGo(l)
	end := min(l.until, now)
	l.host.leave(m, l, end, end, HostReport{Exchanges: 1})
}

// letAllGo ends all holds, whose holders end in order.
func (m *Memory) letAllGo(now time.Duration) {
	for _, l := range m.holds.inOrder() {
		m.endHold(l, now)
		if l.lease {
			l.attempt-- // as if it was released
			m.requeue(l, 0, now)
		}
		m.place(l.host, now)
		m.holds.recycle(l)
	}
}

// inOrder lists all holds, the oldest first.
func (t *holds) inOrder() []*hold {
	return slices.SortedFunc(slices.Values(t.ends), func(a, b *hold) int { return cmp.Compare(a.id, b.id) })
}

// takeBack ends a hold whose holder died. Its request becomes a suspect, or is given up.
func (m *Memory) takeBack(l *hold, now time.Duration) {
	m.endHold(l, now)
	defer m.place(l.host, now)
	if !l.lease {
		m.holds.recycle(l)
		return
	}
	if l.alone {
		l.crashes++
	}
	l.attempt-- // a death is no try
	switch {
	case m.passedOver(l):
	case l.crashes >= m.opt.MaxCrashes:
		m.fail(l, "its holder died each time it was alone")
	case m.opt.MaxCrashes == math.MaxInt:
		m.requeue(l, 0, now)
	default:
		m.keys.set(l.hash, suspect)
		m.stats.Ready++
		m.suspects = append(m.suspects, l)
		return // it stays in use
	}
	m.holds.recycle(l)
}
