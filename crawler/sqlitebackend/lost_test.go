package sqlitebackend

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// unlinked skips a test where links are not for everybody, as on Windows.
func unlinked(t *testing.T, err error) {
	t.Helper()
	if runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	t.Skipf("no link can be made: %v", err)
}

// A crawl has one process whatever its file is called, and whatever becomes of the file that is locked beside it.
func TestSecondOpenByAnyNameIsRefused(t *testing.T) {
	dir := t.TempDir()
	bin := killcrawl(t)
	for name, other := range map[string]func(path, other string) error{
		"symbolic link":            os.Symlink,
		"relative link":            func(path, other string) error { return os.Symlink(filepath.Base(path), other) },
		"hard link":                os.Link,
		"lock removed":             func(path, other string) error { return errors.Join(os.Remove(path+".lock"), os.Symlink(path, other)) },
		"link before there is one": nil,
	} {
		t.Run(name, func(t *testing.T) {
			path, link := filepath.Join(dir, name+".db"), filepath.Join(dir, name+" current.db")
			opened := path
			if other == nil {
				if err := os.Symlink(path, link); err != nil {
					unlinked(t, err)
				}
				opened = link
			}
			db, err := Open(t.Context(), opened, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if other != nil {
				if err := other(path, link); err != nil {
					unlinked(t, err)
				}
			}
			var locked *LockedError
			for _, p := range []string{path, link} {
				if second, err := Open(t.Context(), p, Options{}); !errors.As(err, &locked) {
					t.Errorf("%s, in this process: %v", p, err)
					if err == nil {
						_ = second.Close()
					}
				}
				if l := live(t, bin, p, "http://127.0.0.1:1/", 1, nil, nil); l.err == nil || l.cmd.ProcessState.ExitCode() != 1 {
					t.Errorf("%s, in another process: %v", p, l.err)
				}
			}
			if err := db.Store().Put(t.Context(), "a", nil); err != nil {
				t.Error(err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			if db, err = Open(t.Context(), link, Options{}); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// kept makes a crawl with a snapshot, and closes it.
func kept(t *testing.T, o Options) (path, snapshot string, had int) {
	t.Helper()
	w := newWorld(t)
	db := begin(t, w, o)
	crawlOn(t, db.Frontier(), 1, 300, 30, map[string]int{})
	snapshot, err := db.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	had = items(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return db.path, snapshot, had
}

// A file that is not there, or empty, while snapshots are, was lost: the crawl goes on from them, and not with an empty one.
func TestLostFileGivesWayToSnapshot(t *testing.T) {
	for name, lose := range map[string]func(path string) error{
		"removed":        os.Remove,
		"cut to nothing": func(path string) error { return os.Truncate(path, 0) },
		"put aside":      func(path string) error { _, err := putAside(path, time.Now()); return err },
		"half of a copy": func(path string) error {
			return errors.Join(os.Remove(path), os.WriteFile(path+".restored", make([]byte, 4096), 0o600))
		},
		"all but its log": func(path string) error {
			return errors.Join(os.WriteFile(path+"-wal", make([]byte, 5000), 0o600), os.Truncate(path, 0))
		},
		"half of an other": func(path string) error {
			return errors.Join(os.Truncate(path, 4096*3), os.WriteFile(path+".draft-1", nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path, snapshot, had := kept(t, Options{})
			if err := lose(path); err != nil {
				t.Fatal(err)
			}
			db, err := Open(t.Context(), path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			r := db.Recovery()
			if r.Snapshot != snapshot || items(t, db) != had || !strings.Contains(r.String(), "lost") {
				t.Errorf("%v: %d items, not %d", r, items(t, db), had)
			}
			if left, err := filepath.Glob(path + ".[dr][re]*"); err != nil || slices.ContainsFunc(left, func(s string) bool { return !strings.Contains(s, damagedMark) }) {
				t.Errorf("left behind: %q, %v", left, err)
			}
		})
	}
}

// Nothing whole stands beside a file that is lost: that is said, and nothing is begun in its place.
func TestLostFileWithoutWholeSnapshot(t *testing.T) {
	path, snapshot, _ := kept(t, Options{})
	if err := errors.Join(os.Remove(path), os.Truncate(snapshot, 4096)); err != nil {
		t.Fatal(err)
	}
	var damaged *DamagedError
	for range 2 {
		if _, err := Open(t.Context(), path, Options{}); !errors.As(err, &damaged) {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was begun: %v", err)
	}
}

// What is written to a file that has lost its name is lost: the next commit is an error, as are snapshots and Close.
func TestFileThatIsGoneIsAnError(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("open files keep their names")
	}
	for name, lose := range map[string]func(path string) error{
		"removed": func(path string) error {
			return errors.Join(os.Remove(path), os.Remove(path+"-wal"), os.Remove(path+"-shm"))
		},
		"moved":    func(path string) error { return os.Rename(path, path+".moved") },
		"replaced": func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "films.db")
			db, err := Open(t.Context(), path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			again(t, db)
			good, err := db.Snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := lose(path); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if _, err := db.Snapshot(t.Context()); !errors.Is(err, ErrFileGone) {
					t.Errorf("Snapshot: %v", err)
				}
			}
			if err := db.Store().Put(t.Context(), "a", nil); !errors.Is(err, ErrFileGone) {
				t.Errorf("Put: %v", err)
			}
			if _, err := db.Frontier().Add(t.Context(), seedOf(7)); !errors.Is(err, ErrFileGone) {
				t.Errorf("Add: %v", err)
			}
			if err := db.Close(); !errors.Is(err, ErrFileGone) {
				t.Errorf("Close: %v", err)
			}
			if all, err := snapshotsOf(path); err != nil || !slices.Equal(all, []string{good}) {
				t.Errorf("%q are there, not %q: %v", all, good, err)
			}
		})
	}
}

// Nothing was committed since the file is gone: Close says so all the same.
func TestCloseOfFileThatIsGone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("open files keep their names")
	}
	path := filepath.Join(t.TempDir(), "films.db")
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); !errors.Is(err, ErrFileGone) {
		t.Error(err)
	}
}

// A crawl is where it was opened, wherever the process goes.
func TestWorkingDirectoryMayChange(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	db, err := Open(t.Context(), "films.db", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	again(t, db)
	crawlOn(t, db.Frontier(), 1, 300, 30, map[string]int{})
	t.Chdir(t.TempDir())
	snapshot, err := db.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v := view(t, snapshot)
	if items(t, v) != items(t, db) || filepath.Dir(snapshot) != filepath.Dir(db.path) {
		t.Errorf("%s has %d items of %d", snapshot, items(t, v), items(t, db))
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("left where the process went: %v, %v", left, err)
	}
}

// The order of snapshots is that in which they were made, whatever the clock says.
func TestSnapshotsOutliveClockJumps(t *testing.T) {
	w := newWorld(t)
	db := begin(t, w, Options{})
	crawlOn(t, db.Frontier(), 1, 300, 5, map[string]int{})
	var made []string
	for i, jump := range []time.Duration{24 * time.Hour, 25 * time.Hour, 0, -24 * time.Hour, 0} {
		w.machine.Store(int64(jump))
		crawlOn(t, db.Frontier(), 1, 300, 5, map[string]int{})
		s, err := db.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		made = append([]string{s}, made...)
		if all, err := snapshotsOf(db.path); err != nil || !slices.Equal(all, made[:min(2, len(made))]) {
			t.Fatalf("after %d: %q, %v", i+1, all, err)
		}
	}
	had := items(t, db)
	if err := errors.Join(db.Close(), os.Truncate(db.path, 4096)); err != nil {
		t.Fatal(err)
	}
	if db = w.open(t, db.path, Options{}); items(t, db) != had || db.Recovery().Snapshot != made[0] {
		t.Errorf("%d items, not %d: %v", items(t, db), had, db.Recovery())
	}
}

// Snapshots that are made at the same time are each whole, and one that ends is no harm to the others.
func TestSnapshotsAtOnce(t *testing.T) {
	db := begin(t, newWorld(t), Options{Snapshots: 100})
	for i := range 100 {
		if err := db.Store().Put(t.Context(), fmt.Sprint("page/", i), make([]byte, 20_000)); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	made := make(chan string, 8)
	for range cap(made) {
		all.Go(func() {
			s, err := db.Snapshot(t.Context())
			if err != nil {
				t.Error(err)
			}
			made <- s
		})
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := db.Snapshot(ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	all.Wait()
	close(made)
	seen := map[string]bool{}
	for s := range made {
		if v := view(t, s); items(t, v) != 100 || v.Check(t.Context()) != nil || seen[s] || v.Recovery() != (Recovery{}) {
			t.Errorf("%s: %d items, %v", s, items(t, v), v.Recovery())
		}
		seen[s] = true
	}
	if left, err := filepath.Glob(db.path + draftMark + "*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// What a crawl keeps is for its owner alone.
func TestFilesAreTheirOwnersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("other permissions")
	}
	db := begin(t, newWorld(t), Options{})
	if _, err := db.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob(db.path + "*")
	if err != nil || len(all) != 5 {
		t.Fatal(all, err)
	}
	for _, p := range all {
		if info, err := os.Stat(p); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", p, info.Mode(), err)
		}
	}
}

// A name that is none, or means that nothing is kept, is refused before anything is made.
func TestNamesThatAreNone(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"", ":memory:", "a\x00b", ".", "missing/films.db"} {
		var bad *fs.PathError
		if db, err := Open(t.Context(), name, Options{}); !errors.As(err, &bad) {
			t.Errorf("%q: %v", name, err)
			if err == nil {
				_ = db.Close()
			}
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if err := os.Symlink("loop.db", "loop.db"); err == nil {
		if _, err := Open(t.Context(), "loop.db", Options{}); err == nil {
			t.Error("a link to itself was opened")
		}
	}
	for _, name := range []string{"a?b#c%20.db", "file:x.db"} {
		if runtime.GOOS == "windows" {
			break
		}
		db, err := Open(t.Context(), name, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}

// A snapshot that fails while nobody asks for it is told of when it does, not by Close alone.
func TestFailedSnapshotsAreToldOf(t *testing.T) {
	told := make(chan string, 1)
	log := slog.New(slog.NewTextHandler(tellOnce(told), nil))
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "films.db"), Options{SnapshotEvery: time.Millisecond, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	rawSQL(t, db.path, "INSERT INTO item VALUES (CAST('bad' AS BLOB), x'00')")
	if s := <-told; !strings.Contains(s, db.path) || !strings.Contains(s, "checksum") {
		t.Error(s)
	}
	var all sync.WaitGroup
	for range 4 { // one closes it, and the others wait for that
		all.Go(func() {
			if err := db.Close(); err != nil && !Damaged(err) { // the last snapshot was none
				t.Error(err)
			}
			if _, err := db.hold.side.Stat(); err == nil {
				t.Error("Close returned, and the lock is still held")
			}
		})
	}
	all.Wait()
}

type tellOnce chan string

// Write implements io.Writer.
func (c tellOnce) Write(p []byte) (int, error) {
	select {
	case c <- string(bytes.Clone(p)):
	default:
	}
	return len(p), nil
}

// rawSQL changes a file behind the back of the DB.
func rawSQL(t testing.TB, path, query string, args ...any) {
	t.Helper()
	c, err := sql.Open("sqlite", dsn(path, busyTimeout))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Exec(query, args...); err != nil {
		t.Fatal(err)
	}
}
