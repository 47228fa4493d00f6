package fetch

import (
	"bytes"
	"context"
	"errors"
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
		}, film, 200_000, 206},
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
		}, film, 100_000, 200},
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
		}, film, 100_000, 200},
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

// TestDownloadsPayForEachByte has a burst that is smaller than a piece, and bytes that come twice.
func TestDownloadsPayForEachByte(t *testing.T) {
	t.Parallel()
	s := &shop{data: someBytes(50_000), tag: `"v1"`, cuts: []int{20_000}}
	s.edit = func(s *shop, w http.ResponseWriter, r *http.Request) bool {
		r.Header.Del("Range") // the host knows none
		w.Header().Set("ETag", s.tag)
		w.Header().Set("Content-Length", strconv.Itoa(len(s.data)))
		if w.Write(s.data[:20_000]); len(s.ranges) == 1 {
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		w.Write(s.data[20_000:])
		return true
	}
	shopping(t, s, func(t *testing.T, d *Downloader) {
		d.Bytes = newBuckets(t, ratelimit.Rule{Match: "films.example", Rate: ratelimit.PerSecond(1000), Burst: 1, MaxWait: -1})
		start := time.Now()
		var w bytes.Buffer
		got, err := d.Copy(t.Context(), &Request{URL: film}, &w)
		if err != nil || !bytes.Equal(w.Bytes(), s.data) || got.Exchanges != 2 {
			t.Fatalf("%+v, %v", got, err)
		}
		if took := time.Since(start).Round(time.Second); took < 69*time.Second || took > 72*time.Second {
			t.Errorf("70,000 bytes at 1,000 a second took %v", took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer time.AfterFunc(5*time.Second, cancel).Stop()
		start = time.Now()
		if _, err := d.Copy(ctx, &Request{URL: film}, io.Discard); KindOf(err) != ErrCanceled || time.Since(start) != 5*time.Second {
			t.Errorf("the end of the context while it waits: %v after %v", err, time.Since(start))
		}
	})
}

// TestDownloadsAreBrokenOff cancels one in its middle, while a second wants the same file.
func TestDownloadsAreBrokenOff(t *testing.T) {
	t.Parallel()
	s := &shop{data: someBytes(200_000), tag: `"v1"`}
	s.edit = func(s *shop, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("ETag", s.tag)
		w.Header().Set("Content-Length", strconv.Itoa(len(s.data)))
		w.Write(s.data[:100_000])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return true
	}
	shopping(t, s, func(t *testing.T, d *Downloader) {
		path := filepath.Join(t.TempDir(), "film")
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := d.File(ctx, &Request{URL: film}, path)
			ended <- err
		}()
		synctest.Wait()
		if _, err := d.File(t.Context(), &Request{URL: film}, path); !errors.Is(err, ErrInUse) || !errors.Is(err, ErrSink) {
			t.Errorf("a second download: %v", err)
		}
		own := errors.New("enough")
		cancel(own)
		if err := <-ended; !errors.Is(err, own) || KindOf(err) != ErrCanceled {
			t.Errorf("cancelled: %v", err)
		}
		s.edit = nil
		got, err := d.File(t.Context(), &Request{URL: film}, path)
		if onDisk, _ := os.ReadFile(path); err != nil || got.Resumed != 100_000 || !bytes.Equal(onDisk, s.data) {
			t.Errorf("gone on: %+v, %v", got, err)
		}
		var w sync.WaitGroup
		for range 8 { // one after the other or not at all, and never a file of two
			w.Go(func() {
				if _, err := d.File(t.Context(), &Request{URL: film}, path); err != nil && !errors.Is(err, ErrInUse) {
					t.Error(err)
				}
				if onDisk, err := os.ReadFile(path); err != nil || !bytes.Equal(onDisk, s.data) {
					t.Errorf("%d bytes, %v", len(onDisk), err)
				}
			})
		}
		w.Wait()
		if left, _ := filepath.Glob(path + ".*"); len(left) > 0 {
			t.Errorf("left over: %q", left)
		}
	})
}

func TestDownloadsOfNothing(t *testing.T) {
	t.Parallel()
	d := &Downloader{Fetcher: FetcherFunc(func(context.Context, *Request) (*Response, error) { return nil, nil })}
	path := filepath.Join(t.TempDir(), "film")
	for name, err := range map[string]error{
		"no request":               second(d.Copy(t.Context(), nil, io.Discard)),
		"no request for a file":    second(d.File(t.Context(), nil, path)),
		"no writer":                second(d.Copy(t.Context(), &Request{URL: film}, nil)),
		"neither answer nor error": second(d.Copy(t.Context(), &Request{URL: film}, io.Discard)),
	} {
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, _ := filepath.Glob(path + "*"); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
}

func second(_ *Download, err error) error { return err }
