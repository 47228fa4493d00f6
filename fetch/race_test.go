//go:build race

package fetch

// raceEnabled: allocations and times are not what they are without the race detector.
const raceEnabled = true
