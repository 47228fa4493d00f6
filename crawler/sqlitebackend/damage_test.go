package sqlitebackend

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seine-go/seine/crawler"
)

// withState makes a crawl with a state, blocks, changes and items in the file, and closes it.
func withState(t testing.TB, w *world) *DB {
	t.Helper()
	db := begin(t, w, Options{Frontier: crawler.MemoryOptions{SpillBytes: 1}})
	for n := range 5000 {
		if _, err := db.Frontier().Add(t.Context(), seedOf(1000+n)); err != nil {
			t.Fatal(err)
		}
	}
	crawlOn(t, db.Frontier(), 1, 300, 10, map[string]int{})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = w.open(t, db.path, Options{Frontier: crawler.MemoryOptions{SpillBytes: 1}})
	if _, err := db.Frontier().Add(t.Context(), seedOf(100_000)); err != nil {
		t.Fatal(err)
	}
	return db
}

// Check finds damage in each table.
func TestCheckLooksAtAll(t *testing.T) {
	for _, damage := range []string{
		"UPDATE part SET data = CAST(data || x'00' AS BLOB) WHERE n = 0",
		"DELETE FROM part WHERE n = 0",
		"INSERT INTO part SELECT max(n) + 1, x'00' FROM part",
		"UPDATE head SET clock = clock + 1",
		"UPDATE head SET wall = wall + 1",
		"UPDATE head SET first = first + 1",
		"UPDATE head SET sum = sum + 1",
		"DELETE FROM head",
		"UPDATE block SET data = CAST(data || x'00' AS BLOB) WHERE id = (SELECT min(id) FROM block)",
		"UPDATE change SET data = CAST(data || x'00' AS BLOB)",
		"UPDATE item SET value = CAST(value || x'00' AS BLOB) WHERE key = (SELECT max(key) FROM item)",
	} {
		t.Run(damage, func(t *testing.T) {
			db := withState(t, newWorld(t))
			if err := db.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			rawSQL(t, db.path, damage)
			if err := db.Check(t.Context()); !Damaged(err) {
				t.Errorf("Check: %v", err)
			}
			if _, err := db.Snapshot(t.Context()); !Damaged(err) {
				t.Errorf("Snapshot: %v", err)
			}
		})
	}
}

// A file whose version is none, or of another library, is a typed error, and the lock is free after it.
func TestVersionsThatAreNone(t *testing.T) {
	path, _, had := kept(t, Options{})
	snapshots, err := snapshotsOf(path)
	if err != nil || len(snapshots) != 1 || os.Remove(snapshots[0]) != nil {
		t.Fatal(snapshots, err)
	}
	version := func(n int) { rawSQL(t, path, fmt.Sprint("PRAGMA user_version = ", n)) }
	for _, n := range []int{-1, 0} {
		version(n)
		var damaged *DamagedError
		if _, err := Open(t.Context(), path, Options{}); !errors.As(err, &damaged) {
			t.Errorf("%d: %v", n, err)
		}
	}
	version(99)
	for _, o := range []Options{{}, {ReadOnly: true}} {
		var other *SchemaError
		if _, err := Open(t.Context(), path, o); !errors.As(err, &other) || other.Schema != 99 || Damaged(err) {
			t.Error(err)
		}
	}
	version(len(migrations))
	rawSQL(t, path, "PRAGMA application_id = 7")
	if _, err := Open(t.Context(), path, Options{}); !errors.Is(err, ErrNotCrawl) || Damaged(err) {
		t.Error(err)
	}
	rawSQL(t, path, fmt.Sprint("PRAGMA application_id = ", applicationID))
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if items(t, db) != had {
		t.Errorf("%d items, not %d", items(t, db), had)
	}
}

// A file of the first schema, whose state is one of this version, goes on with its items, its queue and its pace.
func TestFirstSchemaGoesOn(t *testing.T) {
	w := newWorld(t)
	db := begin(t, w, Options{Frontier: crawler.MemoryOptions{SpillBytes: 1}})
	const pages = 1000
	crawlOn(t, db.Frontier(), 1, pages, 50, map[string]int{})
	want, had := pending(t, db), items(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	// As the tables were in it.
	rawSQL(t, db.path, "ALTER TABLE head DROP COLUMN seal; DROP TABLE life; PRAGMA user_version = 1")
	var older *SchemaError
	if _, err := Open(t.Context(), db.path, Options{ReadOnly: true}); !errors.As(err, &older) || older.Schema != 1 {
		t.Errorf("to be looked at: %v", err)
	}
	db = w.open(t, db.path, Options{Frontier: crawler.MemoryOptions{SpillBytes: 1}})
	if got := pending(t, db); fmt.Sprint(got) != fmt.Sprint(want) || items(t, db) != had || db.Recovery() != (Recovery{}) {
		t.Fatalf("%d pending, not %d; %d items, not %d; %v", len(got), len(want), items(t, db), had, db.Recovery())
	}
	again(t, db)
	if !crawlOn(t, db.Frontier(), 2, pages, 10*pages, map[string]int{}) || items(t, db) != pages {
		t.Fatalf("the crawl ended with %d pages of %d", items(t, db), pages)
	}
	var version int
	var sealed sql.NullInt64
	err := errors.Join(db.read.QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&version), db.read.QueryRowContext(t.Context(), "SELECT seal FROM head").Scan(&sealed))
	if err != nil || version != len(migrations) || !sealed.Valid || db.Check(t.Context()) != nil {
		t.Errorf("schema %d, seal %v: %v", version, sealed, err)
	}
	if !t.Failed() {
		fmt.Printf("shown durable.3: a crawl of schema 1 became one of schema %d, and went on\n", version)
	}
}

