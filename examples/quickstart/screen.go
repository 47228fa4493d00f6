package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/seine-go/seine/crawler"
)

// screen writes the lines of the pages, and says on the side how far the crawl is: in one line that is drawn again and
// again on a terminal, in a plain line now and then elsewhere.
type screen struct {
	mu       sync.Mutex
	out, log io.Writer
	terminal bool
	shared   bool // out is a terminal too: the progress line must make way for each line
	begun    time.Time
	pages    int
	bad      int
	refused  int
	broken   error                   // the output cannot be written
	cancel   context.CancelCauseFunc // ends the crawl then
}

func newScreen(out, log io.Writer) *screen {
	return &screen{out: out, log: log, terminal: isTerminal(log), shared: isTerminal(log) && isTerminal(out)}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// page writes the line of a page. A line that cannot be written ends the crawl.
func (s *screen) page(line []byte, err error) error {
	if err != nil {
		return crawler.Permanent(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shared {
		fmt.Fprint(s.log, "\r\x1b[K")
	}
	if s.broken == nil {
		_, s.broken = s.out.Write(append(line, '\n'))
	}
	if s.broken != nil {
		s.cancel(s.broken)
		return crawler.Permanent(s.broken)
	}
	s.pages++
	if s.shared {
		s.draw()
	}
	return nil
}

func (s *screen) failed(err *crawler.PageError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(err, crawler.ErrRobotsDisallowed) || errors.Is(err, crawler.ErrOutOfScope) {
		s.refused++
		return
	}
	s.bad++
	if s.terminal {
		fmt.Fprint(s.log, "\r\x1b[K")
	}
	fmt.Fprintln(s.log, err)
}

// start shows progress until the returned function is called.
func (s *screen) start() (stop func()) {
	s.begun = time.Now()
	every := 2 * time.Second
	if s.terminal {
		every = 200 * time.Millisecond
	}
	tick, done := time.NewTicker(every), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				s.mu.Lock()
				s.draw()
				s.mu.Unlock()
			}
		}
	})
	return func() {
		tick.Stop()
		close(done)
		group.Wait()
	}
}

// draw writes the progress line. s.mu is held.
func (s *screen) draw() {
	took := time.Since(s.begun)
	text := fmt.Sprintf("%d pages, %d failed, %d refused, %.1f pages/s, %v", s.pages, s.bad, s.refused, float64(s.pages)/max(took.Seconds(), 0.001), took.Round(time.Second))
	if s.terminal {
		fmt.Fprint(s.log, "\r\x1b[K"+text)
		return
	}
	fmt.Fprintln(s.log, text)
}

func (s *screen) summary(stats *crawler.Stats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.terminal {
		fmt.Fprint(s.log, "\r\x1b[K")
	}
	if stats == nil {
		return
	}
	fmt.Fprintln(s.log, stats)
	if !stats.Finished {
		fmt.Fprintln(s.log, "stopped before everything was fetched")
	}
}
