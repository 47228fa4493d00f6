package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/internal/memhttp"
	"github.com/seine-go/seine/ratelimit"
)

// shop serves one resource; cuts says after how many bytes of each answer the connection breaks.
type shop struct {
	mu       sync.Mutex
	data     []byte
	tag      string
	modified time.Time
	cuts     []int
	ranges   []string // what was asked for
	edit     func(s *shop, w http.ResponseWriter, r *http.Request) (done bool)
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.ranges = append(s.ranges, strings.TrimSpace(r.Header.Get("Range")+" "+r.Header.Get("If-Range")))
	data, tag, modified, edit := s.data, s.tag, s.modified, s.edit
	if len(s.cuts) > 0 && edit == nil {
		w = &cutting{ResponseWriter: w, left: s.cuts[0]}
		s.cuts = s.cuts[1:]
	}
	s.mu.Unlock() // before anything waits: a bubble does not see through a Mutex
	if edit != nil && edit(s, w, r) {
		return
	}
	if tag != "" {
		w.Header().Set("ETag", tag)
	}
	http.ServeContent(w, r, "x.bin", modified, bytes.NewReader(data))
}

// cutting breaks the connection off behind some bytes.
type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(p []byte) (int, error) {
	if c.left == 0 {
		panic(http.ErrAbortHandler) // before the head has gone out
	}
	n, err := c.ResponseWriter.Write(p[:min(len(p), c.left)])
	if c.left -= n; c.left == 0 {
		c.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

// shopping runs a test in a bubble with a Downloader of a shop at films.example.
func shopping(t *testing.T, s *shop, test func(t *testing.T, d *Downloader)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var network memhttp.Network
		network.Serve(t, "films.example:80", s)
		tr := memTransport(&network, &Transport{})
		defer tr.Close()
		test(t, &Downloader{Fetcher: tr})
	})
}

func someBytes(n int) []byte {
	data := make([]byte, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return data
}

const film = "http://films.example/film.bin"

func TestDownloadGoesOnWhereItBroke(t *testing.T) {
	t.Parallel()
	data := someBytes(300_000)
	old := time.Date(1999, 5, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name     string
		shop     *shop
		ranges   []string
		err      error // of Copy; File begins anew
		exchange int   // of File
	}{
		{"whole", &shop{tag: `"v1"`}, []string{""}, nil, 1},
		{"breaks twice", &shop{tag: `"v1"`, cuts: []int{100_000, 50_000}}, []string{"", `bytes=100000- "v1"`, `bytes=150000- "v1"`}, nil, 3},
		{"breaks before the first byte", &shop{tag: `"v1"`, cuts: []int{0, 10}}, nil, nil, 3},
		{"by date", &shop{modified: old, cuts: []int{100_000}}, []string{"", "bytes=100000- Sat, 01 May 1999 00:00:00 GMT"}, nil, 2},
		{"weak tag", &shop{tag: `W/"v1"`, modified: old, cuts: []int{100_000}}, []string{"", ""}, ErrTruncated, 2},
		{"nothing to go by", &shop{cuts: []int{100_000}}, []string{"", ""}, ErrTruncated, 2},
		{"just changed", &shop{modified: time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC), cuts: []int{100_000}}, []string{"", ""}, ErrTruncated, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.shop.data = data
			cuts := c.shop.cuts
			shopping(t, c.shop, func(t *testing.T, d *Downloader) {
				path := filepath.Join(t.TempDir(), "film")
				got, err := d.File(t.Context(), &Request{URL: film}, path)
				if err != nil {
					t.Fatal(err)
				}
				onDisk, err := os.ReadFile(path)
				if err != nil || !bytes.Equal(onDisk, data) || got.Size != int64(len(data)) || got.Exchanges != c.exchange || got.Resumed != 0 {
					t.Errorf("%d bytes, %+v, %v", len(onDisk), got, err)
				}
				if left, _ := filepath.Glob(path + ".*"); len(left) > 0 {
					t.Errorf("left over: %q", left)
				}
				if c.ranges != nil && strings.Join(c.shop.ranges, "|") != strings.Join(c.ranges, "|") {
					t.Errorf("asked for %q", c.shop.ranges)
				}
				c.shop.cuts = cuts
				var w bytes.Buffer
				if _, err := d.Copy(t.Context(), &Request{URL: film}, &w); !errors.Is(err, c.err) {
					t.Errorf("Copy: %v", err)
				}
				if want := data[:w.Len()]; !bytes.Equal(w.Bytes(), want) || c.err == nil && w.Len() != len(data) {
					t.Errorf("Copy: %d bytes", w.Len())
				}
			})
		})
	}
}

