package crawler

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"time"
)

// Settle implements Frontier. When the links of a settlement do not fit, it has no effect and the error is ErrFull.
func (m *Memory) Settle(ctx context.Context, settlements ...Settlement) error {
	var failed error
	var faulty map[int]bool
	var room [64]uint64
	hashes := room[:0] // of the links, one settlement after another
	for i := range settlements {
		s := &settlements[i]
		if err := s.check(m.journal != nil); err != nil {
			if faulty == nil {
				faulty = map[int]bool{}
			}
			failed, faulty[i] = first(failed, err), true
			continue
		}
		hashes = m.hashes(hashes, s.Links)
	}
	err := m.do(ctx, func(now time.Duration) error {
		m.keys.touch(hashes)
		return m.settleAll(settlements, faulty, hashes, now)
	})
	if failed == nil {
		return err
	}
	if lost := (*LeaseLostError)(nil); errors.As(err, &lost) {
		return errors.Join(err, failed)
	}
	return first(err, failed)
}

// settleAll settles what is not faulty. The hashes are those of the links of what is settled.
func (m *Memory) settleAll(settlements []Settlement, faulty map[int]bool, hashes []uint64, now time.Duration) error {
	var failed error
	var lost []string
	for i := range settlements {
		s := &settlements[i]
		if faulty[i] {
			continue
		}
		links := hashes[:len(s.Links)]
		hashes = hashes[len(s.Links):]
		l := m.holds.valid(s.Lease)
		switch {
		case l == nil && !m.holds.repeats(settled{s.Lease.Epoch, s.Lease.Owner, m.keys.hash(s.Lease.Key), s.Outcome}):
			lost = append(lost, s.Lease.Key)
		case l == nil: // told again
		case !m.fits(s, links):
			failed = first(failed, m.fullError())
		default:
			id := l.id
			m.settle(l, s, links, now)
			m.journal.settled(id, s)
		}
	}
	return lostError(lost, failed)
}

// lostError lists the keys of lost leases beside another error.
func lostError(keys []string, other error) error {
	if len(keys) == 0 {
		return other
	}
	lost := &LeaseLostError{Keys: keys}
	if other == nil {
		return lost
	}
	return errors.Join(lost, other)
}

// check refuses a settlement that means nothing.
func (s *Settlement) check(keepsItems bool) error {
	fault := func(field, reason string) error {
		url := s.Lease.Key
		if s.Lease.Request != nil {
			url = s.Lease.Request.URL
		}
		return &RequestError{URL: url, Field: field, Reason: reason}
	}
	switch {
	case s.Outcome < Done || s.Outcome > Released:
		return fault("Outcome", "is none")
	case len(s.Links) > 0 && s.Outcome != Done:
		return fault("Links", "belong to a request that is done")
	case len(s.Items) > 0 && !keepsItems:
		return fault("Items", "are not kept by this frontier")
	case len(s.Items) > 0 && s.Outcome != Done:
		return fault("Items", "belong to a request that is done")
	}
	for i := range s.Items {
		if err := CheckItem(s.Items[i].Key, s.Items[i].Value); err != nil {
			return err
		}
	}
	for _, r := range s.Links {
		if err := r.check(); err != nil {
			return err
		}
	}
	return nil
}

// fits reports whether there is room for the links of a settlement that are new.
func (m *Memory) fits(s *Settlement, links []uint64) bool {
	if len(links) == 0 {
		return true
	}
	after := m.pending() - 1
	if s.Revisit > 0 {
		after++
	}
	most := int64(m.opt.MaxPending)
	if after+int64(len(links)) <= most && m.arena.stuck() == nil {
		return true
	}
	known := make(map[uint64]bool, len(links)) // by the time the links are added
	for _, key := range s.Seen {
		h := m.keys.hash(key)
		if known[h] {
			continue
		}
		known[h] = true
		if state := m.keys.state(h); state == ready || state == again || state == waiting || state == suspect {
			after--
		}
	}
	fresh := int64(0)
	for _, h := range links {
		if !known[h] && m.keys.state(h) == unseen {
			fresh++
		}
		known[h] = true
	}
	return fresh == 0 || after+fresh <= most && (m.arena.stuck() == nil || !m.full())
}

