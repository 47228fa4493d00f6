package bencode_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/torrent/bencode"
)

// 100 MB of each kind, or 64 KiB in the short form, read into any value without a limit of bytes: the limits of tokens and of
// depth alone bound memory and time.
func TestHostileBencode(t *testing.T) {
	size := 100 << 20
	if os.Getenv("SEINE_LONG") == "" {
		size = 64 << 10
	}
	list := func(piece string) string { return "l" + strings.Repeat(piece, size/len(piece)) + "e" }
	inputs := []struct {
		name, input string
		want        error // in the long form
	}{
		{"integers", list("i0e"), bencode.ErrTokens},
		{"empty strings", list("0:"), bencode.ErrTokens},
		{"empty lists", list("le"), bencode.ErrTokens},
		{"empty dictionaries", list("de"), bencode.ErrTokens},
		{"small dictionaries", list("d0:i0ee"), bencode.ErrTokens},
		{"dictionaries, as many as the tokens allow", "l" + strings.Repeat("de", min(size, bencode.DefaultMaxTokens/2-1)) + "e", nil},
		{"long strings", list("1000:" + strings.Repeat("x", 1000)), nil},
		{"one string", fmt.Sprintf("%d:", size) + strings.Repeat("x", size), nil},
		{"keys", "d" + strings.Repeat("1:a0:", size/5) + "e", bencode.ErrTokens},
		{"depth", strings.Repeat("l", size), bencode.ErrDepth},
		{"depth of dictionaries", strings.Repeat("d1:a", size/4), bencode.ErrDepth},
		{"digits", strings.Repeat("1", size), bencode.ErrOverflow},
		{"a claimed length", "9223372036854775807:" + strings.Repeat("x", size), bencode.ErrUnexpectedEnd},
	}
	var lines []string
	for _, in := range inputs {
		data := []byte(in.input)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		start := time.Now()
		var v any
		_, _, err := bencode.Options{MaxBytes: -1}.Unmarshal(data, &v)
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		allocated := int64(after.TotalAlloc - before.TotalAlloc)
		if os.Getenv("SEINE_LONG") != "" && !errors.Is(err, in.want) {
			t.Errorf("%s: %v, want %v", in.name, err, in.want)
		}
		if took > 60*time.Second || allocated > int64(len(data))+1<<30 {
			t.Errorf("%s: %s, %d MB allocated", in.name, took, allocated>>20)
		}
		lines = append(lines, fmt.Sprintf("%s %d MB allocated in %s", in.name, allocated>>20, took.Round(time.Millisecond)))
	}
	if !t.Failed() {
		fmt.Printf("shown torrent-files.3: %d KiB of hostile bencode of each kind: %s\n", size>>10, strings.Join(lines, "; "))
	}
}
