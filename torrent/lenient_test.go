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

// The second of two equal keys counts for nothing, also not as the name of a pad file.
func TestLosingKeysMakeNoPadFile(t *testing.T) {
	t.Parallel()
	const pad = "_____padding_file_0"
	for name, s := range map[string]string{
		"path twice":          file(5, "a") + "4:pathl19:" + pad + "e",
		"attr twice":          "4:attr0:4:attr1:p" + file(5, "a"),
		"path.utf-8 unusable": file(5, "a") + "10:path.utf-8l20:" + pad + "\xffe",
		"path.utf-8 twice":    file(5, "x") + "10:path.utf-8l1:ae10:path.utf-8l19:" + pad + "e",
		"path loses":          file(5, pad) + "10:path.utf-8l1:ae",
	} {
		m, _ := parse(t, outer("", listed(s, file(7, "b")), ""))
		if m.PadFiles != 0 || !slices.Equal(paths(m), []string{"demo/a", "demo/b"}) || m.Length != 12 {
			t.Errorf("%s: %d pad files, %q", name, m.PadFiles, paths(m))
		}
	}
	m, _ := parse(t, outer("", listed(file(5, "a"), file(7, "x")+"10:path.utf-8l19:"+pad+"e"), ""))
	if m.PadFiles != 1 || m.PadLength != 7 {
		t.Errorf("path.utf-8 names a pad file: %+v", m)
	}
}

// A twin in UTF-8 that is of no use leaves the name, with a warning.
func TestUnusableTwinOfTheName(t *testing.T) {
	t.Parallel()
	tests := []struct {
		twin, name string
		kind       torrent.ErrorKind
	}{
		{"2:..", "demo", torrent.ErrUnsafePath},
		{"0:", "demo", torrent.ErrUnsafePath},
		{"1:\xff", "demo", torrent.ErrNotUTF8},
		{"2:\x00\x00", "demo", torrent.ErrUnsafePath},
		{"i1e", "demo", torrent.ErrWrongType},
		{"3:\u202e", "_", torrent.ErrUnsafePath},
		{"1:x", "x", ""},
	}
	for _, tt := range tests {
		s := outer("", strings.Replace(demoInfo, "4:name4:demo", "4:name4:demo10:name.utf-8"+tt.twin, 1), "")
		m, w := parse(t, s)
		if m.Name != tt.name || tt.kind == "" && len(w) > 0 {
			t.Errorf("%q: %q, %v", tt.twin, m.Name, w)
		}
		if want := (torrent.Warning{Kind: tt.kind, Offset: strings.Index(s, "utf-8") + 5, Key: "name.utf-8"}); tt.kind != "" && !slices.Equal(w, torrent.Warnings{want}) {
			t.Errorf("%q: warnings %v, want %v", tt.twin, w, want)
		}
	}
}

// A warning of a path stands where the string at fault stands.
func TestPlacesOfPathWarnings(t *testing.T) {
	t.Parallel()
	leaf := "d0:d6:lengthi100e11:pieces root32:" + strings.Repeat("r", 32) + "ee"
	tree := func(s string) string {
		return outer("", "d9:file tree"+s+"12:meta versioni2e4:name4:demo12:piece lengthi16384ee", "")
	}
	tests := []struct {
		name, s, at string
		kind        torrent.ErrorKind
	}{
		{"parent", outer("", listed(file(1, "a"), file(1, "x", "..", "b\x00")), ""), "2:..", torrent.ErrUnsafePath},
		{"control character", outer("", listed(file(1, "x", "b\x00c")), ""), "3:b\x00c", torrent.ErrUnsafePath},
		{"not UTF-8", outer("", listed(file(1, "x", "y"), file(1, "x", "\xffz")), ""), "2:\xffz", torrent.ErrNotUTF8},
		{"duplicate", outer("", listed(file(1, "x", "dup"), file(1, "x", "DUP")), ""), "3:DUP", torrent.ErrUnsafePath},
		{"leading zero", outer("", listed("6:lengthi1e4:pathl01:x2:..e"), ""), "2:..", torrent.ErrUnsafePath},
		{"folder of a tree", tree("d1:ad2:..d1:b" + leaf + "eee"), "2:..", torrent.ErrUnsafePath},
		{"file of a tree", tree("d1:ad1:b" + leaf + "2:c\x00" + leaf + "ee"), "2:c\x00", torrent.ErrUnsafePath},
		{"duplicate in a tree", tree("d1:A" + leaf + "1:a" + leaf + "e"), "1:ad0:", torrent.ErrUnsafePath},
		{"target of a link", outer("", listed(file(1, "a"), "4:attr1:l"+file(0, "l")+"12:symlink pathl2:..1:ae"), ""), "l2:..", torrent.ErrUnsafePath},
	}
	for _, tt := range tests {
		_, w, err := torrent.Parse([]byte(tt.s), torrent.Options{})
		i := slices.IndexFunc(w, func(w torrent.Warning) bool { return w.Kind == tt.kind })
		if err != nil || i < 0 || w[i].Offset != strings.Index(tt.s, tt.at) {
			t.Errorf("%s: %v, %v, want byte %d", tt.name, w, err, strings.Index(tt.s, tt.at))
		}
	}
}

