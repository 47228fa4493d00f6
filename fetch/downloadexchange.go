package fetch

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"time"
)

// exchange asks for what is missing. ended says that nothing is. With probe it asks for the last byte of what is there once
// more: whether that is the last one of the resource, and still of the same version, is what the answer tells.
func (d *download) exchange(probe bool) (resp *Response, ended bool, err error) {
	d.exchanges++
	d.asked, d.at, d.until, d.sink, d.failed, d.asks = d.start(probe), 0, -1, false, nil, 0
	resp, err = d.Fetcher.Fetch(d.ctx, d.request())
	if err == nil && resp == nil {
		err = &Error{Op: "download", URL: d.req.URL, Kind: ErrInvalid, Err: errNothing}
	}
	if err == nil && !d.sink { // the Fetcher knows of no Sink
		err = d.pass(resp)
	}
	switch {
	case d.failed != nil:
		return nil, false, d.failed
	case err != nil:
		return nil, false, err
	case resp.Status == http.StatusRequestedRangeNotSatisfiable && d.asked > 0:
		return d.beyond(resp)
	case !isResource(resp.Status):
		d.asks, _ = RetryAfter(resp.Header, resp.Status, cmp.Or(resp.FetchedAt, time.Now()), -1)
		return nil, false, &StatusError{Status: resp.Status, URL: resp.URL}
	}
	if err := d.body(resp); err != nil {
		return nil, false, err
	}
	return resp, d.ended(resp, probe), nil
}

// isResource reports whether the answer brings the resource, and not what there is to say of it.
func isResource(status int) bool {
	return status == http.StatusOK || status == http.StatusNonAuthoritativeInfo || status == http.StatusPartialContent
}

// start returns where the range begins that is asked for; 0 for no range.
func (d *download) start(probe bool) int64 {
	size := d.to.size()
	switch {
	case d.whole || d.known.Validator == "":
		return 0
	case size > 0 && (probe || size == d.known.Total):
		return size - 1
	}
	return size
}

// request is the one for what is missing.
func (d *download) request() *Request {
	r := d.req.Clone()
	r.KeepPacked, r.Sink = true, d.open
	r.MaxBody = d.limit // of one answer, which may be all of it; Write holds to that of the whole
	if _, there := headerValues(r.Header, "Accept-Encoding"); !there {
		setHeader(r, "Accept-Encoding", "identity") // ranges are of the coded form
	}
	setHeader(r, "Range", "")
	setHeader(r, "If-Range", "")
	if d.asked > 0 {
		setHeader(r, "Range", fmt.Sprintf("bytes=%d-", d.asked))
		setHeader(r, "If-Range", d.known.Validator)
	}
	return r
}

// beyond deals with a host that has nothing from the end of what is there on: it may be whole. The host does not have to say of
// which version that is true, so it is asked for the last byte.
func (d *download) beyond(resp *Response) (*Response, bool, error) {
	size := d.to.size()
	if _, _, total, _ := contentRange(resp.Header); d.asked < size || total >= 0 && total != size {
		return nil, false, d.refuse()
	}
	return d.exchange(true)
}

// body says what is wrong with the body that has come.
func (d *download) body(resp *Response) error {
	size := d.to.size()
	switch {
	case resp.Truncated && resp.BodyErr() != nil:
		return resp.BodyErr()
	case !resp.Truncated && d.until < 0 && d.at < size: // all of it, and less than there was
		d.known = version{}
	case !resp.Truncated && (d.until < 0 || d.at == d.until):
		return nil
	}
	return &Error{Op: "download", URL: resp.URL, Kind: ErrTruncated, Err: errSize}
}

// ended reports whether nothing is missing.
func (d *download) ended(resp *Response, probe bool) bool {
	size := d.to.size()
	switch {
	case d.known.Total > 0:
		return size == d.known.Total
	case resp.Status != http.StatusPartialContent:
		return true
	}
	return probe && size == d.asked+1
}

// pass writes the body of a Fetcher that knows of no Sink.
func (d *download) pass(resp *Response) error {
	w, err := d.open(resp)
	if err == nil && w != nil {
		_, err = w.Write(resp.Body)
		resp.Body = nil
	}
	if err != nil {
		return &Error{Op: "sink", URL: resp.URL, Kind: ErrSink, Err: err}
	}
	return nil
}

// open is the Sink of an exchange. It finds out where the body belongs.
func (d *download) open(head *Response) (io.Writer, error) {
	d.sink, d.failed = true, nil
	if !isResource(head.Status) {
		return nil, nil
	}
	first, until, total := int64(0), contentLength(head), int64(-1)
	if head.Status == http.StatusPartialContent {
		var ok bool
		first, until, total, ok = contentRange(head.Header)
		if !ok || first != d.asked || isCoded(head) || isMultipart(head.Header) {
			return nil, d.refuse()
		}
	} else {
		total = until
	}
	if d.limit >= 0 && max(until, total) > d.limit {
		return nil, d.fail(ErrBodyLimit, fmt.Errorf("more than the %d bytes that MaxBody allows", d.limit))
	}
	d.until = until
	return d, d.place(head, first, total)
}

// place goes on behind what is there if the answer is of the same version, and begins anew if it is of another one.
func (d *download) place(head *Response, first, total int64) error {
	got, size := versionOf(head, total), d.to.size()
	same := d.known.agrees(got, d.asked > 0 && head.Status == http.StatusPartialContent) && (total < 0 || total >= size)
	switch {
	case size > 0 && first <= size && same:
		d.known.Total = max(d.known.Total, got.Total)
	case first > 0:
		return d.refuse()
	case size > 0 && d.known.isUnlike(got):
		d.fail(ErrTruncated, ErrMismatch)
		d.failed.Final = true
		return d.failed
	case !d.to.restarts():
		d.fail(ErrTruncated, ErrChanged)
		d.failed.Final = true
		return d.failed
	default:
		if err := d.to.begin(got); err != nil {
			return err
		}
		d.resumed, d.whole, d.known = 0, false, got
	}
	d.at = first
	return nil
}

// Write pays for a piece and writes what of it is not there yet.
func (d *download) Write(p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		piece := p[:min(len(p), downloadPiece)]
		end := d.at + int64(len(piece))
		switch {
		case d.until >= 0 && end > d.until:
			return n, d.refuse()
		case d.limit >= 0 && end > d.limit:
			return n, d.fail(ErrBodyLimit, fmt.Errorf("more than the %d bytes that MaxBody allows", d.limit))
		}
		if err := d.pay(len(piece)); err != nil {
			return n, err
		}
		m := int(min(max(d.to.size()-d.at, 0), int64(len(piece))))
		if m < len(piece) {
			var written int
			written, err = d.to.Write(piece[m:])
			m += written
		}
		d.at += int64(m)
		n += m
		p = p[len(piece):]
	}
	return n, err
}

// pay waits for as many permits as there are bytes.
func (d *download) pay(n int) error {
	if d.Bytes == nil {
		return nil
	}
	err := d.Bytes.Wait(d.ctx, d.host, n)
	if err != nil && d.ctx.Err() != nil {
		d.failed = contextError(d.ctx, "download")
		d.failed.URL = d.req.URL
	}
	return err
}

// refuse has the next exchange ask for all of it.
func (d *download) refuse() error {
	d.whole = true
	return d.fail(ErrProtocol, errRange)
}

// fail ends the exchange with an error that is not the writer's.
func (d *download) fail(kind ErrorKind, why error) error {
	d.failed = &Error{Op: "download", URL: d.req.URL, Kind: kind, Err: why}
	return d.failed
}
