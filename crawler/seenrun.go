package crawler

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"sort"

	"github.com/seine-go/seine/internal/hashtable"
)

const (
	runEntry  = 10       // bytes: hash, value
	runPage   = 400      // entries of a block
	maxDirty  = 1 << 18  // changes of keys after which a state is saved, at most
	minDirty  = 1 << 12  // and at least
	fewRuns   = 4        // of about a size, before they become one
	seenBytes = 16 << 20 // by default
	leastSeen = 1 << 14
	writeRun  = 64 // blocks that are written at a time
)

// diskKeys is where the keys of a durable frontier are: those that changed since the last state, and those asked for of
// late, in memory, all others in sorted runs of the journal's blocks. A certainly-new filter is in front of the runs.
type diskKeys struct {
	journal Journal
	fault   func(error)
	budget  int               // bytes in memory
	all     bool              // whatever there is stands in the tables
	size    int               // bytes of the newest generation of tables
	old     []hashtable.Shard // the generation before; nil: none
	dirty   []uint64          // changed since the last state
	runs    []*keyRun         // the newest last
	filter  keyFilter
	merging bool
	done    chan struct{} // closed when no merge is under way any more
	stop    context.CancelFunc
}

// The budget is divided into 32 parts. Eight are the filter's and two the list of changes. Each of two generations of tables
// has ten: seven until a state is saved when there is no more room, three for the changes that come before that.

func (d *diskKeys) room() int { return d.budget / 32 * 7 }

// mostDirty is how many changes of keys there may be before a state is saved. Each takes eight bytes in the list, and
// twelve in a table if its key is new there.
func (d *diskKeys) mostDirty() int { return min(max(d.budget/32*2/8, minDirty), maxDirty) }

// due reports whether a state has to be saved, so that memory is given up.
func (d *diskKeys) due() bool { return d.size >= d.room() || len(d.dirty) >= d.mostDirty() }

func (d *diskKeys) newFilter() { d.filter = make(keyFilter, d.budget/32) } // words of eight bytes

// keyRun is a sorted list of keys with their values.
type keyRun struct {
	block  uint64   // the first of its blocks, which follow one another
	n      int      // entries
	fences []uint64 // the first hash of each block
}

func (r *keyRun) blocks() []uint64 {
	ids := make([]uint64, len(r.fences))
	for i := range ids {
		ids[i] = r.block + uint64(i)
	}
	return ids
}

// keyFilter is a Bloom filter: what it does not have is certainly new. Its size is fixed.
type keyFilter []uint64

const filterBits = 3 // for each key

func (f keyFilter) each(h uint64, at func(word *uint64, bit uint64) bool) bool {
	a, b := uint32(h), uint32(h>>32)|1
	for i := range uint32(filterBits) {
		n := uint64(a+i*b) % (uint64(len(f)) * 64)
		if !at(&f[n/64], 1<<(n%64)) {
			return false
		}
	}
	return true
}

func (f keyFilter) add(h uint64) {
	f.each(h, func(word *uint64, bit uint64) bool {
		*word |= bit
		return true
	})
}

func (f keyFilter) has(h uint64) bool {
	return f == nil || f.each(h, func(word *uint64, bit uint64) bool { return *word&bit != 0 })
}

// find returns what the older generation, or a run, has of a key. 0: it is new.
func (d *diskKeys) find(h uint64) uint16 {
	if d.old != nil {
		if v := d.old[hashtable.Of(h)].Get(h, 0); v != 0 {
			return v
		}
	}
	if d.all || !d.filter.has(h) {
		return 0
	}
	for i := len(d.runs) - 1; i >= 0; i-- {
		v, err := d.look(d.runs[i], h)
		if err != nil {
			d.fault(err)
			return 0
		}
		if v != 0 {
			return v
		}
	}
	return 0
}

