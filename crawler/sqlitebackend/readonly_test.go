package sqlitebackend

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
)

// pending lists what is pending, in order.
func pending(t testing.TB, db *DB) []string {
	t.Helper()
	all := []string{}
	for p, err := range db.Frontier().Pending(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(p.Key, " ", p.State))
	}
	slices.Sort(all)
	return all
}

func view(t testing.TB, path string) *DB {
	t.Helper()
	v, err := Open(t.Context(), path, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	return v
}

// A view shows a crawl as it was when it was opened, whatever the crawl does meanwhile, and hinders it in nothing.
func TestViewOfRunningCrawl(t *testing.T) {
	w := newWorld(t)
	db := begin(t, w, Options{Frontier: crawler.MemoryOptions{SpillBytes: 1}})
	const pages = 20_000
	for i := range 5000 {
		if _, err := db.Frontier().Add(t.Context(), seedOf(pages+i)); err != nil {
			t.Fatal(err)
		}
	}
	crawlOn(t, db.Frontier(), 1, pages, 50, map[string]int{})
	if _, err := db.Frontier().Lease(t.Context(), crawler.LeaseRequest{Owner: "A", Boot: 1, Max: 3}); err != nil {
		t.Fatal(err)
	}
	if err := db.writer.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	v := view(t, db.path)
	want, stats, was := pending(t, db), frontierStats(t, db), items(t, db)
	for range 3 {
		if got := pending(t, v); !slices.Equal(got, want) || int64(len(got)) != stats.Ready+stats.Delayed+stats.Leased || stats.Leased != 3 {
			t.Fatalf("%d are listed, %d pending: %+v", len(got), len(want), stats)
		}
		got := frontierStats(t, v)
		if got.Ready != stats.Ready || got.Leased != stats.Leased || got.Done != stats.Done || items(t, v) != was {
			t.Fatalf("%+v, %d items, not %+v, %d", got, items(t, v), stats, was)
		}
		if err := v.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		var listing sync.WaitGroup
		listing.Go(func() {
			for _, err := range db.Frontier().Pending(context.Background()) {
				if err != nil {
					t.Error(err)
				}
			}
		})
		crawlOn(t, db.Frontier(), 2, pages, 500, map[string]int{}) // blocks are freed, others made
		listing.Wait()
		if _, err := db.Snapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if after := view(t, db.path); items(t, after) != items(t, db) || items(t, after) == was {
		t.Errorf("a new view has %d items, not %d", items(t, after), items(t, db))
	}
}

// A crawl is closed, and opened again, under the eyes of a view.
func TestViewOutlivesClose(t *testing.T) {
	w := newWorld(t)
	db := begin(t, w, Options{})
	crawlOn(t, db.Frontier(), 1, 500, 20, map[string]int{})
	if err := db.writer.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	v, want := view(t, db.path), pending(t, db)
	start := time.Now()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("Close took %v", took)
	}
	next := w.open(t, db.path, Options{})
	crawlOn(t, next.Frontier(), 2, 500, 10, map[string]int{})
	if got := pending(t, v); !slices.Equal(got, want) {
		t.Errorf("listed are %q, not %q", got, want)
	}
}

func frontierStats(t testing.TB, db *DB) crawler.FrontierStats {
	t.Helper()
	s, err := db.Frontier().Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What a killed process and a snapshot left can be looked at, and stays as it is.
func TestViewLeavesFilesAsTheyAre(t *testing.T) {
	w := newWorld(t)
	db := begin(t, w, Options{})
	crawlOn(t, db.Frontier(), 1, 500, 20, map[string]int{})
	if _, err := db.Frontier().Lease(t.Context(), crawler.LeaseRequest{Owner: "A", Boot: 1, Max: 2}); err != nil {
		t.Fatal(err)
	}
	if err := db.writer.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	snapshot, err := db.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dead := w.path()
	for _, end := range []string{"", "-wal"} {
		copyTest(t, dead+end, db.path+end)
	}
	want := pending(t, db)
	for _, path := range []string{dead, snapshot} {
		before := contents(t, path)
		v := view(t, path)
		if got := pending(t, v); !slices.Equal(got, want) || !strings.Contains(fmt.Sprint(got), "leased") {
			t.Errorf("%s: listed are %q, not %q", path, got, want)
		}
		refuses(t, v)
		if err := v.Close(); err != nil {
			t.Error(err)
		}
		if !bytes.Equal(contents(t, path), before) {
			t.Errorf("%s was changed", path)
		}
		if _, err := os.Stat(path + ".lock"); err == nil {
			t.Errorf("%s was locked", path)
		}
	}
	if next := w.open(t, dead, Options{}); items(t, next) != items(t, db) { // the crawl goes on
		t.Errorf("%d items, not %d", items(t, next), items(t, db))
	}
}

// contents is what is in a file and its log.
func contents(t testing.TB, path string) []byte {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(path + "-wal")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return append(file, log...)
}

// refuses checks that nothing can be changed.
func refuses(t testing.TB, v *DB) {
	t.Helper()
	ctx := t.Context()
	_, add := v.Frontier().Add(ctx, seedOf(1))
	_, lease := v.Frontier().Lease(ctx, crawler.LeaseRequest{Owner: "A", Max: 1})
	_, snapshot := v.Snapshot(ctx)
	for what, err := range map[string]error{
		"Add": add, "Lease": lease, "Snapshot": snapshot,
		"Put": v.Store().Put(ctx, "a", nil), "Delete": v.Store().Delete(ctx, "a"),
		"Update": v.Store().Update(ctx, "a", func([]byte) ([]byte, error) { return nil, nil }),
	} {
		if !errors.Is(err, crawler.ErrReadOnly) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestViewOfWhatIsNone(t *testing.T) {
	dir := t.TempDir()
	path := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	look := func(path string) error {
		v, err := Open(t.Context(), path, Options{ReadOnly: true})
		if err == nil {
			t.Errorf("%s was opened", path)
			_ = v.Close()
		}
		return err
	}
	if err := look(filepath.Join(dir, "missing.db")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if err := look(path("empty.db", "")); err == nil || !strings.Contains(err.Error(), "no crawl") {
		t.Errorf("an empty file: %v", err)
	}
	var damaged *DamagedError
	if err := look(path("text.db", strings.Repeat("this is no database\n", 100))); !errors.As(err, &damaged) || !damaged.ReadOnly || strings.Contains(err.Error(), "snapshot") {
		t.Errorf("a file that is no database: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 2 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// A million would do as well: memory is for a chunk of a queue at a time.
func TestPendingInBoundedMemory(t *testing.T) {
	n := 200_000
	if testing.Short() {
		n = 20_000
	}
	w := newWorld(t)
	db := w.open(t, w.path(), Options{})
	fill(t, db.Frontier(), 0, n)
	if err := db.writer.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	v := view(t, db.path)
	before, most, listed := heap(), int64(0), 0
	start := time.Now()
	for p, err := range v.Frontier().Pending(context.Background()) {
		if err != nil || p.State != crawler.StateReady {
			t.Fatalf("%+v, %v", p, err)
		}
		if listed++; listed%(n/8) == 0 {
			most = max(most, heap()-before)
		}
	}
	if listed != n || most > 8<<20 {
		t.Errorf("%d of %d were listed, with %d KiB more", listed, n, most>>10)
	}
	t.Logf("%d pending requests listed in %v, with %d KiB more of memory", n, time.Since(start).Round(time.Millisecond), most>>10)
}
