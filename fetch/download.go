package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seine-go/seine/internal/weburl"
	"github.com/seine-go/seine/ratelimit"
)

const (
	defaultDownloadTries = 5
	maxDownloadWait      = 30 * time.Second
	downloadPiece        = 16 << 10 // bytes that are paid for at once
)

// Errors of downloads.
var (
	ErrChanged = errors.New("seine: download: the resource has changed since its first part came")

	errRange    = errors.New("the host sends another range than the one asked for")
	errSize     = errors.New("the size is not the one that the host told")
	errNotGet   = errors.New("only GET can be downloaded")
	errUnranged = errors.New("the host gives nothing by which the rest could be asked for")
)

// Downloader gets large resources: as they come, within the limits of its Fetcher, and in several exchanges where one breaks
// off. The rest is asked for by Range under the condition that the resource is still the same (If-Range with a strong ETag,
// or with a Last-Modified that is one: RFC 9110 8.8, 13.1.5, 14). It may be used for several downloads at once; a limiter
// whose rule is Shared bounds them together:
//
//	bytes, err := ratelimit.NewTokenBucket(ratelimit.BucketConfig{Rules: []ratelimit.Rule{
//		{Match: "*", Rate: ratelimit.PerSecond(1 << 20), Burst: 64 << 10, MaxWait: -1, Shared: true},
//	}})
//	d := &fetch.Downloader{Fetcher: transport, Bytes: bytes}
type Downloader struct {
	// Fetcher gets the parts. It must pass header fields and the Sink on, so there must be no cache in it.
	Fetcher Fetcher
	// Bytes is asked for a permit for each byte before it is written; the key is the host of the request. Nil does not wait. A
	// wait that its rule does not allow ends the download with an error of kind ErrSink: MaxWait should be negative.
	Bytes ratelimit.Limiter
	// Tries is how many exchanges in a row may bring nothing before the download fails. Zero means 5, negative 1. Between them
	// it waits for one second, and twice as long each time, up to 30 s.
	Tries int
}

// Download is what a download came to.
type Download struct {
	Response  *Response // the last, without a body
	Size      int64     // of the whole resource
	Resumed   int64     // bytes of it that an earlier download had left
	Exchanges int       // that it took; 0 if all was there
}

// destination is where a download goes.
type destination interface {
	io.Writer
	size() int64                  // bytes that are there
	validator() string            // of the resource that they are part of; "" if the rest cannot be asked for
	begin(validator string) error // takes what is there away
}

// Copy writes a resource to w. Request.MaxBody bounds it; zero means DefaultMaxBody, negative no bound. What was written
// before an error is in w. A resource that changes on the way is ErrChanged, since what is written cannot be taken back.
func (d *Downloader) Copy(ctx context.Context, req *Request, w io.Writer) (*Download, error) {
	return d.run(ctx, req, &writerTarget{w: w})
}

// writerTarget is a destination that cannot begin anew.
type writerTarget struct {
	w     io.Writer
	n     int64
	known string
}

func (t *writerTarget) size() int64       { return t.n }
func (t *writerTarget) validator() string { return t.known }

func (t *writerTarget) begin(validator string) error {
	if t.n > 0 {
		return ErrChanged
	}
	t.known = validator
	return nil
}

// Write implements io.Writer.
func (t *writerTarget) Write(p []byte) (int, error) {
	n, err := t.w.Write(p)
	t.n += int64(max(n, 0))
	return n, err
}

// download is one under way.
type download struct {
	*Downloader
	ctx   context.Context
	req   *Request
	to    destination
	host  string
	limit int64 // bytes; negative: none

	resumed int64 // bytes that were there before and are still
	from    int64 // where the exchange under way begins
	total   int64 // bytes of the whole, -1 if the host did not tell
	sink    bool  // the Sink was asked
}

