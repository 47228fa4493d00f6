package crawler

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Which of the requests that a process had when it died has killed it, if any? They are suspects, and are tried again in
// groups of an eighth of them, then of those that die again in groups of an eighth of these, until the one that kills is
// alone. Only what dies alone is counted. But processes die of other things as well, whatever they work on. So
//
//   - the one that most deaths are counted against is tried first of all when a process has come up: a page that kills
//     dies again at once, and any other has the whole life of the process to end in;
//   - before the death that would be the last, it is kept apart for a while, in which the others go on. A process that
//     dies whenever it works on no suspect shows that processes die here of something else, and no death counts any
//     more. One that dies of another suspect meanwhile does not tell: the while begins anew.
//
// A page that kills does so once without being a suspect. So each of them acquits the others once at most, and all are
// found in the end.
const groups = 8

// crashPause is how long a suspect is kept apart, beside longer than it lived before.
const (
	crashPause  = 10 * time.Second
	pauseFactor = 3
)

// heardEvery is how exactly it is known when an owner of suspects died.
const heardEvery = time.Second

// hear notes that an owner that holds suspects is alive.
func (m *Memory) hear(o *owner, now time.Duration) {
	if now-o.seen >= heardEvery {
		o.seen = now
		m.stir++ // it is written down
	}
}

// suspect keeps the request of a hold whose owner died when it had so many.
func (m *Memory) suspect(l *hold, of owner, now time.Duration) {
	alone := l.group == 1
	l.group, l.pause = max(of.leases/groups, 1), 0
	if alone && l.crashes == m.opt.MaxCrashes-1 && m.opt.CrashPause > 0 {
		l.pause = m.opt.CrashPause + pauseFactor*min(max(of.seen-l.start, 0), longestPause/pauseFactor)
	}
	l.until = now + l.pause
	m.keys.set(l.hash, suspect)
	m.stats.Ready++
	m.suspects = append(m.suspects, l)
}

// acquit weighs what is counted against the suspects that wait, since a process died without them. If it worked on no
// suspect, that is nothing any more; else those that are kept apart are so anew.
func (m *Memory) acquit(suspected bool, now time.Duration) {
	if m.opt.CrashPause < 0 {
		return
	}
	for _, l := range m.suspects {
		switch {
		case l.crashes == 0 || l.crashes >= m.opt.MaxCrashes:
		case !suspected:
			l.crashes, l.until = 0, min(l.until, now)
			m.stir++
		case l.until > now:
			l.until = now + l.pause
			m.stir++
		}
	}
}

// opens is when a suspect may be leased; false if its host has to be left first.
func (m *Memory) opens(l *hold) (time.Duration, bool) {
	h := m.hosts[l.host.name]
	if h == nil {
		return l.until, true
	}
	return max(l.until, h.opens()), h.hasPlace(m)
}

// openSuspect returns the suspect that is to be leased next, of those that may be in a group of that size, or -1.
func (m *Memory) openSuspect(group int, now time.Duration) int {
	best := -1
	for i, l := range m.suspects {
		if l.group < group {
			continue
		}
		if best >= 0 && cmp.Or(cmp.Compare(m.suspects[best].crashes, l.crashes), cmp.Compare(l.group, m.suspects[best].group)) >= 0 {
			continue
		}
		if at, place := m.opens(l); place && at <= now {
			best = i
		}
	}
	return best
}

// leaseSuspects hands out suspects to an owner that holds nothing, or others of their group.
func (m *Memory) leaseSuspects(b *LeaseBatch, want LeaseRequest, now time.Duration) {
	for len(b.Leases) < want.Max {
		group := 0
		if o := m.holds.byOwner[want.Owner]; o != nil {
			if group = o.group; o.leases >= group {
				return
			}
		}
		i := m.openSuspect(group, now)
		if i < 0 {
			return
		}
		m.leaseSuspect(b, i, cmp.Or(group, m.suspects[i].group), want, now)
	}
}

func (m *Memory) leaseSuspect(b *LeaseBatch, i, group int, want LeaseRequest, now time.Duration) {
	s := m.suspects[i]
	m.suspects = slices.Delete(m.suspects, i, i+1)
	m.stats.Ready--
	e, err := decodeEntry(s.record, s.host.name, s.priority)
	if err != nil {
		panic(err) // what appendEntry wrote; when it was loaded it was looked at
	}
	h := m.host(s.host.name)
	l := m.hold(h, want.Owner, want.TTL, now)
	l.group, l.hash, l.priority, l.attempt, l.crashes = group, s.hash, s.priority, s.attempt, s.crashes
	l.record = append(l.record, s.record...)
	b.Leases = append(b.Leases, m.grant(l, &e.req, want, now))
	m.place(h, now)
	m.holds.recycle(s)
}

func (m *Memory) forgetSuspect(hash uint64) {
	m.suspects = slices.DeleteFunc(m.suspects, func(l *hold) bool { return l.hash == hash })
}

// nextSuspect is when the next of those that may be in a group of that size may be leased.
func (m *Memory) nextSuspect(group int) time.Duration {
	next := time.Duration(math.MaxInt64)
	for _, l := range m.suspects {
		if at, place := m.opens(l); place && l.group >= group {
			next = min(next, at)
		}
	}
	return next
}
