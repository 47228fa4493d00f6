package torrent_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

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
func file(length int, path ...string) string {
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

func TestDepthErrorOfATorrent_K138(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]string{
		"25 KB of l":      strings.Repeat("l", 25_000),
		"nested lists":    outer("", demoInfo, "1:z"+strings.Repeat("l", 10_000)+strings.Repeat("e", 10_000)),
		"36 MB":           outer("", demoInfo, "1:z"+strings.Repeat("l", 18_000_000)+strings.Repeat("e", 18_000_000)),
		"in a file tree":  outer("", "d9:file tree"+strings.Repeat("d1:a", 5000), ""),
		"in an info":      outer("", "d1:a"+strings.Repeat("l", 200), ""),
		"one past":        outer("", demoInfo, "1:z"+strings.Repeat("l", 100)+strings.Repeat("e", 100)),
		"in announce":     outer("13:announce-list"+strings.Repeat("l", 200), demoInfo, ""),
		"in piece layers": outer("", demoInfo, "12:piece layers"+strings.Repeat("d1:a", 200)),
	} {
		_, _, err := torrent.Parse([]byte(s), torrent.Options{})
		var fault *torrent.Error
		if !errors.Is(err, torrent.ErrDepthExceeded) || !errors.As(err, &fault) || fault.Offset > 1000 {
			t.Errorf("%s: %v", name, err)
		}
	}
	parse(t, outer("", demoInfo, "1:z"+strings.Repeat("l", 99)+strings.Repeat("e", 99)))
}

func TestOptionalKeysOfWrongTypes_K140(t *testing.T) {
	t.Parallel()
	const url = "http://t.example/a"
	encoded := string(bencode.AppendString(nil, url))
	one := [][]string{{url}}
	tests := []struct {
		name, s  string
		trackers [][]string
	}{
		{"nodes empty string", outer("", demoInfo, "5:nodes0:"), nil},
		{"nodes of rubbish", outer("", demoInfo, "5:nodesli1eleli2eel1:aelli1eei1eed1:ai1eee"), nil},
		{"announce list", outer("8:announcel"+encoded+"e", demoInfo, ""), nil},
		{"announce integer", outer("8:announcei1e", demoInfo, ""), nil},
		{"announce dictionary", outer("8:announced1:ai1ee", demoInfo, ""), nil},
		{"announce-list empty string", outer("8:announce"+encoded+"13:announce-list0:", demoInfo, ""), one},
		{"announce-list one URL", outer("13:announce-list"+encoded, demoInfo, ""), one},
		{"announce-list flat", outer("13:announce-listl"+encoded+"i1ee", demoInfo, ""), one},
		{"announce-list integer", outer("8:announce"+encoded+"13:announce-listi1e", demoInfo, ""), one},
		{"announce-list of rubbish", outer("8:announce"+encoded+"13:announce-listli1ed1:ai1eelli1eeee", demoInfo, ""), one},
		{"url-list integer", outer("", demoInfo, "8:url-listi1e"), nil},
		{"url-list of rubbish", outer("", demoInfo, "8:url-listli1elede0:e"), nil},
		{"httpseeds dictionary", outer("9:httpseedsde", demoInfo, ""), nil},
		{"creation date string", outer("13:creation date4:2020", demoInfo, ""), nil},
		{"comment integer", outer("7:commenti1e", demoInfo, ""), nil},
		{"comment.utf-8 list", outer("13:comment.utf-8le", demoInfo, ""), nil},
		{"created by list", outer("10:created byle", demoInfo, ""), nil},
		{"private string", outer("", strings.Replace(demoInfo, "20:aaaaaaaaaaaaaaaaaaaae", "20:aaaaaaaaaaaaaaaaaaaa7:private1:1e", 1), ""), nil},
		{"source integer", outer("", strings.Replace(demoInfo, "20:aaaaaaaaaaaaaaaaaaaae", "20:aaaaaaaaaaaaaaaaaaaa6:sourcei1ee", 1), ""), nil},
		{"attr integer", outer("", listed("4:attri1e"+file(5, "a")), ""), nil},
		{"files integer beside length", outer("", strings.Replace(demoInfo, "d6:length", "d5:filesi1e6:length", 1), ""), nil},
		{"piece layers in version 1", outer("", demoInfo, "12:piece layersi1e"), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, _ := parse(t, tt.s)
			if !reflect.DeepEqual(m.Trackers, tt.trackers) || len(m.WebSeeds)+len(m.HTTPSeeds)+len(m.Nodes) > 0 || m.Private {
				t.Errorf("got %+v", m)
			}
			if _, _, err := torrent.Parse([]byte(tt.s), torrent.Options{Strict: true}); err != nil {
				t.Errorf("strict: %v", err)
			}
		})
	}
}

