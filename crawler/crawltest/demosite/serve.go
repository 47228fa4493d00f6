package demosite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	maxHeaderBytes    = 64 << 10
	readHeaderTimeout = 30 * time.Second
)

// ErrStarted is what a second Start gets.
var ErrStarted = errors.New("seine: demo site: already started")

// Start serves every host on a free port of 127.0.0.1 until Close; the URLs of the site are of these ports from then on.
func (s *Site) Start() error {
	if s.err != nil {
		return s.err
	}
	s.mu.Lock()
	if s.started || s.closed {
		defer s.mu.Unlock()
		if s.closed {
			return http.ErrServerClosed
		}
		return ErrStarted
	}
	s.started = true
	s.mu.Unlock()

	var listeners []net.Listener
	names := map[Host]string{}
	for _, h := range Hosts() {
		ln, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			for _, open := range listeners {
				_ = open.Close()
			}
			s.mu.Lock()
			s.started = false
			s.mu.Unlock()
			return fmt.Errorf("seine: demo site: host %s: %w", h, err)
		}
		listeners = append(listeners, ln)
		names[h] = ln.Addr().String()
	}
	s.rename(names)
	for _, ln := range listeners {
		if !s.begin() { // closed meanwhile
			_ = ln.Close()
			continue
		}
		go func() {
			defer s.serving.Done()
			_ = s.server.Serve(ln) // ends at Close only
		}()
	}
	return nil
}

// Serve serves all hosts, told apart by the requests' Host, on a listener of the caller's, for instance one in memory.
// It returns when Close is called, with [http.ErrServerClosed], or when the listener fails. The listener is closed then.
func (s *Site) Serve(ln net.Listener) error {
	if s.err != nil {
		_ = ln.Close()
		return s.err
	}
	if !s.begin() {
		_ = ln.Close()
		return http.ErrServerClosed
	}
	defer s.serving.Done()
	return s.server.Serve(ln)
}

// begin notes that a listener will be served, unless the site is closed.
func (s *Site) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.serving.Add(1)
	return true
}

// Close ends serving: listeners and connections are closed and their goroutines have ended when it returns. What the site
// tells of itself can still be asked. Close may be called more than once.
func (s *Site) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	if !first {
		return nil
	}
	close(s.done)
	err := s.server.Close()
	s.serving.Wait()
	s.conns.Wait()
	if err != nil {
		return fmt.Errorf("seine: demo site: %w", err)
	}
	return nil
}

func (s *Site) newServer() *http.Server {
	return &http.Server{
		Handler:           s.Handler(),
		MaxHeaderBytes:    maxHeaderBytes,
		ReadHeaderTimeout: readHeaderTimeout,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				s.conns.Add(1)
			case http.StateClosed, http.StateHijacked:
				s.conns.Done()
			}
		},
	}
}

// Handler serves all hosts, told apart by the requests' Host, so that a site can run in any server. A Host that is none of
// the site's gets 421. Close ends slow answers of the handler, too.
func (s *Site) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.err != nil {
			http.Error(w, s.err.Error(), http.StatusInternalServerError)
			return
		}
		h, ok := s.hostOf(r.Host)
		if !ok {
			http.Error(w, "no host of that name here", http.StatusMisdirectedRequest)
			return
		}
		rec := &recorder{ResponseWriter: w}
		end := s.account.begin(h, r)
		defer func() {
			if p := recover(); p != nil { // given up, or a fault that net/http has to see
				end(0)
				panic(p)
			}
			end(rec.status())
		}()
		if s.opts.Latency > 0 && !s.wait(r.Context(), s.opts.Latency) {
			panic(http.ErrAbortHandler)
		}
		s.handlers[h].ServeHTTP(rec, r)
	})
}

// hostOf finds a host by the value of a Host field: upper case and the default port make no difference.
func (s *Site) hostOf(name string) (Host, bool) {
	name = strings.TrimSuffix(strings.ToLower(name), ":80")
	s.mu.Lock()
	defer s.mu.Unlock()
	h, ok := s.hosts[name]
	if !ok {
		h, ok = s.hosts[name+":80"]
	}
	return h, ok
}

// wait waits and reports whether the time has passed; it ends early with the request or the site.
func (s *Site) wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-s.done:
	}
	return false
}

// recorder notes the status that a handler answers with.
type recorder struct {
	http.ResponseWriter
	code int
}

func (r *recorder) WriteHeader(code int) {
	if r.code == 0 && code >= 200 {
		r.code = code
	}
	r.ResponseWriter.WriteHeader(code)
}

// Unwrap lets [http.ResponseController] reach what the server's writer can do besides.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *recorder) status() int {
	if r.code == 0 {
		return http.StatusOK
	}
	return r.code
}