// A log that is gone, or was cut between two commits, is never said to be whole.
func TestMissingLogIsToldOf(t *testing.T) {
	w := newWorld(t)
	db := begin(t, w, Options{})
	if r := db.Recovery(); r != (Recovery{}) {
		t.Errorf("of a new file: %v", r)
	}
	crawlOn(t, db.Frontier(), 1, 300, 30, map[string]int{})
	had := items(t, db)
	for name, damage := range map[string]func(wal string) error{
		"removed": os.Remove,
		"cut":     func(wal string) error { return os.Truncate(wal, 0) },
		"header":  func(wal string) error { return os.Truncate(wal, walHeader) },
	} {
		dead := w.die(t, db, func(path string) {
			if err := damage(path + "-wal"); err != nil {
				t.Fatal(err)
			}
		})
		if r := dead.Recovery(); !r.LogMissing || !strings.Contains(r.String(), "missing") {
			t.Errorf("%s: %v; %d items of %d", name, r, items(t, dead), had)
		}
		if err := dead.Close(); err != nil {
			t.Fatal(err)
		}
		if dead = w.open(t, dead.path, Options{}); dead.Recovery() != (Recovery{}) {
			t.Errorf("%s: after it was closed: %v", name, dead.Recovery())
		}
	}
	whole := w.die(t, db, nil)
	if r := whole.Recovery(); !r.Unclosed || r.LogMissing || r.Unreplayed != 0 || items(t, whole) != had || strings.Contains(r.String(), "nothing") {
		t.Errorf("a whole log: %+v", r)
	}
	const frame = walFrame + 4096
	short := w.die(t, db, func(path string) {
		copyTest(t, path+"-shm", db.path+"-shm") // which says how long it was
		cut(t, path+"-wal", frame)
	})
	if r := short.Recovery(); r.Unreplayed < frame || items(t, short) > had {
		t.Errorf("cut between commits: %+v", r)
	}
	view := view(t, db.path) // of what goes on
	if r := view.Recovery(); r != (Recovery{}) {
		t.Errorf("a view: %v", r)
	}
}

// Items can be read, and exported, though the frontier is damaged, and some of them are.
func TestStoreOfDamagedCrawl(t *testing.T) {
	db := withState(t, newWorld(t))
	had := items(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	rawSQL(t, db.path, "UPDATE part SET data = x'00'")
	rawSQL(t, db.path, "UPDATE item SET value = CAST(value || x'00' AS BLOB) WHERE key = (SELECT max(key) FROM item)")
	var damaged *DamagedError
	for _, o := range []Options{{}, {ReadOnly: true}} {
		if _, err := Open(t.Context(), db.path, o); !errors.As(err, &damaged) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	v, err := OpenStore(t.Context(), db.path)
	if err != nil {
		t.Fatal(err)
	}
	good, bad := 0, 0
	for e, err := range v.Scan(t.Context(), "page/") {
		switch {
		case err == nil && strings.HasSuffix(e.Key, string(e.Value)):
			good++
		case Damaged(err) && e.Key != "" && e.Value == nil:
			bad++
		default:
			t.Error(e.Key, err)
		}
	}
	if good != had-1 || bad != 1 {
		t.Errorf("%d items and %d damaged ones, of %d", good, bad, had)
	}
	var lines strings.Builder
	if err := crawler.ExportStore(t.Context(), &lines, v, "page/"); !Damaged(err) || strings.Count(lines.String(), "\n") != had-1 {
		t.Errorf("%d lines, %v", strings.Count(lines.String(), "\n"), err)
	}
	if err := v.Put(t.Context(), "a", nil); !errors.Is(err, crawler.ErrReadOnly) {
		t.Error(err)
	}
	if err := v.Close(); err != nil {
		t.Error(err)
	}
	if _, err := v.Get(context.Background(), "a"); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := OpenStore(t.Context(), filepath.Join(t.TempDir(), "none.db")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// A copy of the file alone, made while a crawl goes on, is opened with a word of what it lacks, or not at all.
func TestCopyWithoutLogIsToldOf(t *testing.T) {
	w := newWorld(t)
	db := begin(t, w, Options{})
	opened := 0
	for range 10 {
		crawlOn(t, db.Frontier(), 1, 30_000, 100, map[string]int{})
		path := w.path()
		copyTest(t, path, db.path)
		had := items(t, db)
		copied, err := Open(t.Context(), path, Options{})
		if Damaged(err) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		opened++
		if r := copied.Recovery(); !r.LogMissing || items(t, copied) > had {
			t.Errorf("%d items, not %d: %+v", items(t, copied), had, r)
		}
		if err := copied.Close(); err != nil {
			t.Error(err)
		}
	}
	if opened == 0 {
		t.Error("none was opened")
	}
}
