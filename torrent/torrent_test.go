package torrent_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seine-go/seine/torrent"
	"github.com/seine-go/seine/torrent/bencode"
)

const (
	pieces1  = "6:pieces20:aaaaaaaaaaaaaaaaaaaa"
	infoEnd  = "12:piece lengthi16384e" + pieces1 + "e"
	demoInfo = "d6:lengthi100e4:name4:demo" + infoEnd
)

// outer puts an info dictionary between other keys.
func outer(before, info, after string) string { return "d" + before + "4:info" + info + after + "e" }

// listed makes an info dictionary of files, which are the insides of their dictionaries.
func listed(files ...string) string {
	return "d5:filesld" + strings.Join(files, "ed") + "ee4:name4:demo" + infoEnd
}

// file is the inside of the dictionary of a file.
func file(length int64, path ...string) string {
	s := fmt.Sprintf("6:lengthi%de4:pathl", length)
	for _, e := range path {
		s += string(bencode.AppendString(nil, e))
	}
	return s + "e"
}

func parse(t *testing.T, s string) (*torrent.Metainfo, torrent.Warnings) {
	t.Helper()
	m, w, err := torrent.Parse([]byte(s), torrent.Options{})
	if err != nil {
		t.Fatalf("%.200q: %v", s, err)
	}
	if err := checkPaths(m); err != nil {
		t.Errorf("%.200q: %v", s, err)
	}
	return m, w
}

func paths(m *torrent.Metainfo) (list []string) {
	for _, f := range m.Files {
		list = append(list, f.Path)
	}
	return list
}

func TestPathsAreUnique(t *testing.T) {
	t.Parallel()
	tests := []struct{ paths, want []string }{
		{[]string{"a.txt", "A.TXT", "a.txt", "a.1.txt"}, []string{"a.txt", "A.1.TXT", "a.2.txt", "a.1.1.txt"}},
		{[]string{"a", "a/b", "A/c", "a"}, []string{"a.1", "a/b", "A/c", "a.2"}},
		{[]string{"straße", "STRASSE", "ſ", "s", "S"}, []string{"straße", "STRASSE", "ſ", "s.1", "S.2"}},
		{[]string{"\u212a", "k"}, []string{"\u212a", "k.1"}},
		{[]string{".a", ".A"}, []string{".a", ".A.1"}},
		{[]string{strings.Repeat("x", 255), strings.Repeat("X", 255)}, []string{strings.Repeat("x", 255), strings.Repeat("X", 253) + ".1"}},
		{[]string{"x/y", "x./y", "x\x00/y"}, []string{"x/y", "x./y", "x/y.1"}},
	}
	for _, tt := range tests {
		var files []string
		for _, p := range tt.paths {
			files = append(files, file(1, strings.Split(p, "/")...))
		}
		m, _ := parse(t, outer("", listed(files...), ""))
		for i := range tt.want {
			tt.want[i] = "demo/" + tt.want[i]
		}
		if !slices.Equal(paths(m), tt.want) {
			t.Errorf("%.60q: got %.60q, want %.60q", tt.paths, paths(m), tt.want)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	many := func(n int, path func(i int) string) string {
		var files []string
		for i := range n {
			files = append(files, file(1, strings.Split(path(i), "/")...))
		}
		return outer("", listed(files...), "")
	}
	distinct := func(i int) string { return fmt.Sprint("f", i) }
	same := func(int) string { return "same" }
	tree := func(n int) string {
		s := "d9:file treed"
		for i := range n {
			s += fmt.Sprintf("3:%03dd0:d6:lengthi1e11:pieces root32:%see", i, strings.Repeat("r", 32))
		}
		return outer("", s+"e12:meta versioni2e4:name4:demo12:piece lengthi16384ee", "")
	}
	pieces := func(n int) string {
		return outer("", fmt.Sprintf("d6:lengthi%de4:name1:a12:piece lengthi1e6:pieces%d:%se", n, 20*n, strings.Repeat("p", 20*n)), "")
	}
	longPaths := len("demo/f0") * 10
	tests := []struct {
		name, s string
		l       torrent.Limits
		want    error
	}{
		{"files", many(10, distinct), torrent.Limits{Files: 10}, nil},
		{"files passed", many(10, distinct), torrent.Limits{Files: 9}, torrent.ErrTooManyFiles},
		{"files of a tree", tree(10), torrent.Limits{Files: 10}, nil},
		{"files of a tree passed", tree(10), torrent.Limits{Files: 9}, torrent.ErrTooManyFiles},
		{"files default passed", many(torrent.DefaultMaxFiles+1, same), torrent.Limits{}, torrent.ErrTooManyFiles},
		{"pieces", pieces(10), torrent.Limits{Pieces: 10}, nil},
		{"pieces passed", pieces(10), torrent.Limits{Pieces: 9}, torrent.ErrTooManyPieces},
		{"pieces of version 2", tree(10), torrent.Limits{Pieces: 10}, nil},
		{"pieces of version 2 passed", tree(10), torrent.Limits{Pieces: 9}, torrent.ErrTooManyPieces},
		{"pieces default", pieces(torrent.DefaultMaxPieces), torrent.Limits{}, nil},
		{"pieces default passed", pieces(torrent.DefaultMaxPieces + 1), torrent.Limits{}, torrent.ErrTooManyPieces},
		{"duplicates", many(10, same), torrent.Limits{Duplicates: 9}, nil},
		{"duplicates passed", many(10, same), torrent.Limits{Duplicates: 8}, torrent.ErrTooManyDuplicates},
		{"duplicates default", many(torrent.DefaultMaxDuplicates+1, same), torrent.Limits{}, nil},
		{"duplicates default passed", many(torrent.DefaultMaxDuplicates+2, same), torrent.Limits{}, torrent.ErrTooManyDuplicates},
		{"paths", many(10, distinct), torrent.Limits{PathBytes: longPaths}, nil},
		{"paths passed", many(10, distinct), torrent.Limits{PathBytes: longPaths - 1}, torrent.ErrPathsTooLong},
		{"tokens passed", many(10, distinct), torrent.Limits{Tokens: 30}, torrent.ErrTooManyTokens},
		{"bytes", outer("", demoInfo, ""), torrent.Limits{Bytes: len(outer("", demoInfo, ""))}, nil},
		{"bytes passed", outer("", demoInfo, ""), torrent.Limits{Bytes: len(outer("", demoInfo, "")) - 1}, torrent.ErrTooManyBytes},
		{"all unlimited", many(10, same), torrent.Limits{-1, -1, -1, -1, -1, -1, -1}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, _, err := torrent.Parse([]byte(tt.s), torrent.Options{Limits: tt.l})
			if tt.name == "files" || tt.name == "duplicates" {
				if err := checkPaths(m); err != nil {
					t.Error(err)
				}
			}
			if !errors.Is(err, tt.want) || (tt.want == nil) != (err == nil) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestErrorsHaveKindAndOffset(t *testing.T) {
	t.Parallel()
	v2 := func(tree, rest string) string {
		return outer("", "d9:file tree"+tree+"12:meta versioni2e4:name4:demo12:piece lengthi16384e"+rest+"e", "")
	}
	leaf := "d0:d6:lengthi100e11:pieces root32:" + strings.Repeat("r", 32) + "ee"
	tests := []struct {
		name, s string
		want    error
	}{
		{"no info", "d8:announce1:xe", torrent.ErrMissingInfo},
		{"no dictionary", outer("", "i1e", ""), torrent.ErrMissingInfo},
		{"file is no dictionary", outer("", "d5:filesli1ee4:name4:demo"+infoEnd, ""), torrent.ErrInvalidPath},
		{"pad files alone", outer("", listed("4:attr1:p"+file(100, "a")), ""), torrent.ErrNoFiles},
		{"nothing", outer("", listed(file(0, "a"), file(0, "b")), ""), torrent.ErrInvalidLength},
		{"file too large", outer("", listed(file(1<<48+1, "a")), ""), torrent.ErrInvalidLength},
		{"piece length too large", outer("", strings.Replace(demoInfo, "i16384e", "i2147483648e", 1), ""), torrent.ErrMissingPieceLength},
		{"meta version 3", outer("", strings.Replace(demoInfo, "4:name", "12:meta versioni3e4:name", 1), ""), torrent.ErrUnsupportedVersion},
		{"no tree", outer("", "d12:meta versioni2e4:name4:demo12:piece lengthi16384ee", ""), torrent.ErrFileTree},
		{"tree of a list", v2("le", ""), torrent.ErrFileTree},
		{"tree with a file at its root", v2("d0:d6:lengthi1eee", ""), torrent.ErrFileTree},
		{"file beside others", v2("d1:ad0:d6:lengthi0ee1:b"+leaf+"ee", ""), torrent.ErrFileTree},
		{"tree with a value", v2("d1:ai1ee", ""), torrent.ErrFileTree},
		{"pad file in a tree", v2("d1:ad0:d4:attr1:p6:lengthi1eeee", ""), torrent.ErrInvalidPadFile},
		{"no root", v2("d1:ad0:d6:lengthi1eeee", ""), torrent.ErrMissingPiecesRoot},
		{"short root", v2("d1:ad0:d6:lengthi1e11:pieces root3:abceee", ""), torrent.ErrMissingPiecesRoot},
		{"unsorted version 2", v2("d1:b"+leaf+"1:a"+leaf+"e", ""), torrent.ErrV2Noncanonical},
		{"leading zero in version 2", v2("d1:ad0:d6:lengthi0100e11:pieces root32:"+strings.Repeat("r", 32)+"eee", ""), torrent.ErrV2Noncanonical},
		{"hybrid of other files", v2("d4:demo"+leaf+"e", pieces1), torrent.ErrNoFiles},
		{"hybrid of other length", v2("d4:demo"+leaf+"e6:lengthi99e", pieces1), torrent.ErrInconsistentHybrid},
		{"hybrid of other name", v2("d4:else"+leaf+"e6:lengthi100e", pieces1), torrent.ErrInconsistentHybrid},
		{"hybrid of other count", v2("d4:demo"+leaf+"4:else"+leaf+"e6:lengthi100e", pieces1), torrent.ErrInconsistentHybrid},
		{"hybrid out of step", outer("", "d9:file treed1:a"+leaf+"1:b"+leaf+"e5:filesld"+file(100, "a")+"ed"+file(100, "b")+
			"ee12:meta versioni2e4:name4:demo12:piece lengthi16384e"+pieces1+"e", ""), torrent.ErrInconsistentHybrid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, _, err := torrent.Parse([]byte(tt.s), torrent.Options{})
			var fault *torrent.Error
			if !errors.Is(err, tt.want) || !errors.As(err, &fault) || fault.Offset < 0 || fault.Offset >= len(tt.s) || m != nil {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestTrackersOfATorrent(t *testing.T) {
	t.Parallel()
	list := func(tiers ...[]string) string {
		b, err := bencode.Marshal(tiers)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	m, w := parse(t, outer("8:announce10:udp://z/zz13:announce-list"+list(
		[]string{" http://a.example/x\n", "HTTP://b.example", "http://a.example/x"}, []string{"", "ftp://c.example", "javascript://x"},
		[]string{"wss://d.example", "udp://e.example:1"}, []string{"plain.example:80/announce"}, []string{"wss://d.example"},
	), demoInfo, ""))
	want := [][]string{{"http://a.example/x", "HTTP://b.example"}, {"wss://d.example", "udp://e.example:1"}, {"plain.example:80/announce"}}
	if !reflect.DeepEqual(m.Trackers, want) || !slices.Contains(w.Kinds(), torrent.ErrUnusable) {
		t.Errorf("got %q, %v", m.Trackers, w)
	}
	if link := m.Magnet(); !slices.Equal(link.Trackers, slices.Concat(want[0], want[1])) || link.V1 != m.V1 || link.Name != "demo" || link.Length != 100 {
		t.Errorf("magnet %+v", link)
	}
	var all []string
	for i := range 15_000 {
		all = append(all, fmt.Sprintf("http://t%d.example/", i%12_000))
	}
	if m, _ := parse(t, outer("13:announce-list"+list(all), demoInfo, "")); len(m.Trackers[0]) != 10_000 {
		t.Errorf("%d trackers", len(m.Trackers[0]))
	}
}

// FuzzParse holds what is true of all inputs: no panic, errors with a kind and an offset, paths that keep their promises, and the hash of
// the span that is told.
func FuzzParse(f *testing.F) {
	root := strings.Repeat("r", 32)
	for _, seed := range []string{
		outer("8:announce10:http://a/b", demoInfo, ""), outer("", listed(file(5, "a", "b"), "4:attr1:l"+file(5, "..")+"12:symlink pathl1:ae"), "\n"),
		outer("", "d9:file treed1:ad0:d6:lengthi20000e11:pieces root32:"+root+"eee12:meta versioni2e4:name1:a12:piece lengthi16384ee", "12:piece layersd32:"+root+"64:"+root+root+"e"),
		outer("5:nodesll1:ai1eee", demoInfo, "8:url-listl1:xe"), outer("", "d4:name4:demo6:lengthi100e"+infoEnd, ""), "", "de", "<html>",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		m, _, err := torrent.Parse(data, torrent.Options{})
		if !bytes.Equal(before, data) {
			t.Fatal("the input was changed")
		}
		if err != nil {
			var fault *torrent.Error
			if !errors.As(err, &fault) || fault.Kind == "" || fault.Offset < 0 || fault.Offset > len(data) {
				t.Fatalf("error %v", err)
			}
			return
		}
		if err := checkPaths(m); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(m.Info, data[m.InfoOffset:m.InfoOffset+len(m.Info)]) || m.Version&torrent.V1 != 0 && m.V1 != torrent.HashV1(sha1Of(string(m.Info))) {
			t.Fatal("the hash is not of the span")
		}
		again, _, err := torrent.ParseInfo(m.Info, torrent.Options{})
		if err != nil || again.V1 != m.V1 || again.V2 != m.V2 || !slices.Equal(paths(again), paths(m)) {
			t.Fatalf("the info dictionary alone gives %v", err)
		}
		for i := range m.Files {
			_ = m.Files[i].RawPath()
		}
		if link := m.Magnet(); link.Version() != m.Version {
			t.Fatalf("magnet %s", link)
		}
	})
}

// A usable announce counts for more than a list of names, and what cannot be a tracker is passed over.
func TestAnnounceBesideJunk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		list []string
		want string
	}{{[]string{"none"}, "http://t.example/a"}, {[]string{"javascript:alert(1)", "file:/etc/passwd", "a b"}, "http://t.example/a"}, {[]string{"udp://u.example:1"}, "udp://u.example:1"}} {
		tier := ""
		for _, url := range c.list {
			tier += fmt.Sprintf("%d:%s", len(url), url)
		}
		m, _ := parse(t, outer("8:announce18:http://t.example/a13:announce-listll"+tier+"ee", demoInfo, ""))
		if len(m.Trackers) != 1 || len(m.Trackers[0]) != 1 || m.Trackers[0][0] != c.want {
			t.Errorf("%q: %q", c.list, m.Trackers)
		}
	}
	if m := magnet(t, link+"&x.pe=[fe80::1%25eth0]:80&x.pe=[::1]:80"); !slices.Equal(m.Peers, []string{"[::1]:80"}) {
		t.Errorf("peers %q", m.Peers)
	}
}
