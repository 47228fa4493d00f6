package fetch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLabelsThatAreNoCodings has what hosts write into Content-Encoding, for text and for bytes that are none.
func TestLabelsThatAreNoCodings(t *testing.T) {
	t.Parallel()
	text, image := string(page[:2000]), "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	gz := string(encode(t, "gzip", page))
	for _, c := range []struct {
		coding, body, want string
		known              bool
	}{
		{"", image, image, true},
		{"identity", image, image, true},
		{"None", image, image, true},
		{"chunked", image, image, true},
		{"aws-chunked", image, image, true},
		{"aws-chunked, gzip", gz, string(page), true},
		{"UTF-8", image, image, true},
		{"windows-1251; x=y", image, image, true},
		{"text/html", image, image, true},
		{"text/html; charset=utf-8", image, image, true},
		{"gzip;q=1.0", gz, string(page), true},
		{"x-gzip ; level=9", gz, string(page), true},
		{"gzip;q=1.0", text, text, true},
		{"amz-1.0", text, text, true},
		{"en", text, text, true},
		{"en", "", "", true},
		{"foo", "привет", "привет", true},
		{"foo", "\x1b$B text of ISO-2022-JP \x1b(B", "\x1b$B text of ISO-2022-JP \x1b(B", true},
		{"compress", "hello", "hello", true},
		{strings.Repeat("gzip, ", maxCodings) + "gzip", text, text, true},
		{"en", image, "", false},
		{"compress", "\x1f\x9d\x90<html>", "", false},
		{"xz", "\xfd7zXZ\x00\x00\x04", "", false},
		{"foo", gz, "", false},
		{"foo", strings.Repeat("a", probeLen-1) + "\x00", "", false},
	} {
		for _, status := range []int{200, 404} {
			head := fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n", status, c.coding, len(c.body))
			var sunk bytes.Buffer
			for _, sink := range []Sink{nil, func(*Response) (io.Writer, error) { return &sunk, nil }} {
				resp, err := newTransport(t, &Transport{}).Fetch(t.Context(), &Request{URL: rawHost(t, head+c.body), Sink: sink})
				if err != nil {
					t.Errorf("%q: %v", c.coding, err)
					continue
				}
				got := string(resp.Body)
				if sink != nil {
					got = sunk.String()
				}
				var coding *CodingError
				if got != c.want || resp.Status != status || resp.Truncated == c.known || errors.As(resp.BodyErr(), &coding) == c.known {
					t.Errorf("%q of %.20q: %d %.40q %v", c.coding, c.body, resp.Status, got, resp.BodyErr())
				}
			}
		}
	}
}

// TestPackedFilesStayAsTheyAreSent has the content codings that hosts tell of archives.
func TestPackedFilesStayAsTheyAreSent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, mediaType, coding string
		kept                    bool
	}{
		{"/get", "application/x-gzip", "x-gzip", true},
		{"/get", "Application/GZIP; x=y", "gzip", true},
		{"/get", "application/x-tar.gz", "gzip", true},
		{"/a.tar.gz", "application/x-tar", "x-gzip", true},
		{"/a.TGZ", "", "x-gzip", true},
		{"/log.txt.gz", "text/plain", "gzip", true},
		{"/a.zst", "application/x-tar", "zstd", true},
		{"/get", "application/zstd", "zstd", true},
		{"/a.br", "", "br", true},
		{"/a.tar.gz", "application/x-tar", "br", false},
		{"/get", "application/x-gzip", "br", false},
		{"/get", "application/x-tar", "gzip", false},
		{"/get.gz/page", "text/html", "gzip", false},
		{"/gz", "text/html", "gzip", false},
	} {
		packed := encode(t, c.coding, page)
		s := &shop{tag: `"v1"`, data: packed}
		s.edit = func(s *shop, w http.ResponseWriter, r *http.Request) bool {
			w.Header()["Content-Type"] = []string{c.mediaType}
			w.Header().Set("Content-Encoding", c.coding)
			return false
		}
		shopping(t, s, func(t *testing.T, d *Downloader) {
			path := filepath.Join(t.TempDir(), "film")
			_, err := d.File(t.Context(), &Request{URL: "http://films.example" + c.path}, path)
			got, _ := os.ReadFile(path)
			if err != nil || bytes.Equal(got, packed) != c.kept || bytes.Equal(got, page) == c.kept {
				t.Errorf("%+v: %v, %d of %d bytes", c, err, len(got), len(packed))
			}
			resp, err := d.Fetcher.Fetch(t.Context(), &Request{URL: "http://films.example" + c.path})
			if err != nil || !bytes.Equal(resp.Body, page) {
				t.Errorf("%+v: a page is not decoded: %v", c, err)
			}
		})
	}
}

// TestPackedFilesAreGoneOnWith breaks an archive off that is said to have a content coding.
func TestPackedFilesAreGoneOnWith(t *testing.T) {
	t.Parallel()
	packed := encode(t, "gzip", someBytes(50_000))
	s := &shop{tag: `"v1"`, data: packed}
	asked := 0
	s.edit = func(s *shop, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Type", "application/x-gzip")
		w.Header().Set("Content-Encoding", "x-gzip")
		w.Header().Set("ETag", s.tag)
		if asked++; asked == 1 {
			w.Header().Set("Content-Length", fmt.Sprint(len(packed)))
			(&cutting{w, 20_000}).Write(packed)
		}
		return false
	}
	shopping(t, s, func(t *testing.T, d *Downloader) {
		var w bytes.Buffer
		got, err := d.Copy(t.Context(), &Request{URL: "http://films.example/a.tar.gz"}, &w)
		if err != nil || !bytes.Equal(w.Bytes(), packed) || got.Exchanges != 2 || !strings.HasPrefix(s.ranges[1], "bytes=20000-") {
			t.Errorf("%+v, %v, %d of %d bytes, asked for %q", got, err, w.Len(), len(packed), s.ranges)
		}
	})
}
