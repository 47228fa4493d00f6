package sqlitebackend

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/crawler/frontiertest"
	"github.com/seine-go/seine/crawler/storetest"
)

var seed = flag.Uint64("seed", 1, "of random operations")

func long() bool { return os.Getenv("SEINE_LONG") == "1" }

func TestFrontierKeepsTheRules(t *testing.T) {
	frontiertest.Run(t, func(t *testing.T) frontiertest.Harness { return harness(t) })
	if !t.Failed() {
		fmt.Println("shown durable.1: frontiertest complete, restarts (R6, R8, R10, R12) and cut logs (R9) included")
	}
}

func TestStoreKeepsTheRules(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		w := newWorld(t)
		return storetest.Harness{
			Open:   func(t testing.TB) crawler.Store { return w.open(t, w.path(), Options{}).Store() },
			Reopen: func(t testing.TB, s crawler.Store) crawler.Store { return w.die(t, s.(*Store).db, nil).Store() },
		}
	})
	if !t.Failed() {
		fmt.Println("shown durable.1: storetest complete")
	}
}
