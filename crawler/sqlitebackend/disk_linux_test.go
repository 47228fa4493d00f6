package sqlitebackend

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
)

// smallDisk mounts a disk of a megabyte, or skips the test.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		if os.Getenv("SEINE_REQUIRE") == "all" {
			t.Fatalf("no small disk: %v, and SEINE_REQUIRE=all", err)
		}
		t.Skipf("no small disk can be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// A full disk is an error, nothing is half written, and once there is room again the crawl goes on.
func TestFullDiskIsAnErrorAndPasses(t *testing.T) {
	dir := smallDisk(t)
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 400<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "crawl.db")
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := db.Frontier()
	url := func(n int) *crawler.Request {
		return &crawler.Request{URL: fmt.Sprintf("https://a.example/%d/%s", n, strings.Repeat("x", 1000))}
	}
	added := 0
	for ; err == nil && added < 10_000; added++ {
		_, err = f.Add(t.Context(), url(added))
	}
	added-- // the last was answered with an error: it may be there or not
	if err == nil || !strings.Contains(err.Error(), "full") {
		t.Fatalf("after %d: %v", added, err)
	}
	if _, err := f.Add(t.Context(), url(added+1)); err == nil || !strings.Contains(err.Error(), "full") {
		t.Fatalf("while it is full: %v", err)
	}
	if err := db.Store().Put(t.Context(), "a", []byte("1")); err == nil {
		t.Fatal("a value was taken though the disk is full")
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); ; {
		if _, err = f.Add(t.Context(), url(added+1)); err == nil {
			break
		}
		if time.Since(start) > 20*time.Second {
			t.Fatalf("with room again: %v", err)
		}
	}
	if err := errors.Join(db.Check(t.Context()), db.Close()); err != nil {
		t.Fatal(err)
	}
	if db, err = Open(t.Context(), path, Options{}); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for n := range added {
		if s, err := db.Frontier().Add(t.Context(), url(n)); err != nil || s[0] != crawler.Duplicate {
			t.Fatalf("%d is %v, %v", n, s, err)
		}
	}
	fmt.Printf("shown durable.3: a full disk is an error after %d requests, all of which are there; with room again the crawl goes on\n", added)
}

// Whoever waits while the disk is full is told, and nobody waits any more after Close.
func TestFullDiskTellsAll(t *testing.T) {
	path := filepath.Join(smallDisk(t), "crawl.db")
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	const writers = 32
	var all, first sync.WaitGroup
	first.Add(writers)
	for i := range writers {
		all.Go(func() {
			var err error
			for j := 0; err == nil; j++ {
				err = db.Store().Put(context.Background(), fmt.Sprint(i, "/", j), make([]byte, 3000))
			}
			if !strings.Contains(err.Error(), "full") {
				t.Error(err)
			}
			first.Done()
			for !errors.Is(err, ErrClosed) { // until it is closed
				err = db.Store().Put(context.Background(), fmt.Sprint(i, "/more"), make([]byte, 3000))
			}
		})
	}
	first.Wait()
	if err := db.Close(); err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("Close: %v", err)
	}
	all.Wait()
	fmt.Printf("shown durable.3: %d writers on a full disk are all told, as is Close\n", writers)
}

// A disk that is full while a snapshot takes the place of a damaged file leaves both as they are, for the next time.
func TestFullDiskWhileASnapshotIsRestored(t *testing.T) {
	dir := smallDisk(t)
	path := filepath.Join(dir, "crawl.db")
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	again(t, db)
	crawlOn(t, db.Frontier(), 1, 300, 30, map[string]int{})
	snapshot, err := db.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	had := items(t, db)
	if err := errors.Join(db.Close(), os.Truncate(path, 4096)); err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	for range 2 {
		if _, err := Open(t.Context(), path, Options{}); err == nil || Damaged(err) {
			t.Fatalf("on a full disk: %v", err)
		}
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if db, err = Open(t.Context(), path, Options{}); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if items(t, db) != had || db.Recovery().Snapshot != snapshot {
		t.Errorf("%d items, not %d: %v", items(t, db), had, db.Recovery())
	}
}

func TestReadOnlyDisk(t *testing.T) {
	dir := smallDisk(t)
	path := filepath.Join(dir, "crawl.db")
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, Options{}); !errors.Is(err, syscall.EROFS) || !strings.HasPrefix(err.Error(), "seine: sqlite: ") {
		t.Fatalf("on a read-only disk: %v", err)
	} else {
		fmt.Println("shown durable.3: a read-only disk:", strings.ReplaceAll(err.Error(), dir, "…"))
	}
}

