//go:build race

package dedupe_test

// raceEnabled shortens what takes long under the race detector.
const raceEnabled = true
