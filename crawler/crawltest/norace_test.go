//go:build !race

package crawltest_test

// raceEnabled: allocations and times are not what they are without the race detector.
const raceEnabled = false
