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

const scanRows = 64 // that are read at a time

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

func checkKey(key string) error {
	if len(key) == 0 || len(key) > crawler.MaxKeyBytes {
		return fmt.Errorf("seine: store: key of %d bytes, not of 1 to %d", len(key), crawler.MaxKeyBytes)
	}
	return nil
}

func check(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return checkKey(key)
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
	failed  bool // it was not; read after the commit
}

// Put implements crawler.Store.
func (s *Store) Put(ctx context.Context, key string, value []byte) error {
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
	return s.db.writer.wait(ctx, s.db.writer.put(unit{store: u}))
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

// Scan implements crawler.Store. It reads some values at a time, and holds nothing while they are looked at.
func (s *Store) Scan(ctx context.Context, prefix string) iter.Seq2[crawler.Entry, error] {
	return func(yield func(crawler.Entry, error) bool) {
		from, to := []byte(prefix), after(prefix)
		for {
			entries, err := s.some(ctx, from, to)
			if err != nil {
				yield(crawler.Entry{}, s.db.closedOr(err))
				return
			}
			for _, e := range entries {
				if err := ctx.Err(); err != nil {
					yield(crawler.Entry{}, err)
					return
				}
				if !yield(e, nil) {
					return
				}
			}
			if len(entries) < scanRows {
				return
			}
			from = append([]byte(entries[len(entries)-1].Key), 0)
		}
	}
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

func (s *Store) some(ctx context.Context, from, to []byte) ([]crawler.Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	st, args := s.scan, []any{from}
	if to != nil {
		st, args = s.scanTo, []any{from, to}
	}
	rows, err := st.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var entries []crawler.Entry
	for rows.Next() {
		var key, value []byte
		if err := rows.Scan(&key, &value); err != nil {
			return nil, err
		}
		if value, err = unsealItem(string(key), value); err != nil {
			return nil, err
		}
		entries = append(entries, crawler.Entry{Key: string(key), Value: value})
	}
	return entries, rows.Err()
}