func TestDownloadSurvivesTheProcess(t *testing.T) {
	t.Parallel()
	data := someBytes(200_000)
	for _, c := range []struct {
		name    string
		between func(s *shop, path string)
		url     string
		resumed int64
		status  int
	}{
		{"goes on", func(*shop, string) {}, film, 100_000, 206},
		{"has changed", func(s *shop, _ string) { s.tag, s.data = `"v2"`, bytes.Repeat([]byte("y"), 50_000) }, film, 0, 200},
		{"was shortened under the same tag", func(s *shop, _ string) { s.data = bytes.Repeat([]byte("y"), 50_000) }, film, 0, 200},
		{"all was there", func(s *shop, path string) {
			os.WriteFile(path+partSuffix, s.data, 0o666)
		}, film, 200_000, 416},
		{"of another URL", func(*shop, string) {}, film + "?2", 0, 200},
		{"info is damaged", func(_ *shop, path string) { os.WriteFile(path+infoSuffix, []byte("{"), 0o666) }, film, 0, 200},
		{"info is missing", func(_ *shop, path string) { os.Remove(path + infoSuffix) }, film, 0, 200},
		{"part is missing", func(_ *shop, path string) { os.Remove(path + partSuffix) }, film, 0, 200},
		{"the host knows no ranges", func(s *shop, _ string) {
			s.edit = func(s *shop, w http.ResponseWriter, _ *http.Request) bool {
				w.Write(s.data)
				return true
			}
		}, film, 0, 200},
		{"the host sends another range", func(s *shop, _ string) {
			s.edit = func(s *shop, w http.ResponseWriter, r *http.Request) bool {
				if r.Header.Get("Range") == "" {
					return false
				}
				w.Header().Set("Content-Range", "bytes 5-9/200000")
				w.WriteHeader(206)
				w.Write(s.data[5:10])
				return true
			}
		}, film, 0, 200},
		{"the host sends a range of another version", func(s *shop, _ string) {
			s.edit = func(s *shop, w http.ResponseWriter, r *http.Request) bool {
				if r.Header.Get("Range") != "" {
					w.Header().Set("ETag", `"v2"`)
					w.Header().Set("Content-Range", "bytes 100000-199999/200000")
					w.WriteHeader(206)
					w.Write(make([]byte, 100_000))
				}
				return r.Header.Get("Range") != ""
			}
		}, film, 0, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &shop{data: data, tag: `"v1"`, cuts: []int{100_000}}
			shopping(t, s, func(t *testing.T, d *Downloader) {
				path := filepath.Join(t.TempDir(), "film")
				if _, err := (&Downloader{Fetcher: d.Fetcher, Tries: -1}).File(t.Context(), &Request{URL: film}, path); !errors.Is(err, ErrTruncated) {
					t.Fatal(err)
				}
				if _, err := os.Stat(path); err == nil {
					t.Error("half a file has the name of the whole")
				}
				c.between(s, path)
				got, err := d.File(t.Context(), &Request{URL: c.url}, path)
				if err != nil {
					t.Fatal(err)
				}
				onDisk, _ := os.ReadFile(path)
				if !bytes.Equal(onDisk, s.data) || got.Resumed != c.resumed || got.Response.Status != c.status || got.Size != int64(len(s.data)) {
					t.Errorf("%d bytes, %+v, status %d", len(onDisk), got, got.Response.Status)
				}
			})
		})
	}
}

