//go:build race

package sqlitebackend

// raceEnabled shortens what takes long under the race detector.
const raceEnabled = true
