package crawler

import (
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"slices"
	"time"
)

// Lister is a Frontier that lists what it holds, without changing anything. What has failed is listed by a DeadLister;
// how many there are of each kind is in FrontierStats.
type Lister interface {
	// Pending lists the requests that are ready, then those that are delayed, leased and suspect. The frontier may be
	// used meanwhile, and is never held up for long: a request that is moved then may be listed twice or, if it was tried,
	// not at all. While nothing is changed each is listed once.
	Pending(ctx context.Context) iter.Seq2[PendingRequest, error]
	// Hosts lists the hosts that have work, or are remembered for their pace, in the order of their names.
	Hosts(ctx context.Context) iter.Seq2[HostInspection, error]
}

// PendingRequest is a request that is not done, and has not failed.
type PendingRequest struct {
	Key      string
	Request  *Request
	State    RequestState  // StateReady, StateDelayed or StateLeased
	Suspect  bool          // its holder died: it is leased apart
	Attempts int           // tries that counted, that of a lease included
	Crashes  int           // deaths of holders that had nothing else
	Due      time.Duration // until it may be leased, for StateDelayed
}

// ErrReadOnly says that a frontier or a store was opened to be looked at.
var ErrReadOnly = errors.New("seine: opened for reading alone")

var _ Lister = (*Memory)(nil)

// look calls f with the frontier locked. It changes nothing, and waits for nothing to become durable.
func (m *Memory) look(ctx context.Context, f func(now time.Duration) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return ErrClosed
	case m.journal != nil && m.journal.fault != nil:
		return m.journal.fault
	}
	return f(m.clock())
}

// ask calls f with the frontier as it is now: after what time has brought, and once that is durable, where it may be changed.
func (m *Memory) ask(ctx context.Context, f func(now time.Duration) error) error {
	if m.journal != nil && m.journal.view {
		return m.look(ctx, f)
	}
	return m.do(ctx, f)
}

// Pending implements Lister. It needs memory for the names of the hosts, the queue of one of them as far as that is in
// files or in a journal at 64 KiB a time, and what is leased.
func (m *Memory) Pending(ctx context.Context) iter.Seq2[PendingRequest, error] {
	return func(yield func(PendingRequest, error) bool) {
		for h, err := range m.eachHost(ctx) {
			if err != nil {
				yield(PendingRequest{}, err)
				return
			}
			if !m.listReady(ctx, h, yield) {
				return
			}
		}
		if !m.listDelayed(ctx, yield) {
			return
		}
		var rest []PendingRequest
		err := m.look(ctx, func(time.Duration) (err error) {
			rest, err = m.listHeld()
			return err
		})
		if err != nil {
			yield(PendingRequest{}, err)
			return
		}
		for _, p := range rest {
			if err := ctx.Err(); err != nil {
				yield(PendingRequest{}, err)
				return
			}
			if !yield(p, nil) {
				return
			}
		}
	}
}

// eachHost goes through the names of the hosts that there are now, in order.
func (m *Memory) eachHost(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var names []string
		err := m.look(ctx, func(time.Duration) error {
			names = make([]string, 0, len(m.hosts))
			for name := range m.hosts {
				names = append(names, name)
			}
			return nil
		})
		if err != nil {
			yield("", err)
			return
		}
		slices.Sort(names)
		for _, name := range names {
			if !yield(name, nil) {
				return
			}
		}
	}
}

// Hosts implements Lister.
func (m *Memory) Hosts(ctx context.Context) iter.Seq2[HostInspection, error] {
	return func(yield func(HostInspection, error) bool) {
		for name, err := range m.eachHost(ctx) {
			var i HostInspection
			there := false
			if err == nil {
				err = m.look(ctx, func(now time.Duration) error {
					if there = m.hosts[name] != nil; there {
						i = m.inspectHost(name, now)
					}
					return nil
				})
			}
			if err != nil {
				yield(HostInspection{}, err)
				return
			}
			if there && !yield(i, nil) {
				return
			}
		}
	}
}

