package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// turn is what a script answers to one request.
type turn struct {
	status int
	header string // "Name: value|Name: value"
	body   string
	cut    bool
}

// script answers one request after the other; the last turn is for all that follow.
type script struct {
	turns  []turn
	noSink bool
	asked  []string // "RANGE IF-RANGE" of each request
}

func (s *script) Fetch(_ context.Context, req *Request) (*Response, error) {
	s.asked = append(s.asked, strings.TrimSpace(req.Header.Get("Range")+" "+req.Header.Get("If-Range")))
	now := s.turns[min(len(s.asked), len(s.turns))-1]
	resp := &Response{Request: req, URL: req.URL, Status: now.status, Header: http.Header{}}
	for line := range strings.SplitSeq(now.header, "|") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			resp.Header.Add(name, value)
		}
	}
	if now.cut {
		resp = resp.CutBody(&Error{Op: "read body", URL: req.URL, Kind: ErrTruncated})
	}
	body := now.body
	if req.MaxBody >= 0 && int64(len(body)) > req.MaxBody {
		resp, body = resp.CutBody(&Error{Op: "read body", URL: req.URL, Kind: ErrBodyLimit}), body[:req.MaxBody]
	}
	if s.noSink {
		resp.Body = []byte(body)
		return resp, nil
	}
	w, err := req.Sink(resp)
	if err == nil && w == nil {
		resp.Body = []byte(body)
	} else if err == nil {
		_, err = io.WriteString(w, body)
	}
	if err != nil {
		return nil, &Error{Op: "sink", URL: req.URL, Kind: ErrSink, Err: err}
	}
	return resp, nil
}

const (
	letters = "abcdefghij"
	v1      = `ETag: "v1"`
	v2      = `ETag: "v2"`
	date    = "Last-Modified: Sat, 01 May 1999 00:00:00 GMT"
	later   = "Date: Sat, 01 May 1999 00:00:09 GMT"
	whole1  = v1 + "|Content-Length: 10"
)

// left is what an earlier download has left: half of the letters, under the tag "v1", with their number.
func leftOver(edit func(info *partInfo, part *string)) (partInfo, string) {
	info, part := partInfo{film, version{Validator: `"v1"`, Total: 10}}, letters[:5]
	if edit != nil {
		edit(&info, &part)
	}
	return info, part
}

