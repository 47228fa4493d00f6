//go:build !linux

package growthtest

import "time"

var start = time.Now()

// now is the time that has passed.
func now() time.Duration { return time.Since(start) }
