//go:build race

package torrent

// raceDetector: the instruments of the race detector cost ours more than theirs, so that ratios mean nothing.
const raceDetector = true
