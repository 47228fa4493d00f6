package fetch

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/seine-go/seine/internal/weburl"
	"github.com/seine-go/seine/ratelimit"
)

const (
	defaultDownloadTries = 5
	maxDownloadWait      = 30 * time.Second
	downloadPiece        = 16 << 10 // bytes that are paid for at once
)

// MaxDownloadPause is the longest time between two exchanges of a download that a host may ask for.
const MaxDownloadPause = 10 * time.Minute

// Errors of downloads.
var (
	ErrChanged = errors.New("seine: download: the resource has changed since its first part came")
	// ErrMismatch is that a host answers with something else in place of the rest: with a page of another media type as a
	// rule, since a session is over or all who download are to pass a test. What has come stays as it is.
	ErrMismatch = errors.New("seine: download: the answer is not the resource that the first part is of")
	ErrInUse    = errors.New("seine: download: another download writes to the same file")

	errRange     = errors.New("the host sends another range than the one asked for")
	errSize      = errors.New("the size is not the one that the host told")
	errPart      = errors.New("only a part of the resource came")
	errNotGet    = errors.New("only GET can be downloaded")
	errUnranged  = errors.New("the host gives nothing by which the rest could be asked for")
	errNilWriter = errors.New("the writer is nil")
)

// Downloader gets large resources: as they come, within the limits of its Fetcher, and in several exchanges where one breaks
// off. The rest is asked for by Range under the condition that the resource is still the same (If-Range with a strong ETag,
// or with a Last-Modified that is one: RFC 9110 8.8, 13.1.5, 14), and parts are put together only where what the answers tell
// of it (validator, Last-Modified, size) agrees. A host that sends all of it anew, unchanged, has what is there passed over; one
// that knows no ranges has to bring all of it within one exchange, so within Transport.Total. The resource is what an answer of
// 200, 203 or 206 brings. After a 408, 429, 500, 502, 503 or 504 it is asked for again, see Tries; every other status ends the download
// with a *StatusError.
//
// An answer that brings all of it anew where the rest was asked for is another version when it is of the same media type, or
// tells none, and has an ETag, a Last-Modified, or else the type or the size of what is there; then the download begins anew. Any other is
// ErrMismatch, and what is there stays: it can be gone on with once the host answers as it did. A Fetcher with a Login has its answers
// judged before anything of them is written: see Request.ScreenSink.
//
// Files that are packed stay so, whatever Content-Encoding they come with (Request.KeepPacked).
//
// It may be used for several downloads at once; a limiter whose rule is Shared bounds them together:
//
//	bytes, err := ratelimit.NewTokenBucket(ratelimit.BucketConfig{Rules: []ratelimit.Rule{
//		{Match: "*", Rate: ratelimit.PerSecond(1 << 20), Burst: 64 << 10, MaxWait: -1, Shared: true},
//	}})
//	d := &fetch.Downloader{Fetcher: transport, Bytes: bytes}
type Downloader struct {
	// Fetcher gets the parts. It must pass header fields and the Sink on, so there must be no cache in it.
	Fetcher Fetcher
	// Bytes is asked for a permit for each byte that comes, those that are passed over included, before the next is read; the
	// key is the host of the request. Nil does not wait. A wait that its rule does not allow ends the download with an error of
	// kind ErrSink: MaxWait should be negative.
	Bytes ratelimit.Limiter
	// Tries is how many exchanges in a row may bring nothing before the download fails. Zero means 5, negative 1. Between them
	// it waits for one second, and twice as long each time, up to 30 s, or as long as the host asks (see RetryAfter): one that
	// asks for more than MaxDownloadPause ends the download. Only what goes beyond the most that there has been counts as
	// something, so that a resource which changes again and again ends it too.
	Tries int
}

// Download is what a download came to.
type Download struct {
	Response  *Response // the last, without a body
	Size      int64     // of the whole resource
	Resumed   int64     // bytes of it that an earlier download had left
	Exchanges int       // that it took
}

// destination is where a download goes.
type destination interface {
	io.Writer
	size() int64           // bytes that are there
	version() version      // of the resource that they are part of
	begin(v version) error // takes what is there away
	restarts() bool        // whether begin can do that
}

