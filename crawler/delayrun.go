package crawler

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

const (
	delayedCost = 136     // bytes that an entry takes beside its record
	delayPart   = 8 << 10 // bytes of a part of a run
)

// delays are the requests that wait for their time: the soonest in memory, the others in runs.
type delays struct {
	soon  minHeap[*delayedEntry]
	bytes int64 // that those take
	runs  minHeap[*delayRun]
	heads int64 // bytes of runs in memory
	err   error // why the next cannot be read back
}

// delayRun is a list of delayed requests in the order of their time, in a file or in blocks of a journal.
type delayRun struct {
	parts []partOfRun // that are left
	off   int         // of the first entry in the first part
	first delayMark   // that entry's
	data  []byte      // of the first part; nil: it is not in memory
	at    int         // place in the heap
}

// partOfRun is a piece of a run that is read at a time.
type partOfRun struct {
	first delayMark // its first entry's
	disk  extent
	block uint64 // if it is in no file
}

// delayMark is what delayed requests are ordered by.
type delayMark struct {
	due time.Duration
	seq uint64
}

func (a delayMark) compare(b delayMark) int {
	return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.seq, b.seq))
}

func (r *delayRun) before(s *delayRun) bool { return r.first.compare(s.first) < 0 }

func (r *delayRun) slot() *int { return &r.at }

// push takes an entry into memory.
func (d *delays) push(a *arena, e *delayedEntry) {
	d.soon.push(e)
	d.add(a, e.size())
}

// add accounts for memory.
func (d *delays) add(a *arena, size int64) {
	d.bytes += size
	a.bytes += size
}

// next returns when the soonest is due.
func (d *delays) next() (due time.Duration, ok bool) {
	switch {
	case len(d.soon) > 0 && (len(d.runs) == 0 || d.soon[0].due <= d.runs[0].first.due):
		return d.soon[0].due, true
	case len(d.runs) > 0:
		return d.runs[0].first.due, true
	}
	return 0, false
}

// pop takes out the soonest if it is due; nil: none is, or d.err tells why it cannot be read.
func (d *delays) pop(a *arena, now time.Duration) *delayedEntry {
	d.err = nil
	if due, ok := d.next(); !ok || due > now {
		return nil
	}
	if len(d.runs) > 0 && (len(d.soon) == 0 || d.runs[0].first.compare(d.soon[0].delayMark) < 0) {
		e, err := d.popRun(a, d.runs[0])
		d.err = err
		return e
	}
	e := d.soon.remove(0)
	d.add(a, -e.size())
	return e
}

// popRun takes out the first entry of the first run.
func (d *delays) popRun(a *arena, r *delayRun) (*delayedEntry, error) {
	if r.data == nil {
		p, err := a.part(&r.parts[0])
		if err != nil {
			return nil, err
		}
		r.data = p
		d.heads += int64(len(p))
	}
	dec := decoder{rest: r.data[min(r.off, len(r.data)):]}
	e := dec.delayed()
	if dec.bad || e.delayMark != r.first {
		return nil, fmt.Errorf("seine: frontier: delayed requests cannot be read back: %w", a.damaged())
	}
	r.off = len(r.data) - len(dec.rest)
	if len(dec.rest) == 0 {
		d.leavePart(a, r)
	} else {
		peek := decoder{rest: dec.rest}
		r.first = peek.mark()
	}
	if len(r.parts) == 0 {
		d.runs.remove(0)
	} else {
		d.runs.fix(0)
	}
	return e, nil
}

// leavePart goes on to the next part of a run.
func (d *delays) leavePart(a *arena, r *delayRun) {
	d.forgetHead(r)
	a.freePart(&r.parts[0])
	r.parts, r.off = r.parts[1:], 0
	if len(r.parts) > 0 {
		r.first = r.parts[0].first
	}
}

func (d *delays) forgetHead(r *delayRun) {
	d.heads -= int64(len(r.data))
	r.data = nil
}

// cool takes what was read of runs out of memory when it is more than it may be.
func (d *delays) cool(most int64) {
	if d.heads <= most {
		return
	}
	for _, r := range d.runs {
		d.forgetHead(r)
	}
}

