package torrent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seine-go/seine/torrent"
)

const (
	hex40 = "c12fe1c06bba254a9dc9f519b335aa7c1367a88a"
	link  = "magnet:?xt=urn:btih:" + hex40
	hex64 = "cafecafecafecafecafecafecafecafecafecafecafecafecafecafecafecafe"
)

func magnet(t *testing.T, s string) torrent.Magnet {
	t.Helper()
	m, err := torrent.ParseMagnet(s)
	if err != nil {
		t.Errorf("%.200q: %v", s, err)
	}
	return m
}

func TestHashesOfMagnets_K147(t *testing.T) {
	t.Parallel()
	const base32 = "YEX6DQDLXISUVHOJ6UM3GNNKPQJWPKEK"
	for _, s := range []string{
		link, "magnet:?xt=urn:btih:" + strings.ToUpper(hex40), "magnet:?xt=urn:btih:" + base32, "magnet:?xt=urn:btih:" + strings.ToLower(base32),
		link + "&dn=", link + "&dn", "magnet:?dn=a b&xt=urn:btih:" + hex40, "MAGNET:?XT=URN:BTIH:" + hex40, "magnet:?xt.1=urn:btih:" + hex40,
		"magnet://?xt=urn:btih:" + hex40, "magnet:/?xt=urn:btih:" + hex40, "magnet:xt=urn:btih:" + hex40, " \t" + link + "\r\n",
		"magnet:?dn=x&amp;xt=urn:btih:" + hex40 + "&amp;dn=y", "magnet:?dn=x&#38;xt=urn:btih:" + hex40, "magnet:?dn=x&amp;amp;xt=urn:btih:" + hex40,
		link + "&xt=urn:btih:" + strings.Repeat("d", 40), link + "&xt=urn:btih:abc", "magnet:?xt=urn%3Abtih%3A" + hex40, "magnet:?xt=" + "urn:btih:%63" + hex40[1:],
	} {
		if m := magnet(t, s); m.V1.String() != hex40 {
			t.Errorf("%q: hash %s", s, m.V1)
		}
	}
	if m := magnet(t, "magnet:?dn=a b&xt=urn:btih:"+hex40); m.Name != "a b" {
		t.Errorf("name %q", m.Name)
	}
	bad := []string{"", "x", hex40 + "0", hex40 + "/", " " + hex40, strings.Repeat("0", 40), strings.Repeat("A", 32), strings.Repeat("1", 32), strings.Repeat("g", 40)}
	for n := 33; n < 40; n++ {
		bad = append(bad, hex40[:n])
	}
	for _, s := range bad {
		_, err := torrent.ParseMagnet("magnet:?xt=urn:btih:" + s)
		var fault *torrent.MagnetError
		if !errors.Is(err, torrent.ErrInvalidInfoHash) || !errors.As(err, &fault) {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, s := range []string{hex64, "1220" + hex64[1:], "1120" + hex64, "1220" + strings.Repeat("0", 64)} {
		if _, err := torrent.ParseMagnet("magnet:?xt=urn:btmh:" + s); !errors.Is(err, torrent.ErrInvalidInfoHash) {
			t.Errorf("%q: %v", s, err)
		}
	}
	if m := magnet(t, link+"&xt=urn:btmh:1220"+hex64); m.Version() != torrent.Hybrid || m.V2.String() != hex64 || m.V2.Short().String() != hex64[:40] {
		t.Errorf("hybrid %+v", m)
	}
}

func TestTrackersOfMagnets_K148(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, query string
		want        []string
	}{
		{"numbers give the order", "&tr.2=http://b&tr.1=http://a&tr=http://c&tr.10=http://d", []string{"http://a", "http://b", "http://d", "http://c"}},
		{"upper case", "&TR.2=http://b&Tr.1=http://a", []string{"http://a", "http://b"}},
		{"three times", "&tr=http://a&tr=http://a&tr=http%3A%2F%2Fa", []string{"http://a"}},
		{"split, then decoded", "&tr=udp%3A%2F%2Ft.example%3A80", []string{"udp://t.example:80"}},
		{"decoded once", "&tr=http://a/%2541&tr=http://b/%26tr%3Dx", []string{"http://a/%41", "http://b/&tr=x"}},
		{"first equals sign", "&tr=http://a/?k=v=w", []string{"http://a/?k=v=w"}},
		{"a plus stays", "&tr=http://a/?k=a+b", []string{"http://a/?k=a+b"}},
		{"no escape", "&tr=http://a/%zz%4", []string{"http://a/%zz%4"}},
		{"schemes", "&tr=ftp://a&tr=javascript:alert(1)&tr=a.example&tr=ws://a&tr=WSS://b&tr=http:/c&tr=http://", []string{"ws://a", "WSS://b"}},
		{"blanks", "&tr=%20http://a%0A&tr=+", []string{"http://a"}},
		{"empty", "&tr=&tr.1=&tr", nil},
	}
	for _, tt := range tests {
		if m := magnet(t, link+tt.query); !slices.Equal(m.Trackers, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, m.Trackers, tt.want)
		}
	}
	many := link
	for i := range 5000 {
		many += fmt.Sprintf("&tr=http://t%d.example", i%3000)
	}
	if m := magnet(t, many); len(m.Trackers) != 3000 {
		t.Errorf("%d trackers", len(m.Trackers))
	}
}

