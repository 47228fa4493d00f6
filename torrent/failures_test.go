package torrent_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seine-go/seine/torrent"
	"github.com/seine-go/seine/torrent/bencode"
)

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
		"\u202e": "_", "\u200f\u200f": "_",
	} {
		m, _ := parse(t, outer("", strings.Replace(demoInfo, "4:demo", string(bencode.AppendString(nil, name)), 1), ""))
		if m.Name != want || string(m.RawName) != name {
			t.Errorf("name %q: got %q, want %q", name, m.Name, want)
		}
	}
	for _, name := range []string{"", "..", "\x00\x00", "\u0085\n"} {
		s := outer("", strings.Replace(demoInfo, "4:demo", string(bencode.AppendString(nil, name)), 1), "")
		if _, _, err := torrent.Parse([]byte(s), torrent.Options{}); !errors.Is(err, torrent.ErrMissingName) {
			t.Errorf("name %q: %v", name, err)
		}
	}
}
