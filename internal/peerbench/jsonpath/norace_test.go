//go:build !race

package jsonpath

const raceDetector = false