func TestBytesBehindTheTorrent_K141(t *testing.T) {
	t.Parallel()
	for _, tail := range []string{"\n", "\r\n", "e", "garbage", "\x00\x00", outer("", demoInfo, "")} {
		s := outer("", demoInfo, "")
		_, w := parse(t, s+tail)
		if len(w) != 1 || w[0].Kind != bencode.ErrTrailingData || w[0].Offset != len(s) {
			t.Errorf("%q: warnings %v", tail, w)
		}
		_, _, err := torrent.Parse([]byte(s+tail), torrent.Options{Strict: true})
		var fault *torrent.Error
		if !errors.Is(err, bencode.ErrTrailingData) || !errors.As(err, &fault) || fault.Offset != len(s) {
			t.Errorf("%q: strict %v", tail, err)
		}
	}
}

func TestWhatIsNoTorrentIsNamed_K142(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, s, hint string
	}{
		{"html", "<!DOCTYPE html><html><body>404</body></html>", "html"},
		{"html with blanks", "\r\n  <html>", "html"},
		{"html with a mark", "\xef\xbb\xbf<HTML>", "html"},
		{"AppleDouble", "\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X        ", "AppleDouble"},
		{"json", `{"error": "login"}`, "json"},
		{"xml", "<?xml version='1.0'?>", "xml"},
		{"text", "Login required", "text"},
		{"text of Chinese", strings.Repeat("请先登录", 100), "text"},
		{"gzip", "\x1f\x8b\x08\x00", "gzip"},
		{"zip", "PK\x03\x04", "zip"},
		{"magnet", "magnet:?xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a", "magnet"},
		{"empty", "", "empty"},
		{"blank", " \n", "blank"},
		{"blank before", "\n" + outer("", demoInfo, ""), "bytes before"},
		{"cut", outer("", demoInfo, "")[:60], "cut off"},
	}
	for _, tt := range tests {
		_, _, err := torrent.Parse([]byte(tt.s), torrent.Options{})
		var fault *torrent.Error
		if !errors.Is(err, torrent.ErrNotBencode) || !errors.As(err, &fault) || !strings.Contains(fault.Hint, tt.hint) {
			t.Errorf("%s: %v", tt.name, err)
		}
		var below *bencode.Error
		if !errors.As(err, &below) {
			t.Errorf("%s: no fault of the encoding in %v", tt.name, err)
		}
	}
	for _, s := range []string{"i5e", "4:spam", "le"} {
		if _, _, err := torrent.Parse([]byte(s), torrent.Options{}); !errors.Is(err, torrent.ErrNotDict) {
			t.Errorf("%s: %v", s, err)
		}
	}
}

