package sqlitebackend

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seine-go/seine/crawler"
)

const (
	snapshotMark  = ".snapshot-" // before the number and the time of one
	snapshotTime  = "20060102T150405Z"
	draftMark     = ".draft-" // of a snapshot that is not whole yet
	damagedMark   = ".damaged-"
	damagedTime   = "20060102T150405.000000000Z"
	keptSnapshots = 2
)

// snapshotsOf lists the snapshots of a file, the newest first. Their numbers tell: a clock may go back.
func snapshotsOf(path string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("seine: sqlite: %w", err)
	}
	var all []string
	for _, e := range entries {
		name := filepath.Join(filepath.Dir(path), e.Name())
		if strings.HasPrefix(name, path+snapshotMark) && numberOf(name) > 0 {
			all = append(all, name)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(numberOf(b), numberOf(a)) })
	return all, nil
}

// numberOf returns the number of a snapshot; 0 if the name is of something else.
func numberOf(snapshot string) uint64 {
	number, when, _ := strings.Cut(afterMark(snapshot), "-")
	n, err := strconv.ParseUint(number, 10, 63)
	if _, bad := time.Parse(snapshotTime, when); err != nil || bad != nil {
		return 0
	}
	return n
}

func takenAt(snapshot string) time.Time {
	_, when, _ := strings.Cut(afterMark(snapshot), "-")
	t, _ := time.Parse(snapshotTime, when) // as numberOf has checked
	return t
}

func afterMark(snapshot string) string {
	return snapshot[strings.LastIndex(snapshot, snapshotMark)+len(snapshotMark):]
}

// Snapshot copies the crawl as it is now into a file beside its own, checks the copy, and removes those that are too old. The
// crawl may go on meanwhile; another Snapshot waits. It returns the name of the copy. Of a crawl that is damaged no copy is
// kept, and those before stay.
func (db *DB) Snapshot(ctx context.Context) (string, error) {
	if db.opt.ReadOnly {
		return "", crawler.ErrReadOnly
	}
	select {
	case db.copying <- struct{}{}:
		defer func() { <-db.copying }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if err := db.usable(); err != nil {
		return "", fmt.Errorf("seine: sqlite: snapshot: %w", err)
	}
	return db.snapshot(ctx)
}

// snapshot is Snapshot for who has copying.
func (db *DB) snapshot(ctx context.Context) (string, error) {
	db.copied = db.now()
	draft, err := db.draft(ctx)
	if err != nil {
		return "", fmt.Errorf("seine: sqlite: snapshot: %w", errors.Join(err, removed(draft)))
	}
	all, err := snapshotsOf(db.path)
	if err != nil {
		return "", errors.Join(err, removed(draft))
	}
	number := uint64(1)
	if len(all) > 0 {
		number = numberOf(all[0]) + 1
	}
	to := fmt.Sprintf("%s%s%06d-%s", db.path, snapshotMark, number, db.now().UTC().Format(snapshotTime))
	if err := os.Rename(draft, to); err != nil {
		return "", fmt.Errorf("seine: sqlite: snapshot: %w", errors.Join(err, removed(draft)))
	}
	if err := syncDir(filepath.Dir(db.path)); err != nil {
		return to, fmt.Errorf("seine: sqlite: snapshot: %w", err)
	}
	return to, db.prune(append([]string{to}, all...))
}

// prune removes snapshots that are too old. The newest of them is whole.
func (db *DB) prune(all []string) (err error) {
	most := keptSnapshots
	if db.opt.Snapshots > 0 {
		most = db.opt.Snapshots
	}
	for _, old := range all[min(most, len(all)):] {
		err = errors.Join(err, removed(old))
	}
	return err
}

// draft makes a copy of what is committed, which is whole and on the disk. It returns the name of what there is of it.
func (db *DB) draft(ctx context.Context) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(db.path), filepath.Base(db.path)+draftMark+"*") // for its owner alone
	if err != nil {
		return "", err
	}
	draft := f.Name()
	if err := f.Close(); err != nil {
		return draft, err
	}
	if err := db.vacuumInto(ctx, draft); err != nil {
		return draft, err
	}
	if err := closeCopy(ctx, draft); err != nil {
		return draft, err
	}
	return draft, errors.Join(checkCopy(ctx, draft, db.now), syncFile(draft))
}

// vacuumInto copies what is committed. The connections for reading may write nothing, not even that.
func (db *DB) vacuumInto(ctx context.Context, to string) error {
	if err := db.hold.still(); err != nil {
		return err
	}
	c, err := sql.Open("sqlite", dsn(db.path, busyTimeout))
	if err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, "VACUUM INTO ?", to)
	return errors.Join(err, c.Close(), db.hold.still()) // it went by the name
}

// closeCopy has a copy say that nobody has it open.
func closeCopy(ctx context.Context, path string) error {
	c, err := sql.Open("sqlite", dsn(path, busyTimeout, "journal_mode(DELETE)"))
	if err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, markSQL, false)
	return errors.Join(err, c.Close())
}

// removeDrafts removes what a process left behind that died while it made a snapshot, or put one in the place of the file.
func removeDrafts(path string) error {
	entries, err := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		name := filepath.Join(filepath.Dir(path), e.Name())
		if name == path+".restored" || strings.HasPrefix(name, path+draftMark) {
			err = errors.Join(err, removed(name))
		}
	}
	return err
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// copyDue is how long it takes until a copy is due. What counts is when the last one was made or tried, in whichever life of
// the crawl: a life may be shorter than SnapshotEvery. A copy of a time to come is of a clock that went back since.
func (db *DB) copyDue() (time.Duration, error) {
	all, err := snapshotsOf(db.path)
	if err != nil {
		return 0, err
	}
	last := db.copied
	if len(all) > 0 && takenAt(all[0]).After(last) {
		last = takenAt(all[0])
	}
	age := db.now().Sub(last)
	if age < 0 {
		return 0, nil
	}
	return max(db.opt.SnapshotEvery-age, 0), nil
}

// copyIfDue makes a copy if one is due, and returns how long it takes until the next one is. One that is broken off since ctx
// has ended is none that failed: Close makes it.
func (db *DB) copyIfDue(ctx context.Context) time.Duration {
	select {
	case db.copying <- struct{}{}:
		defer func() { <-db.copying }()
	case <-ctx.Done():
		return 0
	}
	due, err := db.copyDue()
	if due > 0 {
		return due
	}
	before := db.copied
	if err == nil {
		_, err = db.snapshot(ctx)
	}
	if ctx.Err() != nil && err != nil {
		db.copied = before
		return 0
	}
	if db.failed = err; err != nil && db.opt.Logger != nil { // the next one is tried as well
		db.opt.Logger.Error("no snapshot could be made", "path", db.path, "error", err)
	}
	return db.opt.SnapshotEvery
}

// snapshots makes copies as often as the options say.
func (db *DB) snapshots() {
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
		wait := db.copyIfDue(ctx)
		select {
		case <-db.stop:
			return
		case <-time.After(wait):
		}
	}
}
