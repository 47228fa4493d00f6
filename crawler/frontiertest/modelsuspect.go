package frontiertest

import (
	"cmp"
	"slices"
	"time"
)

// die ends leases whose owners are dead.
func (m *model) die(over []*record, end func(r *record) time.Duration) {
	held := map[string]int{}
	for _, r := range over {
		held[r.owner] = len(m.held(r.owner, ""))
	}
	suspected := slices.ContainsFunc(over, func(r *record) bool { return r.group > 0 })
	for _, s := range m.those(func(r *record) bool { return r.state == isSuspect && r.crashes < m.bound() }) {
		switch {
		case len(over) == 0 || m.opt.CrashPause < 0:
		case !suspected:
			s.crashes, s.pause = 0, 0
		case s.pause > m.now:
			s.pause = m.now + s.length
		}
	}
	for _, r := range over {
		m.takeBack(r, end(r), held[r.owner])
	}
}

func (m *model) bound() int { return cmp.Or(m.opt.MaxCrashes, 3) }

// takeBack is the end of a lease whose holder died when it had so many.
func (m *model) takeBack(r *record, end time.Duration, held int) {
	m.leave(r, end, end, true)
	alone := r.group == 1
	if alone {
		r.crashes++
	}
	r.attempts--
	if m.over(r) {
		return
	}
	switch {
	case m.bound() < 0:
		m.ready(r, m.now)
		return
	case r.crashes >= 2*m.bound():
		r.state = isFailed
		return
	}
	r.state, r.group, r.pause = isSuspect, max(held/8, 1), 0
	if alone && r.crashes == m.bound()-1 && m.opt.CrashPause > 0 {
		r.length = m.opt.CrashPause + 3*(m.heard[r.owner]-r.start)
		r.pause = m.now + r.length
	}
}

// givenUp reports whether whoever has a request is to settle it as failed.
func (m *model) givenUp(r *record) bool { return m.bound() > 0 && r.crashes >= m.bound() }

// restrained reports whether an owner gets nothing but suspects, if it gets anything.
func (m *model) restrained(owner string) bool {
	suspects, _ := m.next()
	own := m.held(owner, "")
	return len(own) > 0 && (own[0].group > 0 || len(suspects) > 0)
}

// fitsGroup reports whether an owner may have a suspect, with what it has.
func (m *model) fitsGroup(r *record, owner string) bool {
	own := m.held(owner, "")
	return len(own) == 0 || len(own) < own[0].group && r.group >= own[0].group
}

// first reports whether of the suspects that an owner may have none goes before this one.
func (m *model) first(r *record, owner string) bool {
	suspects, _ := m.next()
	return !slices.ContainsFunc(suspects, func(o *record) bool {
		return m.fitsGroup(o, owner) && cmp.Or(cmp.Compare(r.crashes, o.crashes), cmp.Compare(o.group, r.group)) < 0
	})
}

// asks is an owner that asked, and holds a group of suspects.
func (m *model) asks(owner string) {
	if own := m.held(owner, ""); len(own) > 0 && own[0].group > 0 && m.now-m.heard[owner] >= time.Second {
		m.heard[owner] = m.now
	}
}
