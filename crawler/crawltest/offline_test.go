package crawltest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/seine-go/seine/crawler/crawltest"
)

func files(texts map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range texts {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

var site = files(map[string]string{
	"films.example/index.html":          "<title>Films</title>",
	"films.example/film/7.html":         "<title>Seven</title>",
	"films.example/film/7/cast.json":    "[]",
	"films.example/film/8":              "\x89PNG\r\n\x1a\nrest",
	"films.example/both":                "as it is",
	"films.example/both.html":           "with an ending",
	"films.example/poster/7.PNG":        "not really",
	"films.example/films%3Fpage=2.html": "second page",
	"films.example/search!POST.json":    `{"found":1}`,
	"films.example/moved.http":          "HTTP/1.1 301 Moved Permanently\r\nLocation: /film/7\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\n\r\n",
	"films.example/gone.http":           "HTTP/2 410\nX-Why: sold\nContent-Length: 99\nTransfer-Encoding: chunked\n\nno\r\nmore",
	"films.example/bare.http":           "HTTP/1.0 404 Not Found\nServer: x",
	"films.example/empty.http":          "",
	"films.example/nostatus.http":       "<title>an HTML file</title>",
	"films.example/badstatus.http":      "HTTP/1.1 099 Odd\n\n",
	"films.example/longstatus.http":     "HTTP/1.1 2000 Odd\n\n",
	"films.example/badheader.http":      "HTTP/1.1 200 OK\nno colon here\n\nbody",
	"127.0.0.1%3A8080/robots.txt":       "User-agent: *\n",
})

func TestOfflineAnswersFromFiles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, method, url string
		status            int
		header            map[string]string
		body              string
	}{
		{"root", "GET", "https://films.example/", 200, map[string]string{"Content-Type": "text/html; charset=utf-8", "Content-Length": "20"}, "<title>Films</title>"},
		{"other scheme", "GET", "http://films.example", 200, nil, "<title>Films</title>"},
		{"page beside a folder of its name", "GET", "https://films.example/film/7", 200, nil, "<title>Seven</title>"},
		{"page in that folder", "GET", "https://films.example/film/7/cast", 200, map[string]string{"Content-Type": "application/json"}, "[]"},
		{"type by content", "GET", "https://films.example/film/8", 200, map[string]string{"Content-Type": "image/png"}, "\x89PNG\r\n\x1a\nrest"},
		{"exact name first", "GET", "https://films.example/both", 200, nil, "as it is"},
		{"ending in capitals", "GET", "https://films.example/poster/7.PNG", 200, map[string]string{"Content-Type": "image/png"}, "not really"},
		{"query", "GET", "https://films.example/films?page=2", 200, nil, "second page"},
		{"post", "POST", "https://films.example/search", 200, nil, `{"found":1}`},
		{"head", "HEAD", "https://films.example/film/7", 200, map[string]string{"Content-Length": "20"}, ""},
		{"status and fields", "GET", "https://films.example/moved", 301, map[string]string{"Location": "/film/7", "Set-Cookie": "a=1", "Content-Length": "0"}, ""},
		{"status without reason, length corrected", "GET", "https://films.example/gone", 410, map[string]string{"X-Why": "sold", "Content-Length": "8", "Transfer-Encoding": ""}, "no\r\nmore"},
		{"ends at its last field", "GET", "https://films.example/bare", 404, map[string]string{"Server": "x"}, ""},
		{"port", "GET", "http://127.0.0.1:8080/robots.txt", 200, map[string]string{"Content-Type": "text/plain; charset=utf-8"}, "User-agent: *\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			resp, body := ask(t, site, tt.method, tt.url)
			if resp.StatusCode != tt.status || body != tt.body || !strings.HasPrefix(resp.Status, fmt.Sprint(tt.status)) {
				t.Errorf("got %s %q", resp.Status, body)
			}
			for name, want := range tt.header {
				if got := resp.Header.Get(name); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			if resp.Proto != "HTTP/1.1" || resp.Request == nil || tt.method != "HEAD" && resp.ContentLength != int64(len(body)) {
				t.Errorf("response %+v", resp)
			}
		})
	}
}

func ask(t *testing.T, fsys fs.FS, method, u string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, u, strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := crawltest.Offline(fsys).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(b)
}

