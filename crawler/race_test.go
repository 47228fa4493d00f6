//go:build race

package crawler_test

// raceEnabled shortens what takes long under the race detector.
const raceEnabled = true
