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
	hold     *hold // nil where nothing is written
	read     reader
	view     *sql.DB // whose connection read is, where nothing is written
	unlook   func()  // ends that; nil where something is
	writer   *writer
	journal  *journal
	frontier *Frontier
	store    *Store
	recovery Recovery
	now      func() time.Time // of the machine

	mu      sync.Mutex
	closed  bool
	once    sync.Once // of Close
	ended   error     // of Close
	failed  error     // why the last snapshot could not be made
	copied  time.Time // when the last one was tried; of a new crawl when it was begun. Whoever has copying has it
	copying chan struct{}
	stop    chan struct{}
	helper  sync.WaitGroup
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
// path.lock for good, and snapshots; all of them are for their owner alone. A file that is not there, or empty, beside
// snapshots was lost, and is restored from them as a damaged one is: who wants to begin anew removes them too. A name longer than 200 bytes,
// or a path longer than 450, is refused, since the names of those are longer. Links to the file are followed, and the working directory may change meanwhile. If it was not closed, whoever held a lease
// is taken for dead. A file that another version of the library has left in a way that this one cannot go on from is a
// *crawler.VersionError, and stays as it is: that version can go on with it.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	return open(ctx, path, o, nil, time.Now)
}

// open uses a clock of its own, if there is one, and that of the machine.
func open(ctx context.Context, path string, o Options, clock func() time.Duration, now func() time.Time) (db *DB, err error) {
	if clock == nil {
		start := time.Now()
		clock = func() time.Duration { return time.Since(start) }
	}
	if path, err = resolve(path); err != nil {
		return nil, fmt.Errorf("seine: sqlite: %w", err)
	}
	if o.ReadOnly {
		return openReadOnly(ctx, path, o, clock, now)
	}
	if err := checkName(path); err != nil {
		return nil, fmt.Errorf("seine: sqlite: %w", err)
	}
	h, err := takeHold(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if db == nil { // also after a panic
			err = errors.Join(err, h.release())
		}
	}()
	if err := removeDrafts(path); err != nil {
		return nil, fmt.Errorf("seine: sqlite: %w", err)
	}
	info, missing := os.Stat(path)
	if db, err = openOrRecover(ctx, h, o, clock, now); err != nil {
		return nil, err
	}
	if missing != nil || info.Size() == 0 {
		db.copied = now()
	}
	if o.SnapshotEvery > 0 {
		db.helper.Go(db.snapshots)
	}
	return db, nil
}

// newDB makes a DB that is not open yet.
func newDB(path string, o Options, clock func() time.Duration, now func() time.Time) *DB {
	db := &DB{path: path, opt: o, now: now, writer: newWriter(now, o.hurry), stop: make(chan struct{}), copying: make(chan struct{}, 1)}
	db.journal = &journal{db: db, clock: clock}
	db.store = &Store{db: db}
	return db
}

// openFile opens a file beside which this process has locked.
func openFile(ctx context.Context, h *hold, o Options, clock func() time.Duration, now func() time.Time) (*DB, error) {
	if err := h.own(); err != nil {
		var locked *LockedError
		if errors.As(err, &locked) {
			return nil, err
		}
		return nil, fmt.Errorf("seine: sqlite: %w", err)
	}
	db := newDB(h.path, o, clock, now)
	db.hold, db.writer.still = h, h.still
	err := db.start(ctx)
	if err != nil {
		_ = db.release() // there is an error already
		return nil, fmt.Errorf("seine: sqlite: %s: %w", h.path, err)
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
		db.unlook()
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
	log := examine(db.path, looked(db.hold.id))
	if w.db, err = openWriter(db.path, db.opt.Durability); err != nil {
		return err
	}
	if w.conn, err = w.db.Conn(ctx); err != nil {
		return err
	}
	schema, err := migrate(ctx, w.conn)
	if err != nil {
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
	if db.recovery, err = log.recovery(ctx, db.read); err != nil {
		return err
	}
	if err = db.verify(ctx); err != nil {
		return err
	}
	err = db.begin(ctx)
	var other *crawler.VersionError
	if schema > 0 && schema < len(migrations) && errors.As(err, &other) {
		err = errors.Join(err, migrateBack(context.WithoutCancel(ctx), w.conn, schema))
	}
	return err
}

// verify looks for damage that a run would meet, or for any.
func (db *DB) verify(ctx context.Context) error {
	if db.opt.Verify || db.recovery.LogMissing { // a copy that was made without the log may have pages of different times
		return db.Check(ctx)
	}
	return db.checkFrontier(ctx)
}

// begin notes that the file is open, and loads the frontier.
func (db *DB) begin(ctx context.Context) (err error) {
	w := db.writer
	if err = w.mark(ctx, true); err != nil {
		return err
	}
	go w.run()
	m, err := crawler.OpenMemory(ctx, db.opt.Frontier, db.journal)
	if err != nil {
		return errors.Join(err, w.close(), w.mark(context.WithoutCancel(ctx), db.recovery.Unclosed))
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
	if closed := db.usable(); err != nil && errors.Is(closed, ErrClosed) {
		return closed
	}
	return err
}

// usable is ErrClosed or ErrFileGone if the file cannot be used by its name.
func (db *DB) usable() error {
	db.mu.Lock()
	closed := db.closed
	db.mu.Unlock()
	switch {
	case closed:
		return ErrClosed
	case db.hold == nil:
		return nil
	}
	return db.hold.still()
}

// Close commits what was begun and closes the file. If a snapshot is due by Options.SnapshotEvery it is made, which takes as long
// as the copying of the file. An error says that something may not be in it, or that the last
// snapshot was none. Whoever calls it again waits for the first call, and gets its error.
func (db *DB) Close() error {
	db.once.Do(func() { db.ended = db.close() })
	return db.ended
}

func (db *DB) close() error {
	db.mu.Lock()
	db.closed = true
	db.mu.Unlock()
	if db.opt.ReadOnly {
		return errors.Join(db.frontier.Close(), db.release())
	}
	close(db.stop)
	db.helper.Wait()
	errs := []error{db.frontier.Close(), db.writer.close()}
	if errs[1] == nil {
		if db.opt.SnapshotEvery > 0 { // what was begun is committed, and nobody writes
			db.copyIfDue(context.Background())
		}
		errs = append(errs, db.writer.leave())
	}
	errs = append(errs, db.failed)
	return errors.Join(append(errs, db.release(), db.hold.release())...)
}
