package fetch

import (
	"bytes"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/internal/memhttp"
)

// TestSinkUnderTheSameLimits fetches bodies twice: what a writer gets is what would be in memory, and ends for the same reason.
func TestSinkUnderTheSameLimits(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	stall := func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte("begun"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	trickle := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			w.Write([]byte("x"))
			w.(http.Flusher).Flush()
			select {
			case <-time.After(1100 * time.Millisecond):
			case <-r.Context().Done():
			}
		}
	}
	coded := func(codings ...string) http.HandlerFunc {
		wire := bomb(t, size, codings...)
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", strings.Join(codings, ", "))
			w.Write(wire)
		}
	}
	packed := encode(t, "gzip", []byte(strings.Repeat("<a/>", size/4)))
	for _, c := range []struct {
		name  string
		max   int64
		serve http.HandlerFunc
		keep  bool
		kind  ErrorKind
		bytes int64
	}{
		{"a bomb", size / 4, coded("gzip"), false, ErrBodyLimit, size / 4},
		{"a bomb in a bomb", size / 4, coded("gzip", "br"), false, ErrBodyLimit, size / 4},
		{"three of them", size / 4, coded("deflate", "zstd", "gzip"), false, ErrBodyLimit, size / 4},
		{"at the limit", size, coded("zstd", "gzip"), false, 0, size},
		{"one past it", size - 1, coded("br"), false, ErrBodyLimit, size - 1},
		{"a packed document", size, func(w http.ResponseWriter, _ *http.Request) { w.Write(packed) }, false, 0, size},
		{"a packed document beyond the limit", size - 1, func(w http.ResponseWriter, _ *http.Request) { w.Write(packed) }, false, ErrBodyLimit, size - 1},
		{"a packed document that stays so", size, func(w http.ResponseWriter, _ *http.Request) { w.Write(packed) }, true, 0, int64(len(packed))},
		{"damaged", size, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(append(bytes.Clone(packed[:len(packed)-8]), "--------"...))
		}, false, ErrEncoding, size},
		{"cut while packed", size, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(packed[:len(packed)-8])
		}, false, ErrTruncated, size},
		{"it stalls", size, stall, false, ErrTimeout, 5},
		{"too slow", size, trickle, false, ErrTooSlow, -1},
	} {
		synctest.Test(t, func(t *testing.T) {
			var network memhttp.Network
			network.Serve(t, "films.example:80", c.serve)
			tr := memTransport(&network, &Transport{})
			defer tr.Close()
			req := &Request{URL: "http://films.example/sitemap.xml.gz", MaxBody: c.max, KeepPacked: c.keep}
			memory := wantAnswer(t, tr, req)
			var w bytes.Buffer
			req.Sink = func(*Response) (io.Writer, error) { return &w, nil }
			stream := wantAnswer(t, tr, req)
			if stream.Body != nil || !bytes.Equal(w.Bytes(), memory.Body) || stream.Size() != memory.Size() || c.bytes >= 0 && stream.Size() != c.bytes {
				t.Errorf("%s: %d bytes written, %d in memory", c.name, w.Len(), len(memory.Body))
			}
			for _, resp := range []*Response{memory, stream} {
				if resp.Truncated != (c.kind != 0) || KindOf(resp.BodyErr()) != c.kind {
					t.Errorf("%s: truncated %v, %v", c.name, resp.Truncated, resp.BodyErr())
				}
			}
		})
	}
}

// TestLargeBodyThroughASink is not parallel: it looks at what the process allocates.
func TestLargeBodyThroughASink(t *testing.T) {
	const size = 40 << 20
	for name, header := range map[string]http.Header{"plain": nil, "coded": {"Content-Encoding": {"gzip"}}} {
		var wire io.Reader = &io.LimitedReader{R: &repeat{data: make([]byte, 1<<16)}, N: size}
		if header != nil {
			wire = bytes.NewReader(bomb(t, size, "gzip"))
		}
		var n count
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		res := readBody(wire, bodyInfo{size: -1, header: header, limit: -1, sink: func() (io.Writer, error) { return &n, nil }})
		runtime.ReadMemStats(&after)
		if n != size || res.sunk != size || res.cut != nil || res.fatal != nil {
			t.Errorf("%s: %d bytes, %v, %v", name, n, res.cut, res.fatal)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 && !raceEnabled {
			t.Errorf("%s: allocated %d bytes for a body that nobody keeps", name, got)
		}
	}
}

// count is a writer that counts.
type count int64

func (c *count) Write(p []byte) (int, error) {
	*c += count(len(p))
	return len(p), nil
}
