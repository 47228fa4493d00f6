package crawler_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
)

func listingURL(host, i int) string {
	return fmt.Sprintf("https://h%d.example/catalogue/film/%d/overview", host, i)
}

// While one host is worked off, what is queued for others is listed once each, from memory and from files.
func TestPendingWhileInUse(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]crawler.MemoryOptions{"in memory": {}, "in files": {SpillDir: t.TempDir(), SpillBytes: 16 << 10}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const hosts, each = 8, 2000
			m := crawler.NewMemory(o)
			defer m.Close()
			free := crawler.HostPolicy{Delay: -1, Spacing: -1, MaxInFlight: -1}
			if err := m.SetHost(t.Context(), "h0.example", free); err != nil {
				t.Fatal(err)
			}
			for host := range hosts {
				if host > 0 {
					free.Block = time.Hour
					if err := m.SetHost(t.Context(), fmt.Sprintf("h%d.example", host), free); err != nil {
						t.Fatal(err)
					}
				}
				for i := range each {
					if _, err := m.Add(t.Context(), &crawler.Request{URL: listingURL(host, i)}); err != nil {
						t.Fatal(err)
					}
				}
			}
			var work sync.WaitGroup
			work.Go(func() {
				for range each {
					b, err := m.Lease(t.Context(), crawler.LeaseRequest{Owner: "a", Boot: 1, Max: 1})
					if err != nil || len(b.Leases) != 1 {
						t.Errorf("%+v, %v", b, err)
						return
					}
					s := crawler.Settlement{Lease: b.Leases[0], Outcome: crawler.Done}
					s.Links = []*crawler.Request{{URL: fmt.Sprint(b.Leases[0].Key, "/more")}}
					if err := m.Settle(t.Context(), s); err != nil {
						t.Error(err)
					}
				}
			})
			listed := map[string]int{}
			for p, err := range m.Pending(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				listed[p.Key]++
			}
			work.Wait()
			for host := 1; host < hosts; host++ {
				for i := range each {
					if n := listed[listingURL(host, i)]; n != 1 {
						t.Fatalf("%s was listed %d times", listingURL(host, i), n)
					}
				}
			}
		})
	}
}

// A listing ends with its context.
func TestListingsEndWithTheirContext(t *testing.T) {
	t.Parallel()
	m := crawler.NewMemory(crawler.MemoryOptions{})
	for i := range 10 {
		if _, err := m.Add(t.Context(), &crawler.Request{URL: listingURL(i, i)}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	var last error
	for _, err := range m.Pending(ctx) {
		n, last = n+1, err
		cancel()
	}
	if n != 2 || !errors.Is(last, context.Canceled) {
		t.Errorf("%d, %v", n, last)
	}
	for _, err := range m.Hosts(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// What is no text is kept too.
func TestExportLosesNothing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	m := crawler.NewMemory(crawler.MemoryOptions{})
	free := crawler.HostPolicy{Delay: -1, Spacing: -1, MaxInFlight: -1}
	if err := m.SetHost(ctx, "", free); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*crawler.Request{
		{URL: "https://a.example/?q=<a&b>", Depth: 2},
		{
			URL: "https://b.example/", Method: "POST", Header: http.Header{"X-Odd": {"\xff", "a"}}, Body: []byte("q=1"), Kind: 3,
			Key: "key\xff", Label: "l", Data: []byte("{\"n\": 12345678901234567890}"), Session: "s", Priority: -3, Hops: 1,
		},
		{URL: "https://c.example/", Priority: 1},
		{URL: "https://d.example/", Priority: 1},
	} {
		if _, err := m.Add(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	b, err := m.Lease(ctx, crawler.LeaseRequest{Owner: "a", Boot: 1, Max: 4})
	if err != nil || len(b.Leases) != 4 {
		t.Fatalf("%+v, %v", b, err)
	}
	for i, s := range []crawler.Settlement{{Outcome: crawler.Released}, {Outcome: crawler.Released}, {Outcome: crawler.Failed, Reason: "gone"}} {
		s.Lease = b.Leases[i]
		if err := m.Settle(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := crawler.ExportFrontier(ctx, &out, m); err != nil {
		t.Fatal(err)
	}
	want := `{"state":"ready","url":"https://a.example/?q=<a&b>","depth":2}
{"state":"ready","url":"https://b.example/","key":{"base64":"a2V5/w=="},"method":"POST","header":{"X-Odd":[{"base64":"/w=="},"a"]},"body":"cT0x","kind":"form","label":"l","data":{"n":12345678901234567890},"session":"s","priority":-3,"hops":1}
{"state":"leased","url":"https://d.example/","priority":1,"attempts":1}
{"state":"failed","url":"https://c.example/","priority":1,"attempts":1,"reason":"gone"}
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	var s crawler.MemoryStore
	for key, value := range map[string]string{"a/1": `{"b" : "<>", "a": 1}`, "a/2": "\xff", "a/3": "", "a/\xff": `"x"`, "b": "1"} {
		if err := s.Put(ctx, key, []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	out.Reset()
	if err := crawler.ExportStore(ctx, &out, &s, "a/"); err != nil {
		t.Fatal(err)
	}
	want = `{"key":"a/1","value":{"b":"<>","a":1}}
{"key":"a/2","base64":"/w=="}
{"key":"a/3","base64":""}
{"key":{"base64":"YS//"},"value":"x"}
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestExportTellsOfFaults(t *testing.T) {
	t.Parallel()
	m := crawler.NewMemory(crawler.MemoryOptions{})
	if _, err := m.Add(t.Context(), &crawler.Request{URL: "https://a.example/"}); err != nil {
		t.Fatal(err)
	}
	var s crawler.MemoryStore
	if err := s.Put(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	if err := crawler.ExportFrontier(t.Context(), fullWriter{}, m); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a writer that fails: %v", err)
	}
	if err := crawler.ExportStore(t.Context(), fullWriter{}, &s, ""); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a writer that fails: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if err := crawler.ExportFrontier(t.Context(), new(strings.Builder), m); !errors.Is(err, crawler.ErrClosed) {
		t.Errorf("a frontier that is closed: %v", err)
	}
}

// What a crawl has left to do, and what came of it, as JSON Lines.
func ExampleExportFrontier() {
	ctx := context.Background()
	frontier := crawler.NewMemory(crawler.MemoryOptions{})
	if _, err := frontier.Add(ctx, &crawler.Request{URL: "https://films.example/"}, &crawler.Request{URL: "https://films.example/film/7", Depth: 1}); err != nil {
		fmt.Println(err)
	}
	if err := crawler.ExportFrontier(ctx, os.Stdout, frontier); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"state":"ready","url":"https://films.example/"}
	// {"state":"ready","url":"https://films.example/film/7","depth":1}
}
