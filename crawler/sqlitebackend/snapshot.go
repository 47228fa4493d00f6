package sqlitebackend

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seine-go/seine/crawler"
)

// Recovery is what was found when a file was opened.
type Recovery struct {
	// Unreplayed is how many bytes at the end of the write-ahead log belonged to no whole commit. What the process was
	// writing when it died is such, as is a log whose end was cut or damaged: the crawl is then as it was a moment earlier.
	Unreplayed int64

	// Snapshot is the copy that the crawl goes on with, since the file was damaged; "" if it was not. All that was done
	// after Taken is lost, and is done again where it can be found.
	Snapshot string
	Taken    time.Time
	Damaged  string // where the damaged file is now
	Err      error  // what was found in it
}

// String says what was lost.
func (r Recovery) String() string {
	switch {
	case r.Snapshot != "":
		return fmt.Sprintf("the file was damaged (%v) and is kept as %s; the crawl goes on from the snapshot of %s, and what was done after it is lost", r.Err, r.Damaged, r.Taken.UTC().Format(time.RFC3339))
	case r.Unreplayed > 0:
		return fmt.Sprintf("the last %d bytes of the log belong to no whole commit", r.Unreplayed)
	}
	return "nothing was lost"
}

const (
	snapshotMark  = ".snapshot-"
	snapshotTime  = "20060102T150405.000000000Z"
	damagedMark   = ".damaged-"
	keptSnapshots = 2
)

// snapshotsOf lists the snapshots of a file, the newest first.
func snapshotsOf(path string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	var all []string
	for _, e := range entries {
		if when, ok := strings.CutPrefix(e.Name(), filepath.Base(path)+snapshotMark); ok {
			if _, err := time.Parse(snapshotTime, when); err == nil {
				all = append(all, filepath.Join(filepath.Dir(path), e.Name()))
			}
		}
	}
	slices.Sort(all)
	slices.Reverse(all)
	return all, err
}

func takenAt(snapshot string) time.Time {
	_, when, _ := strings.Cut(filepath.Base(snapshot), snapshotMark)
	t, _ := time.Parse(snapshotTime, when) // as snapshotsOf has checked
	return t
}

// openOrRecover opens a file, or the newest whole snapshot in its place if it is damaged.
func openOrRecover(ctx context.Context, path string, o Options, clock func() time.Duration, now func() time.Time) (*DB, error) {
	db, err := openFile(ctx, path, o, clock, now)
	if err == nil || !Damaged(err) {
		return db, err
	}
	all, listing := snapshotsOf(path)
	if listing != nil {
		return nil, errors.Join(err, listing)
	}
	r := Recovery{Err: err}
	for _, s := range all {
		if r.Damaged == "" {
			if r.Damaged, err = putAside(path, now()); err != nil {
				return nil, err
			}
		}
		if err := copyFile(path, s); err != nil {
			return nil, fmt.Errorf("seine: sqlite: %w", err)
		}
		db, err := openFile(ctx, path, o, clock, now)
		if err == nil {
			r.Snapshot, r.Taken = s, takenAt(s)
			db.recovery = r
			return db, nil
		}
		if !Damaged(err) {
			return nil, err
		}
	}
	damaged := error(&DamagedError{Path: path, Err: r.Err})
	if r.Damaged != "" {
		damaged = errors.Join(damaged, rename(path, r.Damaged))
	}
	return nil, damaged
}

// putAside gives a damaged file and its log another name.
func putAside(path string, now time.Time) (string, error) {
	to := path + damagedMark + now.UTC().Format(snapshotTime)
	return to, rename(to, path)
}

// rename gives a file and its log another name, over what has it.
func rename(to, from string) error {
	for _, end := range []string{"", "-wal", "-shm"} {
		err := removed(to + end)
		if err == nil {
			if err = os.Rename(from+end, to+end); errors.Is(err, os.ErrNotExist) {
				err = nil
			}
		}
		if err != nil {
			return fmt.Errorf("seine: sqlite: %w", err)
		}
	}
	return nil
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	for _, end := range []string{"-wal", "-shm"} { // of an earlier try
		if err := os.Remove(to + end); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

// Snapshot copies the crawl as it is now into a file beside its own, checks the copy, and removes those that are too old. The
// crawl may go on meanwhile. It returns the name of the copy. Of a crawl that is damaged no copy is kept, and those before
// stay.
func (db *DB) Snapshot(ctx context.Context) (string, error) {
	if db.opt.ReadOnly {
		return "", crawler.ErrReadOnly
	}
	to := db.path + snapshotMark + db.now().UTC().Format(snapshotTime)
	draft := db.path + ".snapshot.tmp"
	if err := os.Remove(draft); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("seine: sqlite: %w", err)
	}
	err := db.vacuumInto(ctx, draft)
	if err == nil {
		err = db.checkCopy(ctx, draft)
	}
	if err != nil {
		return "", fmt.Errorf("seine: sqlite: snapshot: %w", errors.Join(err, removed(draft)))
	}
	if err := errors.Join(syncFile(draft), os.Rename(draft, to)); err != nil {
		return "", fmt.Errorf("seine: sqlite: snapshot: %w", err)
	}
	all, err := snapshotsOf(db.path)
	most := keptSnapshots
	if db.opt.Snapshots > 0 {
		most = db.opt.Snapshots
	}
	for _, old := range all[min(most, len(all)):] {
		err = errors.Join(err, os.Remove(old))
	}
	return to, err
}

// vacuumInto copies what is committed. The connections for reading may write nothing, not even that.
func (db *DB) vacuumInto(ctx context.Context, to string) error {
	db.mu.Lock()
	closed := db.closed
	db.mu.Unlock()
	if closed {
		return ErrClosed
	}
	c, err := sql.Open("sqlite", dsn(db.path, busyTimeout))
	if err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, "VACUUM INTO ?", to)
	return errors.Join(err, c.Close())
}

// removed removes a file, if there is one.
func removed(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// snapshots makes copies as often as the options say.
func (db *DB) snapshots() {
	tick := time.NewTicker(db.opt.SnapshotEvery)
	defer tick.Stop()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		select {
		case <-db.stop:
			stop()
		case <-ctx.Done():
		}
	}()
	for {
		select {
		case <-db.stop:
			return
		case <-tick.C:
			if _, err := db.Snapshot(ctx); ctx.Err() == nil {
				db.failed = err // the next one is tried as well
			}
		}
	}
}