// spill makes a run of all but the soonest, which keep an eighth of the memory. What write does not take stays in memory.
func (d *delays) spill(a *arena, write func(p []byte) (partOfRun, error)) error {
	slices.SortFunc(d.soon, func(e, f *delayedEntry) int { return e.compare(f.delayMark) })
	for i, e := range d.soon { // what is sorted is a heap
		e.at = i
	}
	kept, size := 0, int64(0)
	for most := d.bytes / 8; kept < len(d.soon) && size+d.soon[kept].size() <= most; kept++ {
		size += d.soon[kept].size()
	}
	run := &delayRun{}
	var err error
	end := kept // what comes before is written, or kept
	for end < len(d.soon) {
		var p []byte
		next := end
		for ; next < len(d.soon) && len(p) < delayPart; next++ {
			p = appendDelayed(p, d.soon[next])
		}
		var part partOfRun
		if part, err = write(p); err != nil {
			break
		}
		part.first = d.soon[end].delayMark
		run.parts = append(run.parts, part)
		end = next
	}
	if len(run.parts) == 0 {
		return err
	}
	for _, e := range d.soon[kept:end] {
		d.add(a, -e.size())
	}
	rest := slices.Concat(d.soon[:kept], d.soon[end:])
	for i, e := range rest {
		e.at = i
	}
	run.parts = slices.Clip(run.parts)
	run.first, d.soon = run.parts[0].first, rest
	d.runs.push(run)
	return err
}

// each goes through all of them, in no order.
func (d *delays) each(a *arena, f func(e *delayedEntry)) error {
	for _, e := range d.soon {
		f(e)
	}
	for _, r := range d.runs {
		off := r.off
		for i := range r.parts {
			p, err := a.part(&r.parts[i])
			if err != nil {
				return err
			}
			entries, err := a.entries(p, off)
			if err != nil {
				return err
			}
			for _, e := range entries {
				f(e)
			}
			off = 0
		}
	}
	return nil
}

// entries decodes a part of a run, from an offset on.
func (a *arena) entries(p []byte, off int) (all []*delayedEntry, err error) {
	d := decoder{rest: p[min(off, len(p)):]}
	for len(d.rest) > 0 {
		e := d.delayed()
		if d.bad {
			return nil, a.damaged()
		}
		all = append(all, e)
	}
	return all, nil
}

// has reports whether a block is a part of a run.
func (d *delays) has(block uint64) bool {
	return slices.ContainsFunc(d.runs, func(r *delayRun) bool {
		return slices.ContainsFunc(r.parts, func(p partOfRun) bool { return p.block == block })
	})
}

// clear gives up all.
func (d *delays) clear(a *arena) {
	for _, r := range d.runs {
		for i := range r.parts {
			a.freePart(&r.parts[i])
		}
	}
	d.add(a, -d.bytes)
	*d = delays{}
}

// part reads a part of a run.
func (a *arena) part(p *partOfRun) ([]byte, error) {
	if p.disk.there() {
		return a.files.look(p.disk)
	}
	return a.read(p.block)
}

func (a *arena) freePart(p *partOfRun) {
	if p.disk.there() {
		a.files.free(p.disk)
		return
	}
	a.freed = append(a.freed, p.block)
}

// damaged is what it is called when something that was read back is not what was written.
func (a *arena) damaged() error {
	if a.read != nil {
		return ErrJournal
	}
	return errSpillDamaged
}

func (d *decoder) mark() delayMark { return delayMark{d.duration(), d.uvarint()} }

// appendDelayed encodes a delayed request.
func appendDelayed(p []byte, e *delayedEntry) []byte {
	p = appendUints(p, uint64(e.due), e.seq, e.hash, uint64(e.then))
	return appendText(appendInts(appendText(p, e.host), e.priority), e.record)
}

func (d *decoder) delayed() *delayedEntry {
	e := &delayedEntry{delayMark: d.mark(), hash: d.uvarint(), then: keyState(d.upTo(int(dropped)))}
	e.host, e.priority, e.record = d.text(), int(d.varint()), slices.Clone(d.bytes())
	return e
}

// appendDelayRun writes down where a run is.
func appendDelayRun(p []byte, r *delayRun) []byte {
	p = appendUints(p, uint64(r.off), uint64(r.first.due), r.first.seq, uint64(len(r.parts)))
	for _, part := range r.parts {
		p = appendUints(p, uint64(part.first.due), part.first.seq, part.block)
	}
	return p
}

// delayRun returns nil if it cannot be read.
func (d *decoder) delayRun() *delayRun {
	r := &delayRun{off: d.upTo(math.MaxInt32), first: d.mark()}
	for range d.length() {
		r.parts = append(r.parts, partOfRun{first: d.mark(), block: d.uvarint()})
		if d.bad {
			return nil
		}
	}
	if d.bad || len(r.parts) == 0 {
		return nil
	}
	return r
}
