// Package frontiertest checks that a crawler.Frontier keeps its rules R1 to R14. Whoever writes a frontier passes it before
// anything is crawled with it:
//
//	func TestFrontier(t *testing.T) {
//		frontiertest.Run(t, func(t *testing.T) frontiertest.Harness {
//			return frontiertest.Harness{Open: openMine, Reopen: reopenMine}
//		})
//	}
//
// A failure begins with the rule that was broken, as in "R3: …". What a frontier cannot do is left out of its Harness, and
// the tests that need it are skipped by name. RunModel holds a frontier against a reference model under random operations,
// RunCrawls ends random crawls, Benchmark measures.
package frontiertest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/crawler"
)

// Harness makes the frontiers of a test. Only Open is needed.
type Harness struct {
	// Open makes an empty frontier that lasts until the test ends.
	Open func(t testing.TB, o Options) crawler.Frontier
	// Reopen ends a frontier as the death of its process would and opens it again with the same options.
	Reopen func(t testing.TB, f crawler.Frontier) crawler.Frontier
	// CutTail does the same after the end of what was written last has been lost.
	CutTail func(t testing.TB, f crawler.Frontier) crawler.Frontier
	// Dump returns all that the frontier keeps, so that it can be told whether something changed. Nil: only Stats are
	// compared.
	Dump func(t testing.TB, f crawler.Frontier) []byte
	// Advance moves the clock of the frontier. Nil: its clock is that of package time, and the tests sleep.
	Advance func(d time.Duration)
	// Virtual runs each test in a bubble of testing/synctest, where sleeping takes no time. For frontiers that use
	// neither files nor the network.
	Virtual bool
	// Unit is a time in which some calls of the frontier are surely done; delays of the tests are some units. Zero means
	// 100 ms.
	Unit time.Duration
}

// Options are what a test needs of a frontier.
type Options struct {
	MaxPending int                // zero: at least a million
	MaxCrashes int                // as in crawler.MemoryOptions; zero: 3, negative: none counted
	CrashPause time.Duration      // the same
	LeaseTTL   time.Duration      // of leases that ask for none; zero: a minute
	AgeStep    time.Duration      // zero: none
	Pace       crawler.HostPolicy // of hosts that have none of their own; as for SetHost
}

// test is one test of the suite.
type test struct {
	rule, name string
	run        func(e *env)
}

func tests() []test {
	var all []test
	for _, some := range [][]test{addTests, leaseTests, settleTests, suspectTests, paceTests, orderTests, boundTests, endTests, upgradeTests, restartTests} {
		all = append(all, some...)
	}
	return all
}

// Run runs the suite. It makes a harness for each test.
func Run(t *testing.T, harness func(t *testing.T) Harness) {
	for _, c := range tests() {
		t.Run(c.rule+"/"+c.name, func(t *testing.T) {
			h := harness(t)
			if !h.Virtual {
				c.run(newEnv(t, c.rule, h))
				return
			}
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { c.run(newEnv(t, c.rule, h)) })
		})
	}
}
