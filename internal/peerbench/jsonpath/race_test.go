//go:build race

package jsonpath

const raceDetector = true
