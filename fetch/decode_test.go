package fetch

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// encode codes data in one coding; "raw" is deflate without the zlib wrapper.
func encode(t testing.TB, name string, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch name {
	case "gzip", "x-gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "raw":
		w, _ = flate.NewWriter(&b, 6)
	case "br":
		w = brotli.NewWriterLevel(&b, 1)
	case "zstd":
		w, _ = zstd.NewWriter(&b, zstd.WithWindowSize(1<<20))
	default:
		return data
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	w.Close()
	return b.Bytes()
}

// decodeBody reads wire as the body of an answer with the given fields.
func decodeBody(wire []byte, coding, contentType, path string, limit int64) bodyResult {
	h := http.Header{}
	if coding != "" {
		h.Set("Content-Encoding", coding)
	}
	if contentType != "" {
		h.Set("Content-Type", contentType)
	}
	return readBody(bytes.NewReader(wire), bodyInfo{size: int64(len(wire)), header: h, path: path, limit: limit})
}

var page = []byte("<!doctype html><title>Films</title>" + strings.Repeat("<p>Metropolis, 1927</p>\n", 400))

func TestDecode(t *testing.T) {
	t.Parallel()
	gz := encode(t, "gzip", page)
	stacked := page
	for _, c := range []string{"gzip", "br", "zstd", "deflate", "gzip"} {
		stacked = encode(t, c, stacked)
	}
	badCRC := bytes.Clone(gz)
	badCRC[len(badCRC)-5] ^= 1
	badAdler := encode(t, "deflate", page)
	badAdler[len(badAdler)-1] ^= 1
	for _, c := range []struct {
		name, coding, contentType, path string
		wire                            []byte
		want                            []byte
		kind                            ErrorKind // of the cut; 0 for none
	}{
		{name: "plain", wire: page, want: page},
		{name: "identity", coding: "identity", wire: page, want: page},
		{name: "gzip", coding: "gzip", wire: gz, want: page},
		{name: "alias and case", coding: " X-GZIP ", wire: gz, want: page},
		{name: "zlib", coding: "deflate", wire: encode(t, "deflate", page), want: page},
		{name: "raw deflate", coding: "deflate", wire: encode(t, "raw", page), want: page},
		{name: "br", coding: "br", wire: encode(t, "br", page), want: page},
		{name: "zstd", coding: "zstd", wire: encode(t, "zstd", page), want: page},
		{name: "gzip twice", coding: "gzip, gzip", wire: encode(t, "gzip", gz), want: page},
		{name: "five", coding: "gzip, br, zstd, deflate, gzip", wire: stacked, want: page},
		{name: "six", coding: "gzip, gzip, gzip, gzip, gzip, gzip", wire: gz, kind: ErrEncoding},
		{name: "unknown", coding: "compress", wire: []byte("\x1f\x9d\x90<html>"), kind: ErrEncoding},
		{name: "unknown, is plain", coding: "compress", wire: page, want: page},
		{name: "unknown below a known one", coding: "sdch, gzip", wire: gz, kind: ErrEncoding},
		{name: "unknown, no body", coding: "compress"},
		{name: "gzip, no body", coding: "gzip"},
		{name: "charset for a coding", coding: "ISO-8859-1", wire: page, want: page},
		{name: "two members", coding: "gzip", wire: append(bytes.Clone(gz), gz...), want: append(bytes.Clone(page), page...)},

		{name: "says gzip, is plain", coding: "gzip", wire: page, want: page},
		{name: "says gzip, is short", coding: "gzip", wire: []byte("ok"), want: []byte("ok")},
		{name: "says zstd, is plain", coding: "zstd", wire: page, want: page},
		{name: "says br, is plain", coding: "br", wire: page, want: page},
		{name: "says br, is JSON", coding: "br", wire: []byte(`{"title":"Metropolis"}`), want: []byte(`{"title":"Metropolis"}`)},
		{name: "says deflate, is plain", coding: "deflate", wire: page, want: page},
		{name: "says br, is gzip", coding: "br", wire: gz, want: page},
		{name: "says gzip, is zstd", coding: "gzip", wire: encode(t, "zstd", page), want: page},
		{name: "says gzip once, is twice", coding: "gzip", contentType: "text/xml", wire: encode(t, "gzip", gz), want: page},
		{name: "says nothing, is a page", contentType: "text/html; charset=utf-8", wire: gz, want: page},
		{name: "says nothing, no type", wire: gz, want: page},
		{name: "says nothing, feed", contentType: "application/rss+xml", wire: gz, want: page},
		{name: "download", contentType: "application/gzip", path: "/films.tar.gz", wire: gz, want: gz},
		{name: "download without a name", contentType: "application/octet-stream", path: "/get", wire: gz, want: gz},
		{name: "packed document", contentType: "application/x-gzip", path: "/sitemap.XML.gz", wire: gz, want: page},
		{name: "named .gz, is plain", contentType: "application/x-gzip", path: "/sitemap.xml.gz", wire: page, want: page},
		{name: "packed image", contentType: "image/png", path: "/a.png", wire: gz, want: gz},

		{name: "junk after gzip", coding: "gzip", wire: append(bytes.Clone(gz), "<!-- cache -->"...), want: page},
		{name: "junk that begins like gzip", coding: "gzip", wire: append(bytes.Clone(gz), 0x1f, 0x8b, 8, 0xff), want: page},
		{name: "junk after zlib", coding: "deflate", wire: append(encode(t, "deflate", page), "junk"...), want: page},
		{name: "junk after br", coding: "br", wire: append(encode(t, "br", page), "junk"...), want: page},
		{name: "junk after zstd", coding: "zstd", wire: append(encode(t, "zstd", page), "junk junk"...), want: page},
		{name: "cut trailer", coding: "gzip", wire: gz[:len(gz)-3], want: page, kind: ErrTruncated},
		{name: "bad trailer", coding: "gzip", wire: badCRC, want: page, kind: ErrEncoding},
		{name: "bad zlib trailer", coding: "deflate", wire: badAdler, want: page, kind: ErrEncoding},
		{name: "cut header", coding: "gzip", wire: gz[:5], want: nil, kind: ErrTruncated},
		{name: "cut magic", coding: "gzip", wire: gz[:2], want: nil, kind: ErrTruncated},
		{name: "cut second member", coding: "gzip", wire: append(bytes.Clone(gz), gz[:len(gz)-3]...), want: append(bytes.Clone(page), page...), kind: ErrTruncated},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			res := decodeBody(c.wire, c.coding, c.contentType, c.path, -1)
			switch {
			case res.fatal != nil:
				t.Fatal(res.fatal)
			case !bytes.Equal(res.data, c.want):
				t.Errorf("got %d bytes, want %d: %.60q", len(res.data), len(c.want), res.data)
			}
			if res.cut == nil && c.kind != 0 || res.cut != nil && res.cut.Kind != c.kind {
				t.Errorf("cut: %v, want kind %v", res.cut, c.kind)
			}
		})
	}
}

