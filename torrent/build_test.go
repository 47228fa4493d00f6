package torrent_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/seine-go/seine/torrent"
)

// content is a file whose bytes all differ from block to block.
func content(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i>>14*31 + i*7)
	}
	return b
}

func testFS() fstest.MapFS {
	file := func(n int) *fstest.MapFile { return &fstest.MapFile{Data: content(n)} }
	return fstest.MapFS{
		"show/b.mkv": file(200_000), "show/a/one.srt": file(10), "show/a/two.srt": file(65_536), "show/empty": file(0), "show/z.nfo": file(65_537),
	}
}

func TestBuildFromFiles(t *testing.T) {
	t.Parallel()
	for _, version := range []torrent.Version{torrent.V1, torrent.V2, torrent.Hybrid} {
		for _, pieceLength := range []int64{16 << 10, 32 << 10, 64 << 10, 1 << 20, 0} {
			t.Run(fmt.Sprintf("version %d, pieces of %d", version, pieceLength), func(t *testing.T) {
				t.Parallel()
				b := torrent.Builder{Version: version, PieceLength: pieceLength, Private: true, Source: "s"}
				if err := b.AddFS(testFS(), "show"); err != nil {
					t.Fatal(err)
				}
				data, err := b.Build(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				m, w, err := torrent.Parse(data, torrent.Options{Strict: true})
				if err != nil || len(w) > 0 {
					t.Fatal(err, w)
				}
				if m.Version != version || m.Name != "show" || len(m.Files) != 5 || !m.Private || m.Source != "s" || m.Length != 331_083 {
					t.Errorf("got %+v", m)
				}
				checkHashes(t, m, testFS())
			})
		}
	}
}

// checkHashes computes the hashes of a torrent anew, in the plainest way.
func checkHashes(t *testing.T, m *torrent.Metainfo, files fs.FS) {
	t.Helper()
	var all []byte
	for _, f := range m.Files {
		data, err := fs.ReadFile(files, f.Path)
		if err != nil || int64(len(data)) != f.Length {
			t.Fatal(f.Path, err)
		}
		all = append(all, make([]byte, f.Offset-int64(len(all)))...)
		all = append(all, data...)
		if m.Version&torrent.V2 == 0 {
			continue
		}
		if root := plainRoot(data); root != f.PiecesRoot() {
			t.Errorf("%s: root %s, want %s", f.Path, f.PiecesRoot(), root)
		}
		if layer := f.PieceLayer(); (f.Length > m.PieceLength) != (layer != nil) {
			t.Errorf("%s: layer of %d bytes", f.Path, len(layer))
		}
	}
	if m.Version&torrent.V1 == 0 {
		return
	}
	var pieces []byte
	for chunk := range slices.Chunk(all, int(m.PieceLength)) {
		sum := sha1.Sum(chunk)
		pieces = append(pieces, sum[:]...)
	}
	if !bytes.Equal(pieces, m.Pieces) || m.NumPieces != len(pieces)/sha1.Size {
		t.Error("pieces differ")
	}
}

// plainRoot is the definition of BEP 52 in words of recursion: leaves of 16 KiB, zero hashes up to a power of two.
func plainRoot(data []byte) torrent.HashV2 {
	var leaves [][]byte
	for chunk := range slices.Chunk(data, 16<<10) {
		sum := sha256.Sum256(chunk)
		leaves = append(leaves, sum[:])
	}
	if len(leaves) == 0 {
		return torrent.HashV2{}
	}
	for len(leaves)&(len(leaves)-1) != 0 {
		leaves = append(leaves, make([]byte, 32))
	}
	var root func(row [][]byte) []byte
	root = func(row [][]byte) []byte {
		if len(row) == 1 {
			return row[0]
		}
		sum := sha256.Sum256(append(slices.Clone(root(row[:len(row)/2])), root(row[len(row)/2:])...))
		return sum[:]
	}
	return torrent.HashV2(root(leaves))
}

func TestBuildSingleFile(t *testing.T) {
	t.Parallel()
	for _, version := range []torrent.Version{torrent.V1, torrent.V2, torrent.Hybrid} {
		b := torrent.Builder{Version: version}
		if err := b.AddFS(testFS(), "show/b.mkv"); err != nil {
			t.Fatal(err)
		}
		data, err := b.Build(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := torrent.Parse(data, torrent.Options{Strict: true})
		if err != nil || m.Multi || m.Files[0].Path != "b.mkv" || m.Version != version {
			t.Errorf("version %d: %+v, %v", version, m, err)
		}
	}
}

func TestBuildFromFacts(t *testing.T) {
	t.Parallel()
	b := torrent.Builder{Version: torrent.Hybrid, PieceLength: 32 << 10}
	if err := b.AddFS(testFS(), "show"); err != nil {
		t.Fatal(err)
	}
	data, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	hybrid, _, err := torrent.Parse(data, torrent.Options{})
	if err != nil {
		t.Fatal(err)
	}

	// The info dictionary as peers give it, with what a magnet link tells.
	again := torrent.Builder{Info: hybrid.Info, Trackers: [][]string{{"http://a.example/x", "udp://b.example:1/x"}, {"wss://c.example"}}}
	m := build(t, again)
	if m.V1 != hybrid.V1 || m.V2 != hybrid.V2 || !reflect.DeepEqual(m.Trackers, again.Trackers) {
		t.Errorf("got %+v", m)
	}

	// Version 2 from roots and layers.
	facts := torrent.Builder{Version: torrent.V2, Name: "show", PieceLength: 32 << 10}
	for _, f := range hybrid.Files {
		facts.Files = append(facts.Files, torrent.BuildFile{
			Path: strings.Split(f.Path, "/")[1:], Length: f.Length, PiecesRoot: f.PiecesRoot(), PieceLayer: f.PieceLayer(),
		})
	}
	slices.Reverse(facts.Files)
	v2 := build(t, facts)
	for i := range v2.Files {
		if v2.Files[i].PiecesRoot() != hybrid.Files[i].PiecesRoot() || !bytes.Equal(v2.Files[i].PieceLayer(), hybrid.Files[i].PieceLayer()) {
			t.Errorf("file %d differs", i)
		}
	}
	facts.Files[0].PieceLayer = bytes.Repeat([]byte{1}, len(facts.Files[0].PieceLayer))
	facts.Files[3].PieceLayer = bytes.Repeat([]byte{1}, len(facts.Files[3].PieceLayer))
	if _, err := facts.Build(t.Context()); !errors.Is(err, torrent.ErrInvalidPieceLayers) {
		t.Errorf("wrong layer: %v", err)
	}

	// Version 1 from hashes of pieces.
	pieces := torrent.Builder{Name: "one", PieceLength: 20_000, Files: []torrent.BuildFile{{Length: 50_000}}, Pieces: make([]byte, 60)}
	if m := build(t, pieces); m.NumPieces != 3 || m.Length != 50_000 {
		t.Errorf("got %+v", m)
	}
	pieces.Pieces = make([]byte, 40)
	if _, err := pieces.Build(t.Context()); !errors.Is(err, torrent.ErrInvalidPieces) {
		t.Errorf("too few pieces: %v", err)
	}
}

func build(t *testing.T, b torrent.Builder) *torrent.Metainfo {
	t.Helper()
	data, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := torrent.Parse(data, torrent.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestBuildWritesAll(t *testing.T) {
	t.Parallel()
	b := torrent.Builder{
		Name: "folder", PieceLength: 16 << 10, Pieces: make([]byte, 20), Source: "x",
		Files: []torrent.BuildFile{
			{Path: []string{"run"}, Length: 5, Attr: torrent.Executable | torrent.Hidden},
			{Path: []string{"link"}, Attr: torrent.Symlink, Link: []string{"run"}},
		},
		Trackers: [][]string{{}, {"http://t.example/a"}}, WebSeeds: []string{"http://w.example/"}, HTTPSeeds: []string{"http://h.example/"},
		Nodes: []torrent.Node{{Host: "n.example", Port: 6881}}, Comment: "c", CreatedBy: "by", CreationDate: 1_700_000_000,
	}
	m := build(t, b)
	if !reflect.DeepEqual(m.Trackers, [][]string{{"http://t.example/a"}}) || !reflect.DeepEqual(m.WebSeeds, b.WebSeeds) ||
		!reflect.DeepEqual(m.HTTPSeeds, b.HTTPSeeds) || !reflect.DeepEqual(m.Nodes, b.Nodes) || m.Comment != "c" || m.CreatedBy != "by" ||
		m.CreationDate != b.CreationDate || m.Created().Year() != 2023 || m.Source != "x" {
		t.Errorf("got %+v", m)
	}
	if f := m.Files[0]; f.Attr != torrent.Executable|torrent.Hidden || f.Length != 5 {
		t.Errorf("got %+v", f)
	}
	if f := m.Files[1]; f.Attr != torrent.Symlink || f.LinkTarget() != "folder/run" || f.Length != 0 {
		t.Errorf("got %+v, to %s", f, f.LinkTarget())
	}
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

func TestBuildRefuses(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken disk")
	open := func(n int) func() (io.ReadCloser, error) {
		return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content(n))), nil }
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	file := func(f torrent.BuildFile, path ...string) torrent.BuildFile {
		f.Path = path
		return f
	}
	good := torrent.BuildFile{Length: 10, Open: open(10)}
	tests := []struct {
		name string
		b    torrent.Builder
		want error
	}{
		{"no files", torrent.Builder{Name: "a"}, torrent.ErrNoFiles},
		{"no name", torrent.Builder{Files: []torrent.BuildFile{file(good, "a")}}, torrent.ErrMissingName},
		{"content short", torrent.Builder{Name: "a", Files: []torrent.BuildFile{{Length: 11, Open: open(10)}}}, torrent.ErrInvalidLength},
		{"content long", torrent.Builder{Name: "a", Files: []torrent.BuildFile{{Length: 9, Open: open(10)}}}, torrent.ErrInvalidLength},
		{"length negative", torrent.Builder{Name: "a", Files: []torrent.BuildFile{{Length: -1, Open: open(0)}}}, torrent.ErrInvalidLength},
		{"piece length odd", torrent.Builder{Name: "a", Version: torrent.V2, PieceLength: 20_000, Files: []torrent.BuildFile{good}}, torrent.ErrMissingPieceLength},
		{"piece length small", torrent.Builder{Name: "a", Version: torrent.Hybrid, PieceLength: 8192, Files: []torrent.BuildFile{good}}, torrent.ErrMissingPieceLength},
		{"piece length negative", torrent.Builder{Name: "a", PieceLength: -1, Files: []torrent.BuildFile{good}}, torrent.ErrMissingPieceLength},
		{"no root", torrent.Builder{Name: "a", Version: torrent.V2, Files: []torrent.BuildFile{{Length: 10}}}, torrent.ErrMissingPiecesRoot},
		{"info of rubbish", torrent.Builder{Info: []byte("d4:name")}, nil},
		{"info of no dictionary", torrent.Builder{Info: []byte("le")}, torrent.ErrMissingInfo},
		{"cancelled", torrent.Builder{Name: "a", Files: []torrent.BuildFile{good}}, context.Canceled},
		{"disk", torrent.Builder{Name: "a", Files: []torrent.BuildFile{{Length: 1, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(failingReader{broken}), nil
		}}}}, broken},
		{"open", torrent.Builder{Name: "a", Files: []torrent.BuildFile{{Length: 1, Open: func() (io.ReadCloser, error) { return nil, broken }}}}, broken},
		{"same path twice", torrent.Builder{Name: "a", Version: torrent.V2, Files: []torrent.BuildFile{file(good, "x"), file(good, "x")}}, nil},
		{"file and folder", torrent.Builder{Name: "a", Version: torrent.V2, Files: []torrent.BuildFile{file(good, "x"), file(good, "x", "y")}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			if tt.want == context.Canceled {
				ctx = cancelled
			}
			data, err := tt.b.Build(ctx)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) || data != nil {
				t.Errorf("got %q, %v, want %v", data, err, tt.want)
			}
		})
	}
}

func TestAddFSRefusesWhatIsNoFile(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"a/pipe": {Mode: fs.ModeNamedPipe}}
	var b torrent.Builder
	var fault *fs.PathError
	if err := b.AddFS(files, "a"); !errors.As(err, &fault) || fault.Path != "a/pipe" {
		t.Errorf("got %v", err)
	}
	if err := b.AddFS(files, "missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func ExampleBuilder() {
	files := fstest.MapFS{"films/a.mkv": {Data: []byte("a film")}, "films/b.srt": {Data: []byte("its subtitles")}}
	b := torrent.Builder{Version: torrent.Hybrid, Trackers: [][]string{{"udp://tracker.example:1337/announce"}}}
	if err := b.AddFS(files, "films"); err != nil {
		fmt.Println(err)
		return
	}
	data, err := b.Build(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	m, _, err := torrent.Parse(data, torrent.Options{Strict: true})
	fmt.Println(m.V1, len(m.Files), m.PadFiles, err)
	// Output: ccbb3aef5ada651cf401fcfb73ce7c0bd0bab12e 2 1 <nil>
}

func ExampleBuilder_facts() {
	// The info dictionary came from peers, the tracker from a magnet link.
	b := torrent.Builder{
		Info:     []byte("d6:lengthi6e4:name5:a.mkv12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaae"),
		Trackers: [][]string{{"udp://tracker.example:1337/announce"}},
	}
	data, err := b.Build(context.Background())
	fmt.Printf("%.60s… %v\n", data, err)
	// Output: d8:announce35:udp://tracker.example:1337/announce4:infod6:le… <nil>
}
