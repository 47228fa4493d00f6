//go:build unix

package fetch

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"testing"
	"time"
)

// serveBenchH2 answers "/N" with N bytes over HTTP/2 until standard input ends.
func serveBenchH2() {
	bodies := map[string][]byte{}
	for _, size := range []int{2 << 10, 20 << 10} {
		bodies[fmt.Sprint("/", size)] = bytes.Repeat([]byte("x"), size)
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := bodies[r.URL.Path]
		h := w.Header()
		h["Server"], h["Content-Type"], h["Content-Length"] = []string{"nginx"}, []string{"text/html; charset=utf-8"}, []string{strconv.Itoa(len(body))}
		h["Last-Modified"], h["Etag"], h["Cache-Control"] = []string{"Fri, 31 Dec 2027 23:58:00 GMT"}, []string{`"abc"`}, []string{"max-age=60"}
		_, _ = w.Write(body)
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	fmt.Println(srv.Listener.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// contendersH2 are those of HTTP/1 over HTTP/2.
func contendersH2(t testing.TB) []contender {
	both := contenders(t)
	ours := &Transport{AllowPrivate: true, TLS: trusting{newStdTLS()}}
	theirs := &http.Transport{DisableCompression: true, ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(func() {
		ours.Close()
		theirs.CloseIdleConnections()
	})
	ctx := t.Context()
	both[0].get = func(t testing.TB, url string, size int) {
		resp, err := ours.Fetch(ctx, &Request{URL: url})
		if err != nil || len(resp.Body) != size || resp.Proto != "HTTP/2.0" {
			t.Fatal(err, resp)
		}
	}
	both[1].get = func(t testing.TB, url string, size int) {
		req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("User-Agent", DefaultUserAgent)
		req.Header.Set("Accept", accept(0))
		req.Header.Set("Accept-Encoding", acceptEncoding)
		resp, err := theirs.RoundTrip(req)
		if err != nil || resp.ProtoMajor != 2 {
			t.Fatal(err, resp)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || len(body) != size {
			t.Fatal(err, len(body))
		}
	}
	return both
}

// BenchmarkExchangeHTTP2 fetches a page over a kept HTTP/2 connection from a server in another process.
func BenchmarkExchangeHTTP2(b *testing.B) {
	addr := startBenchServer(b, "h2")
	for _, size := range []int{2 << 10, 20 << 10} {
		for _, c := range contendersH2(b) {
			b.Run(fmt.Sprintf("%dKB/%s", size>>10, c.name), func(b *testing.B) {
				url := fmt.Sprintf("https://%s/%d", addr, size)
				c.get(b, url, size)
				b.ReportAllocs()
				user, system := cpu()
				b.ResetTimer()
				for b.Loop() {
					c.get(b, url, size)
				}
				user2, system2 := cpu()
				b.ReportMetric(float64(user2-user)/float64(b.N), "user-ns/op")
				b.ReportMetric(float64(user2-user+system2-system)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}

// TestExchangeBudgetHTTP2 compares the CPU time of an exchange over HTTP/2, TLS included, with net/http's, as
// TestExchangeBudget does over HTTP/1. As evidence (SEINE_BENCH is set) it fails above the bar; else, on machines that do
// other things meanwhile, a quarter above it.
func TestExchangeBudgetHTTP2(t *testing.T) {
	if raceEnabled || testing.Short() {
		t.Skip("times are not what they are")
	}
	const (
		rounds, exchanges = 24, 300
		bar, tries        = 0.80, 3
	)
	slack := 1.25 // for what a shared machine adds to a ratio
	if os.Getenv("SEINE_BENCH") != "" {
		slack = 1
	}
	addr := startBenchServer(t, "h2")
	var figures string
	worst := 0.0
	for _, size := range []int{2 << 10, 20 << 10} {
		url := fmt.Sprintf("https://%s/%d", addr, size)
		both := contendersH2(t)
		var user, total [2]time.Duration
		ratio := 0.0
		for try := 0; try == 0 || try < tries && ratio > bar; try++ {
			for range rounds {
				for i, c := range both {
					u, all := measure(t, c, url, size, exchanges)
					if user[i] == 0 || all < total[i] {
						user[i], total[i] = u, all
					}
				}
			}
			ratio = float64(total[0]) / float64(total[1])
		}
		var allocs [2]float64
		for i := range both {
			allocs[i] = testing.AllocsPerRun(200, func() { both[i].get(t, url, size) })
		}
		figures += fmt.Sprintf(" %d KB: CPU %.2f (user %.2f) of net/http (%v and %v), %.0f allocations and %.0f;", size>>10, ratio,
			float64(user[0])/float64(user[1]), total[0]/exchanges, total[1]/exchanges, allocs[0], allocs[1])
		worst = max(worst, ratio)
		if ratio > bar*slack {
			t.Errorf("%d KB: %.2f of net/http's CPU", size>>10, ratio)
		}
	}
	if worst <= bar {
		fmt.Printf("shown fetch.3: exchange over HTTP/2 and TLS%s\n", figures)
	} else {
		t.Log(figures)
	}
}
