//go:build !race

package torrent

const raceDetector = false