// TestPartsArePutTogetherOnlyIfTheyAgree goes on with half a file and all that a host may say of the other half.
func TestPartsArePutTogetherOnlyIfTheyAgree(t *testing.T) {
	t.Parallel()
	noTotal := func(info *partInfo, _ *string) { info.Total = 0 }
	dated := func(info *partInfo, _ *string) {
		info.Validator, info.Modified = "Sat, 01 May 1999 00:00:00 GMT", "Sat, 01 May 1999 00:00:00 GMT"
	}
	typed := func(info *partInfo, _ *string) { info.Type = "video/mp4" }
	modified := func(info *partInfo, _ *string) { info.Modified = "Sat, 01 May 1999 00:00:00 GMT" }
	all := func(info *partInfo, part *string) { *part = letters }
	allUntold := func(info *partInfo, part *string) { info.Total, *part = 0, letters }
	anew := turn{200, v2 + "|Content-Length: 5", "ABCDE", false}
	again := turn{200, whole1, letters, false}
	for _, c := range []struct {
		name    string
		left    func(*partInfo, *string)
		turns   []turn
		want    string
		resumed int64
		asked   string
	}{
		{"agrees", nil, []turn{{206, v1 + "|Content-Range: bytes 5-9/10", "fghij", false}}, letters, 5, `bytes=5- "v1"`},
		{"agrees without a size", nil, []turn{{206, v1 + "|Content-Range: bytes 5-9/*", "fghij", false}}, letters, 5, `bytes=5- "v1"`},
		{"another tag", nil, []turn{{206, v2 + "|Content-Range: bytes 5-9/10", "FGHIJ", false}, anew}, "ABCDE", 0, `bytes=5- "v1"|`},
		{"the weak form of the tag", nil, []turn{{206, `ETag: W/"v1"|Content-Range: bytes 5-9/10`, "FGHIJ", false}, anew}, "ABCDE", 0, `bytes=5- "v1"|`},
		{"no tag", nil, []turn{{206, "Content-Range: bytes 5-9/10", "FGHIJ", false}, again}, letters, 5, `bytes=5- "v1"|`},
		{"another size", nil, []turn{{206, v1 + "|Content-Range: bytes 5-9/11", "FGHIJ", false}, anew}, "ABCDE", 0, `bytes=5- "v1"|`},
		{"another date under the same tag", modified, []turn{{206, v1 + "|Last-Modified: Sun, 02 May 1999 00:00:00 GMT|Content-Range: bytes 5-9/10", "FGHIJ", false}, anew}, "ABCDE", 0, `bytes=5- "v1"|`},
		{"the date need not be told again", modified, []turn{{206, v1 + "|Content-Range: bytes 5-9/10", "fghij", false}}, letters, 5, `bytes=5- "v1"`},
		{"by date, told again", dated, []turn{{206, date + "|Content-Range: bytes 5-9/10", "fghij", false}}, letters, 5, "bytes=5- Sat, 01 May 1999 00:00:00 GMT"},
		{"by date, not told", dated, []turn{{206, "Content-Range: bytes 5-9/10", "fghij", false}}, letters, 5, "bytes=5- Sat, 01 May 1999 00:00:00 GMT"},
		{"by date, another", dated, []turn{{206, "Last-Modified: Sun, 02 May 1999 00:00:00 GMT|Content-Range: bytes 5-9/10", "FGHIJ", false}, anew}, "ABCDE", 0, "bytes=5- Sat, 01 May 1999 00:00:00 GMT|"},
		{"by date, and a tag that was not there", dated, []turn{{206, v1 + "|" + date + "|Content-Range: bytes 5-9/10", "FGHIJ", false}, anew}, "ABCDE", 0, "bytes=5- Sat, 01 May 1999 00:00:00 GMT|"},
		{"by date, the whole", dated, []turn{{200, date + "|" + later + "|Content-Length: 10", letters, false}}, letters, 5, "bytes=5- Sat, 01 May 1999 00:00:00 GMT"},
		{"by date, the whole of the same size without one", dated, []turn{{200, "Content-Length: 10", "ABCDEFGHIJ", false}}, "ABCDEFGHIJ", 0, "bytes=5- Sat, 01 May 1999 00:00:00 GMT"},
		{"the whole of the same type without a tag", typed, []turn{{200, "Content-Type: Video/MP4; x=y", "ABC", false}}, "ABC", 0, `bytes=5- "v1"`},
		{"the whole of another version and the same type", typed, []turn{{200, v2 + "|Content-Type: video/mp4", "ABC", false}}, "ABC", 0, `bytes=5- "v1"`},
		{"the whole of another date and no type", typed, []turn{{200, date, "ABC", false}}, "ABC", 0, `bytes=5- "v1"`},
		{"the whole with a weak tag", nil, []turn{{200, `ETag: W/"v2"`, "ABC", false}}, "ABC", 0, `bytes=5- "v1"`},
		{"the rest under another type", typed, []turn{{206, v1 + "|Content-Type: text/html|Content-Range: bytes 5-9/10", "fghij", false}}, letters, 5, `bytes=5- "v1"`},
		{"busy for once", nil, []turn{{503, "", "busy", false}, {206, v1 + "|Content-Range: bytes 5-9/10", "fghij", false}}, letters, 5, `bytes=5- "v1"|bytes=5- "v1"`},
		{"busy now and then", nil, []turn{{429, "Retry-After: 600", "", false}, {502, "", "", true}, {206, v1 + "|Content-Range: bytes 5-6/10", "fg", false}, {500, "", "", false}, {504, "", "", false}, {408, "", "", false}, {206, v1 + "|Content-Range: bytes 7-9/10", "hij", false}}, letters, 5, `bytes=5- "v1"|bytes=5- "v1"|bytes=5- "v1"|bytes=7- "v1"|bytes=7- "v1"|bytes=7- "v1"|bytes=7- "v1"`},
		{"begins elsewhere", nil, []turn{{206, v1 + "|Content-Range: bytes 4-9/10", "efghij", false}, again}, letters, 5, `bytes=5- "v1"|`},
		{"no Content-Range", nil, []turn{{206, v1, "fghij", false}, again}, letters, 5, `bytes=5- "v1"|`},
		{"several ranges", nil, []turn{{206, v1 + "|Content-Type: multipart/byteranges; boundary=x|Content-Range: bytes 5-9/10", "--x--", false}, again}, letters, 5, `bytes=5- "v1"|`},
		{"packed", nil, []turn{{206, v1 + "|Content-Encoding: gzip|Content-Range: bytes 5-9/10", "\x1f\x8b", false}, again}, letters, 5, `bytes=5- "v1"|`},
		{"less than its range", nil, []turn{{206, v1 + "|Content-Range: bytes 5-9/10", "fg", false}, {206, v1 + "|Content-Range: bytes 7-9/10", "hij", false}}, letters, 5, `bytes=5- "v1"|bytes=7- "v1"`},
		{"more than its range", nil, []turn{{206, v1 + "|Content-Range: bytes 5-7/10", "fghij", false}, again}, letters, 5, `bytes=5- "v1"|`},
		{"in small parts", nil, []turn{{206, v1 + "|Content-Range: bytes 5-6/10", "fg", false}, {206, v1 + "|Content-Range: bytes 7-9/10", "hij", false}}, letters, 5, `bytes=5- "v1"|bytes=7- "v1"`},
		{
			"an end that is not told is none", noTotal,
			[]turn{{206, v1 + "|Content-Range: bytes 5-7/*", "fgh", false}, {206, v1 + "|Content-Range: bytes 8-9/*", "ij", false}, {416, "", "", false}, {206, v1 + "|Content-Range: bytes 9-9/*", "j", false}},
			letters, 5, `bytes=5- "v1"|bytes=8- "v1"|bytes=10- "v1"|bytes=9- "v1"`,
		},
		{"all was there", all, []turn{{206, v1 + "|Content-Range: bytes 9-9/10", "j", false}}, letters, 10, `bytes=9- "v1"`},
		{"all was there, of another version", all, []turn{anew}, "ABCDE", 0, `bytes=9- "v1"`},
		{"all was there, and more is", allUntold, []turn{{206, v1 + "|Content-Range: bytes 10-11/12", "kl", false}}, letters + "kl", 10, `bytes=10- "v1"`},
		{"a 416 with the size", allUntold, []turn{{416, "Content-Range: bytes */10", "", false}, {206, v1 + "|Content-Range: bytes 9-9/10", "j", false}}, letters, 10, `bytes=10- "v1"|bytes=9- "v1"`},
		{"a 416 of another version", allUntold, []turn{{416, v2 + "|Content-Range: bytes */10", "", false}, {200, v2 + "|Content-Length: 10", "ABCDEFGHIJ", false}}, "ABCDEFGHIJ", 0, `bytes=10- "v1"|bytes=9- "v1"`},
		{"a 416 of a host that goes by no If-Range", allUntold, []turn{{416, "Content-Range: bytes */10", "", false}, {206, v2 + "|Content-Range: bytes 9-9/10", "J", false}, anew}, "ABCDE", 0, `bytes=10- "v1"|bytes=9- "v1"|`},
		{"a 416 for half of it", nil, []turn{{416, "Content-Range: bytes */10", "", false}, again}, letters, 5, `bytes=5- "v1"|`},
		{"a 416 always", all, []turn{{416, "", "", false}, again}, letters, 10, `bytes=9- "v1"|`},
		{"more than the resource", func(info *partInfo, part *string) { info.Total, *part = 0, letters+"xx" }, []turn{{416, "Content-Range: bytes */10", "", false}, again}, letters, 0, `bytes=12- "v1"|`},
		{"more than was told", func(_ *partInfo, part *string) { *part = letters + "x" }, []turn{again}, letters, 0, ""},
		{"the whole again", nil, []turn{again}, letters, 5, `bytes=5- "v1"`},
		{"the whole again, in pieces", nil, []turn{{200, whole1, letters[:7], true}, {200, whole1, letters[:4], true}, {200, whole1, letters, false}}, letters, 5, `bytes=5- "v1"|bytes=7- "v1"|bytes=7- "v1"`},
		{"the whole, shorter under the same tag", nil, []turn{{200, v1 + "|Content-Length: 3", "abc", false}}, "abc", 0, `bytes=5- "v1"`},
		{"the whole, shorter and untold", noTotal, []turn{{200, v1, "abc", false}, {200, v1, "abc", false}}, "abc", 0, `bytes=5- "v1"|`},
		{"the whole of another version", nil, []turn{anew}, "ABCDE", 0, `bytes=5- "v1"`},
		{"the whole, empty", nil, []turn{{200, v2 + "|Content-Length: 0", "", false}}, "", 0, `bytes=5- "v1"`},
		{"the whole, empty under the same tag", nil, []turn{{200, v1 + "|Content-Length: 0", "", false}}, "", 0, `bytes=5- "v1"`},
		{"the whole as a part that nobody asked for", func(info *partInfo, _ *string) { info.URL = "" }, []turn{{206, v1 + "|Content-Range: bytes 0-9/10", letters, false}}, letters, 0, ""},
		{"of a proxy that changes it", nil, []turn{{203, v1 + "|Content-Length: 5", "ABCDE", false}}, "ABCDE", 0, `bytes=5- "v1"`},
	} {
		for _, noSink := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "film")
				info, part := leftOver(c.left)
				keepPart(t, path, info, part)
				s := &script{turns: c.turns, noSink: noSink}
				got, err := (&Downloader{Fetcher: s}).File(t.Context(), &Request{URL: film}, path)
				if err != nil {
					t.Errorf("%s, no Sink %v: %v, asked %q", c.name, noSink, err, s.asked)
					return
				}
				onDisk, err := os.ReadFile(path)
				if err != nil || string(onDisk) != c.want || got.Size != int64(len(c.want)) || got.Resumed != c.resumed || got.Exchanges != len(s.asked) {
					t.Errorf("%s, no Sink %v: %q, %+v, %v", c.name, noSink, onDisk, got, err)
				}
				if asked := strings.Join(s.asked, "|"); asked != c.asked || len(s.asked) < len(c.turns) {
					t.Errorf("%s, no Sink %v: asked %q, want %q", c.name, noSink, asked, c.asked)
				}
			})
		}
	}
}