// look searches one run.
func (d *diskKeys) look(r *keyRun, h uint64) (uint16, error) {
	i := sort.Search(len(r.fences), func(i int) bool { return r.fences[i] > h }) - 1
	if i < 0 {
		return 0, nil
	}
	page, err := d.page(r, i)
	if err != nil {
		return 0, err
	}
	at := sort.Search(len(page)/runEntry, func(i int) bool { return binary.BigEndian.Uint64(page[i*runEntry:]) >= h })
	if at*runEntry < len(page) && binary.BigEndian.Uint64(page[at*runEntry:]) == h {
		return binary.BigEndian.Uint16(page[at*runEntry+8:]), nil
	}
	return 0, nil
}

// page reads a block of a run.
func (d *diskKeys) page(r *keyRun, i int) ([]byte, error) {
	page, err := d.journal.Block(r.block + uint64(i))
	if err == nil && len(page) != runEntry*min(runPage, r.n-i*runPage) {
		err = ErrJournal
	}
	return page, err
}

// entries goes through a run; it stops at an error.
func (d *diskKeys) entries(r *keyRun, each func(h uint64, v uint16) bool) error {
	for i := range r.fences {
		page, err := d.page(r, i)
		if err != nil {
			return err
		}
		for ; len(page) > 0; page = page[runEntry:] {
			if !each(binary.BigEndian.Uint64(page), binary.BigEndian.Uint16(page[8:])) {
				return nil
			}
		}
	}
	return nil
}

// runBuilder makes the blocks of a run.
type runBuilder struct {
	run  keyRun
	page []byte
	out  []JournalBlock
}

func (b *runBuilder) add(h uint64, v uint16) {
	if b.page == nil {
		b.page = make([]byte, 0, runPage*runEntry)
		b.run.fences = append(b.run.fences, h)
	}
	b.page = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint64(b.page, h), v)
	if b.run.n++; len(b.page) == runPage*runEntry {
		b.end()
	}
}

// end closes the last block.
func (b *runBuilder) end() {
	if b.page != nil {
		b.out = append(b.out, JournalBlock{ID: b.run.block + uint64(len(b.run.fences)-1), Data: b.page})
		b.page = nil
	}
}

// flush makes a run of the keys that changed since the last state. Block IDs are taken from next on.
func (t *keyTable) flush(next uint64) []JournalBlock {
	d := t.disk
	if len(d.dirty) == 0 {
		return nil
	}
	slices.Sort(d.dirty)
	d.dirty = slices.Compact(d.dirty)
	b := runBuilder{run: keyRun{block: next}}
	for _, h := range d.dirty {
		if d.filter == nil && !d.all {
			d.newFilter()
		}
		if d.filter != nil {
			d.filter.add(h)
		}
		b.add(h, t.shards[hashtable.Of(h)].Get(h, 0))
	}
	b.end()
	d.runs = append(d.runs, &b.run)
	d.dirty = d.dirty[:0]
	return b.out
}

// rotate begins a new generation of tables when the newest has its share of the budget. All of it must be in runs.
func (t *keyTable) rotate() error {
	d := t.disk
	if d.size < d.room() {
		return nil
	}
	if d.all {
		if err := d.fillFilter(); err != nil {
			return err
		}
		d.all = false
	}
	d.old, t.shards, d.size = t.shards, make([]hashtable.Shard, hashtable.Shards), 0
	return nil
}

// fillFilter makes the filter anew.
func (d *diskKeys) fillFilter() error {
	d.newFilter()
	for _, r := range d.runs {
		if err := d.entries(r, func(h uint64, _ uint16) bool {
			d.filter.add(h)
			return true
		}); err != nil {
			return err
		}
	}
	return nil
}

// load brings the runs of a state into memory, if they have room there.
func (t *keyTable) load() error {
	d := t.disk
	n := 0
	for _, r := range d.runs {
		n += r.n
	}
	if n*12 > d.room() {
		d.all = false
		return d.fillFilter()
	}
	for _, r := range d.runs { // the newest last, so that it wins
		if err := d.entries(r, func(h uint64, v uint16) bool {
			t.put(h, v)
			return true
		}); err != nil {
			return err
		}
	}
	return nil
}