// listHeld returns what is leased and suspect.
func (m *Memory) listHeld() ([]PendingRequest, error) {
	var all []PendingRequest
	list := func(host string, priority int, record []byte, p PendingRequest) error {
		e, err := decodeEntry(record, host, priority)
		if err != nil {
			return err
		}
		p.Key, p.Request = e.req.key(), &e.req
		all = append(all, p)
		return nil
	}
	for _, l := range m.holds.ends {
		if !l.lease {
			continue
		}
		if err := list(l.host.name, l.priority, l.record, PendingRequest{State: StateLeased, Suspect: l.group > 0, Attempts: l.attempt, Crashes: l.crashes}); err != nil {
			return nil, err
		}
	}
	for _, l := range m.suspects {
		if err := list(l.host.name, l.priority, l.record, PendingRequest{State: StateReady, Suspect: true}); err != nil {
			return nil, err
		}
		s := &all[len(all)-1]
		s.Attempts, s.Crashes = l.attempt, l.crashes
	}
	return all, nil
}

// part is a chunk of a queue, as it was when it was looked at.
type part struct {
	chunk
	priority int
	off      int // of the first record
}

// listReady lists the queue of a host. It reports whether to go on.
func (m *Memory) listReady(ctx context.Context, host string, yield func(PendingRequest, error) bool) bool {
	var parts []part
	err := m.look(ctx, func(time.Duration) error {
		if h := m.hosts[host]; h != nil {
			parts = h.queue.parts()
		}
		return nil
	})
	for i := 0; i < len(parts) && err == nil; i++ {
		var entries []*entry
		if entries, err = m.readPart(ctx, host, &parts[i]); err != nil {
			break
		}
		parts[i] = part{} // what is in it can be given up
		for _, e := range entries {
			if err = ctx.Err(); err != nil {
				break
			}
			if !yield(PendingRequest{Key: e.req.key(), Request: &e.req, State: StateReady, Attempts: e.attempt, Crashes: e.crashes}, nil) {
				return false
			}
		}
	}
	if err != nil {
		yield(PendingRequest{}, err)
		return false
	}
	return true
}

// parts lists the chunks of a queue. The records in a chunk never change, but for one that is so small that it is used again.
func (q *hostQueue) parts() []part {
	var all []part
	for _, b := range q.ready {
		for i, c := range b.queue.chunks {
			p := part{chunk: c, priority: b.priority}
			if i == 0 {
				p.off = b.queue.off
			}
			if cap(c.data) <= 2*firstChunk {
				p.data = slices.Clone(c.data)
			}
			all = append(all, p)
		}
	}
	return all
}

// readPart returns the requests of a chunk that count.
func (m *Memory) readPart(ctx context.Context, host string, p *part) (entries []*entry, err error) {
	data := p.data
	if data == nil {
		err = m.look(ctx, func(time.Duration) (err error) {
			data, err = m.peek(host, &p.chunk)
			return err
		})
	}
	if err != nil || data == nil { // it has been worked off meanwhile
		return nil, err
	}
	for rest := data[p.off:]; len(rest) > 0; {
		size, w := binary.Uvarint(rest)
		if w <= 0 || size > uint64(len(rest)-w) {
			return nil, errEntry
		}
		e, err := decodeEntry(rest[w:w+int(size)], host, p.priority)
		if err != nil {
			return nil, err
		}
		entries, rest = append(entries, e), rest[w+int(size):]
	}
	return m.thatStand(ctx, entries, p.priority)
}

