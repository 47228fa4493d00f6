package sqlitebackend

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/crawler/frontiertest"
)

// world is where the frontiers of a test are: a clock of its own, and files that die with it.
type world struct {
	dir     string
	clock   atomic.Int64
	machine atomic.Int64 // what its clock is ahead, in nanoseconds
	files   int
}

func newWorld(t testing.TB) *world { return &world{dir: t.TempDir()} }

func (w *world) path() string {
	w.files++
	return filepath.Join(w.dir, fmt.Sprintf("crawl %d.db", w.files))
}

func (w *world) open(t testing.TB, path string, o Options) *DB {
	t.Helper()
	start := w.clock.Load()
	clock := func() time.Duration { return time.Duration(w.clock.Load() - start) }
	now := func() time.Time { return time.Unix(1_000_000, w.clock.Load()).Add(time.Duration(w.machine.Load())) }
	db, err := open(context.Background(), path, o, clock, now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// die copies what the death of the process would leave a moment later, and opens that.
func (w *world) die(t testing.TB, db *DB, damage func(path string)) *DB {
	t.Helper()
	if err := db.writer.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	path := w.path()
	for _, end := range []string{"", "-wal"} {
		copyTest(t, path+end, db.path+end)
	}
	if damage != nil {
		damage(path)
	}
	return w.open(t, path, db.opt)
}

func copyTest(t testing.TB, to, from string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// cut takes the last n bytes off a file.
func cut(t testing.TB, path string, n int64) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, max(info.Size()-n, 0)); err != nil {
		t.Fatal(err)
	}
}

func frontierOptions(o frontiertest.Options) crawler.MemoryOptions {
	return crawler.MemoryOptions{MaxPending: o.MaxPending, MaxCrashes: o.MaxCrashes, CrashPause: o.CrashPause, LeaseTTL: o.LeaseTTL, AgeStep: o.AgeStep, SpillBytes: 1 << 10, SeenBytes: 1}
}

func harness(t testing.TB) frontiertest.Harness {
	w := newWorld(t)
	die := func(damage func(t testing.TB, path string)) func(testing.TB, crawler.Frontier) crawler.Frontier {
		return func(t testing.TB, f crawler.Frontier) crawler.Frontier {
			return w.die(t, f.(*Frontier).db, func(path string) { damage(t, path) }).Frontier()
		}
	}
	return frontiertest.Harness{
		Open: func(t testing.TB, o frontiertest.Options) crawler.Frontier {
			f := w.open(t, w.path(), Options{Frontier: frontierOptions(o)}).Frontier()
			if err := f.SetHost(t.Context(), "", o.Pace); err != nil {
				t.Fatal(err)
			}
			return f
		},
		Reopen:  die(func(testing.TB, string) {}),
		CutTail: die(func(t testing.TB, path string) { cut(t, path+"-wal", int64(1+w.files*1700)) }),
		Dump:    func(t testing.TB, f crawler.Frontier) []byte { return dump(t, f.(*Frontier).db) },
		Advance: func(d time.Duration) { w.clock.Add(int64(d)) },
	}
}

// dump returns all that is written down.
func dump(t testing.TB, db *DB) (all []byte) {
	t.Helper()
	for _, q := range []string{"SELECT seq, data FROM change ORDER BY seq", "SELECT n, data FROM part ORDER BY n", "SELECT id, data FROM block ORDER BY id", "SELECT key, value FROM item ORDER BY key"} {
		rows, err := db.read.QueryContext(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var a, b []byte
			if err := rows.Scan(&a, &b); err != nil {
				t.Fatal(err)
			}
			all = append(append(all, a...), b...)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}