// A folder that the user may not write to is an error of the system. Who may write everywhere asks another user to look.
func TestReadOnlyFolder(t *testing.T) {
	const env = "SEINE_TEST_READ_ONLY"
	dir := os.Getenv(env)
	if dir == "" && os.Geteuid() == 0 {
		asNobody(t, env, nil)
		return
	}
	if dir == "" {
		dir = t.TempDir()
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(dir, 0o700)
	}
	if _, err := Open(t.Context(), filepath.Join(dir, "crawl.db"), Options{}); !errors.Is(err, os.ErrPermission) {
		t.Errorf("a read-only folder: %v", err)
	}
}

// A crawl in such a folder can be looked at.
func TestViewInReadOnlyFolder(t *testing.T) {
	const env = "SEINE_TEST_READ_ONLY_VIEW"
	crawl := func(dir string) {
		db, err := Open(t.Context(), filepath.Join(dir, "crawl.db"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Frontier().Add(t.Context(), seedOf(0), seedOf(1)); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(db.Close(), os.Chmod(db.path, 0o644)); err != nil { // others may look at it
			t.Fatal(err)
		}
	}
	dir := os.Getenv(env)
	if dir == "" && os.Geteuid() == 0 {
		asNobody(t, env, crawl)
		return
	}
	if dir == "" {
		dir = t.TempDir()
		crawl(dir)
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(dir, 0o700)
	}
	if all := pending(t, view(t, filepath.Join(dir, "crawl.db"))); len(all) != 2 {
		t.Errorf("listed are %q", all)
	}
}

// asNobody runs the test that calls it once more, as a user who may not write to the folder that env names then. What is in
// there prepare has made, unless it is nil.
func asNobody(t *testing.T, env string, prepare func(dir string)) {
	t.Helper()
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "seine-read-only-") // those of TempDir are its owner's alone
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	bin := filepath.Join(dir, "test")
	if err := errors.Join(os.WriteFile(bin, self, 0o755), os.Chmod(bin, 0o755), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	if prepare != nil {
		prepare(dir)
	}
	const nobody = 65534
	cmd := exec.CommandContext(t.Context(), bin, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
}

// A page whose results find no room is tried again by the next process, however often: the disk is at fault, not the page.
func TestFullDiskFailsNoPage(t *testing.T) {
	ran := 0
	dead, s := lives(t, filepath.Join(smallDisk(t), "films.db"), 6, func(life int, db *DB) {
		f := db.Frontier()
		if life == 0 {
			again(t, db)
		}
		b, err := f.Lease(t.Context(), crawler.LeaseRequest{Owner: "A", Boot: uint64(life), Max: 1})
		if err != nil || len(b.Leases) != 1 || b.Leases[0].Suspect {
			t.Fatalf("%+v, %v", b, err)
		}
		ran++
		page := crawler.Settlement{Lease: b.Leases[0], Outcome: crawler.Done, Items: []crawler.Item{{Key: "page", Value: make([]byte, 2<<20)}}}
		if err := f.Settle(t.Context(), page); err == nil {
			t.Error("two megabytes are on a disk of one")
		}
		if err := db.Close(); err == nil {
			t.Error("nothing was said of what is lost")
		}
	})
	if len(dead) > 0 || s.Failed != 0 || s.Ready != 1 || ran != 6 {
		t.Errorf("%v, %+v", dead, s)
	}
}