func TestOfflineNamesTheFileThatIsMissing(t *testing.T) {
	t.Parallel()
	for _, u := range []string{"https://user:secret@films.example/film/9?a=b", "https://films.example/search", "https://films.example/film", "https://other.example/"} {
		resp, body := ask(t, site, "GET", u)
		if resp.StatusCode != http.StatusNotFound || strings.Contains(body, "secret") {
			t.Errorf("%s: %d %q", u, resp.StatusCode, body)
		}
	}
	_, body := ask(t, site, "GET", "https://films.example/film/9?a=b")
	want := "no fixture for GET https://films.example/film/9?a=b; looked for\nfilms.example/film/9%3Fa=b\nfilms.example/film/9%3Fa=b.http\n" +
		"films.example/film/9%3Fa=b.html\nfilms.example/film/9%3Fa=b.json\nfilms.example/film/9%3Fa=b.xml\nfilms.example/film/9%3Fa=b.txt\n"
	if body != want {
		t.Errorf("got %q, want %q", body, want)
	}
}

func TestOfflineSaysWhatIsWrongWithAFile(t *testing.T) {
	t.Parallel()
	for path, part := range map[string]string{
		"empty": "unexpected EOF", "nostatus": "status line", "badstatus": "status line", "longstatus": "status line", "badheader": "header fields",
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://films.example/"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := crawltest.Offline(site).RoundTrip(req)
		var bad *crawltest.FixtureError
		if resp != nil || !errors.As(err, &bad) || bad.File != "films.example/"+path+".http" || !strings.Contains(err.Error(), part) || !strings.HasPrefix(err.Error(), "seine: ") {
			t.Errorf("%s: %v, %v", path, resp, err)
		}
	}
}

// TestOfflineWithRealFolders: where a page's name is a file, what lies below it is missing, not broken.
func TestOfflineWithRealFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(dir+"/films.example", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/films.example/film", []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if resp, _ := ask(t, os.DirFS(dir), "GET", "https://films.example/film/7"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("%s", resp.Status)
	}
}

type failing struct{ err error }

func (f failing) Open(string) (fs.File, error) { return nil, f.err }

func TestOfflineReportsWhatItCannotDo(t *testing.T) {
	t.Parallel()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://films.example/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := crawltest.Offline(failing{fs.ErrPermission}).RoundTrip(req); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("unreadable: %v", err)
	}
	for _, host := range []string{"", ":80"} {
		nowhere := req.Clone(t.Context())
		nowhere.URL.Host = host
		if resp, err := crawltest.Offline(site).RoundTrip(nowhere); err == nil {
			t.Errorf("host %q: %s", host, resp.Status)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := crawltest.Offline(site).RoundTrip(req.WithContext(ctx)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for size, want := range map[int]error{crawltest.MaxFixtureBytes: nil, crawltest.MaxFixtureBytes + 1: crawltest.ErrFixtureTooLarge} {
		fsys := fstest.MapFS{"films.example/index": &fstest.MapFile{Data: make([]byte, size)}}
		if _, err := crawltest.Offline(fsys).RoundTrip(req); !errors.Is(err, want) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// FuzzRawFixture: whatever a file holds, the answer is an error or one that a client can read.
func FuzzRawFixture(f *testing.F) {
	for name, file := range site {
		if strings.HasSuffix(name, ".http") {
			f.Add(file.Data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fsys := fstest.MapFS{"films.example/x.http": &fstest.MapFile{Data: data}}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://films.example/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := crawltest.Offline(fsys).RoundTrip(req)
		if err != nil {
			var bad *crawltest.FixtureError
			if !errors.As(err, &bad) {
				t.Errorf("error %v", err)
			}
			return
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || int64(len(body)) != resp.ContentLength || resp.StatusCode < 100 || resp.StatusCode > 999 || !strings.HasSuffix(string(data), string(body)) {
			t.Errorf("%v %+v", err, resp)
		}
	})
}

// Pages of a site kept in files, and a redirect with its header.
func ExampleOffline() {
	client := http.Client{Transport: crawltest.Offline(os.DirFS("testdata/site"))}
	for _, u := range []string{"https://films.example/film/7", "https://films.example/redirect/old", "https://films.example/film/8"} {
		resp, err := client.Get(u)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(resp.Status, resp.Request.URL)
		_ = resp.Body.Close()
	}
	// Output:
	// 200 OK https://films.example/film/7
	// 200 OK https://films.example/film/7
	// 404 Not Found https://films.example/film/8
}
