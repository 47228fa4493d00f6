package torrent_test

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seine-go/seine/torrent"
	"github.com/seine-go/seine/torrent/bencode"
)

// The exact place of faults: the entry, or what should hold it.
func TestErrorsNameTheirPlace(t *testing.T) {
	t.Parallel()
	const infoAt = len("d4:info")
	v2 := func(tree string) string {
		return outer("", "d9:file tree"+tree+"12:meta versioni2e4:name4:demo12:piece lengthi16384ee", "")
	}
	tests := []struct {
		name, input string
		kind        torrent.ErrorKind
		key, at     string // the fault is where this text begins
	}{
		{"empty single file", "d4:infod6:lengthi0e4:name1:n" + infoEnd + "e", torrent.ErrInvalidLength, "length", "i0e"},
		{"negative length", "d4:infod6:lengthi-5e4:name1:n" + infoEnd + "e", torrent.ErrInvalidLength, "length", "i-5e"},
		{"neither length nor files", "d4:infod4:name1:n" + infoEnd + "e", torrent.ErrNoFiles, "info", "d4:name"},
		{"files of another type", "d4:infod5:filesi1e4:name1:n" + infoEnd + "e", torrent.ErrNoFiles, "files", "i1e"},
		{"no file in the list", "d4:infod5:filesle4:name1:n" + infoEnd + "e", torrent.ErrNoFiles, "files", "le4:name"},
		{"empty files", "d4:infod5:filesld6:lengthi0e4:pathl1:aeee4:name1:n" + infoEnd + "e", torrent.ErrInvalidLength, "files", "ld6:length"},
		{"no name", "d4:infod6:lengthi5e" + infoEnd + "e", torrent.ErrMissingName, "name", "d6:length"},
		{"no pieces", "d4:infod6:lengthi5e4:name1:n12:piece lengthi16eee", torrent.ErrMissingPieces, "pieces", "d6:length"},
		{"empty tree", v2("de"), torrent.ErrNoFiles, "file tree", "de12:meta"},
		{"tree of empty files", v2("d1:ad0:d6:lengthi0eeee"), torrent.ErrInvalidLength, "file tree", "d1:ad0:"},
		{"no tree", "d4:infod12:meta versioni2e4:name1:n12:piece lengthi16384eee", torrent.ErrFileTree, "file tree", "d12:meta"},
	}
	for _, tt := range tests {
		_, _, err := torrent.Parse([]byte(tt.input), torrent.Options{})
		var fault *torrent.Error
		if !errors.As(err, &fault) || fault.Kind != tt.kind || fault.Key != tt.key || fault.Offset != strings.Index(tt.input, tt.at) || fault.Offset < infoAt {
			t.Errorf("%s: %v, want %s in %q at byte %d", tt.name, err, tt.kind, tt.key, strings.Index(tt.input, tt.at))
		}
	}
}

func TestErrorsTellTheirCause(t *testing.T) {
	t.Parallel()
	tests := []struct{ input, want string }{
		{"d4:infod6:lengthi9223372036854775808eee", "seine: torrent: not_bencode at byte 35: overflow: the input is damaged"},
		{"d4:infod6:lengthi5e", "seine: torrent: not_bencode at byte 19: unexpected_eof: the input is cut off"},
		{"d4:infoxe", "seine: torrent: not_bencode at byte 7: expected_value: the input is damaged"},
		{strings.Repeat("l", 200), "seine: torrent: depth_exceeded at byte 100"},
		{"d1:a" + strings.Repeat("l", 200), "seine: torrent: depth_exceeded at byte 103"},
	}
	for _, tt := range tests {
		if _, _, err := torrent.Parse([]byte(tt.input), torrent.Options{}); err == nil || err.Error() != tt.want {
			t.Errorf("%.40q: %v, want %s", tt.input, err, tt.want)
		}
	}
}

// libtorrent looks at meta versions above zero alone.
func TestMetaVersionsBelowOneAreVersion1(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]error{"-1": nil, "0": nil, "1": nil, "3": torrent.ErrUnsupportedVersion} {
		m, w, err := torrent.Parse([]byte(outer("", strings.Replace(demoInfo, "4:name", "12:meta versioni"+version+"e4:name", 1), "")), torrent.Options{})
		if !errors.Is(err, want) || err == nil && (m.Version != torrent.V1 || len(w) > 0) {
			t.Errorf("meta version %s: %v, %v, want %v", version, w, err, want)
		}
	}
}

func linkTo(path, target []string) string {
	list := func(elements []string) string {
		b, _ := bencode.Marshal(elements)
		return string(b)
	}
	return "d4:attr1:l4:path" + list(path) + "12:symlink path" + list(target) + "e"
}

func TestSymlinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	a := func(s ...string) []string { return s }
	plain := func(paths ...[]string) (all string) {
		for _, p := range paths {
			all += "d" + file(1, p...) + "e"
		}
		return all
	}
	tests := []struct {
		name, files string
		want        string // the target of the last file
		kinds       []torrent.ErrorKind
	}{
		{"file", plain(a("d", "x")) + linkTo(a("l"), a("d", "x")), "n/d/x", nil},
		{"folder", plain(a("d", "x")) + linkTo(a("l"), a("d")), "n/d", nil},
		{"another case", plain(a("d", "x")) + linkTo(a("l"), a("D", "X")), "n/D/X", []torrent.ErrorKind{torrent.ErrBadSymlink}},
		{"folder in another case", plain(a("d", "x")) + linkTo(a("l"), a("D")), "n/D", []torrent.ErrorKind{torrent.ErrBadSymlink}},
		{"itself", plain(a("x")) + linkTo(a("l"), a("l")), "n/l", []torrent.ErrorKind{torrent.ErrBadSymlink}},
		{"a link", plain(a("x")) + linkTo(a("k"), a("x")) + linkTo(a("l"), a("k")), "n/k", nil},
		{"a ring", plain(a("x")) + linkTo(a("k"), a("l")) + linkTo(a("l"), a("k")), "n/k", []torrent.ErrorKind{torrent.ErrBadSymlink}},
		{"a renamed file", plain(a("a"), a("A")) + linkTo(a("l"), a("A")), "n/A.1", []torrent.ErrorKind{torrent.ErrUnsafePath}},
		{"a file that kept its name", plain(a("a"), a("A")) + linkTo(a("l"), a("a")), "n/a", []torrent.ErrorKind{torrent.ErrUnsafePath}},
	}
	for _, tt := range tests {
		m, w, err := torrent.Parse([]byte(outer("", "d5:filesl"+tt.files+"e4:name1:n"+infoEnd, "")), torrent.Options{})
		if err != nil || m.Files[len(m.Files)-1].LinkTarget() != tt.want || !slices.Equal(w.Kinds(), tt.kinds) {
			t.Errorf("%s: %v, %v", tt.name, w, err)
		}
	}
}

func TestHosts(t *testing.T) {
	t.Parallel()
	const hash = "magnet:?xt=urn:btih:c9e15763f722f23e98a29decdfae341b98d53056&x.pe="
	long := strings.Repeat("a", 63)
	for host, want := range map[string]bool{
		"a.example": true, "a_b.example": true, "_x": true, "a-b": true, "a.example.": true, "xn--p1ai": true, "пример.рф": true, "1.2.3.4": true, "1a": true,
		"3.example": true, long + ".example": true, "$(id)": false, "-": false, "a-": false, "-a.b": false, "..": false, ".": false, "a..b": false, "999.999.999.999": false,
		"1.2.3": false, "1.2.3.4.5": false, "5": false, "1.2.3.04": false, "a;b": false, "a b": false, "`x`": false, "a*": false, long + "a.example": false,
		"a\u200bb": false, "a.1": false, "1.2.3.4.": false,
	} {
		if want != (len(mustMagnet(t, hash+strings.ReplaceAll(host, " ", "%20")+":5").Peers) == 1) {
			t.Errorf("x.pe %q: want %t", host, want)
		}
		m, _, err := torrent.Parse([]byte(outer("", demoInfo, "5:nodesll"+strconv.Itoa(len(host))+":"+host+"i5eee")), torrent.Options{})
		if err != nil || want != (len(m.Nodes) == 1) {
			t.Errorf("node %q: %v, want %t", host, err, want)
		}
	}
}

func mustMagnet(t *testing.T, link string) torrent.Magnet {
	t.Helper()
	m, err := torrent.ParseMagnet(link)
	if err != nil {
		t.Fatal(link, err)
	}
	return m
}