func (d *Downloader) run(ctx context.Context, req *Request, to destination) (*Download, error) {
	u, err := weburl.Parse(req.URL)
	if err != nil {
		return nil, &Error{Op: "parse", URL: req.URL, Kind: ErrInvalid, Err: err}
	}
	if d.Fetcher == nil {
		return nil, &Error{Op: "download", URL: req.URL, Kind: ErrInvalid, Err: errNilFetcher}
	}
	if req.Method != "" && req.Method != http.MethodGet {
		return nil, &Error{Op: "download", URL: req.URL, Kind: ErrInvalid, Err: errNotGet}
	}
	run := &download{
		Downloader: d, ctx: ctx, req: req, to: to, host: u.Host(), limit: orDefault(req.MaxBody, DefaultMaxBody), resumed: to.size(),
	}
	done := new(Download)
	tries := max(orDefault(d.Tries, defaultDownloadTries), 1)
	for idle := 0; ; {
		resp, ended, err := run.exchange()
		done.Exchanges++
		if err == nil && ended {
			done.Response, done.Size, done.Resumed = resp, to.size(), run.resumed
			return done, nil
		}
		if err != nil && !run.again(err) {
			return nil, err
		}
		if idle++; to.size() > run.from {
			idle = 1
		}
		if idle >= tries {
			if err == nil {
				err = &Error{Op: "download", URL: req.URL, Kind: ErrTruncated, Err: errRange}
			}
			return nil, err
		}
		if err := run.pause(idle); err != nil {
			return nil, err
		}
	}
}

// again reports whether a download goes on after an error.
func (d *download) again(err error) bool {
	var known *Error
	if d.ctx.Err() != nil || !errors.As(err, &known) {
		return false
	}
	if errors.Is(err, errRange) {
		return true
	}
	if !known.Temporary() {
		return false
	}
	// What is there is of use only where the rest can be asked for.
	return d.to.size() == 0 || d.to.validator() != "" || d.begin("") == nil
}

// begin takes away what is there.
func (d *download) begin(validator string) error {
	d.resumed = 0
	return d.to.begin(validator)
}

func (d *download) pause(idle int) error {
	wait := time.NewTimer(min(time.Second<<min(idle-1, 10), maxDownloadWait))
	defer wait.Stop()
	select {
	case <-wait.C:
		return nil
	case <-d.ctx.Done():
		err := contextError(d.ctx, "download")
		err.URL = d.req.URL
		return err
	}
}

// exchange asks for what is missing. ended says that nothing is.
func (d *download) exchange() (resp *Response, ended bool, err error) {
	d.from, d.total, d.sink = d.to.size(), -1, false
	if d.from > 0 && d.to.validator() == "" {
		if err := d.begin(""); err != nil {
			return nil, false, &Error{Op: "download", URL: d.req.URL, Kind: ErrTruncated, Final: true, Err: errUnranged}
		}
		d.from = 0
	}
	resp, err = d.Fetcher.Fetch(d.ctx, d.request())
	if err != nil {
		return nil, false, err
	}
	if !d.sink && len(resp.Body) > 0 { // the Fetcher knows of no Sink
		if err := d.pass(resp); err != nil {
			return nil, false, &Error{Op: "sink", URL: resp.URL, Kind: ErrSink, Err: err}
		}
	}
	switch {
	case resp.Status == http.StatusRequestedRangeNotSatisfiable && d.from > 0:
		if _, _, total, _ := contentRange(resp.Header); total == d.from {
			return resp, true, nil // all of it was there
		}
		return nil, false, d.anew(errRange)
	case resp.StatusErr() != nil || resp.Status == http.StatusNotModified:
		return nil, false, &StatusError{Status: resp.Status, URL: resp.URL}
	case resp.Truncated:
		return nil, false, resp.BodyErr()
	case d.total >= 0 && d.to.size() != d.total:
		return nil, false, &Error{Op: "download", URL: resp.URL, Kind: ErrTruncated, Err: errSize}
	}
	return resp, true, nil
}

// anew takes away what is there, so that the next exchange gets all.
func (d *download) anew(why error) error {
	if err := d.begin(""); err != nil {
		return &Error{Op: "download", URL: d.req.URL, Kind: ErrSink, Err: err}
	}
	return &Error{Op: "download", URL: d.req.URL, Kind: ErrProtocol, Err: why}
}