func TestParametersOfMagnets(t *testing.T) {
	t.Parallel()
	m := magnet(t, link+"&dn=&dn=A+%26+B&dn=C&xl=x&xl=5&xl=6&kt=one+two%20one&kt=three&ws=http%3A%2F%2Fw&xs=http://x&as=http://y&as=http://y"+
		"&x.pe=1.2.3.4:5&x.pe=host.example:65535&x.pe=[2001:DB8::0:1]:80&x.pe=a:0&x.pe=a:65536&x.pe=:1&x.pe=a&x.pe=[::1&x.pe=a%2Fb:1&x.pe=1.2.3.4:005&dht=n.example:1"+
		"&so=7,2-4,3-5,,a,9-8,1048576,0-1048576,-3&so=6")
	want := torrent.Magnet{
		V1: m.V1, Name: "A & B", Length: 5, Keywords: []string{"one", "two", "three"}, WebSeeds: []string{"http://w"}, Sources: []string{"http://x"},
		Fallback: []string{"http://y"}, Peers: []string{"1.2.3.4:5", "host.example:65535", "[2001:db8::1]:80"}, Nodes: []string{"n.example:1"},
		Select: []torrent.Range{{2, 7}},
	}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("got  %+v\nwant %+v", m, want)
	}
	if m := magnet(t, link+"&so=0-1048575"); !slices.Equal(m.Select, []torrent.Range{{0, torrent.MaxSelect}}) {
		t.Errorf("at the bound: %v", m.Select)
	}
	if m := magnet(t, link+"&dn=%ff%20x"); m.Name != "\ufffd x" {
		t.Errorf("name %q", m.Name)
	}
}

func TestMagnetErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		s    string
		want error
	}{
		{"", torrent.ErrNotMagnet},
		{"magnet", torrent.ErrNotMagnet},
		{"http://x/?xt=urn:btih:" + hex40, torrent.ErrNotMagnet},
		{"magnet:", torrent.ErrMissingInfoHash},
		{"magnet:?xt=urn:sha1:x", torrent.ErrMissingInfoHash},
		{"magnet:?xt=" + hex40, torrent.ErrMissingInfoHash},
		{link + "&dn=" + strings.Repeat("x", torrent.MaxMagnetBytes-len(link)-4), nil},
		{link + "&dn=" + strings.Repeat("x", torrent.MaxMagnetBytes-len(link)-3), torrent.ErrTooLong},
	}
	for _, tt := range tests {
		if _, err := torrent.ParseMagnet(tt.s); !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
			t.Errorf("%.50q: %v, want %v", tt.s, err, tt.want)
		}
	}
	if _, err := torrent.ParseMagnet("http://user:secret@x.example/"); strings.Contains(err.Error(), "secret") {
		t.Errorf("credentials in %v", err)
	}
	if _, err := json.Marshal(torrent.Magnet{}); !errors.Is(err, torrent.ErrMissingInfoHash) {
		t.Errorf("no hash: %v", err)
	}
	var h torrent.HashV1
	if err := h.UnmarshalText([]byte("xyz")); !errors.Is(err, torrent.ErrInvalidInfoHash) {
		t.Errorf("hash: %v", err)
	}
	var h2 torrent.HashV2
	if err := errors.Join(h.UnmarshalText(nil), h2.UnmarshalText(nil), h2.UnmarshalText([]byte(hex64))); err != nil || h2.String() != hex64 {
		t.Errorf("hashes: %v", err)
	}
}

func TestSelectedFilesEnd(t *testing.T) {
	t.Parallel()
	const most = int(^uint(0) >> 1)
	m := torrent.Magnet{Select: []torrent.Range{{-3, 1}, {5, 4}, {torrent.MaxSelect - 1, most}, {most - 1, most}}}
	if got := slices.Collect(m.Files()); !slices.Equal(got, []int{0, 1, torrent.MaxSelect - 1, torrent.MaxSelect}) {
		t.Errorf("%d files", len(got))
	}
}

