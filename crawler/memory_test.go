package crawler_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/crawler/frontiertest"
)

var seed = flag.Uint64("seed", 1, "of random operations")

func memoryHarness(spill bool) func(*testing.T) frontiertest.Harness {
	return func(t *testing.T) frontiertest.Harness {
		dir := ""
		if spill {
			dir = t.TempDir()
		}
		return frontiertest.Harness{Virtual: true, Open: func(t testing.TB, o frontiertest.Options) crawler.Frontier {
			m := crawler.NewMemory(crawler.MemoryOptions{
				MaxPending: o.MaxPending, MaxCrashes: o.MaxCrashes, CrashPause: o.CrashPause, LeaseTTL: o.LeaseTTL, AgeStep: o.AgeStep, SpillDir: dir, SpillBytes: 256,
			})
			t.Cleanup(func() {
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			})
			if err := m.SetHost(t.Context(), "", o.Pace); err != nil {
				t.Fatal(err)
			}
			return m
		}}
	}
}

func TestMemoryKeepsTheRules(t *testing.T) {
	t.Parallel()
	t.Cleanup(func() { // the tests of the suite have run by then
		if !t.Failed() {
			fmt.Println("shown engine.1: frontiertest holds for the memory frontier; what needs a restart (R9, half of R6, R8, R10, R12) is skipped by name")
		}
	})
	frontiertest.Run(t, memoryHarness(false))
}

func BenchmarkMemory(b *testing.B) {
	frontiertest.Benchmark(b, func(*testing.B) frontiertest.Harness { return memoryHarness(false)(nil) })
}

// The same with nearly all of each queue in files.
func TestSpillingMemoryKeepsTheRules(t *testing.T) {
	t.Parallel()
	frontiertest.Run(t, memoryHarness(true))
}

// operations is how many random operations are made: more with SEINE_LONG=1, fewer with -short or the race detector, which
// has nothing to find where one goroutine works.
func operations() int {
	switch {
	case os.Getenv("SEINE_LONG") == "1":
		return 2_000_000
	case testing.Short() || raceEnabled:
		return 5_000
	}
	return 100_000
}

func TestMemoryEqualsModel(t *testing.T) {
	t.Parallel()
	n := operations()
	frontiertest.RunModel(t, memoryHarness(false), frontiertest.ModelOptions{Ops: n, Seed: *seed})
	if !t.Failed() {
		fmt.Printf("shown engine.1: %d random operations of 3 owners equal the model, seed %d\n", n, *seed)
	}
}

func TestSpillingMemoryEqualsModel(t *testing.T) {
	t.Parallel()
	frontiertest.RunModel(t, memoryHarness(true), frontiertest.ModelOptions{Ops: operations() / 5, Seed: *seed + 1})
}

func TestCrawlsEndExactlyWhenTheyShould(t *testing.T) {
	t.Parallel()
	n := operations() / 10
	frontiertest.RunCrawls(t, memoryHarness(false), n, *seed)
	if !t.Failed() {
		fmt.Printf("shown engine.1: %d randomised crawls ended exactly when they should, seed %d\n", n, *seed)
	}
}

// The last task ends at the moment a producer adds a link, with real goroutines: nobody ever sees the end while there
// is something to do, and everybody sees it afterwards.
func TestFinishedWhileAProducerAdds_K003(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	repeats := 10_000
	if raceEnabled {
		repeats = 1000
	}
	for i := range repeats {
		m := crawler.NewMemory(crawler.MemoryOptions{})
		if err := m.SetHost(ctx, "", crawler.HostPolicy{Spacing: -1, MaxInFlight: -1}); err != nil {
			t.Fatal(err)
		}
		closeProducer, err := m.OpenProducer(ctx, "p", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Add(ctx, &crawler.Request{URL: "https://films.example/"}); err != nil {
			t.Fatal(err)
		}
		var done, added atomic.Int32
		var group sync.WaitGroup
		group.Go(func() { // the producer
			urls := []string{"https://films.example/late", "https://films.example/link"}
			if _, err := m.Add(ctx, &crawler.Request{URL: urls[i%2]}); err != nil {
				t.Error(err)
			}
			added.Store(1)
			if err := closeProducer(ctx); err != nil {
				t.Error(err)
			}
		})
		for _, owner := range []string{"A", "B"} {
			group.Go(func() {
				for {
					b, err := m.Lease(ctx, crawler.LeaseRequest{Owner: owner, Boot: 1, Max: 1})
					if err != nil {
						t.Error(err)
						return
					}
					for _, l := range b.Leases {
						s := crawler.Settlement{Lease: l, Outcome: crawler.Done}
						if l.Key == "https://films.example/" {
							s.Links = []*crawler.Request{{URL: "https://films.example/link"}}
						}
						done.Add(1)
						if err := m.Settle(ctx, s); err != nil {
							t.Error(err)
						}
					}
					if b.Finished {
						if want := int32(3 - i%2); done.Load() != want || added.Load() == 0 {
							t.Errorf("run %d: finished with %d of %d pages done", i, done.Load(), want)
						}
						return
					}
					runtime.Gosched()
				}
			})
		}
		group.Wait()
		if t.Failed() {
			return
		}
	}
}
