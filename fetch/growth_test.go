package fetch

import (
	"net/http"
	"runtime"
	"testing"
)

// A body of unknown length that fills its limit costs no more than twice the limit on the way, also where the limit is
// a power of two and what is allocated comes to it exactly.
func TestGrowingToTheLimitIsPaidOnce(t *testing.T) {
	for _, limit := range []int64{1 << 20, 4 << 20, 4<<20 - 1, 4<<20 + 1, 5 << 20} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		res := readBody(zeroReader{}, bodyInfo{size: -1, header: http.Header{}, limit: limit})
		runtime.ReadMemStats(&after)
		if int64(len(res.data)) != limit || res.cut == nil || res.cut.Kind != ErrBodyLimit {
			t.Errorf("limit %d: %d bytes, %v", limit, len(res.data), res.cut)
		}
		if used := int64(after.TotalAlloc - before.TotalAlloc); used > 2*limit+512<<10 {
			t.Errorf("limit %d: %d bytes allocated", limit, used)
		}
	}
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
