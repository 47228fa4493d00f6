package sqlitebackend

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A crawl whose lives are shorter than SnapshotEvery has copies that are no older, from its second life on, and no more of
// them than one that lives long.
func TestSnapshotsOfShortLives(t *testing.T) {
	w := newWorld(t)
	path := w.path()
	const lives, life, every = 10, 20 * time.Minute, time.Hour
	var newest string
	for i := range lives {
		db := w.open(t, path, Options{SnapshotEvery: every})
		if err := db.Store().Put(t.Context(), fmt.Sprint("k", i), []byte("v")); err != nil {
			t.Fatal(err)
		}
		w.clock.Add(int64(life))
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		all, err := snapshotsOf(path)
		if err != nil {
			t.Fatal(err)
		}
		if (len(all) == 0) != (i == 0) {
			t.Fatalf("after life %d there are %q", i, all)
		}
		if len(all) == 0 {
			continue
		}
		if newest = all[0]; db.now().Sub(takenAt(newest)) >= every {
			t.Errorf("after life %d the newest copy is %s old", i, db.now().Sub(takenAt(newest)))
		}
	}
	if n := numberOf(newest); n > uint64(lives*life/every)+1 {
		t.Errorf("%d copies in %v", n, lives*life)
	}
}

// A copy that is due when the crawl is closed has all that was committed, and says that nobody has it open.
func TestCopyAtClose(t *testing.T) {
	w := newWorld(t)
	db := w.open(t, w.path(), Options{SnapshotEvery: time.Hour})
	if err := db.Store().Put(t.Context(), "last", []byte("v")); err != nil {
		t.Fatal(err)
	}
	w.clock.Add(int64(time.Hour))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	all, err := snapshotsOf(db.path)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	got := w.open(t, all[0], Options{ReadOnly: true})
	if v, err := got.Store().Get(t.Context(), "last"); err != nil || string(v) != "v" || got.Recovery().Unclosed {
		t.Errorf("%q, %v, %v", v, err, got.Recovery())
	}
}

// A clock that went back since the last copy was made puts none off.
func TestCopyAfterClockWentBack(t *testing.T) {
	w := newWorld(t)
	w.machine.Store(int64(1000 * time.Hour))
	db := w.open(t, w.path(), Options{})
	if _, err := db.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	w.machine.Store(0)
	if err := w.open(t, db.path, Options{SnapshotEvery: time.Hour}).Close(); err != nil {
		t.Fatal(err)
	}
	if all, err := snapshotsOf(db.path); err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
}

// A name for whose snapshots there would be no room is refused, the longest that has room is not.
func TestLongNames(t *testing.T) {
	for n, fits := range map[int]bool{maxName: true, maxName + 1: false, 240: false} {
		path := filepath.Join(t.TempDir(), strings.Repeat("x", n))
		db, err := Open(t.Context(), path, Options{})
		if !fits {
			if !errors.Is(err, fs.ErrInvalid) || !strings.Contains(err.Error(), fmt.Sprint(maxName)) {
				t.Errorf("%d bytes: %v", n, err)
			}
			if left, _ := os.ReadDir(filepath.Dir(path)); len(left) > 0 {
				t.Errorf("%d bytes: it left %v", n, left)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		s, err := db.Snapshot(t.Context())
		if err := errors.Join(err, db.Close(), os.Truncate(path, 4096)); err != nil {
			t.Fatal(err)
		}
		if db, err = Open(t.Context(), path, Options{}); err != nil {
			t.Fatal(err)
		}
		if db.Recovery().Snapshot != s {
			t.Error(db.Recovery())
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 200), strings.Repeat("e", 200))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), filepath.Join(dir, strings.Repeat("x", maxName)), Options{}); !errors.Is(err, fs.ErrInvalid) {
		t.Error(err)
	}
}
