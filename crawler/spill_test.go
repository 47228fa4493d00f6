package crawler

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

func spillingArena(t *testing.T) *arena {
	t.Helper()
	a := newArena()
	a.files.init(t.TempDir(), 1)
	t.Cleanup(func() {
		if err := a.files.close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// A queue gives back what was pushed, in order, whenever it is spilled, and gives up the files when it is empty.
func TestQueueKeepsOrderWhenSpilled(t *testing.T) {
	t.Parallel()
	a := spillingArena(t)
	r := rand.New(rand.NewPCG(5, 6))
	var q queue
	var model [][]byte
	for i := range 50_000 {
		switch p := r.IntN(20); {
		case p < 9 && len(model) > 0:
			if got, err := q.pop(a); err != nil || !bytes.Equal(got, model[0]) {
				t.Fatalf("step %d: popped %q, %v, want %q", i, got, err, model[0])
			}
			model = model[1:]
		case p < 10:
			if err := q.spill(a, 1+r.IntN(2000)); err != nil {
				t.Fatal(err)
			}
		default:
			record := bytes.Repeat([]byte{byte(i)}, 1+r.IntN(200))
			q.push(a, record)
			model = append(model, record)
		}
	}
	for _, want := range model {
		if got, err := q.pop(a); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("popped %q, %v, want %q", got, err, want)
		}
	}
	q.free(a)
	if a.bytes != 0 || len(a.files.open) != 0 {
		t.Fatalf("%d bytes and %d files are held by nothing", a.bytes, len(a.files.open))
	}
}

// faultyFile fails when it is told to.
type faultyFile struct {
	spillFile
	failRead, failWrite, damage *bool
}

var errDisk = errors.New("the disk is gone")

func (f faultyFile) ReadAt(p []byte, off int64) (int, error) {
	if *f.failRead {
		return 0, errDisk
	}
	n, err := f.spillFile.ReadAt(p, off)
	if *f.damage && n > 0 {
		p[0] ^= 1
	}
	return n, err
}

func (f faultyFile) WriteAt(p []byte, off int64) (int, error) {
	if *f.failWrite {
		return len(p) / 2, errDisk
	}
	return f.spillFile.WriteAt(p, off)
}

// A disk that fails makes the frontier full and loses nothing: what it could not take stays in memory, what it cannot
// give is asked for again.
func TestSpillSurvivesFaultsOfTheDisk(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	m := NewMemory(MemoryOptions{SpillDir: t.TempDir(), SpillBytes: 1000})
	defer m.Close()
	if err := m.SetHost(ctx, "", HostPolicy{Spacing: -1, MaxInFlight: -1}); err != nil {
		t.Fatal(err)
	}
	var failRead, failWrite, damage bool
	create := m.arena.files.create
	m.arena.files.create = func() (spillFile, error) {
		f, err := create()
		return faultyFile{f, &failRead, &failWrite, &damage}, err
	}
	added := 0
	add := func(most int) (err error) {
		for range most {
			if _, err = m.Add(ctx, &Request{URL: fmt.Sprintf("https://films.example/catalogue/film/%d", added)}); err != nil {
				return err
			}
			added++
		}
		return nil
	}
	if err := add(200); err != nil {
		t.Fatal(err)
	}
	failWrite = true
	if err := add(200); !errors.Is(err, ErrFull) || !errors.Is(err, errDisk) {
		t.Fatalf("a disk that is full: %v", err)
	}
	if added == 200 || m.arena.bytes > 3000 {
		t.Fatalf("%d were added, %d bytes are held in memory", added, m.arena.bytes)
	}
	failWrite = false
	if err := add(200); err != nil {
		t.Fatal(err)
	}
	leased := 0
	take := func() error {
		for {
			b, err := m.Lease(ctx, LeaseRequest{Owner: "A", Max: 1, TTL: time.Hour})
			if err != nil || len(b.Leases) == 0 {
				return err
			}
			if want := fmt.Sprintf("https://films.example/catalogue/film/%d", leased); b.Leases[0].Key != want {
				t.Fatalf("%s came, not %s", b.Leases[0].Key, want)
			}
			leased++
		}
	}
	failRead = true
	if err := take(); !errors.Is(err, errDisk) {
		t.Fatalf("a disk that cannot be read: %v", err)
	}
	failRead, damage = false, true
	if err := take(); !errors.Is(err, errSpillDamaged) {
		t.Fatalf("a file that is damaged: %v", err)
	}
	damage = false
	if err := take(); err != nil || leased != added {
		t.Fatalf("%d of %d came back, %v", leased, added, err)
	}
}

// Files are gone when the frontier is closed, and it says that it is.
func TestCloseRemovesSpillFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := NewMemory(MemoryOptions{SpillDir: dir, SpillBytes: 100})
	for i := range 1000 {
		if _, err := m.Add(t.Context(), &Request{URL: fmt.Sprintf("https://films.example/%d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if len(m.arena.files.open) == 0 || m.arena.bytes > 1000 {
		t.Fatalf("%d files, %d bytes in memory", len(m.arena.files.open), m.arena.bytes)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Fatalf("%v are left, %v", left, err)
	}
	if _, err := m.Lease(t.Context(), LeaseRequest{Owner: "A", Max: 1}); !errors.Is(err, ErrClosed) {
		t.Fatalf("a closed frontier: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Fatal("closed again:", err)
	}
}

// The number of files is bounded, and a directory that is not there makes the frontier full, not silent.
func TestSpillFilesAreBounded(t *testing.T) {
	t.Parallel()
	a := newArena()
	a.files.init("x", 1)
	a.files.create = func() (spillFile, error) { return faultyFile{spillFile: nopFile{}, failWrite: new(bool)}, nil }
	for range maxSpillFiles {
		if _, err := a.files.write(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		a.files.open[a.files.last].size = spillFileBytes
	}
	if _, err := a.files.write(make([]byte, 1)); !errors.Is(err, errSpillFull) {
		t.Fatalf("one file past the bound: %v", err)
	}
	m := NewMemory(MemoryOptions{SpillDir: t.TempDir() + "/not there", SpillBytes: 100})
	var err error
	for i := 0; i < 100 && err == nil; i++ {
		_, err = m.Add(t.Context(), &Request{URL: fmt.Sprintf("https://films.example/%d", i)})
	}
	if !errors.Is(err, ErrFull) || !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a directory that is not there: %v", err)
	}
}

type nopFile struct{ spillFile }

func (nopFile) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }
