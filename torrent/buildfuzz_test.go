package torrent_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seine-go/seine/torrent"
)

func contentOf(b []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
}

// What a Builder writes, Parse gives back: strictly, without a warning, and with the same facts. What it refuses, it
// refuses with an error that names a field and no offset.
func TestParseGivesBackWhatIsBuilt(t *testing.T) {
	t.Parallel()
	built := 0
	for seed := range uint64(1000) {
		if buildRandom(t, seed, "x y", "http://u.example") {
			built++
		}
	}
	if built < 100 {
		t.Errorf("only %d torrents", built)
	}
}

func FuzzBuild(f *testing.F) {
	for i, s := range []string{"a", "..", "", "a/b", "\xff", "\u202e", "_____padding_file_1", "ſ", "CON", strings.Repeat("x", 256)} {
		f.Add(uint64(i), s, "udp://"+s)
	}
	f.Fuzz(func(t *testing.T, seed uint64, element, url string) { buildRandom(t, seed, element, url) })
}

// buildRandom builds a torrent that a seed chooses, and tells whether there was one.
func buildRandom(t *testing.T, seed uint64, element, url string) bool {
	t.Helper()
	b := randomBuilder(rand.New(rand.NewPCG(seed, 1)), element, url)
	data, err := b.Build(context.Background())
	if err == nil {
		if err := sameFacts(&b, data); err != nil {
			t.Fatalf("%+v\n%.2000q: %v", b, data, err)
		}
		return true
	}
	var fault *torrent.Error
	if data != nil || !errors.As(err, &fault) || fault.Kind == "" || fault.Key == "" || fault.Offset >= 0 || strings.Contains(err.Error(), "at byte") {
		t.Fatalf("%+v: %q, error %v", b, data, err)
	}
	return false
}

func randomBuilder(r *rand.Rand, element, url string) torrent.Builder {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	name := func() string {
		if r.IntN(40) == 0 {
			return pick("..", ".", "", "a\\b", "/etc", "\x00", "\u200e", "_____padding_file_0")
		}
		return pick("a", "b", "c", "d", "e", "f", "A", "ß", "é.mkv", "x.", "long "+strings.Repeat("n", r.IntN(252)), element)
	}
	path := func() (p []string) {
		for range 1 + r.IntN(3) {
			p = append(p, name())
		}
		return p
	}
	urls := func(n int) (list []string) {
		for range r.IntN(n) {
			list = append(list, pick("http://a.example/", "https://b.example", "udp://c.example:1", "wss://d.example", url)+pick("", "/1", "/2", "/3"))
		}
		return list
	}
	b := torrent.Builder{
		Name: name(), Version: torrent.Version(r.IntN(4)), PieceLength: []int64{0, 16 << 10, 32 << 10, 64 << 10, 20_000}[r.IntN(5)],
		Private: r.IntN(2) == 0, Source: pick("", "s", element), WebSeeds: urls(3), HTTPSeeds: urls(2),
		Comment: pick("", "c", element), CreatedBy: pick("", "by"), CreationDate: r.Int64N(3) * 1_700_000_000,
	}
	for range r.IntN(3) {
		b.Trackers = append(b.Trackers, urls(3))
	}
	if r.IntN(4) == 0 {
		b.Nodes = append(b.Nodes, torrent.Node{Host: pick("n.example", "127.0.0.1", "::1", "[::1]", "", element), Port: uint16(r.IntN(9))})
	}
	if r.IntN(4) == 0 {
		b.Files = []torrent.BuildFile{{Length: 40_000, Attr: torrent.Attr(r.IntN(4)), Open: contentOf(content(40_000))}}
		return b
	}
	for range 1 + r.IntN(4) {
		f := torrent.BuildFile{Path: path(), Attr: torrent.Attr(r.IntN(4))}
		if r.IntN(6) == 0 {
			f.Attr, f.Link = torrent.Symlink, path()
			if len(b.Files) > 0 {
				f.Link = b.Files[0].Path
			}
		} else {
			f.Length = []int64{0, 1, 16 << 10, 16<<10 + 1, 70_000}[r.IntN(5)]
			f.Open = contentOf(content(int(f.Length)))
		}
		b.Files = append(b.Files, f)
	}
	return b
}

// sameFacts compares a torrent with what it was made of.
func sameFacts(b *torrent.Builder, data []byte) error {
	m, w, err := torrent.Parse(data, torrent.Options{Strict: true})
	if err != nil || len(w) > 0 {
		return fmt.Errorf("%w, warnings %v", err, w)
	}
	tiers := slices.DeleteFunc(slices.Clone(b.Trackers), func(tier []string) bool { return len(tier) == 0 })
	type facts struct {
		Version                    torrent.Version
		Name, Source, Comment, By  string
		Private                    bool
		Created, Length            int64
		Trackers                   [][]string
		WebSeeds, HTTPSeeds, Files []string
		Nodes                      []torrent.Node
	}
	got := facts{m.Version, m.Name, m.Source, m.Comment, m.CreatedBy, m.Private, m.CreationDate, m.Length, m.Trackers, m.WebSeeds, m.HTTPSeeds, nil, m.Nodes}
	want := facts{max(b.Version, torrent.V1), b.Name, b.Source, b.Comment, b.CreatedBy, b.Private, b.CreationDate, 0, tiers, b.WebSeeds, b.HTTPSeeds, nil, b.Nodes}
	for _, f := range m.Files {
		got.Files = append(got.Files, fmt.Sprintln(f.Path, f.Length, f.Attr, f.LinkTarget()))
	}
	for _, f := range b.Files {
		link := ""
		if f.Attr&torrent.Symlink != 0 {
			link = strings.Join(append([]string{b.Name}, f.Link...), "/")
		}
		want.Files = append(want.Files, fmt.Sprintln(strings.Join(append([]string{b.Name}, f.Path...), "/"), f.Length, f.Attr, link))
		want.Length += f.Length
	}
	slices.Sort(got.Files)
	slices.Sort(want.Files)
	if len(tiers) == 0 {
		want.Trackers = nil
	}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) || b.PieceLength != 0 && b.PieceLength != m.PieceLength {
		return fmt.Errorf("got %+v, want %+v", got, want)
	}
	return checkPaths(m)
}

// Facts that contradict each other, and what is out of bounds.
func TestBuilderRefusesFacts(t *testing.T) {
	t.Parallel()
	one := torrent.BuildFile{Length: 3, Open: contentOf([]byte("abc"))}
	layer := make([]byte, 64)
	with := func(change func(*torrent.Builder)) torrent.Builder {
		b := torrent.Builder{Name: "n", Files: []torrent.BuildFile{one}}
		change(&b)
		return b
	}
	path := func(paths ...[]string) torrent.Builder {
		return with(func(b *torrent.Builder) {
			b.Files = nil
			for _, p := range paths {
				b.Files = append(b.Files, torrent.BuildFile{Path: p, Length: 3, Open: one.Open})
			}
		})
	}
	v2 := func(length, pieceLength int64, layer []byte) torrent.Builder {
		return torrent.Builder{Name: "n", Version: torrent.V2, PieceLength: pieceLength, Files: []torrent.BuildFile{{Length: length, PiecesRoot: torrent.HashV2{1}, PieceLayer: layer}}}
	}
	many := make([]torrent.BuildFile, torrent.DefaultMaxFiles+1)
	for i := range many {
		many[i] = torrent.BuildFile{Path: []string{fmt.Sprint(i)}, Length: 1}
	}
	tests := []struct {
		name  string
		b     torrent.Builder
		want  error
		field string
	}{
		{"parent", path([]string{"..", "x"}), torrent.ErrInvalidPath, "Files[0].Path"},
		{"absolute", path([]string{"a"}, []string{"/etc"}), torrent.ErrInvalidPath, "Files[1].Path"},
		{"empty element", path([]string{"a", ""}), torrent.ErrInvalidPath, "Files[0].Path"},
		{"backslash", path([]string{`a\b`}), torrent.ErrInvalidPath, "Files[0].Path"},
		{"no path", path([]string{"a"}, nil), torrent.ErrInvalidPath, "Files[1].Path"},
		{"twice", path([]string{"a"}, []string{"a"}), torrent.ErrInvalidPath, "Files[1].Path"},
		{"twice but for case", path([]string{"ſ"}, []string{"S"}), torrent.ErrInvalidPath, "Files[1].Path"},
		{"file and folder", path([]string{"A"}, []string{"a", "b"}), torrent.ErrInvalidPath, "Files[0].Path"},
		{"pad file", path([]string{"_____padding_file_0"}), torrent.ErrInvalidPath, "Files[0].Path"},
		{"name", with(func(b *torrent.Builder) { b.Name = "a/b" }), torrent.ErrMissingName, "Name"},
		{"tracker", with(func(b *torrent.Builder) { b.Trackers = [][]string{{"http://a"}, {"ftp://only"}} }), torrent.ErrUnusable, "Trackers[1][0]"},
		{"tracker twice", with(func(b *torrent.Builder) { b.Trackers = [][]string{{"http://a"}, {"http://a"}} }), torrent.ErrUnusable, "Trackers[1][0]"},
		{"tracker of two lines", with(func(b *torrent.Builder) { b.Trackers = [][]string{{"http://a/\r\nX: y"}} }), torrent.ErrUnusable, "Trackers[0][0]"},
		{"web seed", with(func(b *torrent.Builder) { b.WebSeeds = []string{" http://a"} }), torrent.ErrUnusable, "WebSeeds[0]"},
		{"HTTP seed", with(func(b *torrent.Builder) { b.HTTPSeeds = []string{"http://a", ""} }), torrent.ErrUnusable, "HTTPSeeds[1]"},
		{"node without a port", with(func(b *torrent.Builder) { b.Nodes = []torrent.Node{{Host: "a"}} }), torrent.ErrUnusable, "Nodes[0]"},
		{"node in brackets", with(func(b *torrent.Builder) { b.Nodes = []torrent.Node{{Host: "[::1]", Port: 1}} }), torrent.ErrUnusable, "Nodes[0]"},
		{"version", with(func(b *torrent.Builder) { b.Version = 4 }), torrent.ErrUnsupportedVersion, "Version"},
		{"pieces in version 2", with(func(b *torrent.Builder) { b.Version, b.Pieces = torrent.V2, layer[:20] }), torrent.ErrInvalidPieces, "Pieces"},
		{"pieces in a hybrid", with(func(b *torrent.Builder) { b.Version, b.Pieces = torrent.Hybrid, layer[:20] }), torrent.ErrInvalidPieces, "Pieces"},
		{"attribute", with(func(b *torrent.Builder) { b.Files[0].Attr = 8 }), torrent.ErrInvalidPadFile, "Files[0].Attr"},
		{"link without a target", with(func(b *torrent.Builder) { b.Files[0] = torrent.BuildFile{Path: []string{"l"}, Attr: torrent.Symlink} }), torrent.ErrBadSymlink, "Files[0].Link"},
		{"target without a link", with(func(b *torrent.Builder) { b.Files[0].Link = []string{"x"} }), torrent.ErrBadSymlink, "Files[0].Link"},
		{"link to nothing", with(func(b *torrent.Builder) {
			b.Files = []torrent.BuildFile{{Path: []string{"a"}, Length: 3, Open: one.Open}, {Path: []string{"l"}, Attr: torrent.Symlink, Link: []string{"x"}}}
		}), torrent.ErrBadSymlink, "Files[1].Link"},
		{"neither content nor hashes", with(func(b *torrent.Builder) { b.Files[0].Open = nil }), torrent.ErrMissingPieces, "Files[0].Open"},
		{"hashes of version 2 in a hybrid", with(func(b *torrent.Builder) {
			b.Version, b.Files[0].Open, b.Files[0].PiecesRoot = torrent.Hybrid, nil, torrent.HashV2{1}
		}), torrent.ErrMissingPieces, "Files[0].Open"},
		{"too many files", torrent.Builder{Name: "n", PieceLength: 1 << 20, Files: many, Pieces: layer[:20]}, torrent.ErrTooManyFiles, "Files"},
		{"no layer", v2(40_000, 32<<10, nil), torrent.ErrInvalidPieceLayers, "Files[0].PieceLayer"},
		{"wrong layer", v2(40_000, 32<<10, layer), torrent.ErrInvalidPieceLayers, "Files[0].PieceLayer"},
		{"wrong layer of blocks", v2(20_000, 16<<10, layer), torrent.ErrInvalidPieceLayers, "Files[0].PieceLayer"},
		{"layer of a short file", v2(16_000, 16<<10, layer[:32]), torrent.ErrInvalidPieceLayers, "Files[0].PieceLayer"},
	}
	for _, tt := range tests {
		data, err := tt.b.Build(t.Context())
		var fault *torrent.Error
		if !errors.Is(err, tt.want) || !errors.As(err, &fault) || fault.Key != tt.field || strings.Contains(err.Error(), "at byte") || data != nil {
			t.Errorf("%s: got %v, want %v in %s", tt.name, err, tt.want, tt.field)
		}
	}
}

