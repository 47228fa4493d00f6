//go:build unix

package fetch

import (
	"fmt"
	"testing"
	"time"
)

// TestExchangeBudget compares the CPU time of an exchange with net/http's, at a time when both suffer the same
// neighbours: the contenders take turns, and of each the best round counts.
func TestExchangeBudget(t *testing.T) {
	if raceEnabled || testing.Short() {
		t.Skip("times are not what they are")
	}
	const (
		rounds, exchanges = 7, 1500
		userBar, totalBar = 0.60, 0.75
		tries             = 3
		allocsBar         = 20
		slack             = 1.25 // for what a shared machine adds to a ratio
	)
	addr := startBenchServer(t, "h1")
	var figures string
	for _, size := range []int{2 << 10, 20 << 10} {
		url := fmt.Sprintf("http://%s/%d", addr, size)
		both := contenders(t)
		var user, total [2]time.Duration
		var userRatio, totalRatio float64
		for try := 0; try == 0 || try < tries && (userRatio > userBar || totalRatio > totalBar); try++ {
			for range rounds {
				for i, c := range both {
					u, all := measure(t, c, url, size, exchanges)
					if user[i] == 0 || all < total[i] {
						user[i], total[i] = u, all
					}
				}
			}
			userRatio, totalRatio = float64(user[0])/float64(user[1]), float64(total[0])/float64(total[1])
		}
		allocs := testing.AllocsPerRun(200, func() { both[0].get(t, url, size) })
		figures += fmt.Sprintf(" %d KB: user %.2f, total %.2f of net/http (%v and %v), %.0f allocations;", size>>10, userRatio, totalRatio,
			total[0]/exchanges, total[1]/exchanges, allocs)
		if allocs > allocsBar || userRatio > userBar || totalRatio > totalBar {
			t.Errorf("%d KB: user %.2f, total %.2f of net/http, %.0f allocations", size>>10, userRatio, totalRatio, allocs)
		}
	}
	if !t.Failed() {
		fmt.Printf("shown first-crawl.3: exchange%s\n", figures)
	}
}

// measure returns the user and the whole CPU time of n exchanges.
func measure(t *testing.T, c contender, url string, size, n int) (user, total time.Duration) {
	c.get(t, url, size)
	u, s := cpu()
	for range n {
		c.get(t, url, size)
	}
	u2, s2 := cpu()
	return u2 - u, u2 - u + s2 - s
}