func keepPart(t *testing.T, path string, info partInfo, part string) {
	t.Helper()
	data, err := json.Marshal(info)
	if err := errors.Join(err, os.WriteFile(path+infoSuffix, data, 0o666), os.WriteFile(path+partSuffix, []byte(part), 0o666)); err != nil {
		t.Fatal(err)
	}
}

// TestDownloadsThatFailKeepTheirPart has answers that are not the resource, and hosts that bring it no further.
func TestDownloadsThatFailKeepTheirPart(t *testing.T) {
	t.Parallel()
	none := func(*partInfo, *string) {}
	untold := func(info *partInfo, _ *string) { info.URL = "" } // what the part is of is not known
	typed := func(info *partInfo, _ *string) { info.Type = "video/mp4" }
	dated := func(info *partInfo, _ *string) { info.Validator = "Sat, 01 May 1999 00:00:00 GMT" }
	for _, c := range []struct {
		name  string
		left  func(*partInfo, *string)
		max   int64
		turns []turn
		want  error // nil: a *StatusError
		asked int
		part  string
		took  time.Duration
	}{
		{"202", none, 0, []turn{{202, v1, "soon", false}}, nil, 1, "abcde", 0},
		{"204", none, 0, []turn{{204, v1, "", false}}, nil, 1, "abcde", 0},
		{"205", none, 0, []turn{{205, v1, "", false}}, nil, 1, "abcde", 0},
		{"226", none, 0, []turn{{226, v1, "delta", false}}, nil, 1, "abcde", 0},
		{"304", none, 0, []turn{{304, v1, "", false}}, nil, 1, "abcde", 0},
		{"404", none, 0, []turn{{404, v1, "not here", false}}, nil, 1, "abcde", 0},
		{"503, cut", none, 0, []turn{{503, "", "busy", true}}, nil, 5, "abcde", 15 * time.Second},
		{"501", none, 0, []turn{{501, "", "", false}}, nil, 1, "abcde", 0},
		{"429 for ten minutes each", none, 0, []turn{{429, "Retry-After: 600", "", false}}, nil, 5, "abcde", 40 * time.Minute},
		{"503 for longer than is waited for", none, 0, []turn{{503, "Retry-After: 601", "", false}}, nil, 1, "abcde", 0},
		{"a page", none, 0, []turn{{200, "Content-Type: text/html", "<html>log in", false}}, ErrMismatch, 1, "abcde", 0},
		{"a page of another type, with a tag", typed, 0, []turn{{200, v2 + "|Content-Type: text/html", "<html>log in", false}}, ErrMismatch, 1, "abcde", 0},
		{"a page of the same size", typed, 0, []turn{{200, "Content-Length: 10|Content-Type: text/html", "<html>1234", false}}, ErrMismatch, 1, "abcde", 0},
		{"a page after a wrong range", none, 0, []turn{{206, v1 + "|Content-Range: bytes 4-9/10", "efghij", false}, {200, "Content-Type: text/html", "<html>log in", false}}, ErrMismatch, 2, "abcde", time.Second},
		{"by date, another size without one", dated, 0, []turn{{200, "Content-Length: 5", "ABCDE", false}}, ErrMismatch, 1, "abcde", 0},
		{"a page where nothing tells versions apart", func(info *partInfo, _ *string) { info.URL = "" }, 0, []turn{{200, "Content-Type: video/mp4", "ABCDE", true}, {200, "Content-Type: text/html", "<html>log in", false}}, ErrMismatch, 2, "ABCDE", time.Second},
		{"416 to a request for all", func(info *partInfo, _ *string) { info.URL = "" }, 0, []turn{{416, "", "", false}}, nil, 1, "abcde", 0},
		{"at the bound of all, too long", none, 10, []turn{{206, v1 + "|Content-Range: bytes 5-10/*", "fghijk", false}}, ErrBodyLimit, 1, "abcde", 0},
		{"a size beyond the bound", none, 9, []turn{{206, v1 + "|Content-Range: bytes 5-9/10", "fghij", false}}, ErrBodyLimit, 1, "abcde", 0},
		{"anew, beyond the bound", none, 9, []turn{{200, v2 + "|Content-Length: 10", letters, false}}, ErrBodyLimit, 1, "abcde", 0},
		{"anew, beyond the bound and untold", none, 9, []turn{{200, v2, letters, false}}, ErrBodyLimit, 1, "abcdefghi", 0},
		{"all there, beyond the bound", func(_ *partInfo, part *string) { *part = letters }, 9, []turn{{206, v1 + "|Content-Range: bytes 9-9/10", "j", false}}, ErrBodyLimit, 1, letters, 0},
		{"an empty part", none, 0, []turn{{206, v1 + "|Content-Range: bytes 5-9/10", "", false}}, ErrTruncated, 5, "abcde", 15 * time.Second},
		{"wrong ranges and broken wholes", none, 0, []turn{{206, v1 + "|Content-Range: bytes 4-9/10", "efghij", false}, {200, whole1, "abc", true}}, ErrTruncated, 5, "abcde", 15 * time.Second},
		{"ranges alone, and wrong ones", none, 0, []turn{{206, v1 + "|Content-Range: bytes 4-9/10", "efghij", false}}, ErrProtocol, 5, "abcde", 15 * time.Second},
		{"no ranges, breaks off where it did", none, 0, []turn{{200, whole1, "abcdefg", true}}, ErrTruncated, 5, "abcdefg", 15 * time.Second},
		{"no ranges, no tag, breaks off", untold, 0, []turn{{200, "", "ABCDEFG", true}}, ErrTruncated, 5, "ABCDEFG", 15 * time.Second},
		{"no ranges, no tag, and neither type nor size", none, 0, []turn{{200, "", "ABCDEFG", true}}, ErrMismatch, 1, "abcde", 0},
		{"another version each time", none, 0, []turn{{200, v2, "ABC", true}, {200, v1, "abc", true}, {200, v2, "ABCD", true}, {200, v1, "abc", true}, {200, v2, "AB", true}}, ErrTruncated, 5, "AB", 15 * time.Second},
		{"says nothing", none, 0, []turn{{206, v1, "", false}}, ErrProtocol, 5, "abcde", 15 * time.Second},
	} {
		for _, noSink := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "film")
				info, part := leftOver(c.left)
				keepPart(t, path, info, part)
				s := &script{turns: c.turns, noSink: noSink}
				start := time.Now()
				got, err := (&Downloader{Fetcher: s}).File(t.Context(), &Request{URL: film, MaxBody: c.max}, path)
				var status *StatusError
				if got != nil || c.want == nil && (!errors.As(err, &status) || status.Status != c.turns[0].status) || c.want != nil && !errors.Is(err, c.want) {
					t.Errorf("%s, no Sink %v: %+v, %v", c.name, noSink, got, err)
				}
				kept, _ := os.ReadFile(path + partSuffix)
				if string(kept) != c.part || len(s.asked) != c.asked || time.Since(start) != c.took {
					t.Errorf("%s, no Sink %v: kept %q, asked %q, took %v", c.name, noSink, kept, s.asked, time.Since(start))
				}
				if _, err := os.Stat(path); err == nil {
					t.Errorf("%s: a part has the name of the whole", c.name)
				}
			})
		}
	}
}

