package sqlitebackend

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seine-go/seine/crawler"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// reader is what is needed of connections that only read: of several, or of one in a transaction.
type reader interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
	Close() error
}

// openReadOnly opens a file to look at it.
func openReadOnly(ctx context.Context, path string, o Options, clock func() time.Duration, now func() time.Time) (*DB, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("seine: sqlite: %w", err)
	}
	db, err := openView(ctx, path, o, "mode=ro", clock, now)
	if err != nil && cannotShare(err) && size(path+"-wal") == 0 { // then what is in the file is all
		db, err = openView(ctx, path, o, "immutable=1", clock, now)
	}
	switch {
	case err == nil:
		return db, nil
	case Damaged(err):
		return nil, &DamagedError{Path: path, ReadOnly: true, Err: err}
	}
	return nil, fmt.Errorf("seine: sqlite: %s: %w", path, err)
}

// openView opens a file with one more parameter of its URI.
func openView(ctx context.Context, path string, o Options, parameter string, clock func() time.Duration, now func() time.Time) (*DB, error) {
	id, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	db := newDB(path, o, clock, now)
	db.writer.failed = crawler.ErrReadOnly // and it never runs
	db.unlook = lookAt(id)
	err = db.look(ctx, parameter)
	if err == nil {
		m := crawler.NewMemory(crawler.MemoryOptions{})
		if !o.storeAlone {
			m, err = crawler.ReadMemory(ctx, o.Frontier, db.journal)
		}
		db.frontier = &Frontier{Memory: m, db: db}
	}
	if err != nil {
		return nil, errors.Join(err, db.release())
	}
	return db, nil
}

// checkCopy looks for damage in a copy that nobody else has, without making a frontier of it.
func checkCopy(ctx context.Context, path string, now func() time.Time) error {
	id, err := os.Stat(path)
	if err != nil {
		return err
	}
	copied := newDB(path, Options{}, func() time.Duration { return 0 }, now)
	copied.unlook = lookAt(id)
	err = copied.look(ctx, "immutable=1")
	if err == nil {
		err = copied.Check(ctx)
	}
	if err == nil {
		read := func([]byte) error { return nil }
		err = copied.journal.Load(ctx, read, read)
	}
	return errors.Join(err, copied.release())
}

// look begins the transaction that all is read in.
func (db *DB) look(ctx context.Context, parameter string) (err error) {
	if db.view, err = sql.Open("sqlite", dsn(db.path, busyTimeout, "query_only(1)", "cache_size(-4096)")+"&"+parameter); err != nil {
		db.unlook()
		return err
	}
	conn, err := db.view.Conn(ctx)
	if err != nil {
		return err
	}
	db.read = conn
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	version, err := schemaOf(ctx, conn)
	switch {
	case err != nil:
		return err
	case version == 0:
		return errors.New("there is no crawl in the file")
	case version < len(migrations):
		return &SchemaError{Schema: version, Known: len(migrations)}
	}
	if err := db.prepare(ctx); err != nil {
		return err
	}
	found, err := examine(db.path, true).recovery(ctx, db.read)
	db.recovery.LogMissing = found.LogMissing // all else may be the work of who has it open
	return err
}

// cannotShare reports whether a log cannot be read since the file that those who use it share cannot be made.
func cannotShare(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	code := e.Code() & 0xff
	return code == sqlite3.SQLITE_CANTOPEN || code == sqlite3.SQLITE_READONLY
}

// size is that of a file; 0 if there is none.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
