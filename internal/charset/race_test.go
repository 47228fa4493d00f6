//go:build race

package charset

// raceEnabled: allocations and times are not what they are without the race detector.
const raceEnabled = true
