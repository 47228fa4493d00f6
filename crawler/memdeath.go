package crawler

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// expire takes back the leases and reservations whose time is over. Their owners are dead.
func (m *Memory) expire(now time.Duration) {
	if len(m.holds.ends) == 0 || m.holds.ends[0].until > now {
		return
	}
	dead, suspected := map[string]owner{}, false // as they were
	for _, l := range m.holds.ends {
		if l.lease && l.until <= now {
			dead[l.owner] = *m.holds.byOwner[l.owner]
			suspected = suspected || l.group > 0
		}
	}
	if len(dead) > 0 {
		m.acquit(suspected, now)
	}
	for len(m.holds.ends) > 0 && m.holds.ends[0].until <= now {
		l := m.holds.ends[0]
		m.takeBack(l, dead[l.owner], now)
	}
}

// kill ends what dead owners hold: all, or those whose name it is.
func (m *Memory) kill(all bool, name string, now time.Duration) {
	for _, l := range m.holds.inOrder() {
		if all || l.owner == name {
			l.until = min(l.until, now)
			m.holds.ends.fix(l.at)
		}
	}
	m.expire(now)
}

// die is the death of the process that held the frontier.
func (m *Memory) die(now time.Duration) {
	if len(m.holds.byOwner) == 0 {
		m.acquit(false, now)
	}
	m.kill(true, "", now)
}

// reboot takes back what an owner held before it started anew.
func (m *Memory) reboot(want LeaseRequest, now time.Duration) {
	if o := m.holds.byOwner[want.Owner]; o != nil && o.boot != want.Boot {
		m.kill(false, want.Owner, now)
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

// takeBack ends a hold whose owner died. Its request becomes a suspect, or is given up.
func (m *Memory) takeBack(l *hold, of owner, now time.Duration) {
	m.endHold(l, now)
	defer m.place(l.host, now)
	if !l.lease {
		m.holds.recycle(l)
		return
	}
	if l.group == 1 {
		l.crashes++
	}
	l.attempt-- // a death is no try
	switch {
	case m.passedOver(l):
	case m.opt.MaxCrashes == math.MaxInt:
		m.requeue(l, 0, now)
	case l.crashes/2 >= m.opt.MaxCrashes: // whoever was told that it is given up has not settled it
		m.fail(l, (&CrashError{Crashes: l.crashes}).Error())
	default:
		m.suspect(l, of, now)
		return // it stays in use
	}
	m.holds.recycle(l)
}
