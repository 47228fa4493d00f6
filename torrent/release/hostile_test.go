package release_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/torrent/release"
)

// Names up to the bound cost time in proportion to their length; 100 MB of them, or 1 MB in the short form.
func TestHostileNames(t *testing.T) {
	size := 100 << 20
	if testing.Short() {
		size = 1 << 20
	}
	pieces := []string{
		"a ", "1 ", "5.1 ", "2010 ", "- 01 ", "e1-2 ", "s01e01 ", "s01e1-2000 ", "1x01-", "web 2010 1080p ", "[a]", "(1)", "第1集", "season 1 ", "1 gb ", "a.com ",
		"-a", "1 x 1 ", "★a", "a/", "1-2 сер", "\xff",
	}
	names := size / release.MaxBytes / len(pieces)
	slowest, of, total := time.Duration(0), "", time.Duration(0)
	for _, piece := range pieces {
		name := strings.Repeat(piece, release.MaxBytes/len(piece))
		start := time.Now()
		for range names {
			release.Parse(name)
		}
		took := time.Since(start)
		total += took
		if each := took / time.Duration(names); each > slowest {
			slowest, of = each, piece
		}
	}
	// A name takes some milliseconds; the bound leaves room for slow machines and the race detector.
	if slowest > 2*time.Second {
		t.Errorf("%q takes %s", of, slowest)
	}
	if !t.Failed() {
		fmt.Printf("shown torrent-files.3: %d MB of hostile release names in %s, at most %s a name (%q)\n",
			size>>20, total.Round(time.Millisecond), slowest.Round(time.Microsecond), of)
	}
}
