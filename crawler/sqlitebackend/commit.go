package sqlitebackend

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"time"

	"github.com/seine-go/seine/crawler"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// statements are those of the writer's connection.
type statements struct {
	begin, commit, rollback                     *sql.Stmt
	change, part, block, unblock, head          *sql.Stmt
	noChanges, noParts, blocks, put, del, value *sql.Stmt
	mark                                        *sql.Stmt
	all                                         []*sql.Stmt
}

func (s *statements) prepare(ctx context.Context, conn *sql.Conn) error {
	for _, p := range [...]struct {
		to  **sql.Stmt
		sql string
	}{
		{&s.begin, "BEGIN IMMEDIATE"},
		{&s.commit, "COMMIT"},
		{&s.rollback, "ROLLBACK"},
		{&s.change, "INSERT INTO change VALUES (?, ?, ?, ?)"},
		{&s.part, "INSERT INTO part VALUES (?, ?)"},
		{&s.block, "INSERT OR REPLACE INTO block VALUES (?, ?)"},
		{&s.unblock, "DELETE FROM block WHERE id = ?"},
		{&s.head, "INSERT OR REPLACE INTO head VALUES (1, ?, ?, ?, ?, ?, ?)"},
		{&s.noChanges, "DELETE FROM change"},
		{&s.noParts, "DELETE FROM part"},
		{&s.blocks, "SELECT id FROM block"},
		{&s.put, "INSERT INTO item VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"},
		{&s.del, "DELETE FROM item WHERE key = ?"},
		{&s.value, "SELECT value FROM item WHERE key = ?"},
		{&s.mark, markSQL},
	} {
		var err error
		if *p.to, err = conn.PrepareContext(ctx, p.sql); err != nil {
			return err
		}
		s.all = append(s.all, *p.to)
	}
	return nil
}

var table = crc32.MakeTable(crc32.Castagnoli)

// seal puts a checksum before what is written, so that a row that was damaged is known.
func seal(p []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(p)), crc32.Checksum(p, table)), p...)
}

// unseal is the inverse of seal. It shares memory with p.
func unseal(p []byte) ([]byte, error) {
	if len(p) < 4 || binary.LittleEndian.Uint32(p) != crc32.Checksum(p[4:], table) {
		return nil, errDamaged
	}
	return p[4:], nil
}

// commit writes a batch in one transaction.
func (w *writer) commit(b *batch) error {
	ctx := context.Background()
	if err := w.still(); err != nil {
		return err
	}
	if b.changesOnly() && b.size+binary.MaxVarintLen64*len(b.units) <= w.mostRow { // one statement is a transaction by itself
		seq, err := w.writeAll(ctx, b)
		if err == nil {
			w.seq = seq
		}
		return err
	}
	if _, err := w.st.begin.ExecContext(ctx); err != nil {
		return err
	}
	seq, err := w.writeAll(ctx, b)
	if err == nil {
		_, err = w.st.commit.ExecContext(ctx)
	}
	if err != nil {
		if _, undone := w.st.rollback.ExecContext(ctx); undone != nil && !notBegun(undone) {
			err = errors.Join(err, undone)
		}
		return err
	}
	w.seq = seq
	return nil
}

func (b *batch) changesOnly() bool {
	return !slices.ContainsFunc(b.units, func(u unit) bool { return len(u.items)+len(u.blocks) > 0 || u.state != nil || u.store != nil })
}

// notBegun reports whether a rollback failed since the transaction had ended by itself.
func notBegun(err error) bool { return err != nil && !Damaged(err) }

// writeAll writes the units of a batch and returns the number of the next row of changes.
func (w *writer) writeAll(ctx context.Context, b *batch) (seq uint64, err error) {
	seq = w.seq
	state := -1 // the last one; changes before it need not be written
	for i := range b.units {
		if b.units[i].state != nil {
			state = i
		}
	}
	rows := changeRows{most: w.mostRow}
	var clock time.Duration
	for i := range b.units {
		u := &b.units[i]
		clock = max(clock, u.clock)
		if i > state && u.change != nil {
			rows.add(u.change)
		}
		if u.state != nil {
			if err = w.writeState(ctx, u.state, seq, u.clock, i == state); err != nil {
				return 0, err
			}
		}
		if err = w.writeRest(ctx, u); err != nil {
			return 0, err
		}
	}
	for _, row := range rows.end() {
		if _, err = w.st.change.ExecContext(ctx, int64(seq), int64(clock), w.now().UnixNano(), seal(row)); err != nil {
			return 0, err
		}
		seq++
	}
	return seq, nil
}

// writeState writes a state, or only its blocks if another follows in the same transaction.
func (w *writer) writeState(ctx context.Context, s *crawler.JournalState, seq uint64, clock time.Duration, whole bool) error {
	if err := w.writeBlocks(ctx, s.New); err != nil {
		return err
	}
	for _, id := range s.Freed {
		if _, err := w.st.unblock.ExecContext(ctx, int64(id)); err != nil {
			return err
		}
	}
	if s.Only != nil {
		if err := w.prune(ctx, s.Only); err != nil {
			return err
		}
	}
	if !whole {
		return nil
	}
	if _, err := w.st.noChanges.ExecContext(ctx); err != nil {
		return err
	}
	if _, err := w.st.noParts.ExecContext(ctx); err != nil {
		return err
	}
	sum := uint32(0)
	for n, p := range s.Parts {
		sum = crc32.Update(sum, table, p)
		if _, err := w.st.part.ExecContext(ctx, n, p); err != nil {
			return err
		}
	}
	h := head{parts: len(s.Parts), sum: sum, first: seq, clock: int64(clock), wall: w.now().UnixNano()}
	_, err := w.st.head.ExecContext(ctx, h.parts, int64(h.sum), int64(h.first), h.clock, h.wall, int64(h.seal()))
	return err
}

func (w *writer) writeBlocks(ctx context.Context, blocks []crawler.JournalBlock) error {
	for _, b := range blocks {
		if _, err := w.st.block.ExecContext(ctx, int64(b.ID), seal(b.Data)); err != nil {
			return err
		}
	}
	return nil
}

// prune deletes the blocks that are not among those named, and checks that those are there.
func (w *writer) prune(ctx context.Context, named []uint64) error {
	rows, err := w.st.blocks.QueryContext(ctx)
	if err != nil {
		return err
	}
	var stray []uint64
	found := 0
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			rows.Close()
			return err
		}
		if _, is := slices.BinarySearch(named, uint64(id)); is {
			found++
		} else {
			stray = append(stray, uint64(id))
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if found < len(named) {
		return fmt.Errorf("%w: %d blocks of %d are missing", errDamaged, len(named)-found, len(named))
	}
	for _, id := range stray {
		if _, err := w.st.unblock.ExecContext(ctx, int64(id)); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) writeRest(ctx context.Context, u *unit) error {
	if err := w.writeBlocks(ctx, u.blocks); err != nil {
		return err
	}
	for _, i := range u.items {
		if err := w.writeItem(ctx, i.Key, i.Value); err != nil {
			return err
		}
	}
	if u.store == nil {
		return nil
	}
	if u.store.err = w.writeStore(ctx, u.store); ownFault(u.store.err) {
		return nil // the others go on
	}
	return u.store.err
}

// ownFault reports whether a statement failed for what it was given, or what was there for it, and not for the state of the
// disk or the file: it has changed nothing, and would fail again.
func ownFault(err error) bool {
	var e *sqlite.Error
	if errors.As(err, &e) {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_RANGE:
			return true
		}
	}
	return errors.Is(err, errDamaged) // the value that was to be compared
}
