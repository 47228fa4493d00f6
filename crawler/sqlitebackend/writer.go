package sqlitebackend

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/seine-go/seine/crawler"
)

const (
	groupWait  = 2 * time.Millisecond // for others, before a commit, while several write
	groupUnits = 256                  // that are not waited beyond
	groupBytes = 4 << 20
	mostRow    = 16 << 20              // bytes of a row of changes; SQLite takes a billion
	retryFirst = 50 * time.Millisecond // after a commit that failed
	retryMost  = time.Second
)

// unit is what has to be committed as one.
type unit struct {
	change []byte
	items  []crawler.Item
	state  *crawler.JournalState
	blocks []crawler.JournalBlock
	clock  time.Duration
	store  *storeWrite
}

func (u *unit) size() int {
	n := len(u.change)
	for _, i := range u.items {
		n += len(i.Key) + len(i.Value)
	}
	for _, b := range u.blocks {
		n += len(b.Data)
	}
	if u.store != nil {
		n += len(u.store.value)
	}
	return n
}

// batch is what goes into one transaction.
type batch struct {
	first uint64 // ticket
	units []unit
	size  int
	tried *outcome
}

// outcome is that of one attempt to commit a batch.
type outcome struct {
	done chan struct{}
	err  error // read after done
}

func newOutcome() *outcome { return &outcome{done: make(chan struct{})} }

func newBatch(first uint64) *batch { return &batch{first: first, tried: newOutcome()} }

// tell has all who wait know how the attempt ended; who comes later waits for the next one.
func (b *batch) tell(err error) {
	b.tried.err = err
	close(b.tried.done)
	b.tried = newOutcome()
}

// writer commits what is put into it, in order. All writing goes through it.
type writer struct {
	db   *sql.DB
	conn *sql.Conn
	st   statements
	seq  uint64 // of the next row of changes
	now  func() time.Time
	// hurry has it wait for no others before a commit.
	hurry bool
	// mostRow is how many bytes of changes go into a row.
	mostRow int
	// still is an error if what is written has no name any more.
	still func() error

	mu      sync.Mutex
	open    *batch // that is being filled
	busy    *batch // that is being committed, or could not be
	last    uint64 // ticket that was given
	durable uint64
	failed  error // why busy could not be committed
	closed  bool
	waiting map[uint64][]byte // blocks that are not durable yet
	wake    chan struct{}
	full    chan struct{}
	closing chan struct{}
	ended   chan struct{}
}

func newWriter(now func() time.Time, hurry bool) *writer {
	return &writer{
		now: now, hurry: hurry, mostRow: mostRow,
		open: newBatch(1), waiting: map[uint64][]byte{},
		wake: make(chan struct{}, 1), full: make(chan struct{}, 1), closing: make(chan struct{}), ended: make(chan struct{}),
	}
}

// put takes over a unit and returns its ticket.
func (w *writer) put(u unit) uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last++
	if w.closed {
		return w.last
	}
	b := w.open
	b.units = append(b.units, u)
	b.size += u.size()
	if u.state != nil {
		for _, block := range u.state.New {
			w.waiting[block.ID] = block.Data
		}
	}
	signal(w.wake)
	if len(b.units) >= groupUnits || b.size >= groupBytes || u.state != nil {
		signal(w.full)
	}
	return w.last
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// wait waits until everything up to a ticket is durable.
func (w *writer) wait(ctx context.Context, ticket uint64) error {
	w.mu.Lock()
	var o *outcome
	switch {
	case ticket <= w.durable:
		w.mu.Unlock()
		return nil
	case w.failed != nil:
		err := w.failed
		w.mu.Unlock()
		return err
	case ticket >= w.open.first && w.closed:
		w.mu.Unlock()
		return ErrClosed
	case ticket >= w.open.first:
		o = w.open.tried
	default:
		o = w.busy.tried
	}
	w.mu.Unlock()
	select {
	case <-o.done:
		return o.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// flush waits until everything that was put is durable.
func (w *writer) flush(ctx context.Context) error {
	w.mu.Lock()
	last := w.last
	w.mu.Unlock()
	return w.wait(ctx, last)
}

// err returns why nothing can be committed now.
func (w *writer) err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	return w.failed
}

// run commits batches until the writer is closed.
func (w *writer) run() {
	defer close(w.ended)
	several := false
	for {
		<-w.wake
		w.mu.Lock()
		closed, n := w.closed, len(w.open.units)
		w.mu.Unlock()
		if n == 0 {
			if closed {
				return
			}
			continue
		}
		if several && !closed && !w.hurry {
			w.gather()
		}
		b := w.take()
		several = len(b.units) > 1
		if !w.settle(b) {
			return
		}
		signal(w.wake) // for what came meanwhile
	}
}

// gather waits for what else is to be committed.
func (w *writer) gather() {
	t := time.NewTimer(groupWait)
	defer t.Stop()
	select {
	case <-w.full:
	case <-t.C:
	}
}

// take closes the batch that is being filled.
func (w *writer) take() *batch {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy, w.open = w.open, newBatch(w.last+1)
	select {
	case <-w.full:
	default:
	}
	return w.busy
}

// settle commits a batch, however often that has to be tried. It reports false if the writer was closed before it could be
// done.
func (w *writer) settle(b *batch) bool {
	pause := retryFirst
	for {
		err := w.commit(b)
		if err == nil {
			w.committed(b)
			return true
		}
		if closed := w.refuse(b, err); closed {
			w.lastWord(b)
			return false
		}
		select {
		case <-time.After(pause):
		case <-w.closing: // once more
		}
		pause = min(2*pause, retryMost)
	}
}

func (w *writer) committed(b *batch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed = nil
	w.durable = b.first + uint64(len(b.units)) - 1
	for _, u := range b.units {
		w.forget(u.state)
	}
	b.units = nil // a state is large, and the next batch may be long in coming
	b.tell(nil)
}

// refuse tells whoever waits that a batch could not be committed: also those whose units would be next, since that may be
// never. All are tried again. It reports whether the writer was closed.
func (w *writer) refuse(b *batch, err error) (closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed = fmt.Errorf("seine: sqlite: commit: %w", err)
	b.tell(w.failed)
	w.open.tell(w.failed)
	return w.closed
}

// lastWord commits the change alone that a frontier which was closed has left in place of what cannot be committed, so that
// nobody is taken for dead. A disk that is full often has room for so little.
func (w *writer) lastWord(b *batch) {
	w.mu.Lock()
	units := slices.Concat(b.units, w.open.units)
	w.mu.Unlock()
	for _, u := range units {
		if u.state != nil && u.state.Last != nil {
			last := batch{units: []unit{{change: u.state.Last, clock: u.clock}}}
			_ = w.commit(&last) // what is lost has an error already
		}
	}
}

func (w *writer) forget(s *crawler.JournalState) {
	if s == nil {
		return
	}
	for _, b := range s.New {
		if _, there := w.waiting[b.ID]; there && same(w.waiting[b.ID], b.Data) {
			delete(w.waiting, b.ID)
		}
	}
}

func same(a, b []byte) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// block returns a block that is on its way into the file.
func (w *writer) block(id uint64) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.waiting[id]
}

// close commits what was taken over, and ends. It returns why something could not be committed.
func (w *writer) close() error {
	w.mu.Lock()
	already := w.closed
	w.closed = true
	w.mu.Unlock()
	if already {
		return nil
	}
	close(w.closing)
	signal(w.wake)
	signal(w.full)
	<-w.ended
	return w.failed
}
