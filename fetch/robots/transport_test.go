package robots

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/fetch"
)

// TestCrawlersOwnClientIsUsed shows that robots.txt is asked with the agent of the Fetcher, its limits and its time-outs.
func TestCrawlersOwnClientIsUsed_K079(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.UserAgent(), "mybot/1.2") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprint(w, someRules)
	}))
	t.Cleanup(server.Close)
	transport := &fetch.Transport{UserAgent: "mybot/1.2 (+https://my.example)", AllowPrivate: true, HeaderTimeout: 300 * time.Millisecond}
	t.Cleanup(func() { transport.Close() })
	c := &Cache{Fetcher: transport, Agent: "mybot"}
	if d := check(t, c, server.URL+"/private"); d.Allowed || d.Status != http.StatusOK || d.CrawlDelay != 2*time.Second {
		t.Errorf("%+v", d)
	}

	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	if d := check(t, c, "http://"+silent.Addr().String()+"/"); d.Allowed || !errors.Is(d.Err, fetch.ErrTimeout) {
		t.Errorf("the fetcher's time-out does not hold: %+v", d)
	}

	guarded := &fetch.Transport{}
	t.Cleanup(func() { guarded.Close() })
	if d := check(t, &Cache{Fetcher: guarded}, server.URL+"/"); d.Allowed || !errors.Is(d.Err, fetch.ErrRefused) {
		t.Errorf("the fetcher's guard does not hold: %+v", d)
	}
}

// TestConnectionOfAnEndlessFileIsClosed_K081 serves a robots.txt of 1 GB, plain and compressed.
func TestConnectionOfAnEndlessFileIsClosed_K081(t *testing.T) {
	t.Parallel()
	for _, compressed := range []bool{false, true} {
		sent := make(chan int, 1)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if !compressed {
				sent <- writeEndless(w)
				return
			}
			w.Header().Set("Content-Encoding", "gzip")
			zip := gzip.NewWriter(w)
			sent <- writeEndless(zip)
			zip.Close()
		}))
		t.Cleanup(server.Close)
		transport := &fetch.Transport{AllowPrivate: true}
		t.Cleanup(func() { transport.Close() })
		c := &Cache{Fetcher: transport}
		if d := check(t, c, server.URL+"/private"); d.Allowed || d.Source != SourceRules || d.Err != nil {
			t.Errorf("compressed %v: before the cut: %+v", compressed, d)
		}
		if d := check(t, c, server.URL+"/"); !d.Allowed {
			t.Errorf("compressed %v: behind the cut: %+v", compressed, d)
		}
		if n := <-sent; n >= endlessSize {
			t.Errorf("compressed %v: the connection was not closed", compressed)
		}
	}
}

const endlessSize = 1 << 30

// writeEndless writes rules, comments that hardly compress, and at endlessSize one more rule. It returns how far it came.
func writeEndless(w io.Writer) int {
	random := rand.New(rand.NewPCG(1, 2))
	comments := make([]byte, 1<<20)
	for i := range comments {
		comments[i] = byte('!' + random.IntN(90))
	}
	for i := 0; i < len(comments); i += 1024 {
		copy(comments[i:], "\n# ")
	}
	n, err := io.WriteString(w, someRules)
	for n < endlessSize && err == nil {
		var m int
		m, err = w.Write(comments)
		n += m
	}
	if err == nil {
		io.WriteString(w, "\nDisallow: /\n")
	}
	return n
}
