package crawler_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/seine-go/seine/crawler"
)

// dieAlone has the owner of the only request in a frontier die, in company and then alone until it is given up.
func dieAlone(t *testing.T, f *crawler.Memory, crashes int) {
	t.Helper()
	for boot := range uint64(crashes + 1) {
		b, err := f.Lease(t.Context(), crawler.LeaseRequest{Owner: "dead", Boot: boot, Max: 1})
		if err != nil || len(b.Leases) != 1 || b.Leases[0].GivenUp {
			t.Fatalf("%+v, %v", b, err)
		}
	}
	if _, err := f.Lease(t.Context(), crawler.LeaseRequest{Owner: "dead", Boot: 99}); err != nil {
		t.Fatal(err)
	}
}

// A page that is given up since its holders died is not sent any more, and whoever runs the crawl is told: by the hook, the
// log, the counts of run and frontier, and the list of what failed. It can be driven again.
func TestGivenUpIsTold(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		asked := 0
		w.serve(t, "films.example", func(http.ResponseWriter, *http.Request) { asked++ })
		const url = "http://films.example/poison"
		m := crawler.NewMemory(crawler.MemoryOptions{MaxCrashes: 2, CrashPause: -1})
		if _, err := m.Add(t.Context(), &crawler.Request{URL: url}); err != nil {
			t.Fatal(err)
		}
		if err := m.SetHost(t.Context(), "", crawler.HostPolicy{Spacing: -1}); err != nil {
			t.Fatal(err)
		}
		dieAlone(t, m, 2)
		var f failures
		var log bytes.Buffer
		cfg := crawler.Config{
			Frontier: m, Scope: crawler.Scope{Hosts: []string{"films.example"}}, IgnoreRobots: true, Hooks: f.hook(), Logger: slog.New(slog.NewTextHandler(&log, nil)),
			Handler: crawler.HandlerFunc(func(context.Context, *crawler.Page) error { return nil }),
		}
		s, err := run(t, w, cfg)
		var crash *crawler.CrashError
		var page *crawler.PageError
		if !errors.As(f.errs[url], &crash) || crash.Crashes != 2 || !errors.As(f.errs[url], &page) || page.Refused {
			t.Errorf("the hook was told %v", f.errs)
		}
		if err != nil || s.Failed != 1 || s.Pages != 0 || !s.Finished || asked != 0 {
			t.Errorf("%+v, %v; it was asked for %d times", s, err, asked)
		}
		if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), url) {
			t.Errorf("the log says %q", log.String())
		}
		listed := 0
		for d, err := range m.Dead(t.Context()) {
			if listed++; err != nil || d.Key != url || d.Crashes != 2 || d.Reason != crash.Error() {
				t.Errorf("listed is %+v, %v", d, err)
			}
		}
		if n, err := m.Redrive(t.Context(), url); n != 1 || err != nil || listed != 1 {
			t.Fatal(n, err, listed)
		}
		if s, err := run(t, w, cfg); err != nil || s.Pages != 1 || asked != 1 {
			t.Errorf("driven again: %+v, %v; asked for %d times; %v", s, err, asked, f.errs)
		}
	})
}