func TestTargetsOfLinks(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	tests := []struct {
		target string // in bencode
		want   string
		kinds  []torrent.ErrorKind
	}{
		{"l1:a1:be", "demo/a/b", nil},
		{"l1:ae", "demo/a", nil},
		{"l1:ze", "demo/z", []torrent.ErrorKind{torrent.ErrBadSymlink}},
		{"l1:a1:b1:ce", "demo/a/b/c", []torrent.ErrorKind{torrent.ErrBadSymlink}},
		{"l2:..3:etc6:passwde", "demo/etc/passwd", []torrent.ErrorKind{torrent.ErrUnsafePath, torrent.ErrBadSymlink}},
		{"l300:" + long + "e", "demo/" + long[:255], []torrent.ErrorKind{torrent.ErrUnsafePath, torrent.ErrBadSymlink}},
		{"1:a", "", []torrent.ErrorKind{torrent.ErrBadSymlink}},
		{"le", "", []torrent.ErrorKind{torrent.ErrBadSymlink}},
	}
	for _, tt := range tests {
		m, w := parse(t, outer("", listed(file(1, "a", "b"), "4:attr1:l"+file(0, "l")+"12:symlink path"+tt.target), ""))
		if got := m.Files[1].LinkTarget(); got != tt.want || !slices.Equal(w.Kinds(), tt.kinds) {
			t.Errorf("%.20s: %.20q, %v", tt.target, got, w)
		}
	}
	two := "4:attr1:l6:lengthi0e4:pathl1:%e12:symlink pathl4:gonee"
	_, w := parse(t, outer("", listed(file(1, "a"), strings.Replace(two, "%", "l", 1), strings.Replace(two, "%", "m", 1)), ""))
	if len(w) != 2 {
		t.Errorf("two links to nothing: %v", w)
	}
	many := []string{strings.Replace(two, "%", "l", 1), "4:attr1:l6:lengthi0e4:pathl1:me12:symlink pathl3:f015:childe", "4:attr1:l6:lengthi0e4:pathl1:ne12:symlink pathl3:f01e"}
	for i := range 40 {
		many = append(many, file(1, fmt.Sprintf("f%02d", i), "child"))
	}
	if _, w := parse(t, outer("", listed(many...), "")); len(w) != 1 || w[0].Kind != torrent.ErrBadSymlink {
		t.Errorf("links among many files: %v", w)
	}
	// Targets count as paths do.
	target := "4:attr1:l6:lengthi0e4:pathl1:le12:symlink pathl255:" + strings.Repeat("y", 255) + "e"
	s := outer("", listed(file(1, "a"), target), "")
	for limit, want := range map[int]error{300: nil, 260: torrent.ErrPathsTooLong, 254: torrent.ErrPathsTooLong} {
		if _, _, err := torrent.Parse([]byte(s), torrent.Options{Limits: torrent.Limits{PathBytes: limit}}); !errors.Is(err, want) {
			t.Errorf("%d bytes of paths: %v", limit, err)
		}
	}
}

// BEP 27 writes a one; clients take any number but zero.
func TestPrivate(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{"i0e": false, "i1e": true, "i2e": true, "i-1e": true, "1:1": false} {
		m, w := parse(t, outer("", strings.Replace(demoInfo, pieces1, pieces1+"7:private"+value, 1), ""))
		if m.Private != want || (len(w) > 0) != (value == "1:1") {
			t.Errorf("%s: %v, %v", value, m.Private, w)
		}
	}
}

