package release_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/torrent/release"
)

// Names up to the bound cost time in proportion to their length; 100 MB of them, or one of each kind in the short form.
func TestHostileNames(t *testing.T) {
	size := 100 << 20
	if os.Getenv("SEINE_LONG") == "" {
		size = 0
	}
	pieces := []string{
		"a ", "1 ", "5.1 ", "2010 ", "- 01 ", "e1-2 ", "s01e01 ", "s01e1-2000 ", "1x01-", "web 2010 1080p ", "[a]", "(1)", "第1集", "season 1 ", "1 gb ", "a.com ",
		"-a", "1 x 1 ", "★a", "a/", "1-2 сер", "\xff",
	}
	names := max(size/release.MaxBytes/len(pieces), 1)
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
	// A name takes some milliseconds; the bound is for machines with much else to do.
	if slowest > time.Minute {
		t.Errorf("%q takes %s", of, slowest)
	}
	if !t.Failed() {
		fmt.Printf("shown torrent-files.3: %d KiB of hostile release names in %s, at most %s a name (%q)\n",
			names*len(pieces)*release.MaxBytes>>10, total.Round(time.Millisecond), slowest.Round(time.Microsecond), of)
	}
}

// Four times the length takes about four times as long, not sixteen times; the least of some runs counts.
func TestTimeOfNamesIsLinear(t *testing.T) {
	least := func(name string) time.Duration {
		shortest := time.Hour
		for range 5 {
			start := time.Now()
			release.Parse(name)
			shortest = min(shortest, time.Since(start))
		}
		return shortest
	}
	for _, piece := range []string{"5.1 ", "2010 ", "a ", "web 2010 1080p "} {
		long := strings.Repeat(piece, release.MaxBytes/len(piece))
		if one, four := least(long[:len(long)/4]), least(long); four > 12*one && four > 50*time.Millisecond {
			t.Errorf("%q: %s, and %s for four times as much", piece, one, four)
		}
	}
}