// TestABoundIsThatOfTheWhole resumes at the bound: what begins anew may be as long as that.
func TestABoundIsThatOfTheWhole(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]turn{
		"the rest":     {206, v1 + "|Content-Range: bytes 5-9/10", "fghij", false},
		"all of it":    {200, whole1, letters, false},
		"anew":         {200, v2 + "|Content-Length: 10", letters, false},
		"anew, untold": {200, v2, letters, false},
	} {
		for _, noSink := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "film")
			info, part := leftOver(nil)
			keepPart(t, path, info, part)
			got, err := (&Downloader{Fetcher: &script{turns: []turn{answer}, noSink: noSink}}).File(t.Context(), &Request{URL: film, MaxBody: 10}, path)
			if err != nil || got.Size != 10 {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		}
	}
}

// TestCopyOverHostsWithoutRanges passes over what is written when the host sends it again, and fails when it is not the same.
func TestCopyOverHostsWithoutRanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		turns []turn
		want  error
		text  string
	}{
		{"unchanged", []turn{{200, whole1, "abcd", true}, {200, whole1, letters, false}}, nil, letters},
		{"wrong range, then unchanged", []turn{{200, whole1, "abcd", true}, {206, v1 + "|Content-Range: bytes 5-9/10", "fghij", false}, {200, whole1, letters, false}}, nil, letters},
		{"changed", []turn{{200, whole1, "abcd", true}, {200, v2 + "|Content-Length: 10", letters, false}}, ErrChanged, "abcd"},
		{"changed under its tag", []turn{{200, whole1, "abcd", true}, {200, v1 + "|Content-Length: 9", letters[:9], false}}, ErrChanged, "abcd"},
		{"gone", []turn{{200, whole1, "abcd", true}, {200, v2 + "|Content-Length: 0", "", false}}, ErrChanged, "abcd"},
		{"shorter than it was, untold", []turn{{200, v1, "abcd", true}, {200, v1, "abc", false}}, ErrTruncated, "abcd"},
		{"a part of which nothing more can be asked for", []turn{{206, "Content-Range: bytes 0-3/10", "abcd", false}}, errUnranged, "abcd"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var w strings.Builder
			_, err := (&Downloader{Fetcher: &script{turns: c.turns}}).Copy(t.Context(), &Request{URL: film}, &w)
			if !errors.Is(err, c.want) || w.String() != c.text {
				t.Errorf("%s: %v, %q", c.name, err, w.String())
			}
			var known *Error
			if c.want != nil && (!errors.As(err, &known) || known.Kind != ErrTruncated || known.URL == "") {
				t.Errorf("%s: %+v", c.name, known)
			}
		})
	}
}
