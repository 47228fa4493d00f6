//go:build race

package extract

// raceEnabled shortens what takes long under the race detector.
const raceEnabled = true
