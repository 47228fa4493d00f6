package sqlitebackend

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/seine-go/seine/crawler"
)

// journal is the crawler.Journal of a DB.
type journal struct {
	db    *DB
	block *sql.Stmt
	clock func() time.Duration
}

var _ crawler.Journal = (*journal)(nil)

// head is what is known of the state that was saved last.
type head struct {
	parts       int
	sum         uint32
	first       uint64 // row of changes after it
	clock, wall int64
}

// seal is a checksum of it.
func (h *head) seal() uint32 {
	var p []byte
	for _, n := range [...]uint64{uint64(h.parts), uint64(h.sum), h.first, uint64(h.clock), uint64(h.wall)} {
		p = binary.LittleEndian.AppendUint64(p, n)
	}
	return crc32.Checksum(p, table)
}

// sealedHead is a head as it is read, with a seal unless it was written before there were any.
type sealedHead struct {
	head
	sealed sql.NullInt64
}

const headColumns = "coalesce(head.parts, 0), coalesce(head.sum, 0), coalesce(head.first, 0), coalesce(head.clock, 0), coalesce(head.wall, 0), head.seal"

func (h *sealedHead) columns() []any {
	return []any{&h.parts, &h.sum, &h.first, &h.clock, &h.wall, &h.sealed}
}

// check compares it with the state as it is.
func (h *sealedHead) check(parts int, sum uint32) error {
	switch {
	case h.sealed.Valid && h.sealed.Int64 != int64(h.seal()):
		return fmt.Errorf("%w: the head of the state", errDamaged)
	case parts != h.parts || sum != h.sum:
		return fmt.Errorf("%w: the state is not whole", errDamaged)
	}
	return nil
}

func (j *journal) readHead(ctx context.Context) (h sealedHead, err error) {
	err = j.db.read.QueryRowContext(ctx, "SELECT "+headColumns+" FROM head").Scan(h.columns()...)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return h, err
}

// Load implements crawler.Journal. It also finds where the clock stood.
func (j *journal) Load(ctx context.Context, part, change func([]byte) error) error {
	h, err := j.readHead(ctx)
	if err != nil {
		return err
	}
	if err := j.loadParts(ctx, h, part); err != nil {
		return err
	}
	rows, err := j.db.read.QueryContext(ctx, "SELECT seq, clock, wall, data FROM change ORDER BY seq")
	if err != nil {
		return err
	}
	defer rows.Close()
	var parts changeParts
	for rows.Next() {
		var seq uint64
		var data []byte
		if err := rows.Scan(&seq, &h.clock, &h.wall, &data); err != nil {
			return err
		}
		if seq != h.first {
			return fmt.Errorf("%w: changes are missing", errDamaged)
		}
		h.first++
		if err := parts.each(data, change); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if err := parts.whole(); err != nil {
		return err
	}
	j.db.writer.seq = h.first
	from := time.Duration(h.clock)
	if h.wall != 0 { // the time that nobody was there counts, unless the machine's clock says that it went back
		from += max(0, time.Duration(j.db.now().UnixNano()-h.wall))
	}
	j.start(from)
	return nil
}

// start has the clock go on from a time.
func (j *journal) start(from time.Duration) {
	passed := j.clock
	j.clock = func() time.Duration { return from + passed() }
}

// loadParts reads the parts of the state and checks that they are all there.
func (j *journal) loadParts(ctx context.Context, h sealedHead, part func([]byte) error) error {
	rows, err := j.db.read.QueryContext(ctx, "SELECT data FROM part ORDER BY n")
	if err != nil {
		return err
	}
	defer rows.Close()
	n, sum := 0, uint32(0)
	for rows.Next() {
		var data []byte
		if err := rows.Scan(&data); err != nil {
			return err
		}
		n, sum = n+1, crc32.Update(sum, table, data)
		if err := part(data); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return h.check(n, sum)
}

// Append implements crawler.Journal.
func (j *journal) Append(change []byte, items []crawler.Item) uint64 {
	return j.db.writer.put(unit{change: change, items: items, clock: j.Now()})
}

// Save implements crawler.Journal.
func (j *journal) Save(s crawler.JournalState) uint64 {
	return j.db.writer.put(unit{state: &s, clock: j.Now()})
}

// Wait implements crawler.Journal.
func (j *journal) Wait(ctx context.Context, ticket uint64) error {
	return j.db.writer.wait(ctx, ticket)
}

// Err implements crawler.Journal.
func (j *journal) Err() error { return j.db.writer.err() }

// Block implements crawler.Journal.
func (j *journal) Block(id uint64) ([]byte, error) {
	if p := j.db.writer.block(id); p != nil {
		return p, nil
	}
	var p []byte
	err := j.block.QueryRow(int64(id)).Scan(&p)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%w: block %d is missing", errDamaged, id)
	}
	if err == nil {
		p, err = unseal(p)
	}
	return p, err
}

// Write implements crawler.Journal.
func (j *journal) Write(ctx context.Context, blocks []crawler.JournalBlock) error {
	if err := j.db.writer.err(); err != nil {
		return err
	}
	return j.db.writer.wait(ctx, j.db.writer.put(unit{blocks: blocks}))
}

// Now implements crawler.Journal.
func (j *journal) Now() time.Duration { return j.clock() }
