package torrent_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/torrent"
)

// 100 MB of hostile input take bounded time and memory even without limits of bytes and tokens.
func TestHostileTorrentOf100MB(t *testing.T) {
	if os.Getenv("SEINE_LONG") == "" {
		t.Skip("SEINE_LONG is not set: 100 MB, many times")
	}
	const size = 100 << 20
	unlimited := torrent.Limits{Bytes: -1, Tokens: -1}
	v2 := "d9:file treed4:demod0:d6:lengthi100000e11:pieces root32:" + strings.Repeat("r", 32) + "eee12:meta versioni2e4:name4:demo12:piece lengthi16384ee"
	link := "d4:attr1:l4:pathl1:%se12:symlink pathl%d:%see"
	inputs := map[string]func() string{
		"files": func() string {
			return outer("", "d5:filesl"+strings.Repeat("d6:lengthi1e4:pathl1:aee", size/24)+"e4:name1:a"+infoEnd, "")
		},
		"one path": func() string {
			return outer("", "d5:filesld6:lengthi1e4:pathl"+strings.Repeat("1:a", size/3)+"eee4:name1:a"+infoEnd, "")
		},
		"nodes": func() string { return outer("", demoInfo, "5:nodesl"+strings.Repeat("l1:ai1ee", size/8)+"e") },
		"one name": func() string {
			return outer("", fmt.Sprintf("d6:lengthi1e4:name%d:", size)+strings.Repeat("\xff", size)+infoEnd, "")
		},
		"deep paths": func() string {
			return outer("", "d9:file tree"+strings.Repeat("d200:"+strings.Repeat("d", 200), 90)+"d"+leaves(size)+strings.Repeat("e", 91)+"12:meta versioni2e4:name1:a12:piece lengthi16384ee", "")
		},
		"trackers": func() string {
			return outer("13:announce-listl"+numbered(size, "l26:http://t.example/%09d", "e")+"e", demoInfo, "")
		},
		"tier": func() string {
			return outer("13:announce-listll"+numbered(size, "17:http://%09d/", "")+"ee", demoInfo, "")
		},
		"bad trackers": func() string {
			return outer("13:announce-listll"+strings.Repeat("5:a b\nc", size/7)+"ee", demoInfo, "")
		},
		"web seeds": func() string { return outer("", demoInfo, "8:url-listl"+numbered(size, "9:%09d", "")+"e") },
		"layers":    func() string { return outer("", v2, "12:piece layersd"+numbered(size, "32:%032d0:", "")+"e") },
		"one layer": func() string {
			return outer("", v2, fmt.Sprintf("12:piece layersd32:%s%d:", strings.Repeat("r", 32), size)+strings.Repeat("r", size)+"e")
		},
		"long links": func() string {
			return outer("", listed(file(1, "a"))[:len("d5:filesl")]+strings.Repeat(fmt.Sprintf(link, "l", 500, strings.Repeat("y", 500)), size/540)+"e4:name1:a"+infoEnd, "")
		},
		"links": func() string {
			return outer("", "d5:filesl"+strings.Repeat(fmt.Sprintf(link, "l", 1, "y"), size/45)+"e4:name1:a"+infoEnd, "")
		},
		"deep folders": func() string {
			return outer("", "d5:filesl"+"d"+file(1, "z")+"e"+numbered(size, "d6:lengthi0e4:pathl9:%09d"+strings.Repeat("1:a", 1500), "ee")+"e4:name1:n"+infoEnd, "")
		},
		"link of blanks": func() string {
			return outer("", "d5:filesld4:attr1:l4:pathl1:le12:symlink pathl"+strings.Repeat("1:/", size/3)+"eee4:name1:a"+infoEnd, "")
		},
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		data := []byte(inputs[name]())
		if len(data) < size*9/10 {
			t.Errorf("%s: only %d MB", name, len(data)>>20)
		}
		start := time.Now()
		var m *torrent.Metainfo
		var err error
		allocated := allocatedBy(func() { m, _, err = torrent.Parse(data, torrent.Options{Limits: unlimited}) })
		took := time.Since(start)
		if took > 60*time.Second || allocated > 3*size {
			t.Errorf("%s: %s, %d MB allocated", name, took, allocated>>20)
		}
		if err == nil {
			if err := checkPaths(m); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		lines = append(lines, fmt.Sprintf("%s %d MB allocated in %s", name, allocated>>20, took.Round(time.Millisecond)))
	}
	if !t.Failed() {
		fmt.Printf("shown torrent-files.3: 100 MB of hostile input of each kind: %s\n", strings.Join(lines, "; "))
	}
}

// 100 MB of links of the greatest length, or 2 MB in the short form.
func TestHostileMagnets(t *testing.T) {
	size := 100 << 20
	if os.Getenv("SEINE_LONG") == "" {
		size = 2 << 20
	}
	const head = "magnet:?xt=urn:btih:c9e15763f722f23e98a29decdfae341b98d53056"
	forms := []string{
		"&tr=udp://a%d", "&tr.%d=udp://a", "&so=%d", "&so=%d-", "&kt=%d+", "&x.pe=a%d:1", "&xt=urn:btih:%d", "&xt.%d=urn:btmh:", "&amp;%d", "%%%d", "&dn=%d",
		"&ws=http://%d", "&xl=%d", "&%d", "&dht=[::%d]:1",
	}
	links := size / torrent.MaxMagnetBytes / len(forms)
	most, slowest, of, total := uint64(0), time.Duration(0), "", time.Duration(0)
	for _, form := range forms {
		link := (head + numbered(torrent.MaxMagnetBytes, form, ""))[:torrent.MaxMagnetBytes]
		for range max(links, 1) {
			start := time.Now()
			allocated := allocatedBy(func() { _, _ = torrent.ParseMagnet(link) })
			took := time.Since(start)
			total += took
			most = max(most, allocated)
			if took > slowest {
				slowest, of = took, form
			}
		}
	}
	if most > 64*torrent.MaxMagnetBytes || slowest > 10*time.Second {
		t.Errorf("%d MB allocated, %q in %s", most>>20, of, slowest)
	}
	if !t.Failed() {
		fmt.Printf("shown torrent-files.3: %d MB of hostile magnets in %s, at most %s (%q) and %d MB allocated a link of 256 KiB\n",
			size>>20, total.Round(time.Millisecond), slowest.Round(time.Millisecond), of, most>>20)
	}
}

func TestLimitOfElements(t *testing.T) {
	if testing.Short() {
		t.Skip("millions of folders")
	}
	const deep = 1 << 10
	files := numbered(4<<20/deep*(3*deep+32), "d6:lengthi0e4:pathl9:%09d"+strings.Repeat("1:a", deep-1), "ee")
	count := strings.Count(files, "d6:length")
	files = files[:len(files)/count*(4<<20/deep-1)]
	last := "d" + file(1, slices.Repeat([]string{"b"}, deep)...) + "e"
	for more, want := range map[string]error{"": nil, "d" + file(1, "c") + "e": torrent.ErrPathsTooLong} {
		_, _, err := torrent.Parse([]byte(outer("", "d5:filesl"+files+last+more+"e4:name1:n"+infoEnd, "")), torrent.Options{Limits: torrent.Limits{Tokens: -1}})
		if !errors.Is(err, want) {
			t.Errorf("%d more files: %v, want %v", len(more), err, want)
		}
	}
}

// allocatedBy counts the bytes that f allocates.
func allocatedBy(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// numbered repeats a form with a number in it up to a size.
func numbered(size int, form, end string) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, form, i)
		b.WriteString(end)
	}
	return b.String()
}

