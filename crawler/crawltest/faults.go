package crawltest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"sync"
	"time"

	"github.com/seine-go/seine/fetch"
)

// MaxFaultURLs bounds the different requests whose exchanges Faults counts. Those beyond are each taken for the first of
// their URL.
const MaxFaultURLs = 1_000_000

// ErrInjected is what errors made by Faults are, beside their kind.
var ErrInjected = errors.New("injected fault")

// Faults makes exchanges fail, as a seed says or as rules do.
//
//	faults := &crawltest.Faults{Seed: 1, List: []crawltest.Fault{
//		{Chance: 0.05, Kind: fetch.ErrClosed},
//		{Chance: 0.05, Status: 503, Header: http.Header{"Retry-After": {"2"}}},
//		{First: 1, Cut: fetch.ErrTruncated},
//	}}
//	cfg.Middleware = []fetch.Middleware{faults.Middleware()}
//
// What becomes of an exchange depends on the seed, on the method and URL and on how often that was asked for before, and
// on nothing else: not on the time, nor on the order in which different URLs are fetched. It must not be copied, and its
// fields not be changed, once it is in use; it is safe for concurrent use.
type Faults struct {
	Seed uint64
	// List holds the faults. The first that applies to an exchange is done to it. One that has nothing but latency is
	// done beside the first of the others.
	List []Fault

	mu     sync.Mutex
	visits map[string]int
	counts []int64
}

// Fault is what is done to an exchange, and when.
type Fault struct {
	// Match chooses requests. Nil means all.
	Match func(*fetch.Request) bool
	// Chance is how likely the fault is, for each exchange by itself. Zero means that it is certain, negative that it
	// does not happen.
	Chance float64
	// First restricts the fault to so many first exchanges of each method and URL. Zero means all.
	First int

	// Latency goes by before anything else happens, and up to Jitter more.
	Latency, Jitter time.Duration

	// Kind is that of an error in place of an answer. Zero means none. Err is what it wraps beside ErrInjected, for
	// example syscall.ECONNRESET; nil is fine.
	Kind fetch.ErrorKind
	Err  error
	// Final marks the error as one after which asking again is of no use.
	Final bool

	// Status is that of an answer in place of the host's, with Header and Body. Zero means none.
	Status int
	Header http.Header
	Body   []byte

	// Sent has the exchange take place before the error or the status takes the place of its answer: the host has seen
	// the request.
	Sent bool

	// Cut is why the answer of the host ends early, somewhere in its body: fetch.ErrTruncated, fetch.ErrBodyLimit,
	// fetch.ErrTooSlow and so on. Zero leaves it whole. An empty body is not cut.
	Cut fetch.ErrorKind
}

var errNilRequest = errors.New("the request is nil")

// Middleware returns the middleware that does the faults. Several share one count of exchanges.
func (f *Faults) Middleware() fetch.Middleware {
	return func(next fetch.Fetcher) fetch.Fetcher {
		return fetch.FetcherFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
			return f.fetch(ctx, next, req)
		})
	}
}

// Counts tells for each fault of List how often it was done.
func (f *Faults) Counts() []int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append(make([]int64, 0, len(f.List)), f.counts...)
}

func (f *Faults) fetch(ctx context.Context, next fetch.Fetcher, req *fetch.Request) (*fetch.Response, error) {
	if req == nil {
		return nil, &fetch.Error{Op: "fault", Kind: fetch.ErrInvalid, Err: errNilRequest}
	}
	chosen, wait, where := f.draw(req)
	if err := pass(ctx, req, wait); err != nil {
		return nil, err
	}
	if chosen == nil {
		return next.Fetch(ctx, req)
	}
	instead := chosen.Kind != 0 || chosen.Status != 0
	if instead && !chosen.Sent {
		return chosen.answer(req)
	}
	resp, err := next.Fetch(ctx, req)
	switch {
	case err != nil:
		return nil, err
	case instead:
		return chosen.answer(req)
	case len(resp.Body) == 0:
		return resp, nil
	}
	cut := resp.CutBody(chosen.failure("read body", req, chosen.Cut))
	cut.Body = resp.Body[:int(where*float64(len(resp.Body)))]
	return cut, nil
}

// draw chooses the fault of an exchange, nil for none, how long it waits before, and where a body is cut, as a share of it.
func (f *Faults) draw(req *fetch.Request) (chosen *Fault, wait time.Duration, where float64) {
	name := req.Method
	if name == "" {
		name = http.MethodGet
	}
	name += " " + req.URL
	visit := f.visit(name)
	for i := range f.List {
		fault := &f.List[i]
		instead := fault.Kind != 0 || fault.Status != 0 || fault.Cut != 0
		switch {
		case instead && chosen != nil, fault.First > 0 && visit >= fault.First, fault.Match != nil && !fault.Match(req):
			continue
		case fault.Chance != 0 && f.number(name, visit, i, 0) >= fault.Chance:
			continue
		}
		f.count(i)
		wait += fault.Latency + time.Duration(f.number(name, visit, i, 1)*float64(max(fault.Jitter, 0)))
		if instead {
			chosen, where = fault, f.number(name, visit, i, 2)
		}
	}
	return chosen, wait, where
}

// visit counts an exchange and returns how many of its name there were before.
func (f *Faults) visit(name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, known := f.visits[name]
	if !known && len(f.visits) >= MaxFaultURLs {
		return 0
	}
	if f.visits == nil {
		f.visits = map[string]int{}
	}
	f.visits[name] = n + 1
	return n
}

func (f *Faults) count(i int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counts == nil {
		f.counts = make([]int64, len(f.List))
	}
	f.counts[i]++
}

// number draws from 0 to 1, 1 excluded: a hash of what it is for.
func (f *Faults) number(name string, visit, fault, purpose int) float64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d %d %d %d %s", f.Seed, visit, fault, purpose, name)
	x := h.Sum64() // FNV mixes its last bytes little: the finaliser of SplitMix64 (Steele, Lea and Flood 2014) does the rest
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	return float64(x>>11) / (1 << 53)
}

// pass lets d go by.
func pass(ctx context.Context, req *fetch.Request, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return &fetch.Error{Op: "wait", URL: req.URL, Kind: fetch.KindOf(ctx.Err()), Err: context.Cause(ctx)}
	}
}

// answer is the error or the response that takes the place of the host's.
func (f *Fault) answer(req *fetch.Request) (*fetch.Response, error) {
	if f.Kind != 0 {
		return nil, f.failure("fault", req, f.Kind)
	}
	header := f.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	return &fetch.Response{
		Request: req, URL: req.URL, Status: f.Status, Proto: "HTTP/1.1", Header: header, Body: append([]byte(nil), f.Body...),
		RawSize: int64(len(f.Body)), FetchedAt: time.Now(),
	}, nil
}

func (f *Fault) failure(op string, req *fetch.Request, kind fetch.ErrorKind) *fetch.Error {
	cause := ErrInjected
	if f.Err != nil {
		cause = fmt.Errorf("%w: %w", ErrInjected, f.Err)
	}
	return &fetch.Error{Op: op, URL: req.URL, Kind: kind, Final: f.Final, Err: cause}
}
