package robots

import (
	"context"
	"io/fs"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/seine-go/seine/fetch"
)

// elapse moves the clock of a bubble on.
func elapse(d time.Duration) { <-time.After(d) }

// mapStore is a Store in memory that can be told to fail.
type mapStore struct {
	mu     sync.Mutex
	values map[string][]byte
	err    error
}

func (s *mapStore) Get(_ context.Context, key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	value, ok := s.values[key]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return value, nil
}

func (s *mapStore) Put(ctx context.Context, key string, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if s.values == nil {
		s.values = map[string][]byte{}
	}
	s.values[key] = value
	return nil
}

func (s *mapStore) Delete(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.values, key)
	return s.err
}

// keys returns what is stored.
func (s *mapStore) keys() map[string][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.values)
}

// web is a Fetcher that takes its answers from a function and remembers what it was asked.
type web struct {
	mu       sync.Mutex
	requests []*fetch.Request
	answer   func(ctx context.Context, req *fetch.Request) (*fetch.Response, error)
}

func (w *web) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	w.mu.Lock()
	w.requests = append(w.requests, req)
	answer := w.answer
	w.mu.Unlock()
	return answer(ctx, req)
}

func (w *web) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.requests)
}

// set changes the answer.
func (w *web) set(answer func(ctx context.Context, req *fetch.Request) (*fetch.Response, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = answer
}

// always answers each request with a status and a body, cut where the request bounds it.
func always(status int, body string, header ...string) func(context.Context, *fetch.Request) (*fetch.Response, error) {
	return func(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
		resp := &fetch.Response{Request: req, URL: req.URL, Status: status, Header: http.Header{}, Body: []byte(body), FetchedAt: time.Now()}
		for i := 0; i+1 < len(header); i += 2 {
			resp.Header.Set(header[i], header[i+1])
		}
		if int64(len(body)) > req.MaxBody {
			resp.Body = resp.Body[:req.MaxBody]
			resp = resp.CutBody(&fetch.Error{URL: req.URL, Kind: fetch.ErrBodyLimit})
		}
		return resp, nil
	}
}

// fails answers each request with a network error.
func fails(kind fetch.ErrorKind) func(context.Context, *fetch.Request) (*fetch.Response, error) {
	return func(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
		return nil, &fetch.Error{URL: req.URL, Kind: kind}
	}
}