// thatStand leaves the entries of a queue that count, as most do.
func (m *Memory) thatStand(ctx context.Context, entries []*entry, priority int) ([]*entry, error) {
	const some = 64 // at a time: keys may be in the journal
	kept := entries[:0]
	for batch := range slices.Chunk(entries, some) {
		if err := m.look(ctx, func(time.Duration) error {
			for _, e := range batch {
				if m.stands(e, priority) {
					kept = append(kept, e)
				}
			}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

// stands reports whether a record of a queue is the one that its key has.
func (m *Memory) stands(e *entry, priority int) bool {
	state, best := m.keys.get(m.keys.hash(e.req.key()))
	return (state == ready || state == again) && best == priority
}

// peek reads a chunk that is in a file or in the journal, without taking it from there; nil if it is needed no more. m.mu is
// held.
func (m *Memory) peek(host string, c *chunk) ([]byte, error) {
	if c.disk.there() {
		if m.arena.files.open[c.disk.in] == nil {
			return nil, nil
		}
		return m.arena.files.look(c.disk)
	}
	data, err := m.journal.to.Block(c.block)
	if err != nil && !m.hosts[host].has(c.block) {
		return nil, nil
	}
	return data, err
}

// has reports whether a queue of the host still stands on a block.
func (h *memHost) has(block uint64) bool {
	return h != nil && slices.ContainsFunc(h.queue.ready, func(b *bucket) bool {
		return slices.ContainsFunc(b.queue.chunks, func(c chunk) bool { return c.block == block })
	})
}

// listDelayed lists what is delayed, some at a time. It reports whether to go on.
func (m *Memory) listDelayed(ctx context.Context, yield func(PendingRequest, error) bool) bool {
	var soon []*delayedEntry
	var parts []partOfRun
	offs := map[int]int{} // where the first entry of a part is, if it is not at its beginning
	err := m.look(ctx, func(time.Duration) error {
		soon = slices.Clone(m.delayed.soon)
		for _, r := range m.delayed.runs {
			offs[len(parts)] = r.off
			parts = append(parts, r.parts...)
		}
		return nil
	})
	const some = 64 // at a time
	for batch := range slices.Chunk(soon, some) {
		if err == nil && !m.listWaiting(ctx, batch, yield) {
			return false
		}
	}
	for i := 0; i < len(parts) && err == nil; i++ {
		var entries []*delayedEntry
		err = m.look(ctx, func(time.Duration) (err error) {
			entries, err = m.peekDelayed(&parts[i], offs[i])
			return err
		})
		if err == nil && !m.listWaiting(ctx, entries, yield) {
			return false
		}
	}
	if err != nil {
		yield(PendingRequest{}, err)
		return false
	}
	return true
}

// peekDelayed reads a part of a run; nothing if it is needed no more. m.mu is held.
func (m *Memory) peekDelayed(p *partOfRun, off int) ([]*delayedEntry, error) {
	if p.disk.there() && m.arena.files.open[p.disk.in] == nil {
		return nil, nil
	}
	var data []byte
	var err error
	if p.disk.there() {
		data, err = m.arena.files.look(p.disk)
	} else if data, err = m.journal.to.Block(p.block); err != nil && !m.delayed.has(p.block) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return m.arena.entries(data, off)
}

// listWaiting lists those of the entries that still wait. It reports whether to go on.
func (m *Memory) listWaiting(ctx context.Context, entries []*delayedEntry, yield func(PendingRequest, error) bool) bool {
	var all []PendingRequest
	err := m.look(ctx, func(now time.Duration) error {
		for _, d := range entries {
			if m.keys.state(d.hash) != waiting {
				continue
			}
			e, err := decodeEntry(d.record, d.host, d.priority)
			if err != nil {
				return err
			}
			all = append(all, PendingRequest{
				Key: e.req.key(), Request: &e.req, State: StateDelayed, Attempts: e.attempt, Crashes: e.crashes, Due: max(d.due-now, 0),
			})
		}
		return nil
	})
	for _, p := range all {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			break
		}
		if !yield(p, nil) {
			return false
		}
	}
	if err != nil {
		yield(PendingRequest{}, err)
		return false
	}
	return true
}
