//go:build race

package ratelimit

// raceEnabled shortens what takes long under the race detector.
const raceEnabled = true