func TestDownloadFaults(t *testing.T) {
	t.Parallel()
	s := &shop{data: someBytes(1000), tag: `"v1"`}
	shopping(t, s, func(t *testing.T, d *Downloader) {
		path := filepath.Join(t.TempDir(), "film")
		for n, want := range map[int64]error{1000: nil, 999: ErrBodyLimit, -1: nil} {
			if _, err := d.File(t.Context(), &Request{URL: film, MaxBody: n}, path); !errors.Is(err, want) {
				t.Errorf("a bound of %d: %v", n, err)
			}
		}
		var status *StatusError
		s.edit = func(_ *shop, w http.ResponseWriter, _ *http.Request) bool {
			http.NotFound(w, nil)
			return true
		}
		var out bytes.Buffer
		if _, err := d.Copy(t.Context(), &Request{URL: film}, &out); !errors.As(err, &status) || status.Status != 404 || out.Len() > 0 {
			t.Errorf("%v, %q", err, out.String())
		}
		s.edit = nil
		own := errors.New("disk full")
		if _, err := d.Copy(t.Context(), &Request{URL: film}, failingWriter{own}); !errors.Is(err, own) || !errors.Is(err, ErrSink) {
			t.Errorf("%v", err)
		}
		if _, err := d.File(t.Context(), &Request{URL: film}, filepath.Join(t.TempDir(), "no", "film")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%v", err)
		}
		if _, err := (&Downloader{}).Copy(t.Context(), &Request{URL: film}, io.Discard); !errors.Is(err, ErrInvalid) {
			t.Errorf("without a Fetcher: %v", err)
		}
		secret := filepath.Join(t.TempDir(), "secret")
		s.cuts = []int{500}
		(&Downloader{Fetcher: d.Fetcher, Tries: -1}).File(t.Context(), &Request{URL: "http://ann:pass@films.example/film.bin"}, secret)
		if info, err := os.ReadFile(secret + infoSuffix); err != nil || strings.Contains(string(info), "pass") {
			t.Errorf("%v, %s", err, info)
		}
		for _, bad := range []Request{{URL: "http://"}, {URL: film, Method: "POST"}} {
			if _, err := d.Copy(t.Context(), &bad, io.Discard); !errors.Is(err, ErrInvalid) {
				t.Errorf("%v", err)
			}
		}
		// A host that always breaks off ends it; one that brings something each time does not.
		s.cuts = []int{1, 1, 1, 1, 1, 1, 1, 1}
		if _, err := d.Copy(t.Context(), &Request{URL: film}, io.Discard); err != nil {
			t.Errorf("%v", err)
		}
		asked := 0
		s.edit = func(*shop, http.ResponseWriter, *http.Request) bool { asked++; panic(http.ErrAbortHandler) }
		start := time.Now()
		if _, err := d.Copy(t.Context(), &Request{URL: film}, io.Discard); err == nil || asked < defaultDownloadTries || time.Since(start) != 15*time.Second {
			t.Errorf("%v, asked %d times, %v", err, asked, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if _, err := d.Copy(ctx, &Request{URL: film}, io.Discard); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
}

type failingWriter struct{ err error }

func (f failingWriter) Write([]byte) (int, error) { return 0, f.err }

// TestDownloadsShareTheirBytes runs ten downloads under one limit.
func TestDownloadsShareTheirBytes(t *testing.T) {
	t.Parallel()
	s := &shop{data: someBytes(100_000), tag: `"v1"`}
	shopping(t, s, func(t *testing.T, d *Downloader) {
		d.Bytes = newBuckets(t, ratelimit.Rule{Match: "*", Rate: ratelimit.PerSecond(50_000), Burst: downloadPiece, MaxWait: -1, Shared: true})
		start := time.Now()
		dir := t.TempDir()
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				if _, err := d.File(t.Context(), &Request{URL: film}, filepath.Join(dir, strconv.Itoa(i))); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(start); took < 19*time.Second || took > 21*time.Second {
			t.Errorf("1 MB at 50 KB a second took %v", took)
		}
	})
}

func TestDownloadKeepsWhatIsPacked(t *testing.T) {
	t.Parallel()
	packed := []byte("\x1f\x8b\x08\x00 not really gzip")
	shopping(t, &shop{data: packed}, func(t *testing.T, d *Downloader) {
		var w bytes.Buffer
		if _, err := d.Copy(t.Context(), &Request{URL: "http://films.example/sitemap.xml.gz"}, &w); err != nil || !bytes.Equal(w.Bytes(), packed) {
			t.Errorf("%v, %q", err, w.Bytes())
		}
	})
}

func TestDownloadThroughOtherFetchers(t *testing.T) {
	t.Parallel()
	f := FetcherFunc(func(_ context.Context, req *Request) (*Response, error) {
		return &Response{Request: req, Status: 200, Header: http.Header{}, Body: []byte("whole")}, nil
	})
	var w strings.Builder
	got, err := (&Downloader{Fetcher: f}).Copy(t.Context(), &Request{URL: film}, &w)
	if err != nil || w.String() != "whole" || got.Size != 5 || len(got.Response.Body) != 0 {
		t.Errorf("%v, %q, %+v", err, w.String(), got)
	}
}

func TestContentRange(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"bytes 0-9/10":                   "0 9 10 true",
		"BYTES  5-9/*":                   "5 9 -1 true",
		"bytes */10":                     "0 0 10 false",
		"bytes 9-5/10":                   "9 5 10 false",
		"bytes -5/10":                    "0 5 10 false",
		"bytes 1-2":                      "0 0 -1 false",
		"bytes 1-2/x":                    "0 0 -1 false",
		"items 1-2/3":                    "0 0 -1 false",
		"":                               "0 0 -1 false",
		"bytes 0-9/99999999999999999999": "0 0 -1 false",
	} {
		first, last, total, ok := contentRange(http.Header{"Content-Range": {value}})
		if got := fmt.Sprint(first, last, total, ok); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}

func FuzzContentRange(f *testing.F) {
	f.Add("bytes 0-9/10")
	f.Add("bytes */1")
	f.Fuzz(func(t *testing.T, s string) {
		first, last, total, ok := contentRange(http.Header{"Content-Range": {s}})
		if ok && (first < 0 || last < first) || total < -1 {
			t.Fatalf("%d %d %d", first, last, total)
		}
	})
}
