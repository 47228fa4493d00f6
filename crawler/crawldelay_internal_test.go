package crawler

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// Hosts whose time is over are dropped.
func TestRestsAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r rests
		for i := range 10_000 {
			r.set(fmt.Sprint(i), time.Minute)
			time.Sleep(time.Second)
			if len(r.until) > 1024 {
				t.Fatalf("%d hosts are kept", len(r.until))
			}
		}
		if r.wait("9999") != 59*time.Second || r.wait("9000") != 0 || r.wait("never") != 0 {
			t.Errorf("%v, %v, %v", r.wait("9999"), r.wait("9000"), r.wait("never"))
		}
	})
}
