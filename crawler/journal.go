package crawler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// Journal makes a Memory frontier outlive its process: it keeps the frontier's changes in order and, now and then, a whole
// state that stands for all changes before it. Package sqlitebackend has one in an SQLite file; the frontier does the
// rest, so that a durable frontier behaves as one in memory does.
//
// What was taken over last may be lost, but never something before what is kept.
type Journal interface {
	// Load tells the parts of the state that was saved last, if there is one, then the changes since, in their order.
	Load(ctx context.Context, part, change func(p []byte) error) error
	// Append takes over a change, and items that become durable with it or not at all. It does not block, and keeps what
	// it is given. It returns what Wait is to be asked for.
	Append(change []byte, items []Item) uint64
	// Save takes over a state, in order with the changes. It does not block, and keeps what it is given.
	Save(s JournalState) uint64
	// Wait waits until everything up to a ticket is durable. An error says that this could not be done yet, which does
	// not mean that it never will be.
	Wait(ctx context.Context, ticket uint64) error
	// Err tells what keeps changes from becoming durable now, or nil. Meanwhile nothing is changed.
	Err() error
	// Block returns a block of a state that was saved, or of one that was written ahead.
	Block(id uint64) ([]byte, error)
	// Write makes blocks durable that a later state will name, or will free if this failed. It may block.
	Write(ctx context.Context, blocks []JournalBlock) error
	// Now is a time that goes on over restarts and is never before one that a change was taken over at.
	Now() time.Duration
}

// JournalState is a whole state of a frontier, but for blocks that are there already.
type JournalState struct {
	Parts [][]byte       // in order
	New   []JournalBlock // that the state names, and were not there
	Freed []uint64       // blocks that it does not name any more
	// Last is not nil in the state that a frontier leaves when it is closed. It is a change that may follow whatever is
	// durable: when the state, or what came before it, cannot be made durable, this is to be kept alone if it can.
	Last []byte
	Only []uint64 // if not nil: the blocks, beside the new ones, that it names, in order; all others can go
}

// JournalBlock is a part of the state that never changes.
type JournalBlock struct {
	ID   uint64
	Data []byte
}

// ErrJournal says that what a Journal has kept is not what it was given.
var ErrJournal = errors.New("seine: frontier: the journal is damaged")

// recorder writes down what a frontier does. The methods of nil do nothing.
type recorder struct {
	to    Journal
	keys  *diskKeys
	mute  bool   // while what was written down is done again
	view  bool   // it is looked at, for good
	ops   []byte // of the call under way
	reqs  []byte // that it has added
	n     int
	items []Item
	last  uint64        // ticket
	fault error         // why the state in memory cannot be trusted any more
	since int64         // bytes of changes since the last state
	limit int64         // of those, before the next state
	block uint64        // ID that was given last
	clean bool          // whoever had the frontier before closed it
	until time.Duration // no lease is handed out before it is durable
	hot   int64         // bytes of queued requests that stay in memory when a state was saved
}

// The operations of changes.
const (
	opAdd byte = iota + 1
	opSettle
	opLease
	opExtend
	opHost
	opReserve
	opRelease
	opRedrive
	opRestart
	opClose
	opCrawl
)

// carefully is how long after the death of a process no lease is handed out before it is durable, so that a request which
// kills its process at once is found out. Otherwise a death within moments of the lease may not be known; then the next
// one is.
const carefully = 30 * time.Second

func (j *recorder) on() bool { return j != nil && !j.mute }

// usable returns why nothing can be changed now.
func (j *recorder) usable() error {
	if j == nil {
		return nil
	}
	if j.view {
		return ErrReadOnly
	}
	return first(j.fault, j.to.Err())
}

func (j *recorder) careful(now time.Duration) bool { return j != nil && now < j.until }

// broken notes that what is in memory is not what was kept.
func (j *recorder) broken(err error) {
	if j.fault == nil {
		j.fault = fmt.Errorf("seine: frontier: %w", err)
	}
}

// fresh notes a request that was added by the operation under way.
func (j *recorder) fresh(r *Request) {
	if j.on() {
		j.reqs = appendRequest(j.reqs, r)
		j.n++
	}
}

