package crawler

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
)

const (
	defaultSpillAt = 64 << 20
	spillFileBytes = 64 << 20 // of a file before the next is begun
	maxSpillFiles  = 512      // that are open at a time
	leastExtent    = 512      // bytes that are worth a read of their own
)

var (
	errSpillFull    = errors.New("the spill files have reached their number")
	errSpillDamaged = errors.New("a spill file is damaged")
)

// spillFile is what the queues need of a file.
type spillFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
}

// spillFiles are append-only files for records that have no room in memory. A file is given up as soon as all that was
// written to it has been read. The names are taken away at once where the system allows it, so that nothing is left behind
// by a process that dies.
type spillFiles struct {
	create func() (spillFile, error) // nil: nothing is spilled
	budget int64                     // bytes of records in memory
	next   int64                     // bytes in memory at which to spill again
	open   map[uint32]*spillSegment
	last   uint32 // number of the newest; 0: none
	given  uint32 // numbers
	err    error  // why the last attempt to spill failed
}

// spillSegment is one file and how much of it is still needed.
type spillSegment struct {
	file       spillFile
	size, live int64
}

// extent is a run of records in a file. There are many.
type extent struct{ in, off, size, sum uint32 }

func (e extent) there() bool { return e.in != 0 }

// tempFile is a temporary file that goes when it is closed, if not before.
type tempFile struct{ *os.File }

func createTemp(dir string) func() (spillFile, error) {
	return func() (spillFile, error) {
		f, err := os.CreateTemp(dir, "seine-frontier-*")
		if err != nil {
			return nil, err
		}
		_ = os.Remove(f.Name()) // fails where open files have to keep their names
		return tempFile{f}, nil
	}
}

// Close implements io.Closer.
func (f tempFile) Close() error {
	err := f.File.Close()
	if gone := os.Remove(f.Name()); gone != nil && !errors.Is(gone, os.ErrNotExist) {
		err = cmp.Or(err, gone)
	}
	return err
}

func (s *spillFiles) init(dir string, budget int64) {
	s.budget, s.next, s.open = budget, budget, map[uint32]*spillSegment{}
	if dir != "" {
		s.create = createTemp(dir)
	}
}

// write appends records to the newest file.
func (s *spillFiles) write(p []byte) (extent, error) {
	to := s.open[s.last]
	if to == nil || to.size >= spillFileBytes {
		if len(s.open) >= maxSpillFiles {
			return extent{}, errSpillFull
		}
		f, err := s.create()
		if err != nil {
			return extent{}, err
		}
		s.given++
		s.last, to = s.given, &spillSegment{file: f}
		s.open[s.last] = to
	}
	if _, err := to.file.WriteAt(p, to.size); err != nil {
		return extent{}, err
	}
	e := extent{in: s.last, off: uint32(to.size), size: uint32(len(p)), sum: crc32.Checksum(p, castagnoli())}
	to.size += int64(len(p))
	to.live += int64(len(p))
	return e, nil
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// read returns what was written, for the last time.
func (s *spillFiles) read(e extent) ([]byte, error) {
	p, err := s.look(e)
	if err == nil {
		s.free(e)
	}
	return p, err
}

// look returns what was written.
func (s *spillFiles) look(e extent) ([]byte, error) {
	p, from := make([]byte, e.size), s.open[e.in]
	if n, err := from.file.ReadAt(p, int64(e.off)); n < len(p) {
		return nil, fmt.Errorf("seine: frontier: queued requests cannot be read back: %w", err)
	}
	if crc32.Checksum(p, castagnoli()) != e.sum {
		return nil, fmt.Errorf("seine: frontier: queued requests cannot be read back: %w", errSpillDamaged)
	}
	return p, nil
}

// free gives up what was written.
func (s *spillFiles) free(e extent) {
	from := s.open[e.in]
	if from.live -= int64(e.size); from.live == 0 {
		delete(s.open, e.in)
		_ = from.file.Close() // nothing in it is needed
	}
}

func (s *spillFiles) close() error {
	var errs []error
	for _, seg := range s.open {
		errs = append(errs, seg.file.Close())
	}
	clear(s.open)
	return errors.Join(errs...)
}

// stuck reports that records pile up in memory since they cannot be written, and why.
func (a *arena) stuck() error {
	if a.files.err != nil && a.bytes > a.files.budget+a.files.budget/4 {
		return a.files.err
	}
	return nil
}

// spill moves the chunks in memory to a file, in extents of about the given size, and keeps what cannot be written.
func (q *queue) spill(a *arena, size int) error {
	var out []chunk
	var run []byte
	taken := 0 // chunks before this one are in out or in the run
	flush := func(end int) error {
		if len(run) == 0 {
			return nil
		}
		e, err := a.files.write(run)
		if err != nil {
			return err
		}
		out, run, taken = append(out, chunk{disk: e}), run[:0], end
		return nil
	}
	var err error
	off := q.off
	for i := 0; i < len(q.chunks) && err == nil; i++ {
		c := q.chunks[i]
		if c.disk.there() || len(run) > 0 && len(run)+len(c.data) > size {
			err = flush(i)
		}
		if err != nil {
			break
		}
		if c.disk.there() {
			out, taken = append(out, c), i+1
			continue
		}
		run, off = append(run, c.data[off:]...), 0
	}
	if err == nil {
		err = flush(len(q.chunks))
	}
	for _, c := range q.chunks[:taken] {
		a.bytes -= int64(cap(c.data))
	}
	if taken > 0 {
		q.off = 0
	}
	q.chunks = slices.Concat(out, q.chunks[taken:])
	return err
}

// unsaved is how many bytes of a queue are in memory alone.
func (q *queue) unsaved() (n int) {
	for i := len(q.chunks) - 1; i >= 0 && !q.chunks[i].saved(); i-- {
		n += cap(q.chunks[i].data)
	}
	return n
}

// spill moves queues to files until they hold three quarters of the budget: the long ones first, so that the parts are few.
func (m *Memory) spill() {
	a := &m.arena
	if a.files.create == nil || a.bytes <= a.files.next {
		return
	}
	size := int(min(max(a.files.budget/int64(2*len(m.hosts)+1), leastExtent), mostChunk))
	a.most, a.files.err = size, nil
	if m.delayed.bytes > m.mostDelayed() {
		a.files.err = m.delayed.spill(a, func(p []byte) (part partOfRun, err error) {
			part.disk, err = a.files.write(p)
			return part, err
		})
	}
	for least := size; a.files.err == nil && !m.spillQueues(size, least) && least > 0; least /= 4 {
	}
	a.files.next = max(a.files.budget, a.bytes+a.files.budget/8)
}

// spillQueues moves those to files that have so many bytes at least, and reports whether that is enough, or failed.
func (m *Memory) spillQueues(size, least int) bool {
	a := &m.arena
	for _, h := range m.hosts {
		if a.bytes <= a.files.budget/4*3 {
			return true
		}
		for _, b := range h.queue.ready {
			if b.queue.unsaved() < least {
				continue
			}
			if a.files.err = b.queue.spill(a, size); a.files.err != nil {
				return true
			}
		}
	}
	return false
}
