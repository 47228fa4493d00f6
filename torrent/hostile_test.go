package torrent_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/torrent"
)

// 100 MB of hostile input take bounded time and memory even without limits of bytes and tokens.
func TestHostileTorrentOf100MB(t *testing.T) {
	if testing.Short() {
		t.Skip("100 MB, several times")
	}
	const size = 100 << 20
	unlimited := torrent.Limits{Bytes: -1, Tokens: -1}
	inputs := map[string]string{
		"files":      outer("", "d5:filesl"+strings.Repeat("d6:lengthi1e4:pathl1:aee", size/24)+"e4:name1:a"+infoEnd, ""),
		"one path":   outer("", "d5:filesld6:lengthi1e4:pathl"+strings.Repeat("1:a", size/3)+"eee4:name1:a"+infoEnd, ""),
		"nodes":      outer("", demoInfo, "5:nodesl"+strings.Repeat("l1:ai1ee", size/8)+"e"),
		"one name":   outer("", fmt.Sprintf("d6:lengthi1e4:name%d:", size)+strings.Repeat("\xff", size)+infoEnd, ""),
		"deep paths": outer("", "d9:file tree"+strings.Repeat("d200:"+strings.Repeat("d", 200), 90)+"d"+leaves(size)+strings.Repeat("e", 91)+"12:meta versioni2e4:name1:a12:piece lengthi16384ee", ""),
	}
	var lines []string
	for _, name := range slices.Sorted(mapKeys(inputs)) {
		data := []byte(inputs[name])
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		m, _, err := torrent.Parse(data, torrent.Options{Limits: unlimited})
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		if took > 60*time.Second || allocated > 3*size {
			t.Errorf("%s: %s, %d MB allocated", name, took, allocated>>20)
		}
		if err == nil {
			err = checkPaths(m)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		lines = append(lines, fmt.Sprintf("%s %d MB allocated in %s", name, allocated>>20, took.Round(time.Millisecond)))
	}
	if !t.Failed() {
		fmt.Printf("shown torrent-files.3: fuzz targets FuzzDecode, FuzzParse, FuzzParseMagnet, FuzzTitle; 100 MB: %s\n", strings.Join(lines, "; "))
	}
}

func leaves(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "9:%09dd0:d6:lengthi0eee", i)
	}
	return b.String()
}

func mapKeys[V any](m map[string]V) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}
