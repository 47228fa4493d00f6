package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// oddHost serves a resource that changes now and then, as well or as badly as its fields say, but tells no lies about what it sends.
type oddHost struct {
	r        *rand.Rand
	data     []byte // of the version that there is
	changed  int    // how often it has
	validity int    // 0 none, 1 tag, 2 weak tag, 3 date
	ifRange  bool   // it goes by If-Range
	ranges   int    // 0 none, 1 as asked, 2 parts of them, 3 now and then another one
	total    bool   // it tells the size
	noSink   bool
	seen     map[string]bool // versions that were sent, as strings
}

func newOddHost(r *rand.Rand) *oddHost {
	h := &oddHost{r: r, validity: r.IntN(4), ifRange: r.IntN(3) > 0, ranges: r.IntN(4), total: r.IntN(2) == 0, noSink: r.IntN(3) == 0, seen: map[string]bool{}}
	h.change()
	return h
}

// change makes a new version; no two have the same byte at the same place.
func (h *oddHost) change() {
	h.changed++
	h.data = bytes.Repeat([]byte{byte(h.changed)}, 1+h.r.IntN(40))
}

func (h *oddHost) validator() (name, value string) {
	switch h.validity {
	case 1:
		return "Etag", fmt.Sprintf(`"v%d"`, h.changed)
	case 2:
		return "Etag", fmt.Sprintf(`W/"v%d"`, h.changed)
	case 3:
		return "Last-Modified", time.Date(1999, 5, 1, 0, 0, h.changed, 0, time.UTC).Format(http.TimeFormat)
	}
	return "X-None", "-"
}

func (h *oddHost) Fetch(_ context.Context, req *Request) (*Response, error) {
	if h.r.IntN(12) == 0 {
		h.change()
	}
	resp := &Response{Request: req, URL: req.URL, Status: 200, Header: http.Header{"Date": {"Sat, 01 May 2010 00:00:00 GMT"}}}
	name, value := h.validator()
	resp.Header.Set(name, value)
	var body []byte
	switch h.r.IntN(30) {
	case 0:
		return nil, &Error{Op: "dial", URL: req.URL, Kind: ErrConnect}
	case 1:
		resp.Status = []int{202, 204, 503}[h.r.IntN(3)]
	default:
		body = h.ranged(req, resp)
	}
	if resp.Status == 200 {
		h.seen[string(h.data)] = true
		if h.total {
			resp.Header.Set("Content-Length", fmt.Sprint(len(body)))
		}
	}
	if len(body) > 0 && h.r.IntN(3) == 0 {
		body = body[:h.r.IntN(len(body))]
		resp = resp.CutBody(&Error{Op: "read body", URL: req.URL, Kind: ErrTruncated})
	}
	return h.deliver(req, resp, body)
}

// ranged returns the body for a request that may have a range.
func (h *oddHost) ranged(req *Request, resp *Response) []byte {
	from, size := int64(0), int64(len(h.data))
	asked := req.Header.Get("Range")
	if _, err := fmt.Sscanf(asked, "bytes=%d-", &from); err != nil || h.ranges == 0 {
		return h.data
	}
	if _, value := h.validator(); h.ifRange && req.Header.Get("If-Range") != value {
		return h.data
	}
	told := "*"
	if h.total {
		told = fmt.Sprint(size)
	}
	if from >= size {
		resp.Status, resp.Header = 416, http.Header{}
		if h.r.IntN(2) == 0 {
			resp.Header.Set("Content-Range", fmt.Sprintf("bytes */%d", size))
		}
		return []byte("too far")
	}
	until := size
	if h.ranges == 2 {
		until = from + 1 + h.r.Int64N(size-from)
	}
	if h.ranges == 3 && h.r.IntN(2) == 0 {
		from = h.r.Int64N(until)
	}
	resp.Status = 206
	resp.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%s", from, until-1, told))
	h.seen[string(h.data)] = true
	return h.data[from:until]
}

func (h *oddHost) deliver(req *Request, resp *Response, body []byte) (*Response, error) {
	if h.noSink {
		resp.Body = bytes.Clone(body)
		return resp, nil
	}
	w, err := req.Sink(resp)
	for err == nil && w != nil && len(body) > 0 {
		piece := body[:1+h.r.IntN(len(body))]
		_, err = w.Write(piece)
		body = body[len(piece):]
	}
	if err != nil {
		return nil, &Error{Op: "sink", URL: req.URL, Kind: ErrSink, Err: err}
	}
	return resp, nil
}

// TestRandomHostsGiveWholeVersions downloads from hosts of all kinds whose resource changes, and again where that fails: a file
// that comes of it is one version from its first byte to its last, and so is what Copy has written.
func TestRandomHostsGiveWholeVersions(t *testing.T) {
	t.Parallel()
	rounds := 500
	if testing.Short() || raceEnabled {
		rounds = 200
	}
	var whole, resumed, failed int
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		for seed := range rounds {
			r := rand.New(rand.NewPCG(uint64(seed), 5))
			h := newOddHost(r)
			d := &Downloader{Fetcher: h, Tries: 1 + r.IntN(4)}
			path := filepath.Join(dir, fmt.Sprint(seed))
			for range 8 {
				got, err := d.File(t.Context(), &Request{URL: film}, path)
				onDisk, readErr := os.ReadFile(path)
				var known *Error
				var status *StatusError
				switch {
				case err == nil && (!h.seen[string(onDisk)] || got.Size != int64(len(onDisk)) || got.Resumed > got.Size):
					t.Fatalf("seed %d: %+v, %v of %v", seed, got, onDisk, h.seen)
				case err != nil && !errors.As(err, &known) && !errors.As(err, &status):
					t.Fatalf("seed %d: %v", seed, err)
				case err != nil && readErr == nil:
					t.Fatalf("seed %d: %v, and a file of %d bytes", seed, err, len(onDisk))
				}
				if err != nil {
					failed++
					continue
				}
				if whole++; got.Resumed > 0 {
					resumed++
				}
				break
			}
			var w bytes.Buffer
			_, err := d.Copy(t.Context(), &Request{URL: film}, &w)
			begun := false
			for version := range h.seen {
				begun = begun || strings.HasPrefix(version, w.String()) && (err != nil || version == w.String())
			}
			if !begun && w.Len() > 0 {
				t.Fatalf("seed %d: Copy: %v, %v of %v", seed, err, w.Bytes(), h.seen)
			}
		}
	})
	if whole < rounds/2 || resumed < rounds/50 || failed < rounds/10 {
		t.Errorf("%d whole, %d of them resumed, %d failed", whole, resumed, failed)
	}
}
