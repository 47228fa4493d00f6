//go:build !race

package charset

const raceEnabled = false