func TestNamesThatAreNotUTF8_K143(t *testing.T) {
	t.Parallel()
	const gbk = "\xc4\xe3\xba\xc3" // 你好
	twin := strings.Replace(demoInfo, "4:name4:demo", "4:name4:"+gbk+"10:name.utf-86:你好", 1)
	m, w := parse(t, outer("", twin, ""))
	if m.Name != "你好" || string(m.RawName) != "你好" || len(w) > 0 {
		t.Errorf("twin: %q, %v", m.Name, w)
	}
	m, w = parse(t, outer("", strings.Replace(demoInfo, "4:demo", "4:"+gbk, 1), ""))
	if m.Name != "____" || string(m.RawName) != gbk || !slices.Contains(w.Kinds(), torrent.ErrNotUTF8) {
		t.Errorf("no twin: %q, raw %q, %v", m.Name, m.RawName, w)
	}
	m, w = parse(t, outer("", listed(file(5, gbk, gbk+".txt"), file(6, gbk, gbk+".txt")+"10:path.utf-8l6:你好5:b.txte", file(7, gbk, gbk+".txt")), ""))
	if want := []string{"demo/____/____.txt", "demo/你好/b.txt", "demo/____/____.1.txt"}; !slices.Equal(paths(m), want) {
		t.Errorf("got %q, want %q", paths(m), want)
	}
	if raw := m.Files[0].RawPath(); string(raw[0]) != gbk || string(raw[1]) != gbk+".txt" {
		t.Errorf("raw %q", raw)
	}
	if raw := m.Files[1].RawPath(); string(raw[0]) != "你好" || !slices.Contains(w.Kinds(), torrent.ErrNotUTF8) {
		t.Errorf("raw %q, %v", raw, w)
	}
	// A twin that is no UTF-8 itself, or no path, is of no use.
	m, _ = parse(t, outer("", listed(file(5, "a")+"10:path.utf-8l1:\xffe", file(5, "b")+"10:path.utf-81:x"), ""))
	if !slices.Equal(paths(m), []string{"demo/a", "demo/b"}) {
		t.Errorf("got %q", paths(m))
	}
}

func TestHashIsOfTheRawBytes_K144(t *testing.T) {
	t.Parallel()
	for name, info := range map[string]string{
		"sorted":        demoInfo,
		"unsorted":      "d4:name4:demo6:lengthi100e" + infoEnd,
		"unknown keys":  strings.Replace(demoInfo, "d6:length", "d5:aliasl1:xe3:zzzd1:bi1e1:ai2ee6:length", 1),
		"duplicate key": strings.Replace(demoInfo, "4:name4:demo", "4:name4:demo4:name4:else", 1),
		"leading zeros": strings.Replace(demoInfo, "i100e", "i0100e", 1),
		"key with NUL":  strings.Replace(demoInfo, "4:name4:demo", "4:name4:demo5:name\x001:x", 1),
	} {
		m, _ := parse(t, outer("1:a1:b", info, "1:z1:y"))
		if m.V1 != torrent.HashV1(sha1Of(info)) || string(m.Info) != info || m.InfoOffset != 13 || m.Name != "demo" || m.Length != 100 {
			t.Errorf("%s: got %+v", name, m)
		}
		alone, _, err := torrent.ParseInfo([]byte(info), torrent.Options{})
		if err != nil || alone.V1 != m.V1 || alone.InfoOffset != 0 {
			t.Errorf("%s: info alone: %v", name, err)
		}
	}
}

