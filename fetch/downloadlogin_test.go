package fetch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const loginPage = "<html><title>please log in</title></html>"

// members is a shop whose films only those see who are logged in; others are led to the login, or see it in place of a film.
func members(s *shop, in *bool, works, redirects bool) func(*shop, http.ResponseWriter, *http.Request) bool {
	return func(_ *shop, w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.Method == http.MethodPost:
			*in = works
		case r.URL.Path != "/login" && *in:
			if len(s.cuts) == 0 {
				return false
			}
			w.Header().Set("ETag", s.tag)
			http.ServeContent(&cutting{w, s.cuts[0]}, r, "film.bin", time.Time{}, bytes.NewReader(s.data))
		case r.URL.Path != "/login" && redirects:
			http.Redirect(w, r, "/login", http.StatusFound)
			return true
		}
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, loginPage)
		return true
	}
}

func loggingIn(f Fetcher) Fetcher {
	return Chain(f, Login(LoginPolicy{
		Late: true,
		Login: func(ctx context.Context, f Fetcher, _ string) error {
			_, err := f.Fetch(ctx, &Request{URL: "http://films.example/login", Method: "POST"})
			return err
		},
		Out: func(r *Response) bool {
			return strings.HasSuffix(r.URL, "/login") || strings.HasPrefix(r.Header.Get("Content-Type"), "text/html")
		},
	}))
}

// TestDownloadsAreJudgedBeforeTheyAreWritten has a session that is over when a download begins, and when it goes on.
func TestDownloadsAreJudgedBeforeTheyAreWritten(t *testing.T) {
	t.Parallel()
	req := &Request{URL: film, Route: Route{Session: "ann"}}
	for name, c := range map[string]struct{ redirects, works bool }{
		"redirect":                  {true, true},
		"page in its place":         {false, true},
		"redirect, login of no use": {true, false},
		"page, login of no use":     {false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shop{data: someBytes(100_000), tag: `"v1"`, cuts: []int{60_000}}
			shopping(t, s, func(t *testing.T, d *Downloader) {
				in := true
				s.edit = members(s, &in, c.works, c.redirects)
				path := filepath.Join(t.TempDir(), "film")
				if _, err := (&Downloader{Fetcher: d.Fetcher, Tries: -1}).File(t.Context(), req, path); !errors.Is(err, ErrTruncated) {
					t.Fatal(err)
				}
				d.Fetcher = loggingIn(d.Fetcher)
				s.cuts, in = nil, false
				got, err := d.File(t.Context(), req, path)
				part, _ := os.ReadFile(path + partSuffix)
				whole, _ := os.ReadFile(path)
				switch {
				case c.works && (err != nil || !bytes.Equal(whole, s.data) || got.Resumed != 60_000):
					t.Errorf("%d bytes, %+v, %v", len(whole), got, err)
				case !c.works && (!errors.Is(err, errStillOut) || !bytes.Equal(part, s.data[:60_000]) || whole != nil):
					t.Errorf("%d and %d bytes, %v", len(part), len(whole), err)
				}
				in = false
				var w bytes.Buffer
				_, err = d.Copy(t.Context(), req, &w)
				switch {
				case c.works && (err != nil || !bytes.Equal(w.Bytes(), s.data)):
					t.Errorf("Copy: %v, begins %.20q", err, w.Bytes())
				case !c.works && (err == nil || w.Len() > 0):
					t.Errorf("Copy: %v, %q", err, w.Bytes())
				}
			})
		})
	}
}

// TestCopyWaitsForHostsThatAreBusy has what a host says in the middle of a download when it is busy, or out of its mind.
func TestCopyWaitsForHostsThatAreBusy(t *testing.T) {
	t.Parallel()
	s := &shop{data: someBytes(100_000), tag: `"v1"`, cuts: []int{60_000}}
	shopping(t, s, func(t *testing.T, d *Downloader) {
		var asked int
		handler := func(second func(w http.ResponseWriter)) func(*shop, http.ResponseWriter, *http.Request) bool {
			asked = 0
			return func(_ *shop, w http.ResponseWriter, r *http.Request) bool {
				w.Header().Set("ETag", s.tag)
				switch asked++; asked {
				case 1:
					http.ServeContent(&cutting{w, 60_000}, r, "film.bin", time.Time{}, bytes.NewReader(s.data))
				case 2:
					w.Header().Del("ETag")
					second(w)
					return true
				}
				return false
			}
		}
		s.edit = handler(func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "100")
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		start := time.Now()
		var w bytes.Buffer
		if _, err := d.Copy(t.Context(), &Request{URL: film}, &w); err != nil || !bytes.Equal(w.Bytes(), s.data) || time.Since(start) != 101*time.Second {
			t.Errorf("%v, %d bytes, asked %d times, %v", err, w.Len(), asked, time.Since(start))
		}
		s.edit = handler(func(w http.ResponseWriter) { io.WriteString(w, loginPage) })
		w.Reset()
		if _, err := d.Copy(t.Context(), &Request{URL: film}, &w); !errors.Is(err, ErrMismatch) || !bytes.Equal(w.Bytes(), s.data[:60_000]) {
			t.Errorf("%v, %d bytes", err, w.Len())
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		s.edit = handler(func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "100")
			w.WriteHeader(http.StatusTooManyRequests)
		})
		if _, err := d.Copy(ctx, &Request{URL: film}, io.Discard); !errors.Is(err, context.DeadlineExceeded) || asked != 2 {
			t.Errorf("%v, asked %d times", err, asked)
		}
	})
}

func TestScreenSink(t *testing.T) {
	t.Parallel()
	plain := &Request{URL: film}
	if plain.ScreenSink(func(*Response) bool { return true }) != plain {
		t.Error("a request without a Sink was copied")
	}
	var w bytes.Buffer
	req := &Request{URL: film, Sink: func(*Response) (io.Writer, error) { return &w, nil }}
	screened := req.ScreenSink(func(head *Response) bool { return head.Status == 200 })
	for _, status := range []int{403, 200} {
		got, err := screened.Sink(&Response{Status: status})
		if err != nil || (got != nil) != (status == 200) {
			t.Errorf("%d: %v, %v", status, got, err)
		}
	}
}
