package crawler_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/seine-go/seine/crawler"
)

// sitesVar names the seeds to the process that crawls them.
const sitesVar = "SEINE_TEST_SITES"

// Twenty sites in one engine, in a process that does nothing else.
func TestTwentySitesInOneEngine(t *testing.T) {
	if seeds := os.Getenv(sitesVar); seeds != "" {
		crawlSites(t, strings.Fields(seeds))
		return
	}
	if raceEnabled {
		t.Skip("the race detector has memory of its own")
	}
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("the memory of a process is read from /proc, which is not there")
	}
	const sites, pages = 20, 200
	filler := "<p>" + strings.Repeat("films ", 20<<10/6) + "</p>"
	var seeds []string
	for range sites {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
			if err != nil {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Type", "text/html")
			for i := range 30 {
				fmt.Fprintf(w, `<a href="/%d">film</a>`, (7*n+i+1)%pages)
			}
			fmt.Fprint(w, filler)
		}))
		defer server.Close()
		seeds = append(seeds, server.URL+"/0")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTwentySitesInOneEngine$", "-test.v")
	cmd.Env = append(os.Environ(), sitesVar+"="+strings.Join(seeds, " "))
	out, err := cmd.CombinedOutput()
	m := regexp.MustCompile(`crawled (\d+) pages, resident at most (\d+) kB`).FindSubmatch(out)
	if err != nil || m == nil {
		t.Fatalf("%v\n%s", err, out)
	}
	done, _ := strconv.Atoi(string(m[1]))
	resident, _ := strconv.Atoi(string(m[2]))
	if done != sites*pages || resident > 64<<10 {
		t.Fatalf("%d pages of %d; %d kB resident, want at most 64 MB", done, sites*pages, resident)
	}
	fmt.Printf("shown engine.5: %d sites of %d pages of 20 KB in one engine: %.1f MB resident at most (bar 64)\n", sites, pages, float64(resident)/1024)
}

func crawlSites(t *testing.T, seeds []string) {
	e, err := crawler.New(crawler.Config{
		AllowPrivate: true, Spacing: -1, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			p.FollowLinks()
			return nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	stats, err := e.Run(t.Context(), seeds...)
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if m == nil {
		t.Fatal("no VmHWM")
	}
	fmt.Printf("crawled %d pages, resident at most %s kB\n", stats.Pages, m[1])
}