// Every key that the parser reads is given every type.
func TestWrongTypeAtEveryKey_K145(t *testing.T) {
	t.Parallel()
	values := []string{"i-1e", "i0e", "i9223372036854775807e", "0:", "1:x", "le", "de", "ll1:xee", "d1:xi1ee", "li1ee", "d0:dee", "d0:d0:dee"}
	v2 := "d9:file treed4:demod0:d6:lengthi100e11:pieces root32:" + strings.Repeat("r", 32) + "eee12:meta versioni2e4:name4:demo12:piece lengthi16384ee"
	bases := []string{
		outer("8:announce1:x13:announce-listll1:xeee7:comment1:x13:comment.utf-81:x10:created by1:x13:creation datei1e", demoInfo, "5:nodesll1:xi1eee8:url-list1:x"),
		outer("9:httpseedsl1:xe", listed("4:attr1:x"+file(5, "a")+"10:path.utf-8l1:ae12:symlink pathl1:ae"), ""),
		outer("", v2, "12:piece layersde"),
		outer("", strings.Replace(demoInfo, "4:name4:demo", "12:meta versioni1e4:name4:demo10:name.utf-84:demo7:privatei1e6:source1:x", 1), ""),
	}
	tried := 0
	for _, base := range bases {
		for _, at := range valueSpans(base) {
			for _, v := range values {
				s := base[:at[0]] + v + base[at[1]:]
				m, _, err := torrent.Parse([]byte(s), torrent.Options{})
				tried++
				var fault *torrent.Error
				if err != nil && (!errors.As(err, &fault) || fault.Kind == "" || fault.Offset < 0 || fault.Offset > len(s)) {
					t.Errorf("%q: %v", s, err)
				}
				if err == nil {
					if err := checkPaths(m); err != nil {
						t.Errorf("%q: %v", s, err)
					}
				}
			}
		}
	}
	if tried < 500 {
		t.Errorf("only %d inputs", tried)
	}
}

// valueSpans gives the places of all values in a torrent.
func valueSpans(s string) (spans [][2]int) {
	sc := bencode.NewScanner([]byte(s), bencode.Options{})
	for t := sc.Next(); t.Kind != bencode.None; t = sc.Next() {
		switch t.Kind {
		case bencode.Integer, bencode.String, bencode.End:
			spans = append(spans, [2]int{t.Start, t.End})
		}
	}
	return spans
}

func TestPathsAreMadeSafe_K146(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300) + ".mkv"
	tests := []struct {
		path []string
		want string // empty: only the promises are checked
	}{
		{[]string{"..", "..", "..", "etc", "hosts"}, "demo/etc/hosts"},
		{[]string{"../../../etc/hosts"}, "demo/......etchosts"},
		{[]string{"/etc", "passwd"}, "demo/etc/passwd"},
		{[]string{`..\..\windows`, `C:\x`}, ""},
		{[]string{""}, "demo/_"},
		{[]string{" "}, "demo/ "},
		{[]string{"."}, "demo/_"},
		{[]string{"/"}, "demo/_"},
		{[]string{"a", "", "b"}, "demo/a/b"},
		{[]string{"a", ".", "..", "b"}, "demo/a/b"},
		{[]string{".\x00."}, "demo/_"},
		{[]string{"a\x00b\nc\x7f\u0085"}, "demo/abc"},
		{[]string{"\u202egnp.exe"}, "demo/gnp.exe"},
		{[]string{"CON", "a:b*?"}, "demo/CON/a:b*?"},
		{[]string{"日本語", "ファイル.txt"}, "demo/日本語/ファイル.txt"},
		{[]string{long}, "demo/" + strings.Repeat("x", 251) + ".mkv"},
		{[]string{strings.Repeat("é", 128)}, "demo/" + strings.Repeat("é", 127)},
		{slices.Repeat([]string{strings.Repeat("d", 250)}, 90), ""},
		{slices.Repeat([]string{"d"}, 5000), ""},
		{slices.Repeat([]string{".."}, 5000), "demo/_"},
	}
	for _, tt := range tests {
		s := outer("", listed(file(5, tt.path...)), "")
		m, w := parse(t, s)
		if tt.want != "" && m.Files[0].Path != tt.want {
			t.Errorf("%.100q: got %q, want %q", tt.path, m.Files[0].Path, tt.want)
		}
		raw := m.Files[0].RawPath()
		if len(raw) != len(tt.path) || string(raw[len(raw)-1]) != tt.path[len(raw)-1] {
			t.Errorf("%.100q: raw %.100q", tt.path, raw)
		}
		if changed := m.Files[0].Path != "demo/"+strings.Join(tt.path, "/"); changed != (len(w) > 0) {
			t.Errorf("%.100q: warnings %v", tt.path, w)
		}
	}
	for name, want := range map[string]string{
		"../x": "..x", "/": "_", `\est`: "est", ".": "_", "a/b": "ab", "...": "...", " x ": " x ", "\u200fx": "x", "x\ufffd": "x\ufffd",
	} {
		m, _ := parse(t, outer("", strings.Replace(demoInfo, "4:demo", string(bencode.AppendString(nil, name)), 1), ""))
		if m.Name != want || string(m.RawName) != name {
			t.Errorf("name %q: got %q, want %q", name, m.Name, want)
		}
	}
	for _, name := range []string{"", "..", "\x00\x00", "\u202e"} {
		s := outer("", strings.Replace(demoInfo, "4:demo", string(bencode.AppendString(nil, name)), 1), "")
		if _, _, err := torrent.Parse([]byte(s), torrent.Options{}); !errors.Is(err, torrent.ErrMissingName) {
			t.Errorf("name %q: %v", name, err)
		}
	}
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
		{"meta version 0", outer("", strings.Replace(demoInfo, "4:name", "12:meta versioni0e4:name", 1), ""), torrent.ErrUnsupportedVersion},
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
	for i := range 20_000 {
		all = append(all, fmt.Sprintf("http://t%d.example/", i%15_000))
	}
	if m, _ := parse(t, outer("13:announce-list"+list(all), demoInfo, "")); len(m.Trackers[0]) != 15_000 {
		t.Errorf("%d trackers", len(m.Trackers[0]))
	}
}

