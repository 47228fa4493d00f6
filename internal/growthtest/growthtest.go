// Package growthtest holds tests to it that work grows with its input and not with a power of it.
package growthtest

import (
	"runtime"
	"testing"
	"time"
)

// Size is that of the large input, 16 times that of the small one.
const Size = 128 << 10

// Linear compares what an input of Size costs with what one of a sixteenth of it does: of what is linear 16 times as much, of
// what grows with the square 256 times. It counts the time of the goroutine's own thread where the system tells it, and of
// several turns the best, so that whoever else works on the machine does not count.
func Linear(t testing.TB, name string, input func(size int) string, work func(string)) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	small, large := best(3, input(Size/16), work), best(1, input(Size), work)
	if large > 90*small && large > 50*time.Millisecond {
		t.Errorf("%s: %v for %d KiB, %v for %d KiB", name, small, Size>>14, large, Size>>10)
	}
}

func best(turns int, input string, work func(string)) time.Duration {
	least := time.Hour
	for range turns {
		start := now()
		work(input)
		least = min(least, now()-start)
	}
	return least
}