func TestDecodeCutAnywhere(t *testing.T) {
	t.Parallel()
	for _, coding := range []string{"gzip", "deflate", "raw", "br", "zstd"} {
		wire := encode(t, coding, page)
		name := coding
		if coding == "raw" {
			name = "deflate"
		}
		for n := 5; n < len(wire); n++ {
			res := decodeBody(wire[:n], name, "text/html", "/", -1)
			if res.fatal != nil || !bytes.HasPrefix(page, res.data) {
				t.Fatalf("%s cut to %d of %d: %v, %.40q", coding, n, len(wire), res.fatal, res.data)
			}
			if res.cut == nil && len(res.data) < len(page) {
				t.Fatalf("%s cut to %d of %d: %d bytes for the whole", coding, n, len(wire), len(res.data))
			}
		}
	}
}

// TestDecodeInPieces reads each coding byte by byte, and with an error of the wire in the middle.
func TestDecodeInPieces(t *testing.T) {
	t.Parallel()
	for _, coding := range []string{"", "gzip", "deflate", "br", "zstd"} {
		wire := encode(t, coding, page)
		h := http.Header{}
		if coding != "" {
			h.Set("Content-Encoding", coding)
		}
		res := readBody(iotest.OneByteReader(bytes.NewReader(wire)), bodyInfo{size: -1, header: h, limit: -1})
		if res.cut != nil || !bytes.Equal(res.data, page) || res.rawSize != int64(len(wire)) || !res.ended {
			t.Errorf("%q: %d bytes, %v", coding, len(res.data), res.cut)
		}
		broken := errors.New("broken")
		src := io.MultiReader(bytes.NewReader(wire[:len(wire)/2]), iotest.ErrReader(broken))
		res = readBody(src, bodyInfo{size: int64(len(wire)), header: h, limit: -1})
		if res.cut == nil || res.wireErr != broken || !bytes.HasPrefix(page, res.data) {
			t.Errorf("%q, broken: %d bytes, %v, %v", coding, len(res.data), res.cut, res.wireErr)
		}
	}
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	for _, coding := range []string{"", "gzip", "deflate", "br", "zstd"} {
		for _, size := range []int{0, 1, 1000, scratchSize - 1, scratchSize, scratchSize + 1, exactBody, exactBody + 1, 3 << 19} {
			data := bytes.Repeat([]byte{'x'}, size)
			wire := encode(t, coding, data)
			for _, known := range []bool{true, false} {
				for _, limit := range []int{0, 1, size / 2, size - 1, size, size + 1} {
					if limit < 0 {
						continue
					}
					h := http.Header{}
					if coding != "" {
						h.Set("Content-Encoding", coding)
					}
					length := int64(len(wire))
					if !known {
						length = -1
					}
					res := readBody(bytes.NewReader(wire), bodyInfo{size: length, header: h, limit: int64(limit)})
					cut := res.cut != nil && res.cut.Kind == ErrBodyLimit
					if len(res.data) != min(size, limit) || cut != (limit < size) || !cut && res.cut != nil {
						t.Errorf("%q, %d bytes, length known %v, limit %d: got %d, %v", coding, size, known, limit, len(res.data), res.cut)
					}
				}
			}
		}
	}
}