func (m *Memory) settle(l *hold, s *Settlement, links []uint64, now time.Duration) {
	m.letGo(l)
	m.holds.remember(settled{l.id, l.owner, l.hash, s.Outcome})
	l.host.leave(m, l, now-max(s.Report.Since, 0), now, s.Report)
	switch s.Outcome {
	case Done:
		m.keys.set(l.hash, finished)
		for _, key := range s.Seen {
			m.pass(key, now)
		}
		for i, r := range s.Links {
			m.add(r, links[i], now)
		}
		if s.Revisit > 0 {
			l.attempt, l.crashes = 0, 0
			m.requeue(l, s.Revisit, now)
		} else {
			m.stats.Done++
		}
	case Retry:
		m.requeue(l, max(s.Delay, 0), now)
	case Failed:
		m.fail(l, s.Reason)
	case Released:
		l.attempt--
		m.requeue(l, max(s.Delay, 0), now)
	}
	m.place(l.host, now)
	m.holds.recycle(l)
}

// deadRequest is one that failed for good.
type deadRequest struct {
	seq      uint64
	host     string
	priority int
	attempts int
	crashes  int
	reason   string
	record   []byte
}

// deadList keeps the requests that failed last.
type deadList struct {
	most   int
	byHash map[uint64]*deadRequest
	order  []deadMark // the oldest first; some may be gone
	seq    uint64
}

type deadMark struct{ hash, seq uint64 }

// MaxReasonBytes bounds the reason that is kept of a request that failed. What is longer ends in "…".
const MaxReasonBytes = 1024

func (d *deadList) init(most int) { d.most, d.byHash = most, map[uint64]*deadRequest{} }

func (d *deadList) add(h uint64, r *deadRequest) {
	d.seq++
	r.seq = d.seq
	d.byHash[h] = r
	d.order = append(d.order, deadMark{h, d.seq})
	for len(d.byHash) > d.most {
		if d.there(d.order[0]) {
			delete(d.byHash, d.order[0].hash)
		}
		d.order = d.order[1:]
	}
	if len(d.order) > 2*len(d.byHash)+64 {
		d.order = slices.DeleteFunc(d.order, func(m deadMark) bool { return !d.there(m) })
	}
}

// there reports whether a request is still listed, and did not fail again since.
func (d *deadList) there(m deadMark) bool {
	r := d.byHash[m.hash]
	return r != nil && r.seq == m.seq
}

// fail gives up the request of a hold that was let go.
func (m *Memory) fail(l *hold, reason string) {
	m.keys.set(l.hash, failed)
	m.stats.Failed++
	m.stats.Changes++
	m.dead.add(l.hash, &deadRequest{
		host: l.host.name, priority: l.priority, attempts: l.attempt, crashes: l.crashes, reason: shortened(reason),
		record: slices.Clone(l.record),
	})
}

// Dead implements DeadLister: the latest MaxDead of them, the oldest first.
func (m *Memory) Dead(ctx context.Context) iter.Seq2[DeadRequest, error] {
	return func(yield func(DeadRequest, error) bool) {
		var all []*deadRequest
		err := m.ask(ctx, func(time.Duration) error {
			all = m.dead.list()
			return nil
		})
		if err != nil {
			yield(DeadRequest{}, err)
			return
		}
		slices.SortFunc(all, func(a, b *deadRequest) int { return cmp.Compare(a.seq, b.seq) })
		for _, d := range all {
			e, err := decodeEntry(d.record, d.host, d.priority)
			if err = first(ctx.Err(), err); err != nil {
				yield(DeadRequest{}, err)
				return
			}
			if !yield(DeadRequest{Key: e.req.key(), Request: &e.req, Attempts: d.attempts, Crashes: d.crashes, Reason: d.reason}, nil) {
				return
			}
		}
	}
}

// list returns what is listed, in no order. What one points to never changes.
func (d *deadList) list() []*deadRequest {
	return slices.Collect(maps.Values(d.byHash))
}

// Redrive implements DeadLister.
func (m *Memory) Redrive(ctx context.Context, keys ...string) (n int, err error) {
	err = m.do(ctx, func(now time.Duration) error {
		for _, key := range keys {
			h := m.keys.hash(key)
			d := m.dead.byHash[h]
			if d == nil {
				continue
			}
			if m.full() {
				return m.fullError()
			}
			m.redrive(d, h, now)
			m.journal.redriven(h)
			n++
		}
		return nil
	})
	return n, err
}

func (m *Memory) redrive(d *deadRequest, h uint64, now time.Duration) {
	delete(m.dead.byHash, h)
	m.stats.Failed--
	m.requeue(&hold{host: m.host(d.host), hash: h, priority: d.priority, record: d.record}, 0, now)
}