// 100 MB of hostile input take bounded time and memory even without limits of bytes and tokens.
func TestHostileTorrentOf100MB(t *testing.T) {
	if testing.Short() {
		t.Skip("100 MB, several times")
	}
	const size = 100 << 20
	unlimited := torrent.Limits{Bytes: -1, Tokens: -1}
	inputs := map[string]string{
		"files":      outer("", "d5:filesl"+strings.Repeat("d6:lengthi1e4:pathl1:aee", size/24)+"e4:name1:a"+infoEnd, ""),
		"one path":   outer("", "d5:filesld6:lengthi1e4:pathl"+strings.Repeat("1:a", size/3)+"eee4:name1:a"+infoEnd, ""),
		"nodes":      outer("", demoInfo, "5:nodesl"+strings.Repeat("l1:ai1ee", size/8)+"e"),
		"one name":   outer("", fmt.Sprintf("d6:lengthi1e4:name%d:", size)+strings.Repeat("\xff", size)+infoEnd, ""),
		"deep paths": outer("", "d9:file tree"+strings.Repeat("d200:"+strings.Repeat("d", 200), 90)+"d"+leaves(size)+strings.Repeat("e", 91)+"12:meta versioni2e4:name1:a12:piece lengthi16384ee", ""),
	}
	var lines []string
	for _, name := range slices.Sorted(mapKeys(inputs)) {
		data := []byte(inputs[name])
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		m, _, err := torrent.Parse(data, torrent.Options{Limits: unlimited})
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		if took > 60*time.Second || allocated > 3*size {
			t.Errorf("%s: %s, %d MB allocated", name, took, allocated>>20)
		}
		if err == nil {
			err = checkPaths(m)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		lines = append(lines, fmt.Sprintf("%s %d MB allocated in %s", name, allocated>>20, took.Round(time.Millisecond)))
	}
	if !t.Failed() {
		fmt.Printf("shown torrent-files.3: fuzz targets FuzzDecode, FuzzParse, FuzzParseMagnet, FuzzTitle; 100 MB: %s\n", strings.Join(lines, "; "))
	}
}

func leaves(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "9:%09dd0:d6:lengthi0eee", i)
	}
	return b.String()
}

func mapKeys[V any](m map[string]V) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
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
