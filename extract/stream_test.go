package extract

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// streamed scans with a small window, through a reader.
func streamed(t testing.TB, r io.Reader, window int) (*Hints, []Link) {
	t.Helper()
	var links []Link
	s, err := newScanner(ScanOptions{URL: testPage, Want: WantAll, MaxLinks: -1}, window, func(l Link) bool {
		links = append(links, l)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.release()
	if err := s.stream(r); err != nil {
		t.Fatal(err)
	}
	return s.hints, links
}

// inWindows scans with a small window, from memory.
func inWindows(t testing.TB, page []byte, window int) *Hints {
	t.Helper()
	s, err := newScanner(ScanOptions{URL: testPage, Want: WantAll, MaxLinks: -1}, window, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.release()
	s.page(page)
	return s.hints
}

// compareStream reports an error where a page gives something else when it is streamed in windows of some bytes.
func compareStream(t testing.TB, page []byte, window int) {
	t.Helper()
	whole := inWindows(t, page, window)
	for name, r := range map[string]io.Reader{"whole": bytes.NewReader(page), "bytes": iotest.OneByteReader(bytes.NewReader(page)), "eof": iotest.DataErrReader(bytes.NewReader(page))} {
		hints, links := streamed(t, r, window)
		if !slices.Equal(links, whole.Links) {
			t.Errorf("%s of %q by %d: links %v, want %v", name, page, window, links, whole.Links)
		}
		hints.Links = whole.Links
		if !reflect.DeepEqual(hints, whole) {
			t.Errorf("%s of %q by %d: %+v, want %+v", name, page, window, hints, whole)
		}
	}
	// A window changes nothing where no tag is longer and no base comes late.
	if len(whole.Skipped) > 0 || bytes.Contains(bytes.ToLower(page), []byte("<base")) {
		return
	}
	if all := inWindows(t, page, Window); !slices.Equal(whole.Links, all.Links) {
		t.Errorf("%q by %d: %v, want %v", page, window, whole.Links, all.Links)
	}
}

func TestStreamGivesWhatTheWholePageGives(t *testing.T) {
	t.Parallel()
	r := newRand()
	n := 1000
	if raceEnabled {
		n = 200
	}
	for range n {
		page := generate(r, 1+r.IntN(40), pieces)
		compareStream(t, page, 40+r.IntN(60))
	}
}

func TestScanReaderStops(t *testing.T) {
	t.Parallel()
	n := 0
	r := &hugePage{links: 100_000}
	if _, err := ScanReader(r, ScanOptions{URL: "https://h/"}, func(Link) bool { n++; return n < 10 }); err != nil || n != 10 {
		t.Errorf("%d links, %v", n, err)
	}
	if r.next > 4*Window/200 {
		t.Errorf("it read %d links on", r.next)
	}
}

func TestScanReaderGivesTheErrorOfTheReader(t *testing.T) {
	t.Parallel()
	fault := errors.New("fault")
	page := "<a href=1>" + strings.Repeat("x", 2*Window) + "<a href=2>"
	for _, size := range []int{0, 5, 12, Window, Window + 100, len(page)} {
		n := 0
		r := io.MultiReader(strings.NewReader(page[:size]), iotest.ErrReader(fault))
		h, err := ScanReader(r, ScanOptions{URL: "https://h/"}, func(Link) bool { n++; return true })
		if want := strings.Count(page[:size], "<a href=1>") + strings.Count(page[:size], "<a href=2>"); !errors.Is(err, fault) || h == nil || n != want {
			t.Errorf("after %d bytes: %d links, want %d, %v", size, n, want, err)
		}
	}
	if _, err := ScanReader(emptyReader{}, ScanOptions{URL: "https://h/"}, func(Link) bool { return true }); !errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
}

type emptyReader struct{}

func (emptyReader) Read([]byte) (int, error) { return 0, nil }