// Copy writes a resource to w. Request.MaxBody bounds it; zero means DefaultMaxBody, negative no bound. What was written
// before an error is in w. A resource that changes on the way is ErrChanged, since what is written cannot be taken back.
func (d *Downloader) Copy(ctx context.Context, req *Request, w io.Writer) (*Download, error) {
	if w == nil {
		return nil, &Error{Op: "download", Kind: ErrInvalid, Err: errNilWriter}
	}
	return d.run(ctx, req, &writerTarget{w: w})
}

// writerTarget is a destination that cannot begin anew.
type writerTarget struct {
	w     io.Writer
	n     int64
	known version
}

func (t *writerTarget) size() int64      { return t.n }
func (t *writerTarget) version() version { return t.known }
func (t *writerTarget) restarts() bool   { return t.n == 0 }

func (t *writerTarget) begin(v version) error {
	t.known = v
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

	known     version // of what is there
	resumed   int64   // bytes that were there before and are still
	exchanges int
	whole     bool // the host's ranges are of no use: all of it is asked for

	// Of the exchange under way.
	asked  int64         // where the range begins that is asked for; 0: no range
	at     int64         // where in the resource the next byte belongs
	until  int64         // where the body ends; -1 if the host did not tell
	sink   bool          // the Sink was asked
	failed *Error        // why the answer was refused
	asks   time.Duration // that the host wants to be left alone
}

func (d *Downloader) run(ctx context.Context, req *Request, to destination) (*Download, error) {
	host, err := d.check(req)
	if err != nil {
		return nil, err
	}
	run := &download{
		Downloader: d, ctx: ctx, req: req, to: to, host: host, limit: orDefault(req.MaxBody, DefaultMaxBody), resumed: to.size(), known: to.version(),
	}
	tries := max(orDefault(d.Tries, defaultDownloadTries), 1)
	for idle, best := 0, to.size(); ; {
		resp, ended, err := run.exchange(false)
		if err == nil && ended {
			return &Download{Response: resp, Size: to.size(), Resumed: run.resumed, Exchanges: run.exchanges}, nil
		}
		if err != nil && !run.temporary(err) {
			return nil, err
		}
		if idle++; to.size() > best {
			idle, best = 1, to.size()
		}
		if lost := run.lost(); idle >= tries || lost != nil {
			if err == nil {
				err = &Error{Op: "download", URL: req.URL, Kind: ErrTruncated, Final: lost != nil, Err: cmp.Or(lost, errPart)}
			}
			return nil, err
		}
		if err := run.pause(idle); err != nil {
			return nil, err
		}
	}
}

// check returns the host of a request that can be downloaded.
func (d *Downloader) check(req *Request) (host string, _ error) {
	if req == nil {
		return "", &Error{Op: "download", Kind: ErrInvalid, Err: errNilRequest}
	}
	u, err := weburl.Parse(req.URL)
	switch {
	case err != nil:
		return "", &Error{Op: "parse", URL: req.URL, Kind: ErrInvalid, Err: err}
	case d.Fetcher == nil:
		return "", &Error{Op: "download", URL: req.URL, Kind: ErrInvalid, Err: errNilFetcher}
	case req.Method != "" && req.Method != http.MethodGet:
		return "", &Error{Op: "download", URL: req.URL, Kind: ErrInvalid, Err: errNotGet}
	}
	return u.Host(), nil
}

// temporary reports whether another exchange may do better after an error.
func (d *download) temporary(err error) bool {
	var known *Error
	var status *StatusError
	switch {
	case d.ctx.Err() != nil:
		return false
	case errors.As(err, &status):
		return isBusy(status.Status) && d.asks <= MaxDownloadPause
	}
	return errors.As(err, &known) && (known.Temporary() || errors.Is(err, errRange))
}

// isBusy reports whether a host may answer otherwise a little later.
func isBusy(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// lost says why what is there is of no use to another exchange; nil if it is.
func (d *download) lost() error {
	if d.known.Validator == "" && !d.to.restarts() {
		return errUnranged
	}
	return nil
}

func (d *download) pause(idle int) error {
	wait := time.NewTimer(max(min(time.Second<<min(idle-1, 10), maxDownloadWait), d.asks))
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
