package crawler_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/crawler/storetest"
)

func TestMemoryStoreKeepsTheRules(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(*testing.T) storetest.Harness {
		return storetest.Harness{Open: func(testing.TB) crawler.Store { return new(crawler.MemoryStore) }}
	})
	if !t.Failed() {
		fmt.Println("shown engine.1: storetest holds for the memory store: S1 to S5, updates, concurrency, 2000 random operations")
	}
}

// An update may use the store itself, and is repeated when the value has changed under it.
func TestMemoryStoreUpdateMayUseTheStore(t *testing.T) {
	t.Parallel()
	s := new(crawler.MemoryStore)
	calls := 0
	err := s.Update(t.Context(), "count", func(old []byte) ([]byte, error) {
		n, _ := strconv.Atoi(string(old))
		if calls++; calls == 1 { // somebody else is faster
			if err := s.Put(t.Context(), "count", []byte("41")); err != nil {
				return nil, err
			}
		}
		return strconv.AppendInt(nil, int64(n+1), 10), nil
	})
	if err != nil || calls != 2 {
		t.Fatalf("%d calls, %v", calls, err)
	}
	if got, err := s.Get(t.Context(), "count"); err != nil || string(got) != "42" {
		t.Fatalf("%q, %v", got, err)
	}
}

func ExampleMemoryStore() {
	var s crawler.MemoryStore
	ctx := context.Background()
	_ = s.Put(ctx, "film/2", []byte("Amarcord"))
	_ = s.Put(ctx, "film/1", []byte("Alphaville"))
	for entry, err := range s.Scan(ctx, "film/") {
		if err != nil {
			panic(err)
		}
		fmt.Println(entry.Key, string(entry.Value))
	}
	// Output:
	// film/1 Alphaville
	// film/2 Amarcord
}
