package sqlitebackend

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// roughSite is a graph over several hosts as they are: each page takes its own time, some are come by over redirects from other
// hosts alone, some answer 503 before they answer, and some break off.
type roughSite struct {
	pages int
	hosts []string

	mu                      sync.Mutex
	hits                    map[string]int
	redirects, busy, broken int
}

func newRoughSite(t *testing.T, pages, hosts int) *roughSite {
	t.Helper()
	s := &roughSite{pages: pages, hits: map[string]int{}}
	for range hosts {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
		s.hosts = append(s.hosts, l.Addr().String())
		go server.Serve(l)
		t.Cleanup(func() { server.Close() })
	}
	return s
}

// drawn is a number below most that a page has for good.
func drawn(n int, what string, most int) int {
	h := fnv.New64a()
	fmt.Fprint(h, n, what)
	return int(h.Sum64() >> 33 % uint64(most))
}

// url returns the address of a page, or with hops that of the first of some redirects to it, each of which another host has.
func (s *roughSite) url(n, hops int) string {
	host := s.hosts[(drawn(n, "host", len(s.hosts))+hops)%len(s.hosts)]
	path := strings.Repeat("x", 20+drawn(n, "length", 150))
	if hops > 0 {
		path = fmt.Sprint("r", hops)
	}
	return fmt.Sprintf("http://%s/%s/p%d", host, path, n)
}

// links returns the ways that lead to a page.
func (s *roughSite) links(n int) []string {
	switch drawn(n, "way", 6) {
	case 0:
		return []string{s.url(n, 1)}
	case 1:
		return []string{s.url(n, 2)}
	case 2:
		return []string{s.url(n, 0), s.url(n, 1)}
	case 3:
		return []string{s.url(n, 2), s.url(n, 0)}
	}
	return []string{s.url(n, 0)}
}

// takes is how long a page takes: 2 to 30 ms, and one of sixteen 100 to 300.
func takes(n int) time.Duration {
	d := 2 + drawn(n, "takes", 29)
	if drawn(n, "slow", 16) == 0 {
		d = 100 + drawn(n, "takes", 201)
	}
	return time.Duration(d) * time.Millisecond
}

// trouble of an answer.
const (
	noTrouble = iota
	noTime
	noAnswer
	halfAnswer
)

// asked counts a request, and says what is wrong with its answer.
func (s *roughSite) asked(path string, n, hops int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hits[path]++
	first := s.hits[path] == 1
	switch kind := drawn(n, "trouble", 40); {
	case hops > 0:
		s.redirects++
	case !first:
	case kind == 0:
		s.busy++
		return noTime
	case kind == 1:
		s.broken++
		return noAnswer
	case kind == 2:
		s.broken++
		return halfAnswer
	}
	return noTrouble
}

func (s *roughSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	dir, page, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/p")
	n, err := strconv.Atoi(page)
	if err != nil || n < 0 || n >= s.pages {
		http.NotFound(w, r)
		return
	}
	hops := 0
	_, _ = fmt.Sscanf(dir, "r%d", &hops) // a page has none
	trouble := s.asked(r.URL.Path, n, hops)
	select {
	case <-time.After(takes(n)):
	case <-r.Context().Done():
		return
	}
	switch {
	case hops > 0:
		http.Redirect(w, r, s.url(n, hops-1), http.StatusFound)
	case trouble == noTime:
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
	case trouble == noAnswer:
		panic(http.ErrAbortHandler)
	default:
		s.serve(w, n, trouble == halfAnswer)
	}
}

// serve answers with a page, or with the first half of it.
func (s *roughSite) serve(w http.ResponseWriter, n int, half bool) {
	var body strings.Builder
	for _, to := range []int{2*n + 1, 2*n + 2, (7*n + 3) % s.pages, n / 2, (31*n + 11) % s.pages} {
		if to >= s.pages {
			continue
		}
		for _, url := range s.links(to) {
			fmt.Fprintf(&body, `<a href="%s">next</a>`, url)
		}
	}
	w.Header().Set("Content-Type", "text/html")
	w.Header().Set("Content-Length", strconv.Itoa(body.Len()))
	if !half {
		_, _ = w.Write([]byte(body.String())) // whoever asked may be dead
		return
	}
	_, _ = w.Write([]byte(body.String()[:body.Len()/2]))
	panic(http.ErrAbortHandler)
}