// TestJunkBehindCodedDataIsBounded: at the bound of what is read behind the data, and one past it, the data is whole.
func TestJunkBehindCodedDataIsBounded(t *testing.T) {
	t.Parallel()
	gz := encode(t, "gzip", page)
	for _, more := range []int{0, 1} {
		wire := append(bytes.Clone(gz), make([]byte, sourceSize-len(gz)+maxDrain+more)...) // what the buffer holds is read in any case
		res := decodeBody(wire, "gzip", "", "/", -1)
		if !bytes.Equal(res.data, page) || res.cut != nil || res.ended != (more == 0) {
			t.Errorf("%d past the bound: %d bytes, %v, ended %v", more, len(res.data), res.cut, res.ended)
		}
	}
}

func TestLyingLengthAllocatesLittle(t *testing.T) {
	t.Parallel()
	res := readBody(strings.NewReader("short"), bodyInfo{size: 10 << 30, limit: -1})
	if string(res.data) != "short" || cap(res.data) > 64 {
		t.Errorf("%q in %d bytes", res.data, cap(res.data))
	}
	res = readBody(bytes.NewReader(page), bodyInfo{size: 3, limit: -1}) // a wire that brings more than it says
	if res.cut == nil || !bytes.HasPrefix(page, res.data) || len(res.data) > 4 {
		t.Errorf("%d bytes, %v", len(res.data), res.cut)
	}
}

// bomb returns size zeros, a multiple of 1 MiB, in the codings, of which the last is the outermost.
func bomb(t testing.TB, size int, codings ...string) []byte {
	const piece = 1 << 20
	if first := codings[0]; first == "gzip" || first == "zstd" { // members and frames may follow each other
		data := bytes.Repeat(encode(t, first, make([]byte, piece)), size/piece)
		for _, c := range codings[1:] {
			data = encode(t, c, data)
		}
		return data
	}
	data := make([]byte, size)
	for _, c := range codings {
		data = encode(t, c, data)
	}
	return data
}