// requests writes down those that were added.
func (j *recorder) requests() {
	j.ops = appendUints(j.ops, uint64(j.n))
	j.ops = append(j.ops, j.reqs...)
	j.reqs, j.n = j.reqs[:0], 0
}

func (j *recorder) added() {
	if j.on() && j.n > 0 {
		j.ops = append(j.ops, opAdd)
		j.requests()
	}
}

func (j *recorder) settled(id uint64, s *Settlement) {
	if !j.on() {
		return
	}
	j.ops = append(j.ops, opSettle, byte(s.Outcome))
	j.ops = appendUints(j.ops, id, positive(s.Delay), positive(s.Revisit))
	reason := ""
	if s.Outcome == Failed {
		reason = shortened(s.Reason)
	}
	j.ops = appendText(j.ops, reason)
	j.ops = appendUints(j.ops, uint64(len(s.Seen)))
	for _, key := range s.Seen {
		j.ops = appendText(j.ops, key)
	}
	j.ops = appendReport(j.ops, &s.Report)
	j.requests()
	for _, i := range s.Items {
		j.items = append(j.items, Item{Key: i.Key, Value: bytes.Clone(i.Value)})
	}
}

func (j *recorder) leased(want LeaseRequest) {
	if j.on() {
		j.ops = append(j.ops, opLease)
		j.ops = appendText(j.ops, want.Owner)
		j.ops = appendUints(j.ops, want.Boot, uint64(max(want.Max, 0)), uint64(want.TTL))
	}
}

func (j *recorder) extended(id uint64, ttl time.Duration) {
	if j.on() {
		j.ops = append(j.ops, opExtend)
		j.ops = appendUints(j.ops, id, uint64(ttl))
	}
}

func (j *recorder) hostSet(host string, p HostPolicy) {
	if j.on() {
		j.ops = append(j.ops, opHost)
		j.ops = appendText(j.ops, host)
		j.ops = appendPolicy(j.ops, p)
	}
}

func (j *recorder) reserved(r ReserveRequest) {
	if !j.on() {
		return
	}
	j.ops = append(j.ops, opReserve)
	for _, s := range [...]string{r.Host, r.Under.Owner, r.Under.Key} {
		j.ops = appendText(j.ops, s)
	}
	late := uint64(0)
	if r.Late {
		late = 1
	}
	j.ops = appendUints(j.ops, r.Under.Epoch, positive(r.Since), positive(r.Sent), r.Held.ID, late, uint64(r.TTL))
}

func (j *recorder) released(id uint64, report HostReport) {
	if j.on() {
		j.ops = append(j.ops, opRelease)
		j.ops = appendUints(j.ops, id)
		j.ops = appendReport(j.ops, &report)
	}
}

func (j *recorder) redriven(hash uint64) {
	if j.on() {
		j.ops = append(j.ops, opRedrive)
		j.ops = appendUints(j.ops, hash)
	}
}

func (j *recorder) kept(id CrawlID) {
	if j.on() {
		j.ops = append(j.ops, opCrawl)
		j.ops = appendText(appendText(j.ops, id.Name), id.Canonical)
	}
}

func (j *recorder) restarted() {
	if j.on() {
		j.ops = append(j.ops, opRestart)
	}
}

// lastChange is what the change has beside its time that ends a frontier in order.
var lastChange = []byte{opClose}

// leave hands over the state of a frontier that is being closed: nobody holds anything any more, and no change has to be
// done again. m.mu is held.
func (m *Memory) leave() {
	j := m.journal
	if !j.on() {
		return
	}
	now := m.clock()
	last := append(appendUints(nil, uint64(now)), lastChange...)
	if j.fault != nil { // what is kept is right, and what is in memory may not be
		j.last = j.to.Append(last, nil)
		return
	}
	m.letAllGo(now)
	m.saveState(now, last)
}