// request is the one for what is missing.
func (d *download) request() *Request {
	r := d.req.Clone()
	r.KeepPacked, r.Sink = true, d.open
	if r.MaxBody = -1; d.limit >= 0 {
		r.MaxBody = max(d.limit-d.from, 1) // the writer holds to the limit itself
	}
	if _, there := headerValues(r.Header, "Accept-Encoding"); !there {
		setHeader(r, "Accept-Encoding", "identity") // ranges are of the coded form
	}
	setHeader(r, "Range", "")
	setHeader(r, "If-Range", "")
	if d.from > 0 {
		setHeader(r, "Range", fmt.Sprintf("bytes=%d-", d.from))
		setHeader(r, "If-Range", d.to.validator())
	}
	return r
}

// pass writes the body of a Fetcher that knows of no Sink.
func (d *download) pass(resp *Response) error {
	w, err := d.open(resp)
	if err != nil || w == nil {
		return err
	}
	_, err = w.Write(resp.Body)
	resp.Body = nil
	return err
}

// open is the Sink of an exchange.
func (d *download) open(head *Response) (io.Writer, error) {
	d.sink = true
	switch {
	case head.Status == http.StatusPartialContent:
		first, last, total, ok := contentRange(head.Header)
		if !ok || first != d.to.size() || total >= 0 && last >= total {
			return nil, d.refuse(errRange)
		}
		if d.from > 0 && strings.HasPrefix(d.to.validator(), `"`) && head.Header.Get("Etag") != "" && head.Header.Get("Etag") != d.to.validator() {
			return nil, d.refuse(errRange)
		}
		d.total = total
		if total < 0 {
			d.total = last + 1
		}
	case head.Status >= 200 && head.Status < 300:
		if err := d.begin(validatorOf(head)); err != nil {
			return nil, err
		}
		d.from = 0
		if n, err := strconv.ParseInt(head.Header.Get("Content-Length"), 10, 64); err == nil && n >= 0 && head.Header.Get("Content-Encoding") == "" {
			d.total = n
		}
	default:
		return nil, nil
	}
	return d, nil
}

// refuse has the next exchange begin anew.
func (d *download) refuse(why error) error {
	if err := d.begin(""); err != nil {
		return err
	}
	return why
}

// Write pays for a piece and writes it.
func (d *download) Write(p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		piece := p[:min(len(p), downloadPiece)]
		if d.limit >= 0 && d.to.size()+int64(len(piece)) > d.limit {
			return n, &Error{Op: "download", URL: d.req.URL, Kind: ErrBodyLimit}
		}
		if d.Bytes != nil {
			if err := d.Bytes.Wait(d.ctx, d.host, len(piece)); err != nil {
				return n, err
			}
		}
		var m int
		m, err = d.to.Write(piece)
		n += m
		p = p[len(piece):]
	}
	return n, err
}

// contentRange reads "bytes FIRST-LAST/TOTAL", where TOTAL may be "*" (-1), or "bytes */TOTAL", which is not ok.
func contentRange(h http.Header) (first, last, total int64, ok bool) {
	unit, value, _ := strings.Cut(strings.TrimSpace(h.Get("Content-Range")), " ")
	span, size, found := strings.Cut(strings.TrimSpace(value), "/")
	if total = -1; !found || !strings.EqualFold(unit, "bytes") {
		return 0, 0, -1, false
	}
	if n, err := strconv.ParseUint(size, 10, 63); err == nil {
		total = int64(n)
	} else if size != "*" {
		return 0, 0, -1, false
	}
	from, to, _ := strings.Cut(span, "-")
	a, errA := strconv.ParseUint(from, 10, 62)
	b, errB := strconv.ParseUint(to, 10, 62)
	return int64(a), int64(b), total, errA == nil && errB == nil && a <= b
}

// validatorOf returns what the rest of a resource can be asked for by: a strong validator (RFC 9110 8.8.1), "" without.
func validatorOf(head *Response) string {
	h := head.Header
	if h.Get("Content-Encoding") != "" || strings.EqualFold(h.Get("Accept-Ranges"), "none") {
		return ""
	}
	if tag := h.Get("Etag"); tag != "" {
		if len(tag) > 1 && tag[0] == '"' && tag[len(tag)-1] == '"' {
			return tag
		}
		return ""
	}
	modified, ok := parseDate(h.Get("Last-Modified"))
	date, dated := parseDate(h.Get("Date"))
	if !ok || !dated || date.Sub(modified) < time.Second {
		return ""
	}
	return h.Get("Last-Modified")
}