// What would break a request or a name server is dropped with a warning, at its place.
func TestAddressesAreChecked(t *testing.T) {
	t.Parallel()
	text := func(s string) string { return string(bencode.AppendString(nil, s)) }
	for _, url := range []string{"http://t.example/a\r\nHost: x", "http://t\x00.example/", "udp://\x7f", "http:///announce", "udp://:80", "http://?x"} {
		s := outer("8:announce"+text(url)+"13:announce-listll"+text(url)+"ee", demoInfo, "")
		m, w := parse(t, s)
		if len(m.Trackers) > 0 || len(w) != 2 || w[0].Kind != torrent.ErrUnusable || w[0].Offset != strings.LastIndex(s, text(url)) {
			t.Errorf("%q: %q, %v", url, m.Trackers, w)
		}
	}
	for _, key := range []string{"8:url-list", "9:httpseeds"} {
		s := outer("", demoInfo, key+"l"+text("http://a/\nb")+text("http://a/ b")+"e")
		m, w := parse(t, s)
		if seeds := slices.Concat(m.WebSeeds, m.HTTPSeeds); !slices.Equal(seeds, []string{"http://a/ b"}) || w[0].Kind != torrent.ErrUnusable {
			t.Errorf("%s: %q, %v", key, seeds, w)
		}
	}
	nodes := ""
	for _, host := range []string{"a b", "a\x00b", "", "[::1", "fe80::1%eth0", "a/b", "n.example", "127.0.0.1", "::1", "[::2]", " x "} {
		nodes += "l" + text(host) + "i1ee"
	}
	m, w := parse(t, outer("", demoInfo, "5:nodesl"+nodes+"e"))
	want := []torrent.Node{{"n.example", 1}, {"127.0.0.1", 1}, {"::1", 1}, {"::2", 1}, {"x", 1}}
	if !slices.Equal(m.Nodes, want) || len(w) != 6 {
		t.Errorf("got %v, %v", m.Nodes, w)
	}
}

// A layer that does not hash to its root is an error (BEP 52); where pieces are blocks it is withheld with a warning,
// unless its length is wrong.
func TestLayersHashToTheirRoots(t *testing.T) {
	t.Parallel()
	for _, pieceLength := range []int64{16 << 10, 32 << 10, 1 << 20} {
		length := 3*pieceLength + 1
		b := torrent.Builder{Name: "n", Version: torrent.V2, PieceLength: pieceLength, Files: []torrent.BuildFile{{Length: length, Open: contentOf(content(int(length)))}}}
		data, err := b.Build(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		m, w, err := torrent.Parse(data, torrent.Options{})
		if err != nil || len(w) > 0 {
			t.Fatal(err, w)
		}
		at := bytes.Index(data, m.Files[0].PieceLayer())
		data[at+40] ^= 1
		bad, w, err := torrent.Parse(data, torrent.Options{})
		switch withheld := err == nil && bad.Files[0].PieceLayer() == nil && len(w) == 1 && w[0].Kind == torrent.ErrInvalidPieceLayers; {
		case pieceLength > 16<<10 && !errors.Is(err, torrent.ErrInvalidPieceLayers), pieceLength == 16<<10 && !withheld:
			t.Errorf("pieces of %d: %v, %v", pieceLength, err, w)
		}
		short := bytes.Replace(data, append([]byte("128:"), data[at:at+4*32]...), append([]byte("96:"), data[at:at+3*32]...), 1)
		if _, _, err := torrent.Parse(short, torrent.Options{}); !errors.Is(err, torrent.ErrInvalidPieceLayers) {
			t.Errorf("pieces of %d, a hash missing: %v", pieceLength, err)
		}
		alone, _, err := torrent.ParseInfo(m.Info, torrent.Options{})
		if err != nil || alone.Files[0].PieceLayer() != nil || !reflect.DeepEqual(alone.V2, m.V2) {
			t.Errorf("pieces of %d: info alone: %v", pieceLength, err)
		}
	}
}

// A single file may have attributes (BEP 47).
func TestAttributesOfASingleFile(t *testing.T) {
	t.Parallel()
	m, w := parse(t, outer("", "d4:attr4:hxlp6:lengthi100e4:name4:demo"+infoEnd, ""))
	if m.Files[0].Attr != torrent.Executable|torrent.Hidden || len(w) > 0 {
		t.Errorf("got %d, %v", m.Files[0].Attr, w)
	}
}

func TestEmptyTwinOfTheComment(t *testing.T) {
	t.Parallel()
	m, _ := parse(t, outer("7:comment1:c13:comment.utf-80:", demoInfo, ""))
	twin, _ := parse(t, outer("7:comment1:c13:comment.utf-81:u", demoInfo, ""))
	if m.Comment != "c" || twin.Comment != "u" {
		t.Errorf("got %q, %q", m.Comment, twin.Comment)
	}
}
