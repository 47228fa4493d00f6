package sqlitebackend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Recovery is what was found when a file was opened.
type Recovery struct {
	// Unclosed says that whoever had the crawl before did not close it, as when the process was killed. The crawl goes on
	// from the last commit that is in the file and its log.
	Unclosed bool
	// Unreplayed is how many bytes at the end of the write-ahead log belong to no whole commit, or are not there any more.
	// What the process was writing when it died is such, as is a log whose end was cut or damaged: the crawl is then as it
	// was a moment earlier. Of a log that was cut between two commits this is known only as long as path-shm is beside it.
	Unreplayed int64
	// LogMissing says that there is no log though the crawl was not closed, as in a copy of the file alone. What was done
	// after some moment is lost, and is done again where it can be found.
	LogMissing bool

	// Snapshot is the copy that the crawl goes on with, since the file was damaged, empty or not there; "" if it was not.
	// All that was done after Taken is lost, and is done again where it can be found.
	Snapshot string
	Taken    time.Time
	Damaged  string // where the damaged file is now; "" if there was none
	Err      error  // what was found in it
}

// String says what was lost.
func (r Recovery) String() string {
	const lost = "the crawl goes on from the snapshot of %s, and what was done after it is lost"
	switch {
	case r.Snapshot != "" && r.Damaged == "":
		return fmt.Sprintf("%v; "+lost, r.Err, r.Taken.UTC().Format(time.RFC3339))
	case r.Snapshot != "":
		return fmt.Sprintf("the file was damaged (%v) and is kept as %s; "+lost, r.Err, r.Damaged, r.Taken.UTC().Format(time.RFC3339))
	case r.LogMissing:
		return "the crawl was not closed, and its log is missing: what was done after the log was last brought into the file is lost"
	case r.Unreplayed > 0:
		return fmt.Sprintf("the last %d bytes of the log belong to no whole commit, or are missing", r.Unreplayed)
	case r.Unclosed:
		return "the crawl was not closed, and goes on from the last commit in its log"
	}
	return "nothing was lost"
}

var (
	errMissing = fmt.Errorf("%w: the file is missing", errDamaged)
	errEmpty   = fmt.Errorf("%w: the file is empty", errDamaged)
)

// openOrRecover opens a file, or the newest whole snapshot in its place if it is damaged or there is none.
func openOrRecover(ctx context.Context, h *hold, o Options, clock func() time.Duration, now func() time.Time) (*DB, error) {
	snapshots, err := snapshotsOf(h.path)
	if err != nil {
		return nil, err
	}
	found := looksNew(h.path)
	if found == nil || len(snapshots) == 0 && size(h.path+"-wal") == 0 {
		db, err := openFile(ctx, h, o, clock, now)
		if err == nil || !Damaged(err) {
			return db, err
		}
		found = err
	}
	r := Recovery{Err: found}
	for _, s := range snapshots {
		db, err := restore(ctx, h, s, &r, o, clock, now)
		if err == nil {
			return db, nil
		}
		if !Damaged(err) {
			return nil, err
		}
	}
	return nil, errors.Join(&DamagedError{Path: h.path, Err: found}, r.undo(h))
}

// looksNew returns why a file is none, which it is before a crawl is begun, too.
func looksNew(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errMissing
	case err == nil && info.Size() == 0:
		return errEmpty
	}
	return nil // what is wrong with it opening tells
}

// restore has a snapshot take the place of a file. Nothing of the file is touched before a whole copy of a whole snapshot is
// on the disk, and a death in between leaves a missing file, for which the snapshot stands in the next time.
func restore(ctx context.Context, h *hold, snapshot string, r *Recovery, o Options, clock func() time.Duration, now func() time.Time) (*DB, error) {
	var older *SchemaError // has to be brought up to date before it can be looked at
	if err := checkCopy(ctx, snapshot, now); err != nil && !(errors.As(err, &older) && older.Schema < older.Known) {
		return nil, err
	}
	draft := h.path + ".restored"
	if err := copyFile(draft, snapshot); err != nil {
		return nil, fmt.Errorf("seine: sqlite: %w", errors.Join(err, removed(draft)))
	}
	err := h.disown()
	if err == nil && r.Damaged == "" {
		r.Damaged, err = putAside(h.path, now())
	}
	if err == nil {
		err = errors.Join(os.Rename(draft, h.path), syncDir(filepath.Dir(h.path)))
	}
	if err != nil {
		return nil, fmt.Errorf("seine: sqlite: %w", errors.Join(err, removed(draft)))
	}
	db, err := openFile(ctx, h, o, clock, now)
	if err == nil {
		r.Snapshot, r.Taken = snapshot, takenAt(snapshot)
		db.recovery = *r
	}
	return db, err
}

// undo puts a damaged file back that nothing can replace.
func (r *Recovery) undo(h *hold) error {
	if r.Damaged == "" {
		return nil
	}
	return errors.Join(h.disown(), rename(h.path, r.Damaged))
}

// putAside gives a damaged file and its log another name. It returns "" if there is neither.
func putAside(path string, now time.Time) (string, error) {
	if size(path)+size(path+"-wal") == 0 {
		return "", nil
	}
	to := path + damagedMark + now.UTC().Format(damagedTime)
	return to, rename(to, path)
}

// rename gives a file and its log another name, over what has it.
func rename(to, from string) error {
	for _, end := range []string{"", "-wal", "-shm"} {
		err := removed(to + end)
		if err == nil {
			if err = os.Rename(from+end, to+end); errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		}
		if err != nil {
			return fmt.Errorf("seine: sqlite: %w", err)
		}
	}
	return nil
}

// copyFile makes a durable copy that only its owner may read.
func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

// removed removes a file, if there is one.
func removed(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