func TestFragmentsAndEscapesOfMagnets(t *testing.T) {
	t.Parallel()
	for _, s := range []string{link + "#frag", link + "#", "magnet:?dn=x&xt=urn:btih:" + strings.ToUpper(hex40) + "#a&xl=3", "magnet:?xt=urn%3Abtih%3A" + hex40 + "#f"} {
		if m := magnet(t, s); m.V1.String() != hex40 {
			t.Errorf("%q: %s", s, m.V1)
		}
	}
	if m := magnet(t, "magnet:?xt=urn:btmh:1220"+hex64+"#frag"); m.V2.String() != hex64 {
		t.Errorf("version 2 with a fragment: %s", m.V2)
	}
	if m := magnet(t, link+"&dn=C# and F#"); m.Name != "C# and F#" {
		t.Errorf("name %q", m.Name)
	}
	for value, want := range map[string]int64{"1%30": 10, "%31": 1, "1%2B": 0, "%2B1": 0, "+1": 0, "1%20": 0, "9223372036854775808": 0, "0": 0} {
		if m := magnet(t, link+"&xl="+value); m.Length != want {
			t.Errorf("xl=%s: %d, want %d", value, m.Length, want)
		}
	}
	m := magnet(t, link+"&tr=http%3A%2F%2Fa%0D%0AX&tr=http://b\x7f/x&ws=http://c/%00d&xs=http://e%1Bf&as=http://g\nh&tr=http:///i&tr=udp://j")
	if p := magnet(t, link+"&x.pe=a%E2%80%AEb:1&x.pe=a%C2%A0b:1&x.pe=b%C3%BCcher.example:1"); !slices.Equal(p.Peers, []string{"bücher.example:1"}) {
		t.Errorf("peers %q", p.Peers)
	}
	if want := (torrent.Magnet{V1: m.V1, Trackers: []string{"udp://j"}}); !reflect.DeepEqual(m, want) {
		t.Errorf("control characters: %+v", m)
	}
}

func TestWrittenMagnetsAreBounded(t *testing.T) {
	t.Parallel()
	m := magnet(t, link)
	m.Name = strings.Repeat("x", torrent.MaxMagnetBytes-len(link)-len("&dn="))
	b, err := m.MarshalText()
	var back torrent.Magnet
	if err != nil || back.UnmarshalText(b) != nil || !reflect.DeepEqual(back, m) {
		t.Errorf("at the bound: %v", err)
	}
	m.Name += "x"
	var fault *torrent.MagnetError
	if b, err := m.MarshalText(); !errors.Is(err, torrent.ErrTooLong) || !errors.As(err, &fault) || b != nil {
		t.Errorf("past the bound: %v", err)
	}
}

// FuzzParseMagnet holds that a link that was read is written so that it reads back equal, and is written the same again.
func FuzzParseMagnet(f *testing.F) {
	for _, seed := range []string{
		link, link + "&dn=A+B%20C&tr=http%3A%2F%2Fa&tr.1=udp://b&amp;ws=x&xl=5&kt=a+b&x.pe=[::1]:80&dht=a:1&so=1,3-9&xs=urn:x&as=y",
		"magnet:?xt=urn:btmh:1220" + hex64, "magnet://?xt.1=urn:btih:" + hex40, "magnet:?xt=urn:btih:MFRGCYTBMJQWEYLCMFRGCYTBMJQWEYLC&dn=%ff%00+", "magnet:?", "x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := torrent.ParseMagnet(s)
		if err != nil {
			var fault *torrent.MagnetError
			if !errors.As(err, &fault) || fault.Kind == "" {
				t.Fatalf("error %v", err)
			}
			return
		}
		text := m.String()
		if len(text) > torrent.MaxMagnetBytes {
			return
		}
		again, err := torrent.ParseMagnet(text)
		if err != nil || !reflect.DeepEqual(again, m) || again.String() != text {
			t.Fatalf("%q was written as %q and read as %+v, %v, not %+v", s, text, again, err, m)
		}
		if !utf8.ValidString(m.Name) {
			t.Fatalf("name %q", m.Name)
		}
	})
}

func BenchmarkParseMagnet(b *testing.B) {
	s := link + "&dn=A.Film.2024.1080p.WEB&tr=udp%3A%2F%2Ftracker.example%3A1337%2Fannounce"
	b.ReportAllocs()
	for b.Loop() {
		if _, err := torrent.ParseMagnet(s); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	data := []byte(outer("8:announce10:http://a/b", demoInfo, ""))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := torrent.Parse(data, torrent.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
