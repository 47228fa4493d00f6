package sqlitebackend

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/seine-go/seine/crawler"
)

// DB is a crawl in a file. All methods are safe for concurrent use.
type DB struct {
	path     string
	opt      Options
	lock     *os.File
	read     reader
	view     *sql.DB // whose connection read is, where nothing is written
	writer   *writer
	journal  *journal
	frontier *Frontier
	store    *Store
	recovery Recovery
	now      func() time.Time // of the machine

	mu     sync.Mutex
	closed bool
	failed error // why the last snapshot could not be made
	stop   chan struct{}
	helper sync.WaitGroup
}

// Frontier is the crawler.Frontier of a DB.
type Frontier struct {
	*crawler.Memory
	db *DB
}

var (
	_ crawler.Frontier    = (*Frontier)(nil)
	_ crawler.ItemSettler = (*Frontier)(nil)
)

// SettlesItemsOf implements crawler.ItemSettler: it does for the store of the same DB.
func (f *Frontier) SettlesItemsOf(s crawler.Store) bool {
	own, ok := s.(*Store)
	return ok && own.db == f.db
}

// Open opens the crawl in a file, or begins one there. Beside the file stand path-wal and path-shm as long as it is open,
// path.lock for good, and snapshots. Whoever held a lease before is taken for dead.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	return open(ctx, path, o, nil, time.Now)
}

// open uses a clock of its own, if there is one, and that of the machine.
func open(ctx context.Context, path string, o Options, clock func() time.Duration, now func() time.Time) (*DB, error) {
	if clock == nil {
		start := time.Now()
		clock = func() time.Duration { return time.Since(start) }
	}
	if o.ReadOnly {
		return openReadOnly(ctx, path, o, clock, now)
	}
	lock, locked, err := lockFile(path + ".lock")
	if err != nil {
		return nil, fmt.Errorf("seine: sqlite: %w", err)
	}
	if !locked {
		return nil, &LockedError{Path: path}
	}
	db, err := openOrRecover(ctx, path, o, clock, now)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	db.lock = lock
	if o.SnapshotEvery > 0 {
		db.helper.Go(db.snapshots)
	}
	return db, nil
}

// newDB makes a DB that is not open yet.
func newDB(path string, o Options, clock func() time.Duration, now func() time.Time) *DB {
	db := &DB{path: path, opt: o, now: now, writer: newWriter(now), stop: make(chan struct{})}
	db.journal = &journal{db: db, clock: clock}
	db.store = &Store{db: db}
	return db
}

// openFile opens a file that this process has locked.
func openFile(ctx context.Context, path string, o Options, clock func() time.Duration, now func() time.Time) (*DB, error) {
	db := newDB(path, o, clock, now)
	db.recovery.Unreplayed = unreplayed(path + "-wal")
	err := db.start(ctx)
	if err != nil {
		_ = db.release() // there is an error already
		return nil, fmt.Errorf("seine: sqlite: %s: %w", path, err)
	}
	return db, nil
}

// release closes what there is of statements and connections. A connection keeps its files open as long as it has statements.
func (db *DB) release() error {
	var errs []error
	for _, s := range append(db.writer.st.all, db.journal.block, db.store.get, db.store.scan, db.store.scanTo) {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	if db.read != nil {
		errs = append(errs, db.read.Close())
	}
	if db.view != nil {
		errs = append(errs, db.view.Close())
	}
	if db.writer.conn != nil {
		errs = append(errs, db.writer.conn.Close())
	}
	if db.writer.db != nil {
		errs = append(errs, db.writer.db.Close())
	}
	return errors.Join(errs...)
}

func (db *DB) start(ctx context.Context) (err error) {
	w := db.writer
	if w.db, err = openWriter(db.path, db.opt.Durability); err != nil {
		return err
	}
	if w.conn, err = w.db.Conn(ctx); err != nil {
		return err
	}
	if err = migrate(ctx, w.conn); err != nil {
		return err
	}
	if err = w.st.prepare(ctx, w.conn); err != nil {
		return err
	}
	readers, err := openReader(db.path)
	if err != nil {
		return err
	}
	db.read = readers
	if err = db.prepare(ctx); err != nil {
		return err
	}
	if db.opt.Verify {
		if err = db.Check(ctx); err != nil {
			return err
		}
	}
	go w.run()
	m, err := crawler.OpenMemory(ctx, db.opt.Frontier, db.journal)
	if err != nil {
		return errors.Join(err, w.close())
	}
	db.frontier = &Frontier{Memory: m, db: db}
	return nil
}

// prepare makes the statements for reading.
func (db *DB) prepare(ctx context.Context) (err error) {
	if db.journal.block, err = db.read.PrepareContext(ctx, "SELECT data FROM block WHERE id = ?"); err != nil {
		return err
	}
	return db.store.prepare(ctx)
}

// Frontier returns the frontier.
func (db *DB) Frontier() *Frontier { return db.frontier }

// Store returns the store.
func (db *DB) Store() *Store { return db.store }

// Recovery tells what was found when the file was opened.
func (db *DB) Recovery() Recovery { return db.recovery }

// closedOr returns ErrClosed for what an operation says of a DB that is closed.
func (db *DB) closedOr(err error) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if err != nil && db.closed {
		return ErrClosed
	}
	return err
}

// Close commits what was begun and closes the file. An error says that something may not be in it, or that the last
// snapshot was none.
func (db *DB) Close() error {
	db.mu.Lock()
	already := db.closed
	db.closed = true
	db.mu.Unlock()
	if already {
		return nil
	}
	if db.opt.ReadOnly {
		return errors.Join(db.frontier.Close(), db.release())
	}
	close(db.stop)
	db.helper.Wait()
	errs := []error{db.frontier.Close(), db.writer.close(), db.failed}
	if errs[1] == nil {
		// Who looks at the crawl keeps the log, and is not waited for.
		_, err := db.writer.conn.ExecContext(context.Background(), "PRAGMA busy_timeout(0); PRAGMA wal_checkpoint(TRUNCATE)")
		errs = append(errs, err)
	}
	return errors.Join(append(errs, db.release(), db.lock.Close())...)
}
