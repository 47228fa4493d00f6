//go:build !race

package sqlitebackend

const raceEnabled = false