// endless is content that ends its context once it has been read from.
type endless struct{ cancel func() }

func (e endless) Read(b []byte) (int, error) { e.cancel(); return len(b), nil }

func TestBuildEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	file := func(name string, length int64) torrent.BuildFile {
		return torrent.BuildFile{Path: []string{name}, Length: length, Open: func() (io.ReadCloser, error) { return io.NopCloser(endless{cancel}), nil }}
	}
	big := torrent.Builder{Name: "n", Version: torrent.V2, PieceLength: 1 << 30, Files: []torrent.BuildFile{file("a", 1<<40), file("b", 1<<40)}}
	if data, err := big.Build(ctx); !errors.Is(err, context.Canceled) || data != nil {
		t.Errorf("content: %v", err)
	}
	facts := torrent.Builder{Name: "n", Files: []torrent.BuildFile{{Length: 3}}, Pieces: make([]byte, 20)}
	if _, err := facts.Build(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("facts: %v", err)
	}
	nothing := torrent.Builder{Name: "n", Files: []torrent.BuildFile{{Length: 3, Open: func() (io.ReadCloser, error) { return nil, nil }}}}
	if _, err := nothing.Build(t.Context()); err == nil || !strings.Contains(err.Error(), `"n"`) {
		t.Errorf("no content: %v", err)
	}
	var b torrent.Builder
	if err := b.AddFS(testFS(), "nowhere"); err == nil || b.Name != "" {
		t.Errorf("AddFS left the name %q, %v", b.Name, err)
	}
	if !reflect.DeepEqual(b, torrent.Builder{}) {
		t.Errorf("AddFS left %+v", b)
	}
}