func leaves(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "9:%09dd0:d6:lengthi0eee", i)
	}
	return b.String()
}

// Each fuzz target of the package and those below it runs for a few seconds, in a process of its own.
func TestFuzzTargets(t *testing.T) {
	if os.Getenv("SEINE_LONG") == "" {
		t.Skip("SEINE_LONG is not set: some seconds of fuzzing a target")
	}
	list, err := exec.CommandContext(t.Context(), "go", "test", "-list", "^Fuzz", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	execs := regexp.MustCompile(`execs: (\d+)`)
	var targets, lines []string
	for line := range strings.Lines(string(list)) {
		switch words := strings.Fields(line); {
		case strings.HasPrefix(line, "Fuzz"):
			targets = append(targets, words[0])
		case len(words) > 1 && words[0] == "ok":
			for _, target := range targets {
				out, err := exec.CommandContext(t.Context(), "go", "test", "-run", "^$", "-fuzz", "^"+target+"$", "-fuzztime", "5s", words[1]).CombinedOutput()
				counts := execs.FindAllSubmatch(out, -1)
				if err != nil || len(counts) == 0 {
					t.Errorf("%s: %v\n%s", target, err, out)
					continue
				}
				lines = append(lines, fmt.Sprintf("%s %s inputs", target, counts[len(counts)-1][1]))
			}
			targets = nil
		}
	}
	if !t.Failed() {
		fmt.Printf("shown torrent-files.3: fuzzed for 5 s each: %s\n", strings.Join(lines, "; "))
	}
}
