package sqlitebackend

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/seine-go/seine/crawler"
	"modernc.org/sqlite"
)

// The greatest value is kept, and one byte more is an error of whoever brings it.
func TestGreatestValue(t *testing.T) {
	db := begin(t, newWorld(t), Options{})
	s, ctx := db.Store(), t.Context()
	great := make([]byte, crawler.MaxValueBytes+1)
	var refused *crawler.ItemError
	if err := s.Put(ctx, "a", great); !errors.As(err, &refused) || refused.Size != len(great) {
		t.Errorf("Put: %v", err)
	}
	if err := s.Update(ctx, "a", func([]byte) ([]byte, error) { return great, nil }); !errors.As(err, &refused) {
		t.Errorf("Update: %v", err)
	}
	b, err := db.Frontier().Lease(ctx, crawler.LeaseRequest{Owner: "A", Boot: 1, Max: 1})
	if err != nil || len(b.Leases) != 1 {
		t.Fatal(b, err)
	}
	if err := db.Frontier().Settle(ctx, crawler.Settlement{Lease: b.Leases[0], Outcome: crawler.Done, Items: []crawler.Item{{Key: "a", Value: great}}}); !errors.As(err, &refused) {
		t.Errorf("Settle: %v", err)
	}
	great = great[:crawler.MaxValueBytes]
	if err := db.Frontier().Settle(ctx, crawler.Settlement{Lease: b.Leases[0], Outcome: crawler.Done, Items: []crawler.Item{{Key: "a", Value: great}}}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Get(ctx, "a"); err != nil || !bytes.Equal(got, great) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// What one caller wrote that cannot be written is an error of that caller, and of nobody who writes at the same time.
func TestUnitFailsAlone(t *testing.T) {
	db := begin(t, newWorld(t), Options{})
	if err := db.Store().Put(t.Context(), "damaged", []byte("1")); err != nil {
		t.Fatal(err)
	}
	const most = 100_000 // as if that were all that SQLite takes
	if _, err := sqlite.Limit(db.writer.conn, 0, most); err != nil {
		t.Fatal(err)
	}
	b, err := db.Frontier().Lease(t.Context(), crawler.LeaseRequest{Owner: "A", Boot: 1, Max: 1})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			size := 1
			if i%8 == 0 {
				size = most
			}
			if err := db.Store().Put(context.Background(), fmt.Sprint("k", i), make([]byte, size)); (err != nil) != (size == most) {
				t.Errorf("a value of %d bytes: %v", size, err)
			}
		})
	}
	all.Go(func() {
		if err := db.Frontier().Settle(context.Background(), crawler.Settlement{Lease: b.Leases[0], Outcome: crawler.Done, Items: []crawler.Item{{Key: "page/0", Value: []byte("1")}}}); err != nil {
			t.Error(err)
		}
	})
	all.Wait()
	rawSQL(t, db.path, "UPDATE item SET value = x'00' WHERE key = CAST('damaged' AS BLOB)")
	u := &storeWrite{key: "damaged", value: []byte("2"), compare: true, old: []byte("1")}
	if err := db.Store().write(t.Context(), u); !Damaged(err) {
		t.Errorf("a value that was damaged: %v", err)
	}
	if err := db.Store().Put(t.Context(), "after", nil); err != nil {
		t.Error(err)
	}
	if items(t, db) != 1 {
		t.Error("the page was not settled")
	}
}

// Scan reads a bounded number of bytes at a time, however long values are.
func TestScanInBoundedMemory(t *testing.T) {
	db := begin(t, newWorld(t), Options{})
	const n, size = 100, 1 << 20
	for i := range n {
		if err := db.Store().Put(t.Context(), fmt.Sprintf("page/%03d", i), make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	before, seen := heap(), 0
	for e, err := range db.Store().Scan(t.Context(), "page/") {
		if err != nil || e.Key != fmt.Sprintf("page/%03d", seen) || len(e.Value) != size {
			t.Fatal(e.Key, err)
		}
		if seen++; seen%10 == 1 {
			if held := heap() - before; held > scanBytes+4*size {
				t.Fatalf("%d bytes are held", held)
			}
		}
		runtime.KeepAlive(e)
	}
	if seen != n {
		t.Errorf("%d of %d", seen, n)
	}
}