// What is past the bounds of a torrent file is refused by the field at fault, before any content is read.
func TestBuilderChecksBoundsBeforeReading(t *testing.T) {
	t.Parallel()
	read := false
	open := func() (io.ReadCloser, error) { read = true; return nil, errors.New("read") }
	file := func(length int64) torrent.BuildFile { return torrent.BuildFile{Length: length, Open: open} }
	one := func(b torrent.Builder, length int64) torrent.Builder {
		b.Name, b.Files = "n", []torrent.BuildFile{file(length)}
		return b
	}
	const most = torrent.DefaultMaxPieces
	pads := torrent.Builder{Name: "n", Version: torrent.Hybrid}
	for i := range torrent.DefaultMaxFiles/2 + 1 {
		f := file(1)
		f.Path = []string{strconv.Itoa(i)}
		pads.Files = append(pads.Files, f)
	}
	huge := strings.Repeat("x", bencode.DefaultMaxBytes)
	tests := []struct {
		name  string
		b     torrent.Builder
		want  error
		field string
	}{
		{"pieces of a byte", one(torrent.Builder{PieceLength: 1}, most+1), torrent.ErrTooManyPieces, "PieceLength"},
		{"pieces of 16 KiB", one(torrent.Builder{PieceLength: 16 << 10}, most<<14+1), torrent.ErrTooManyPieces, "PieceLength"},
		{"pieces of version 2", one(torrent.Builder{Version: torrent.V2, PieceLength: 16 << 10}, most<<14+1), torrent.ErrTooManyPieces, "PieceLength"},
		{"hashes of version 2", one(torrent.Builder{Version: torrent.V2, PieceLength: 16 << 10}, most<<14), torrent.ErrTooManyBytes, "PieceLength"},
		{"hashes of a hybrid", one(torrent.Builder{Version: torrent.Hybrid, PieceLength: 16 << 10}, 1_300_000<<14), torrent.ErrTooManyBytes, "PieceLength"},
		{"comment", one(torrent.Builder{Comment: huge + "x"}, 5), torrent.ErrTooManyBytes, "Comment"},
		{"source", one(torrent.Builder{Source: huge + "x"}, 5), torrent.ErrTooManyBytes, "Source"},
		{"pad files", pads, torrent.ErrTooManyFiles, "Files"},
		{"empty files", one(torrent.Builder{}, 0), torrent.ErrInvalidLength, "Files"},
	}
	for _, tt := range tests {
		_, err := tt.b.Build(t.Context())
		var fault *torrent.Error
		if !errors.As(err, &fault) || fault.Kind != tt.want || fault.Key != tt.field || read {
			t.Errorf("%s: %v, read: %t, want %v in %s", tt.name, err, read, tt.want, tt.field)
		}
	}
	// At the bounds the content is read, and what only the finished file shows names its field too.
	if _, err := new(one(torrent.Builder{PieceLength: 1}, most)).Build(t.Context()); err == nil || !read {
		t.Errorf("as many pieces as there may be: %v", err)
	}
	late := torrent.Builder{Name: "n", Files: []torrent.BuildFile{{Length: 1}}, Pieces: make([]byte, 20), Comment: huge}
	var fault *torrent.Error
	if _, err := late.Build(t.Context()); !errors.As(err, &fault) || fault.Kind != torrent.ErrTooManyBytes || fault.Key != "Comment" {
		t.Errorf("a few bytes too many: %v", err)
	}
}

func TestBuilderDropsNoFacts(t *testing.T) {
	t.Parallel()
	root, layer := torrent.HashV2{1}, make([]byte, 64)
	with := func(version torrent.Version, f torrent.BuildFile) torrent.Builder {
		f.Path = []string{"a"}
		return torrent.Builder{Name: "n", Version: version, PieceLength: 16 << 10, Files: []torrent.BuildFile{
			f, {Path: []string{"b"}, Length: 3, Open: contentOf([]byte("abc"))},
		}}
	}
	tests := []struct {
		name  string
		b     torrent.Builder
		field string // empty when it is the content that says so
	}{
		{"root of an empty file", with(torrent.V2, torrent.BuildFile{PiecesRoot: root}), "Files[0].PiecesRoot"},
		{"root of an empty file of a hybrid", with(torrent.Hybrid, torrent.BuildFile{PiecesRoot: root}), "Files[0].PiecesRoot"},
		{"root in version 1", with(torrent.V1, torrent.BuildFile{Length: 3, PiecesRoot: root, Open: contentOf([]byte("abc"))}), "Files[0].PiecesRoot"},
		{"layer in version 1", with(torrent.V1, torrent.BuildFile{Length: 3, PieceLayer: layer, Open: contentOf([]byte("abc"))}), "Files[0].PieceLayer"},
		{"root of another content", with(torrent.V2, torrent.BuildFile{Length: 3, PiecesRoot: root, Open: contentOf([]byte("abc"))}), ""},
		{"layer of another content", with(torrent.Hybrid, torrent.BuildFile{Length: 3, PieceLayer: layer, Open: contentOf([]byte("abc"))}), ""},
	}
	for _, tt := range tests {
		_, err := tt.b.Build(t.Context())
		var fault *torrent.Error
		if !errors.Is(err, torrent.ErrInvalidPieceLayers) || tt.field != "" && (!errors.As(err, &fault) || fault.Key != tt.field) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	links := with(torrent.V1, torrent.BuildFile{Attr: torrent.Symlink, Link: []string{"B"}})
	for _, target := range []string{"B", "a"} {
		links.Files[0].Link = []string{target}
		var fault *torrent.Error
		if _, err := links.Build(t.Context()); !errors.As(err, &fault) || fault.Kind != torrent.ErrBadSymlink || fault.Key != "Files[0].Link" {
			t.Errorf("link to %s: %v", target, err)
		}
	}
}