// TestBombs is not parallel: it looks at what the process allocates.
func TestBombs(t *testing.T) {
	limit, size := 2<<20, 64<<20
	if raceEnabled {
		limit, size = 256<<10, 4<<20
	}
	for _, codings := range [][]string{{"gzip"}, {"deflate"}, {"br"}, {"zstd"}, {"gzip", "gzip"}, {"br", "br"}, {"zstd", "gzip"}, {"gzip", "deflate", "br"}} {
		wire := bomb(t, size, codings...)
		coding := strings.Join(codings, ", ")
		least := uint64(math.MaxUint64) // of several, since a pool may be empty for the processor that runs it or after a collection
		for range 4 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			res := decodeBody(wire, coding, "text/html", "/", int64(limit))
			runtime.ReadMemStats(&after)
			if len(res.data) != limit || res.cut == nil || res.cut.Kind != ErrBodyLimit {
				t.Errorf("%s: %d bytes, %v", coding, len(res.data), res.cut)
			}
			least = min(least, after.TotalAlloc-before.TotalAlloc)
		}
		if least > uint64(3*limit+1<<20) && !raceEnabled {
			t.Errorf("%s: allocated %d bytes", coding, least)
		}
	}
}

// TestEmptyMembers: a body that goes on for ever without giving a byte ends at a bound too.
func TestEmptyMembers(t *testing.T) {
	t.Parallel()
	member, limit := encode(t, "gzip", nil), int64(256<<10)
	endless := &repeat{data: member}
	res := readBody(endless, bodyInfo{size: -1, header: http.Header{"Content-Encoding": {"gzip"}}, limit: limit})
	if res.cut == nil || res.cut.Kind != ErrBodyLimit || res.rawSize > 2*limit {
		t.Errorf("%v after %d bytes", res.cut, res.rawSize)
	}
	inner := encode(t, "gzip", bytes.Repeat(member, 64<<10))
	res = readBody(bytes.NewReader(inner), bodyInfo{size: -1, header: http.Header{"Content-Encoding": {"gzip, gzip"}}, limit: limit})
	if res.cut == nil || res.cut.Kind != ErrBodyLimit {
		t.Errorf("%v", res.cut)
	}
}

// repeat is data without end.
type repeat struct {
	data []byte
	at   int
}

func (r *repeat) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		m := copy(p[n:], r.data[r.at:])
		n += m
		r.at = (r.at + m) % len(r.data)
	}
	return n, nil
}

// FuzzDecode: any bytes under any coding end without a panic, within the limit, and do not depend on how they come.
func FuzzDecode(f *testing.F) {
	for i, coding := range []string{"gzip", "deflate", "br", "zstd", "raw", ""} {
		f.Add(uint8(i), encode(f, coding, page[:300]), int64(i))
	}
	names := []string{"gzip", "deflate", "br", "zstd", "gzip, gzip", "", "br, gzip", "deflate, zstd"}
	f.Fuzz(func(t *testing.T, which uint8, wire []byte, seed int64) {
		limit := int64(64 << 10)
		if seed%2 == 0 {
			limit = seed >> 1 & 0xff
		}
		h := http.Header{"Content-Encoding": {names[int(which)%len(names)]}}
		whole := readBody(bytes.NewReader(wire), bodyInfo{size: int64(len(wire)), header: h, limit: limit})
		pieces := readBody(&choppy{data: wire, r: rand.New(rand.NewPCG(uint64(seed), 1))}, bodyInfo{size: -1, header: h, limit: limit})
		if int64(len(whole.data)) > limit {
			t.Fatalf("%d bytes", len(whole.data))
		}
		if !bytes.Equal(whole.data, pieces.data) || fmt.Sprint(whole.cut) != fmt.Sprint(pieces.cut) {
			t.Fatalf("whole: %q %v\npieces: %q %v", whole.data, whole.cut, pieces.data, pieces.cut)
		}
		if whole.cut == nil && whole.fatal == nil && !whole.ended && whole.rawSize < int64(len(wire))-maxDrain {
			t.Fatalf("ended early without a reason")
		}
	})
}

// choppy hands out its data in pieces of random size.
type choppy struct {
	data []byte
	r    *rand.Rand
}

func (c *choppy) Read(p []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 1+c.r.IntN(100))], c.data)
	c.data = c.data[n:]
	return n, nil
}