// randomKill draws when a life ends: up to 150 ms after it began, or as much later as some pages take.
func randomKill(r *rand.Rand, lines int) (told func(int), kill chan struct{}) {
	kill = make(chan struct{})
	after := time.Duration(r.IntN(150)) * time.Millisecond
	end := sync.OnceFunc(func() { time.AfterFunc(after, func() { close(kill) }) })
	if r.IntN(3) == 0 {
		end()
		return nil, kill
	}
	n := 1 + r.IntN(lines)
	return func(lines int) {
		if lines >= n {
			end()
		}
	}, kill
}

// A crawl over hosts that are slow, busy, redirect and break off is killed at any moment: each page is delivered once, and
// none is given up.
func TestCrawlOfRoughHostsSurvivesKills_K025(t *testing.T) {
	kills, pages := 15, 600
	if testing.Short() {
		kills, pages = 5, 150
	}
	bin, s := killcrawl(t), newRoughSite(t, pages, 7)
	path := filepath.Join(t.TempDir(), "crawl.db")
	r := rand.New(rand.NewPCG(*seed, 26))
	start := time.Now()
	flags := []string{"-hosts", strings.Join(s.hosts, ","), "-perhost", "4", "-fixed", "-spill", "2048", "-life"}
	done := 0
	for ; ; done++ {
		told, kill := (func(int))(nil), (chan struct{})(nil)
		if done < kills {
			told, kill = randomKill(r, pages/kills)
		}
		l := live(t, bin, path, s.url(0, 0), 24, told, kill, append(flags, strconv.Itoa(done))...)
		sound(t, path)
		if l.err == nil {
			break
		}
		if done == kills {
			t.Fatal(l.err)
		}
	}
	if done < kills/2 {
		t.Errorf("the crawl was finished after %d kills", done)
	}
	checkVisits(t, s, path)
	if s.redirects == 0 || s.busy == 0 || s.broken == 0 {
		t.Errorf("%d redirects, %d times busy, %d times broken off", s.redirects, s.busy, s.broken)
	}
	if !t.Failed() {
		fmt.Printf("shown durable.2: %d kills at any moment over %d pages of %d hosts, of 2 to 300 ms, with %d redirects between the hosts, %d answers of 503 and %d cut: all delivered once, none given up, integrity_check clean each time, %.0f s\n",
			done, pages, len(s.hosts), s.redirects, s.busy, s.broken, time.Since(start).Seconds())
	}
}

// checkVisits checks that each page was delivered once, and none was given up.
func checkVisits(t *testing.T, s *roughSite, path string) {
	t.Helper()
	db, err := Open(t.Context(), path, Options{ReadOnly: true, Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	visits := map[string]int{}
	for item, err := range db.Store().Scan(t.Context(), "visit/") {
		if err != nil {
			t.Fatal(err)
		}
		var page struct{ URL string }
		if err := json.Unmarshal(item.Value, &page); err != nil {
			t.Fatal(err)
		}
		visits[page.URL]++
	}
	for n := range s.pages {
		if url := s.url(n, 0); visits[url] != 1 {
			t.Errorf("%s was delivered %d times; the ways to it are %q", url, visits[url], s.links(n))
		}
	}
	if len(visits) != s.pages {
		t.Errorf("%d URLs were delivered, of %d pages", len(visits), s.pages)
	}
	for d, err := range db.Frontier().Dead(t.Context()) {
		t.Errorf("%s was given up: %s, %v", d.Request.URL, d.Reason, err)
	}
	if stats, err := db.Frontier().Stats(t.Context()); err != nil || !stats.Finished || stats.Failed > 0 {
		t.Errorf("%+v, %v", stats, err)
	}
}
