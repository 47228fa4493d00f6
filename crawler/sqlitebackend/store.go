package sqlitebackend

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"iter"

	"github.com/seine-go/seine/crawler"
)

// Store is the crawler.Store of a DB.
type Store struct {
	db        *DB
	get, scan *sql.Stmt
	scanTo    *sql.Stmt
}

var (
	_ crawler.Store   = (*Store)(nil)
	_ crawler.Updater = (*Store)(nil)
)

const (
	scanRows  = 64      // that are read at a time, at most
	scanBytes = 1 << 20 // of values after which no more are
)

func (s *Store) prepare(ctx context.Context) error {
	for _, p := range [...]struct {
		to  **sql.Stmt
		sql string
	}{
		{&s.get, "SELECT value FROM item WHERE key = ?"},
		{&s.scan, fmt.Sprintf("SELECT key, value FROM item WHERE key >= ? ORDER BY key LIMIT %d", scanRows)},
		{&s.scanTo, fmt.Sprintf("SELECT key, value FROM item WHERE key >= ? AND key < ? ORDER BY key LIMIT %d", scanRows)},
	} {
		var err error
		if *p.to, err = s.db.read.PrepareContext(ctx, p.sql); err != nil {
			return err
		}
	}
	return nil
}

func check(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return crawler.CheckItem(key, nil)
}

// sealItem puts a checksum of key and value before a value.
func sealItem(key string, value []byte) []byte {
	sum := crc32.Update(crc32.Checksum([]byte(key), table), table, value)
	return append([]byte{byte(sum), byte(sum >> 8), byte(sum >> 16), byte(sum >> 24)}, value...)
}

func unsealItem(key string, p []byte) ([]byte, error) {
	if len(p) < 4 || !bytes.Equal(sealItem(key, p[4:])[:4], p[:4]) {
		return nil, fmt.Errorf("seine: store: %q: %w", key, errDamaged)
	}
	return p[4:], nil
}

// Get implements crawler.Store.
func (s *Store) Get(ctx context.Context, key string) ([]byte, error) {
	if err := check(ctx, key); err != nil {
		return nil, err
	}
	value, err := find(ctx, s.get, key)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("seine: store: %q: %w", key, fs.ErrNotExist)
	}
	return value, s.db.closedOr(err)
}

// find returns the value of a key, or sql.ErrNoRows.
func find(ctx context.Context, st *sql.Stmt, key string) ([]byte, error) {
	var p []byte
	if err := st.QueryRowContext(ctx, []byte(key)).Scan(&p); err != nil {
		return nil, err
	}
	return unsealItem(key, p)
}

// storeWrite is a change of one value.
type storeWrite struct {
	key     string
	value   []byte
	del     bool
	compare bool // only if the value is still the old one; nil: missing
	old     []byte
	failed  bool  // it was not; read after the commit
	err     error // why it was not written though others were; read after the commit
}

// Put implements crawler.Store.
func (s *Store) Put(ctx context.Context, key string, value []byte) error {
	if err := crawler.CheckItem(key, value); err != nil { // before it is copied
		return err
	}
	return s.write(ctx, &storeWrite{key: key, value: bytes.Clone(value)})
}

// Delete implements crawler.Store.
func (s *Store) Delete(ctx context.Context, key string) error {
	return s.write(ctx, &storeWrite{key: key, del: true})
}

func (s *Store) write(ctx context.Context, u *storeWrite) error {
	if err := check(ctx, u.key); err != nil {
		return err
	}
	if err := s.db.writer.err(); err != nil {
		return err
	}
	if err := s.db.writer.wait(ctx, s.db.writer.put(unit{store: u})); err != nil {
		return err
	}
	return u.err
}

// Update implements crawler.Updater. f may use the store; it is called again when the value has changed meanwhile.
func (s *Store) Update(ctx context.Context, key string, f func(old []byte) ([]byte, error)) error {
	for {
		if err := check(ctx, key); err != nil {
			return err
		}
		old, err := find(ctx, s.get, key)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return s.db.closedOr(err)
		}
		if err == nil && old == nil {
			old = []byte{}
		}
		value, err := f(bytes.Clone(old))
		if err != nil {
			return err
		}
		if err := crawler.CheckItem(key, value); err != nil {
			return err
		}
		u := &storeWrite{key: key, value: bytes.Clone(value), compare: true, old: old}
		if err := s.write(ctx, u); err != nil || !u.failed {
			return err
		}
	}
}

// writeStore changes one value, in the transaction of the writer.
func (w *writer) writeStore(ctx context.Context, u *storeWrite) error {
	if u.compare {
		now, err := find(ctx, w.st.value, u.key)
		missing := errors.Is(err, sql.ErrNoRows)
		if err != nil && !missing {
			return err
		}
		if u.failed = missing != (u.old == nil) || !bytes.Equal(now, u.old); u.failed {
			return nil
		}
	}
	if u.del {
		_, err := w.st.del.ExecContext(ctx, []byte(u.key))
		return err
	}
	return w.writeItem(ctx, u.key, u.value)
}

func (w *writer) writeItem(ctx context.Context, key string, value []byte) error {
	_, err := w.st.put.ExecContext(ctx, []byte(key), sealItem(key, value))
	return err
}

// Scan implements crawler.Store. It reads some values at a time, a MiB and one more at most, and holds nothing while they are
// looked at. Of a value that is damaged it tells the key beside an error, and goes on with the others unless it is stopped.
func (s *Store) Scan(ctx context.Context, prefix string) iter.Seq2[crawler.Entry, error] {
	return func(yield func(crawler.Entry, error) bool) {
		from, to := []byte(prefix), after(prefix)
		for more := true; more; {
			var found []scanned
			var err error
			found, more, err = s.some(ctx, from, to)
			for _, e := range found {
				if err := ctx.Err(); err != nil {
					yield(crawler.Entry{}, err)
					return
				}
				if !yield(e.Entry, e.err) {
					return
				}
			}
			if err != nil {
				yield(crawler.Entry{}, s.db.closedOr(err))
				return
			}
			if more {
				from = append([]byte(found[len(found)-1].Key), 0)
			}
		}
	}
}

// scanned is what was read of one value.
type scanned struct {
	crawler.Entry
	err error
}

// after returns the first key after all with a prefix; nil if there is none.
func after(prefix string) []byte {
	p := []byte(prefix)
	for i := len(p) - 1; i >= 0; i-- {
		if p[i]++; p[i] != 0 {
			return p[:i+1]
		}
	}
	return nil
}

// some reads the next values, and tells whether there may be more. A key that does not follow the one before, as in a damaged
// index, ends it.
func (s *Store) some(ctx context.Context, from, to []byte) (found []scanned, more bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	st, args := s.scan, []any{from}
	if to != nil {
		st, args = s.scanTo, []any{from, to}
	}
	rows, err := st.QueryContext(ctx, args...)
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	last, size := "", 0
	for rows.Next() {
		var key, value []byte
		if err := rows.Scan(&key, &value); err != nil {
			return found, false, err
		}
		e := scanned{Entry: crawler.Entry{Key: string(key)}}
		if e.Key < string(from) || e.Key <= last {
			return found, false, fmt.Errorf("seine: store: %w: keys are out of order", errDamaged)
		}
		last, size = e.Key, size+len(value)
		e.Value, e.err = unsealItem(e.Key, value)
		found = append(found, e)
		if size >= scanBytes {
			return found, true, nil
		}
	}
	return found, len(found) == scanRows, rows.Err()
}
