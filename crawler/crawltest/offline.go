package crawltest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/textproto"
	"path"
	"strconv"
	"strings"
	"syscall"
)

// MaxFixtureBytes is the size of the largest file that Offline answers with.
const MaxFixtureBytes = 64 << 20

// endings are what Offline tries to add to the name of a file, in this order.
var endings = []string{"", rawEnding, ".html", ".json", ".xml", ".txt"}

// rawEnding is that of files that hold status and header fields before the body.
const rawEnding = ".http"

// contentTypes are the types of files by their ending; those of others are guessed from the first bytes.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".htm": "text/html; charset=utf-8", ".json": "application/json",
	".xml": "application/xml", ".txt": "text/plain; charset=utf-8", ".css": "text/css", ".js": "text/javascript",
	".atom": "application/atom+xml", ".rss": "application/rss+xml", ".gz": "application/gzip", ".svg": "image/svg+xml",
	".torrent": "application/x-bittorrent", ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg",
	".gif": "image/gif", ".webp": "image/webp",
}

// FixtureError tells of a file that Offline cannot answer with.
type FixtureError struct {
	File string // within the file system given to Offline
	Err  error
}

func (e *FixtureError) Error() string { return "seine: fixture " + e.File + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *FixtureError) Unwrap() error { return e.Err }

// ErrFixtureTooLarge is in the FixtureError of a file of more than MaxFixtureBytes.
var ErrFixtureTooLarge = errors.New("file is too large")

// Offline answers requests from files, never from the network. It may be used concurrently if the file system may.
//
// The file of a URL is HOST/PATH, whatever the scheme:
//
//		https://films.example/              films.example/index.html
//		https://films.example/film/7        films.example/film/7.html
//		http://127.0.0.1:8080/poster/7.png  127.0.0.1%3A8080/poster/7.png
//		https://films.example/films?page=2  films.example/films%3Fpage=2.html
//		POST https://films.example/search   films.example/search!POST.json
//
//	  - A port that is not the scheme's own follows the host after a colon; a query follows the path after its question mark.
//	  - In each part between slashes, every byte but A-Z a-z 0-9 - . _ ~ = & + , @ ( ) is written as % and two upper-case
//	    hexadecimal digits; so is a dot at the end. The %XX of a query stay as they are. An escaped slash in a path is %2F.
//	  - An empty part is "index" at the end of the path, else "%".
//	  - Methods other than GET and HEAD follow after "!". The body of the request makes no difference.
//	  - A part that is then longer than 180 bytes is its first 140, "!", and the first 16 digits of the SHA-256 of all of it.
//	  - The first that exists is taken of the name as it is and with .http, .html, .json, .xml, .txt added.
//
// A file is the body of a 200 answer; its type follows from the ending of the file's name. One with .http added holds a whole answer, as
// curl -i prints it: status line, header fields, an empty line, body; line ends may be LF. Its Content-Length and
// Transfer-Encoding are replaced by what is true of the file.
//
// Without a file the answer is 404 with a text that names the files looked for. A file that is malformed, too large or
// unreadable is a *[FixtureError].
func Offline(fsys fs.FS) http.RoundTripper { return offline{fsys} }

type offline struct{ fsys fs.FS }

func (o offline) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close()
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	if req.URL == nil || req.URL.Hostname() == "" {
		return nil, errors.New("seine: fixture: request without a host")
	}
	name := fixtureName(req.Method, req.URL)
	for _, ending := range endings {
		data, err := o.read(name + ending)
		switch {
		case isMissing(err):
			continue
		case err != nil:
			return nil, &FixtureError{name + ending, err}
		}
		resp := plainResponse(name+ending, data)
		if ending == rawEnding {
			if resp, err = rawResponse(data); err != nil {
				return nil, &FixtureError{name + ending, err}
			}
		}
		return complete(resp, req), nil
	}
	return complete(missing(name, req), req), nil
}

// read reads a file; a folder is missing.
func (o offline) read(name string) ([]byte, error) {
	f, err := o.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fs.ErrNotExist
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFixtureBytes+1))
	if err == nil && len(data) > MaxFixtureBytes {
		err = ErrFixtureTooLarge
	}
	return data, err
}

// isMissing reports whether there is no such file; that of a/b is missing, too, where a is a file.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func plainResponse(file string, data []byte) *http.Response {
	contentType := contentTypes[strings.ToLower(path.Ext(file))]
	if contentType == "" {
		contentType = http.DetectContentType(data)
	}
	return &http.Response{
		StatusCode: http.StatusOK,
		Header:     http.Header{"Content-Type": {contentType}},
		Body:       io.NopCloser(bytes.NewReader(data)), ContentLength: int64(len(data)),
	}
}

func missing(name string, req *http.Request) *http.Response {
	u := *req.URL
	u.User = nil
	var b strings.Builder
	fmt.Fprintf(&b, "no fixture for %s %s; looked for\n", req.Method, &u)
	for _, ending := range endings {
		b.WriteString(name + ending + "\n")
	}
	resp := plainResponse(".txt", []byte(b.String()))
	resp.StatusCode = http.StatusNotFound
	return resp
}

// rawResponse reads an answer that begins with its status line.
func rawResponse(data []byte) (*http.Response, error) {
	r := bufio.NewReader(bytes.NewReader(data))
	tp := textproto.NewReader(r)
	line, err := tp.ReadLine()
	if err != nil {
		return nil, fmt.Errorf("status line: %w", io.ErrUnexpectedEOF)
	}
	version, rest, _ := strings.Cut(line, " ")
	digits, reason, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	status, err := strconv.Atoi(digits)
	if !strings.HasPrefix(version, "HTTP/") || err != nil || len(digits) != 3 || status < 100 {
		return nil, fmt.Errorf("status line: %q is none", cut(line))
	}
	header, err := tp.ReadMIMEHeader()
	if err != nil && !errors.Is(err, io.EOF) { // an answer without a body may end at its last field
		return nil, fmt.Errorf("header fields: %w", err)
	}
	body, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	header.Del("Content-Length")
	header.Del("Transfer-Encoding")
	return &http.Response{
		StatusCode: status, Status: strings.TrimSpace(digits + " " + reason), Header: http.Header(header),
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

func cut(line string) string { return line[:min(len(line), maxShownLine)] }

// complete fills in what every answer has.
func complete(resp *http.Response, req *http.Request) *http.Response {
	if resp.Status == "" {
		resp.Status = strings.TrimSpace(strconv.Itoa(resp.StatusCode) + " " + http.StatusText(resp.StatusCode))
	}
	resp.Proto, resp.ProtoMajor, resp.ProtoMinor, resp.Request = "HTTP/1.1", 1, 1, req
	resp.Header.Set("Content-Length", strconv.FormatInt(resp.ContentLength, 10))
	if req.Method == http.MethodHead {
		resp.Body = http.NoBody
	}
	return resp
}