// record hands over what a call has done. It returns the ticket of what the call knows, or 0.
func (m *Memory) record(now time.Duration, stirred bool, failed error) (uint64, error) {
	j := m.journal
	if !j.on() {
		return 0, failed
	}
	if m.balance(); j.fault != nil {
		j.ops, j.items = nil, nil
		return 0, j.fault
	}
	if len(j.ops) == 0 && !stirred {
		if j.keys.due() { // keys were read back
			m.save(now)
		}
		return j.last, failed
	}
	change := append(appendUints(make([]byte, 0, len(j.ops)+10), uint64(now)), j.ops...)
	j.last = j.to.Append(change, j.items)
	j.ops, j.items = j.ops[:0], nil
	if j.since += int64(len(change)); j.since >= j.limit || j.keys.due() || m.delayed.bytes > j.hot {
		m.save(now)
	}
	return j.last, failed
}

// replay does again what was written down.
func (m *Memory) replay(change []byte) error {
	d := decoder{rest: change}
	now := time.Duration(d.uvarint())
	m.journal.clean = false
	if !bytes.Equal(d.rest, lastChange) { // time has brought nothing that was written down
		m.bring(now)
	}
	for len(d.rest) > 0 {
		if !m.redo(d.byte(), &d, now) || d.bad {
			return fmt.Errorf("%w: a change that does not follow from what was before", ErrJournal)
		}
	}
	return m.journal.fault
}

// redo does one operation again. It reports false for one that cannot have been done.
func (m *Memory) redo(op byte, d *decoder, now time.Duration) bool {
	switch op {
	case opAdd:
		return m.redoAdd(d, now)
	case opSettle:
		return m.redoSettle(d, now)
	case opLease:
		want := LeaseRequest{Owner: d.text(), Boot: d.uvarint(), Max: d.upTo(math.MaxInt), TTL: d.duration()}
		if !d.bad {
			_, _ = m.lease(want, now)
		}
	case opExtend:
		l, ttl := m.holds.byID[d.uvarint()], d.duration()
		if l == nil {
			return false
		}
		m.extend(l, ttl, now)
	case opHost:
		host, p := d.text(), d.policy()
		return !d.bad && m.setHost(host, p, now) == nil
	case opReserve:
		m.redoReserve(d, now)
	case opRelease:
		l, report := m.holds.byID[d.uvarint()], d.report()
		if l == nil || l.lease || d.bad {
			return false
		}
		m.release(l, report, now)
	case opRedrive:
		h := d.uvarint()
		dead := m.dead.byHash[h]
		if dead == nil {
			return false
		}
		m.redrive(dead, h, now)
	case opRestart:
		return m.restart(now) == nil
	case opCrawl:
		m.crawl = CrawlID{Name: d.text(), Canonical: d.text()}
	case opClose:
		m.letAllGo(now)
		m.journal.clean = true
	default:
		return false
	}
	return true
}

func (m *Memory) redoAdd(d *decoder, now time.Duration) bool {
	for range d.length() {
		r := d.request()
		if d.bad {
			return false
		}
		if s := m.add(r, m.keys.hash(r.key()), now); s != Added && s != Raised {
			return false
		}
	}
	return true
}

func (m *Memory) redoSettle(d *decoder, now time.Duration) bool {
	s := Settlement{Outcome: Outcome(d.byte())}
	if s.Outcome < Done || s.Outcome > Released {
		return false
	}
	l := m.holds.byID[d.uvarint()]
	s.Delay, s.Revisit, s.Reason = d.duration(), d.duration(), d.text()
	for range d.length() {
		s.Seen = append(s.Seen, d.text())
	}
	s.Report = d.report()
	for range d.length() {
		if s.Links = append(s.Links, d.request()); d.bad {
			return false
		}
	}
	if l == nil || !l.lease || d.bad || len(s.Links) > 0 && s.Outcome != Done {
		return false
	}
	m.settle(l, &s, m.hashes(nil, s.Links), now)
	return true
}

func (m *Memory) redoReserve(d *decoder, now time.Duration) {
	r := ReserveRequest{Host: d.text(), Under: Lease{Owner: d.text(), Key: d.text()}}
	r.Under.Epoch, r.Since, r.Sent = d.uvarint(), d.duration(), d.duration()
	r.Held.ID, r.Late, r.TTL = d.uvarint(), d.uvarint() == 1, d.duration()
	if !d.bad {
		_, _ = m.reserve(r, now)
	}
}
