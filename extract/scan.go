package extract

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/seine-go/seine/internal/charset"
	"github.com/seine-go/seine/internal/weburl"
)

// Scan finds the links and hints of an HTML page of UTF-8 bytes. The error says that o.URL is no URL and wraps [ErrURL], or
// that nobody knows o.Encoding, an [*EncodingError]. A page, however broken, gives none. Scan neither keeps nor changes body. It may be called by many
// goroutines.
//
// The links are those of the tree that golang.org/x/net/html builds of the page with scripting off: elements that the
// tree builder drops give none, and templates and noscript are walked like the rest. No tree is built for that: where
// markup is broken so that only the open elements tell what a tag means, those are followed, which takes some six times
// as long as the plain scan and less than a tokenizer. Differences:
//
//   - The order is that of the page, and a tag is one link: the tree moves elements out of tables and repeats anchors
//     that are not closed. Of two bases the first in the page counts.
//   - Below a depth of 512 x/net/html has no tree.
//   - A frameset takes no body away: links beside it are kept.
//   - In three places x/net/html is not the standard, which the scan follows: it drops the rest of a page at a template
//     inside HTML inside SVG or MathML; it ends a script early that has "<!--", a "<" before a blank and "<script" in it;
//     and it takes <path a=1 a=z/> for closed.
//   - A base element counts for the links before it, unless more than Window bytes lie between.
func Scan(body []byte, o ScanOptions) (*Hints, error) {
	s, err := newScanner(o, Window, nil)
	if err != nil {
		return nil, err
	}
	defer s.release()
	s.page(body)
	return s.hints, nil
}

var errNoReader = errors.New("seine: extract: the reader is nil")

// ErrURL says that the URL of a page is none.
var ErrURL = errors.New("seine: extract: bad page url")

// ScanReader is Scan for a page that is read from r and not held in memory: it takes one window, however long the page.
// Each link is handed to yield as it is found, those of the header first; Hints.Links stays empty. When yield returns
// false the scan ends without an error. A page no longer than Window gives what Scan gives.
//
// The error is that of r, with the hints found so far, or one of those of Scan.
func ScanReader(r io.Reader, o ScanOptions, yield func(Link) bool) (*Hints, error) {
	if r == nil {
		return nil, errNoReader
	}
	s, err := newScanner(o, Window, yield)
	if err != nil {
		return nil, err
	}
	defer s.release()
	err = s.stream(r)
	return s.hints, err
}

var scanners = sync.Pool{New: func() any { return new(scanner) }}

// maxPooled is how many bytes, or references, a scanner may keep for the next scan.
const maxPooled = 256 << 10

func newScanner(o ScanOptions, window int, yield func(Link) bool) (*scanner, error) {
	page, err := weburl.Parse(o.URL)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrURL, err)
	}
	if o.Encoding != "" {
		name := charset.Lookup(o.Encoding)
		if name == "" {
			return nil, &EncodingError{Label: o.Encoding}
		}
		o.Encoding = name
	}
	s := scanners.Get().(*scanner)
	s.window = window
	s.collector.start(o, page, yield)
	return s, nil
}

// release gives the scanner to the next scan. Users have its hints, nothing else of it.
func (s *scanner) release() {
	s.drop()
	next := scanner{foreign: s.foreign[:0]}
	if cap(s.found) <= maxPooled/64 {
		next.found = s.found
	}
	if cap(s.decoded) <= maxPooled {
		next.decoded = s.decoded
	}
	if cap(s.hrefs) <= maxPooled {
		next.hrefs = s.hrefs
	}
	*s = next
	scanners.Put(s)
}

// page scans a page window by window, once more when in doubt.
func (s *scanner) page(body []byte) {
	if s.windows(body); s.state == inDoubt {
		s.again()
		s.windows(body)
	}
}

// again starts the scan anew, with a builder.
func (s *scanner) again() {
	s.restart()
	s.foreign = s.foreign[:0]
	s.state, s.frameset, s.builder = inData, false, &builder{}
}

func (s *scanner) windows(body []byte) {
	for start := 0; ; {
		end := min(start+s.window, len(body))
		last := end == len(body)
		start += s.run(body[start:end], last)
		if s.state == inDoubt {
			return
		}
		s.flush()
		if last {
			return
		}
	}
}

// firstRead is what is read at first; the buffer grows up to the window.
const firstRead = 32 << 10

func (s *scanner) stream(r io.Reader) error {
	buf := make([]byte, min(firstRead, s.window+1))
	n := 0
	var end error // what r ended with
	for !s.stopped {
		if end == nil {
			buf, n, end = fill(r, buf, n, s.window+1)
		}
		last := end != nil && n <= s.window
		if !last && s.builder == nil {
			s.again() // links that are handed out cannot be taken back
		}
		window := buf[:min(n, s.window)]
		done := s.run(window, last)
		if s.state == inDoubt {
			s.again()
			done = s.run(window, last)
		}
		s.flush()
		if last {
			return noEOF(end)
		}
		n = copy(buf, buf[done:n])
	}
	return nil
}

func noEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// fill reads until n bytes are size or r ends.
func fill(r io.Reader, buf []byte, n, size int) ([]byte, int, error) {
	for empty := 0; n < size; {
		if n == len(buf) {
			grown := make([]byte, min(2*len(buf), size))
			copy(grown, buf)
			buf = grown
		}
		m, err := r.Read(buf[n:])
		n += m
		if err != nil {
			return buf, n, err
		}
		if empty++; m > 0 {
			empty = 0
		} else if empty == maxEmptyReads {
			return buf, n, io.ErrNoProgress
		}
	}
	return buf, n, nil
}

// maxEmptyReads is how often in a row a reader may return nothing.
const maxEmptyReads = 100
