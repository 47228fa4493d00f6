package torrent_test

import (
	"crypto/sha1"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seine-go/seine/torrent"
)

func sha1Of(s string) [20]byte { return sha1.Sum([]byte(s)) }

func ExampleParse() {
	data := []byte("d8:announce26:udp://tracker.example:13374:infod5:filesl" +
		"d6:lengthi300e4:pathl5:a.mkveed6:lengthi20e4:pathl2:..4:subs5:a.srteee" +
		"4:name4:film12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaaee\n")
	m, warnings, err := torrent.Parse(data, torrent.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.V1, m.Trackers)
	for _, f := range m.Files {
		fmt.Println(f.Path, f.Length)
	}
	fmt.Println(warnings.Kinds())
	// Output:
	// 496e9947b0320446d81265a88ca28866379304d3 [[udp://tracker.example:1337]]
	// film/a.mkv 300
	// film/subs/a.srt 20
	// [trailing_data unsafe_path]
}

func ExampleParse_errors() {
	_, _, err := torrent.Parse([]byte("<html><body>Please log in</body></html>"), torrent.Options{})
	fmt.Println(err)
	fmt.Println(errors.Is(err, torrent.ErrNotBencode))
	// Output:
	// seine: torrent: not_bencode at byte 0: expected_value: the input looks like html
	// true
}

func ExampleParseInfo() {
	m, _, err := torrent.ParseInfo([]byte("d6:lengthi100e4:name4:demo12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaae"), torrent.Options{})
	fmt.Println(m.Name, m.Length, m.Magnet(), err)
	// Output: demo 100 magnet:?xt=urn:btih:2e904ea18583ea60895517e796611192e7610220&dn=demo&xl=100 <nil>
}

func ExampleParseMagnet() {
	m, err := torrent.ParseMagnet("magnet:?xt=urn:btih:C12FE1C06BBA254A9DC9F519B335AA7C1367A88A&dn=A+Film&tr=udp%3A%2F%2Ft.example%3A80&so=0,2-4")
	fmt.Println(m.V1, m.Name, m.Trackers, m.Select, err)
	fmt.Println(m)

	_, err = torrent.ParseMagnet("magnet:?dn=nothing")
	fmt.Println(err)
	// Output:
	// c12fe1c06bba254a9dc9f519b335aa7c1367a88a A Film [udp://t.example:80] [{0 0} {2 4}] <nil>
	// magnet:?xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a&dn=A%20Film&tr=udp%3A%2F%2Ft.example%3A80&so=0,2-4
	// seine: magnet: missing_info_hash
}

func ExampleMagnet_UnmarshalText() {
	var film struct {
		Title string
		Links []torrent.Magnet
	}
	err := json.Unmarshal([]byte(`{"Title": "A Film", "Links": ["magnet:?xt=urn:btih:MFRGCYTBMJQWEYLCMFRGCYTBMJQWEYLC"]}`), &film)
	fmt.Println(film.Links[0].V1, err)
	// Output: 6162616261626162616261626162616261626162 <nil>
}
