package main

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// latency of a page, so that some are under way whenever a crawler is killed.
const latency = 10 * time.Millisecond

// site is a graph whose page n links to 2n+1, 2n+2 and two others. It counts how often each is asked for.
type site struct {
	url    string
	server *http.Server

	mu    sync.Mutex
	hits  []int
	asked int
	at    int // request at which reach is called
	reach func()
}

func newSite(pages int) (*site, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &site{url: "http://" + l.Addr().String(), hits: make([]int, pages)}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.server.Serve(l) }()
	return s, nil
}

func (s *site) page(n int) string { return fmt.Sprintf("%s/p%d", s.url, n) }

// when has f called at the request with a number, in a goroutine of its own, or never.
func (s *site) when(number int, f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at, s.reach = number, f
}

// count counts a request for a page, and ends what it is the end of.
func (s *site) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hits[n]++
	s.asked++
	if s.asked == s.at && s.reach != nil {
		s.reach()
	}
}

// requests is how many there were.
func (s *site) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// ServeHTTP implements http.Handler.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/p"))
	if err != nil || n < 0 || n >= len(s.hits) {
		http.NotFound(w, r)
		return
	}
	s.count(n)
	time.Sleep(latency)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<!DOCTYPE html><title>Page %d</title><h1>Page %d</h1>\n", n, n)
	for _, to := range []int{2*n + 1, 2*n + 2, (7*n + 3) % len(s.hits), n / 2} {
		if to < len(s.hits) {
			fmt.Fprintf(w, "<p><a href=\"/p%d\">page %d</a></p>\n", to, to)
		}
	}
}
