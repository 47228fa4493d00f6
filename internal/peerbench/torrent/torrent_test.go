package torrent

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anacrolix/torrent/metainfo"

	"github.com/seine-go/seine/torrent"
	"github.com/seine-go/seine/torrent/bencode"
)

// Bars of the comparison.
const (
	leastSpeed  = 5.0 // times the speed of the peer
	mostOfAlloc = 0.1 // of the allocations of the peer, for the large file

)

// TestTorrentBeside measures both on the same inputs in turn, and compares the medians of the rounds. A full parse is the
// metainfo, the info dictionary with all files, and the info hash.
func TestTorrentBeside(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("a measurement, for a run of its own without the race detector")
	}
	large := compare(t, "torrent of 100,000 files", 5, 1, [][]byte{manyFiles(100_000)}, parseOurs, parseTheirs)
	small := compare(t, "small torrents", 25, 300, smallTorrents(), parseOurs, parseTheirs)
	links := compare(t, "magnet links", 75, 1000, magnets, magnetOurs, magnetTheirs)
	bare := compare(t, "of these the bare one", 25, 1000, magnets[:1], magnetOurs, magnetTheirs)
	rich := compare(t, "those with parameters", 25, 1000, magnets[1:], magnetOurs, magnetTheirs)
	for _, r := range []result{large, small, links} {
		if r.speed() < leastSpeed {
			t.Errorf("%s: %.1f times the speed, want at least %.0f", r.name, r.speed(), leastSpeed)
		}
	}
	if large.allocs() > mostOfAlloc {
		t.Errorf("%s: %.4f of the allocations, want at most %.1f", large.name, large.allocs(), mostOfAlloc)
	}
	if t.Failed() {
		return
	}
	fmt.Printf("shown torrent-files.2: %s; %s; %s; %s; %s (beside anacrolix/torrent v1.62.0, medians)\n", large, small, links, bare, rich)
}

// result holds the medians per pass over all inputs.
type result struct {
	name               string
	ours, theirs       time.Duration
	oursNew, theirsNew float64 // allocations
}

func (r result) speed() float64  { return float64(r.theirs) / float64(r.ours) }
func (r result) allocs() float64 { return r.oursNew / r.theirsNew }

func (r result) String() string {
	return fmt.Sprintf("%s %.1f x (%v, %v), allocations %.0f of %.0f", r.name, r.speed(), r.ours, r.theirs, r.oursNew, r.theirsNew)
}

// compare runs both over all inputs, repeat times in each round.
func compare[T any](t *testing.T, name string, rounds, repeat int, inputs []T, ours, theirs func(*testing.T, T)) result {
	t.Helper()
	pass := func(f func(*testing.T, T)) {
		for _, in := range inputs {
			f(t, in)
		}
	}
	timed := func(f func(*testing.T, T)) time.Duration {
		runtime.GC() // nobody pays for what the other left behind
		start := time.Now()
		for range repeat {
			pass(f)
		}
		return time.Since(start) / time.Duration(repeat)
	}
	var a, b []time.Duration
	for range rounds {
		a = append(a, timed(ours))
		b = append(b, timed(theirs))
	}
	r := result{
		name: name, ours: median(a), theirs: median(b),
		oursNew:   testing.AllocsPerRun(3, func() { pass(ours) }),
		theirsNew: testing.AllocsPerRun(3, func() { pass(theirs) }),
	}
	t.Log(r)
	return r
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func parseOurs(t *testing.T, b []byte) {
	m, _, err := torrent.Parse(b, torrent.Options{})
	if err != nil || m.V1.IsZero() {
		t.Fatal(err)
	}
}

func parseTheirs(t *testing.T, b []byte) {
	mi, err := metainfo.Load(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	info, err := mi.UnmarshalInfo()
	if err != nil || info.Name == "" {
		t.Fatal(err)
	}
	if h := mi.HashInfoBytes(); h.IsZero() {
		t.Fatal("no hash")
	}
}

func magnetOurs(t *testing.T, s string) {
	if _, err := torrent.ParseMagnet(s); err != nil {
		t.Fatal(err)
	}
}

func magnetTheirs(t *testing.T, s string) {
	var err error
	if strings.Contains(s, "urn:btmh:") {
		_, err = metainfo.ParseMagnetV2Uri(s)
	} else {
		_, err = metainfo.ParseMagnetUri(s)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// manyFiles writes a torrent of n files in folders of a thousand.
func manyFiles(n int) []byte {
	const pieceLength = 4 << 20
	var w bencode.Writer
	w.Dict()
	w.Key("announce")
	w.String("udp://tracker.example:1337/announce")
	w.Key("info")
	w.Dict()
	w.Key("files")
	w.List()
	total := int64(0)
	for i := range n {
		length := int64(1_000_000 + i)
		total += length
		w.Dict()
		w.Key("length")
		w.Int(length)
		w.Key("path")
		w.List()
		w.String(fmt.Sprintf("Folder of Files %03d", i/1000))
		w.String(fmt.Sprintf("some file name %06d.bin", i))
		w.End()
		w.End()
	}
	w.End()
	w.Key("name")
	w.String("A large torrent")
	w.Key("piece length")
	w.Int(pieceLength)
	w.Key("pieces")
	w.String(strings.Repeat("0123456789abcdefghij", int((total+pieceLength-1)/pieceLength)))
	w.End()
	w.End()
	b, err := w.Bytes()
	if err != nil {
		panic(err)
	}
	return b
}

// smallTorrents are one of a single file and one of a few, with the usual keys around them.
func smallTorrents() [][]byte {
	head := "d8:announce35:udp://tracker.example:1337/announce13:announce-listll35:udp://tracker.example:1337/announceel" +
		"31:http://tracker.example/announceee7:comment13:a few remarks10:created by13:program/1.2.313:creation datei1700000000e4:info"
	pieces := "12:piece lengthi262144e6:pieces240:" + strings.Repeat("0123456789abcdefghij", 12) + "e8:url-list25:http://seed.example/file/e"
	return [][]byte{
		[]byte(head + "d6:lengthi3145728e4:name25:A.Film.2024.1080p.WEB.mkv" + pieces),
		[]byte(head + "d5:filesl" +
			"d6:lengthi3000000e4:pathl25:A.Film.2024.1080p.WEB.mkvee" +
			"d6:lengthi100000e4:pathl4:Subs10:Danish.srtee" +
			"d6:lengthi45000e4:pathl4:Subs11:English.srtee" +
			"d6:lengthi728e4:pathl8:film.nfoee" +
			"e4:name20:A.Film.2024.1080p.WE" + pieces),
	}
}

var magnets = []string{
	"magnet:?xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a",
	"magnet:?xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a&dn=A.Film.2024.1080p.WEB&tr=udp%3A%2F%2Ftracker.example%3A1337%2Fannounce",
	"magnet:?xt=urn:btih:C12FE1C06BBA254A9DC9F519B335AA7C1367A88A&dn=A+Film+%282024%29&tr=udp%3A%2F%2Ftracker.example%3A1337%2Fannounce" +
		"&tr=udp%3A%2F%2Fopen.example%3A6969&tr=http%3A%2F%2Ft.example%2Fannounce&tr=wss%3A%2F%2Fw.example&ws=http%3A%2F%2Fseed.example%2Ffile",
	"magnet:?xt=urn:btmh:1220" + strings.Repeat("cafe", 16) + "&dn=second+version&xl=1048576&x.pe=127.0.0.1%3A6881",
}