// crowded returns the runs that should become one: the newest that are all of about a size.
func (d *diskKeys) crowded() []*keyRun {
	i := len(d.runs) - 1
	if i < 0 || d.merging {
		return nil
	}
	for sum := d.runs[i].n; i > 0 && d.runs[i-1].n <= 4*sum; i-- {
		sum += d.runs[i-1].n
	}
	if len(d.runs)-i < fewRuns {
		return nil
	}
	return slices.Clone(d.runs[i:])
}

// runReader goes through a run for a merge.
type runReader struct {
	d    *diskKeys
	run  *keyRun
	next int // block
	page []byte
	age  int // the newest has the greatest
}

func (r *runReader) hash() uint64 { return binary.BigEndian.Uint64(r.page) }

// step goes to the next entry; page is empty at the end.
func (r *runReader) step() (err error) {
	if len(r.page) > 0 {
		r.page = r.page[runEntry:]
	}
	if len(r.page) == 0 && r.next < len(r.run.fences) {
		r.page, err = r.d.page(r.run, r.next)
		r.next++
	}
	return err
}

// merge writes one run for several. It touches nothing that needs the frontier's lock. The blocks beside an error are those
// that may have been written.
func (d *diskKeys) merge(ctx context.Context, runs []*keyRun, next uint64) (merged *keyRun, written []uint64, err error) {
	var open []*runReader
	for i, r := range runs {
		reader := &runReader{d: d, run: r, age: i}
		if err := reader.step(); err != nil {
			return nil, nil, err
		}
		open = append(open, reader)
	}
	b := runBuilder{run: keyRun{block: next}}
	for len(open) > 0 {
		least := slices.MinFunc(open, func(a, b *runReader) int { return cmp.Or(cmp.Compare(a.hash(), b.hash()), b.age-a.age) })
		h := least.hash()
		b.add(h, binary.BigEndian.Uint16(least.page[8:]))
		for _, r := range open {
			if r.hash() == h {
				if err := r.step(); err != nil {
					return nil, written, err
				}
			}
		}
		open = slices.DeleteFunc(open, func(r *runReader) bool { return len(r.page) == 0 })
		if len(open) == 0 {
			b.end()
		}
		if len(b.out) >= writeRun || len(open) == 0 {
			for _, block := range b.out {
				written = append(written, block.ID)
			}
			if err := d.journal.Write(ctx, b.out); err != nil {
				return nil, written, err
			}
			b.out = nil
		}
	}
	return &b.run, written, nil
}

// mergeRuns has runs become one in the background, if there are too many. m.mu is held.
func (m *Memory) mergeRuns() {
	d, j := m.keys.disk, m.journal
	runs := d.crowded()
	if runs == nil {
		return
	}
	blocks := uint64(0)
	for _, r := range runs {
		blocks += uint64(len(r.fences))
	}
	next := j.block + 1
	j.block += blocks
	ctx, stop := context.WithCancel(context.Background())
	d.merging, d.stop, d.done = true, stop, make(chan struct{})
	go func(done chan struct{}) {
		defer close(done)
		defer stop()
		merged, written, err := d.merge(ctx, runs, next)
		m.mu.Lock()
		defer m.mu.Unlock()
		d.merging = false
		at := slices.Index(d.runs, runs[0])
		if at < 0 || err != nil { // all was forgotten meanwhile, or the next state tries again
			m.arena.freed = append(m.arena.freed, written...)
			return
		}
		d.runs = slices.Replace(d.runs, at, at+len(runs), merged)
		for _, r := range runs {
			m.arena.freed = append(m.arena.freed, r.blocks()...)
		}
	}(d.done)
}

// join ends what is under way in the background.
func (j *recorder) join() {
	if j == nil || j.keys.done == nil {
		return
	}
	j.keys.stop()
	<-j.keys.done
}
