package sqlitebackend

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
)

// crawlOn leases and settles until nothing is left, or so many pages are done. Page n of n < pages links to 2n+1 and 2n+2.
func crawlOn(t testing.TB, f crawler.Frontier, boot uint64, pages, most int, visited map[string]int) (finished bool) {
	t.Helper()
	for range most {
		b, err := f.Lease(t.Context(), crawler.LeaseRequest{Owner: "A", Boot: boot, Max: 3})
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Leases) == 0 {
			return b.Finished
		}
		for _, l := range b.Leases {
			visited[l.Key]++
			var n int
			if _, err := fmt.Sscanf(l.Key, "https://a.example/%d", &n); err != nil {
				t.Fatal(err)
			}
			s := crawler.Settlement{Lease: l, Outcome: crawler.Done, Items: []crawler.Item{{Key: "page/" + l.Key, Value: []byte(l.Key)}}}
			for _, to := range []int{2*n + 1, 2*n + 2} {
				if to < pages {
					s.Links = append(s.Links, seedOf(to))
				}
			}
			if err := f.Settle(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
	}
	return false
}

func seedOf(n int) *crawler.Request {
	return &crawler.Request{URL: fmt.Sprintf("https://a.example/%d", n)}
}

// begin opens a crawl of which the first page is known, on hosts without any pace.
func begin(t testing.TB, w *world, o Options) *DB {
	t.Helper()
	db := w.open(t, w.path(), o)
	again(t, db)
	return db
}

func again(t testing.TB, db *DB) {
	t.Helper()
	if err := db.Frontier().SetHost(t.Context(), "", crawler.HostPolicy{Spacing: -1, Delay: -1, MaxInFlight: -1, Adapt: crawler.SwitchOff}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Frontier().Add(t.Context(), seedOf(0)); err != nil {
		t.Fatal(err)
	}
}

// items counts what is in the store.
func items(t testing.TB, db *DB) (n int) {
	t.Helper()
	for _, err := range db.Store().Scan(t.Context(), "page/") {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// Whatever becomes of the end of the log, what opens is an earlier state: items and frontier agree, and the crawl goes on
// to its end.
func TestDamagedLogTailIsAnEarlierState_K026(t *testing.T) {
	r := rand.New(rand.NewPCG(*seed, 26))
	cases, reported := 0, 0
	try := func(name string, damage func(wal string)) {
		w := newWorld(t)
		db := begin(t, w, Options{})
		const pages = 60
		crawlOn(t, db.Frontier(), 1, pages, 3+r.IntN(15), map[string]int{})
		was := items(t, db)
		live := db.path
		db = w.die(t, db, func(path string) {
			copyTest(t, path+"-shm", live+"-shm")
			damage(path + "-wal")
		})
		cases++
		found := db.Recovery()
		said := found.Unreplayed > 0 || found.LogMissing
		if said {
			reported++
		}
		if !found.Unclosed || strings.Contains(found.String(), "nothing was lost") {
			t.Fatalf("%s: %v", name, found)
		}
		if n := items(t, db); n > was {
			t.Fatalf("%s: %d items, and %d before", name, n, was)
		} else if s, err := db.Frontier().Stats(t.Context()); err != nil || s.Done != int64(n) {
			t.Fatalf("%s: %d pages are done, %d items are there, %v", name, s.Done, n, err)
		} else if n < was && !said {
			t.Fatalf("%s: %d items of %d are there, and nothing is said", name, n, was)
		}
		again(t, db)
		if !crawlOn(t, db.Frontier(), 2, pages, 10*pages, map[string]int{}) || items(t, db) != pages {
			t.Fatalf("%s: the crawl ended with %d pages of %d", name, items(t, db), pages)
		}
		if err := db.Check(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	for _, n := range []int64{1, 2, 3, 8, 17, 64, 4096, 4120, 10_000} {
		try(fmt.Sprint("cut by ", n), func(wal string) { cut(t, wal, n) })
	}
	for range 10 {
		try("flipped", func(wal string) { flip(t, wal, r, 64) })
		try("flipped further up", func(wal string) { flip(t, wal, r, 20_000) })
		try("cut at random", func(wal string) { cut(t, wal, r.Int64N(40_000)) })
	}
	if !t.Failed() {
		fmt.Printf("shown durable.3: %d logs whose ends were cut or had a bit flipped: each opened at an earlier state, items and frontier in step; %d said how much was not replayed or that the log is missing, among them all that had lost an item\n", cases, reported)
	}
}

// flip turns a bit among the last bytes of a file.
func flip(t testing.TB, path string, r *rand.Rand, last int64) {
	t.Helper()
	p, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := int64(len(p)) - 1 - r.Int64N(min(last, int64(len(p))))
	p[at] ^= 1 << r.IntN(8)
	if err := os.WriteFile(path, p, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A flipped bit anywhere in the file is found, at the latest by Check, or makes no difference.
func TestFlippedBitsAreNeverSilent(t *testing.T) {
	r := rand.New(rand.NewPCG(*seed, 27))
	found, harmless := 0, 0
	for range 40 {
		w := newWorld(t)
		db := begin(t, w, Options{})
		const pages = 200
		crawlOn(t, db.Frontier(), 1, pages, 30, map[string]int{})
		values, queued := valuesOf(t, db), pending(t, db)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		flip(t, db.path, r, 1<<30)
		next, err := Open(t.Context(), db.path, Options{})
		var damaged *DamagedError
		if err != nil {
			if found++; !errors.As(err, &damaged) && !strings.Contains(err.Error(), "database") {
				t.Fatalf("an unclear error: %v", err)
			}
			continue
		}
		if err := next.Check(t.Context()); err != nil {
			found++
		} else if harmless++; !maps.Equal(valuesOf(t, next), values) || !slices.Equal(pending(t, next), queued) {
			t.Fatalf("%d items of %d are there, %d requests of %d, and nothing is said", items(t, next), len(values), len(pending(t, next)), len(queued))
		}
		_ = next.Close() // a damaged file may not close well
	}
	fmt.Printf("shown durable.3: 40 files with a flipped bit: %d found by opening or Check, %d where it stood in unused space; none lost anything in silence\n", found, harmless)
}

// valuesOf returns all that is in the store.
func valuesOf(t testing.TB, db *DB) map[string]string {
	t.Helper()
	all := map[string]string{}
	for e, err := range db.Store().Scan(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		all[e.Key] = string(e.Value)
	}
	return all
}

// A damaged file is put aside, and the crawl goes on from the newest whole snapshot.
func TestDamagedFileGivesWayToSnapshot(t *testing.T) {
	w := newWorld(t)
	db := begin(t, w, Options{})
	const pages = 300
	var snapshots []string
	done := []int{}
	for range 3 {
		crawlOn(t, db.Frontier(), 1, pages, 20, map[string]int{})
		w.clock.Add(int64(time.Second))
		s, err := db.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		snapshots, done = append(snapshots, s), append(done, items(t, db))
	}
	if _, err := os.Stat(snapshots[0]); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("three snapshots are kept, not two: %v", err)
	}
	crawlOn(t, db.Frontier(), 1, pages, 10, map[string]int{})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	ruin := func(path string) {
		t.Helper()
		p, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(p); i += 1000 {
			p[i] ^= 0xff
		}
		if err := os.WriteFile(path, p, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ruin(db.path)
	ruin(snapshots[2])
	db = w.open(t, db.path, Options{})
	rec := db.Recovery()
	if rec.Snapshot != snapshots[1] || rec.Err == nil || rec.Taken.IsZero() || items(t, db) != done[1] {
		t.Fatalf("%+v; %d items, not %d", rec, items(t, db), done[1])
	}
	if _, err := os.Stat(rec.Damaged); err != nil {
		t.Error(err)
	}
	again(t, db)
	if !crawlOn(t, db.Frontier(), 2, pages, 10*pages, map[string]int{}) || items(t, db) != pages {
		t.Fatalf("the crawl ended with %d pages of %d", items(t, db), pages)
	}
	path := db.path
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{snapshots[1], path} { // the third still is
		ruin(p)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var damaged *DamagedError
	if _, err := Open(t.Context(), path, Options{}); !errors.As(err, &damaged) || damaged.Path != path {
		t.Fatalf("with nothing whole: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("a damaged file that nothing can replace did not stay as it was: %v", err)
	}
	fmt.Printf("shown durable.3: a ruined file was put aside, and the crawl went on from the newest whole snapshot, that of %v, of two; with none whole it is a DamagedError, and the file stays\n", rec.Taken.UTC().Format(time.TimeOnly))
}

// Queues that are damaged while a crawl goes on end its run with an error that says so. No copy of them is kept, and the next
// Open goes on with the copy before.
func TestDamageMetLater(t *testing.T) {
	w := newWorld(t)
	small := crawler.MemoryOptions{SpillBytes: 1}
	db := begin(t, w, Options{Snapshots: 1, Frontier: small})
	const pages = 6000
	crawlOn(t, db.Frontier(), 1, pages, 500, map[string]int{})
	done := items(t, db)
	snapshot, err := db.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	crawlOn(t, db.Frontier(), 1, pages, 250, map[string]int{})
	path := db.path
	for range 2 { // a state is saved
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		db = w.open(t, path, Options{Snapshots: 1, Frontier: small})
	}
	ruinQueues(t, path)
	if _, err := db.Snapshot(t.Context()); !Damaged(err) {
		t.Errorf("Snapshot: %v", err)
	}
	for range 10 * pages {
		if _, err = db.Frontier().Lease(t.Context(), crawler.LeaseRequest{Owner: "A", Boot: 2, Max: 3}); err != nil {
			break
		}
		w.clock.Add(int64(time.Hour)) // it is lost
	}
	if !Damaged(err) {
		t.Errorf("Lease: %v", err)
	}
	if err := db.Close(); err != nil && !Damaged(err) {
		t.Error(err)
	}
	db = w.open(t, path, Options{})
	if rec := db.Recovery(); rec.Snapshot != snapshot || !Damaged(rec.Err) || items(t, db) != done {
		t.Fatalf("%+v; %d items, not %d", rec, items(t, db), done)
	}
	again(t, db)
	if !crawlOn(t, db.Frontier(), 3, pages, 10*pages, map[string]int{}) || items(t, db) != pages {
		t.Errorf("the crawl ended with %d pages of %d", items(t, db), pages)
	}
	if !t.Failed() {
		fmt.Println("shown durable.3: queues that are damaged while a crawl goes on end a run with an error that says so; no copy of them replaces a whole one, from which the next Open goes on")
	}
}

// ruinQueues damages the blocks that hold queues.
func ruinQueues(t testing.TB, path string) {
	t.Helper()
	c, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r, err := c.Exec("UPDATE block SET data = zeroblob(length(data)) WHERE length(data) > 5000")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		t.Fatalf("%d blocks, %v", n, err)
	}
}

// A crawl has one process.
func TestSecondOpenIsRefused_K028(t *testing.T) {
	w := newWorld(t)
	db := begin(t, w, Options{})
	var locked *LockedError
	if _, err := Open(t.Context(), db.path, Options{}); !errors.As(err, &locked) || locked.Path != db.path {
		t.Fatalf("a second open in this process: %v", err)
	}
	l := live(t, killcrawl(t), db.path, "http://127.0.0.1:1/", 1, nil, nil)
	if l.err == nil || l.cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("a second process ended with %v", l.err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := Open(t.Context(), db.path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	fmt.Println("shown durable.3: a second DB and a second process get a LockedError, and the file after the first has closed it")
}

// What was in flight at a death comes back at once, one at a time.
func TestLeasesOfTheDeadComeBackAtOnce_K027(t *testing.T) {
	w := newWorld(t)
	db := begin(t, w, Options{})
	for n := range 5 {
		if _, err := db.Frontier().Add(t.Context(), seedOf(n)); err != nil {
			t.Fatal(err)
		}
	}
	b, err := db.Frontier().Lease(t.Context(), crawler.LeaseRequest{Owner: "A", Boot: 1, Max: 3, TTL: time.Hour})
	if err != nil || len(b.Leases) != 3 {
		t.Fatal(b, err)
	}
	db = w.die(t, db, nil)
	again(t, db)
	for range 3 {
		got, err := db.Frontier().Lease(t.Context(), crawler.LeaseRequest{Owner: "B", Boot: 9, Max: 3})
		if err != nil || len(got.Leases) != 1 || !got.Leases[0].Suspect {
			t.Fatalf("%+v, %v; not one suspect", got, err)
		}
		if err := db.Frontier().Settle(t.Context(), crawler.Settlement{Lease: got.Leases[0], Outcome: crawler.Done}); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := db.Frontier().Lease(t.Context(), crawler.LeaseRequest{Owner: "B", Boot: 9, Max: 3}); err != nil || len(got.Leases) != 2 {
		t.Fatalf("%+v, %v; not the two that were never in flight", got, err)
	}
}

// Blocks and delays outlive a restart, and do not grow or vanish with the clock of the machine.
func TestPaceSurvivesRestartsAndClockJumps_K041(t *testing.T) {
	for name, jump := range map[string]time.Duration{"none": 0, "back": -24 * time.Hour, "a little forward": 10 * time.Second} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			db := begin(t, w, Options{})
			f := db.Frontier()
			if err := f.SetHost(t.Context(), "a.example", crawler.HostPolicy{Block: time.Minute, Delay: time.Second}); err != nil {
				t.Fatal(err)
			}
			w.machine.Store(int64(jump))
			db = w.die(t, db, nil)
			f = db.Frontier()
			wait := time.Minute - max(jump, 0)
			b, err := f.Lease(t.Context(), crawler.LeaseRequest{Owner: "A", Boot: 2, Max: 1})
			if err != nil || len(b.Leases) != 0 || b.Next > wait || b.Next < wait-time.Second {
				t.Fatalf("after the restart: %+v, %v", b, err)
			}
			w.clock.Add(int64(wait))
			if _, err := f.Add(t.Context(), seedOf(1)); err != nil {
				t.Fatal(err)
			}
			if b, err = f.Lease(t.Context(), crawler.LeaseRequest{Owner: "A", Boot: 2, Max: 2}); err != nil || len(b.Leases) != 1 {
				t.Fatalf("after the block, with a delay: %+v, %v", b, err)
			}
		})
	}
	if !t.Failed() {
		fmt.Println("shown durable.3: blocks and delays outlive restarts; a machine's clock that goes back a day lengthens none, and time that passes counts")
	}
}

// A folder that cannot be written is a clear error.
func TestUnwritableFolder(t *testing.T) {
	if _, err := Open(t.Context(), filepath.Join(t.TempDir(), "missing", "crawl.db"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing folder: %v", err)
	}
	text := filepath.Join(t.TempDir(), "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("this is no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	var damaged *DamagedError
	if _, err := Open(t.Context(), text, Options{}); !errors.As(err, &damaged) {
		t.Errorf("a file that is no database: %v", err)
	}
	if p, err := os.ReadFile(text); err != nil || !strings.HasPrefix(string(p), "this is no database") {
		t.Errorf("the file was changed: %.30q, %v", p, err)
	}
}
