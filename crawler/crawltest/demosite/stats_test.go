package demosite_test

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/crawler/crawltest/demosite"
)

func TestStatsTellWhatWasAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		site, client := inMemory(t, demosite.Options{Latency: time.Second})
		get := func(h demosite.Host, path string) {
			resp, err := client.Get(strings.TrimSuffix(site.HostURL(h), "/") + path)
			if err != nil {
				t.Error(err)
				return
			}
			readAll(t, resp)
		}
		if gap := site.Stats().Hosts[demosite.People].MinGap; gap >= 0 {
			t.Errorf("gap %v before any request", gap)
		}
		get(demosite.People, "/robots.txt")
		time.Sleep(3 * time.Second) // virtual
		get(demosite.People, "/person/1")
		time.Sleep(2 * time.Second)
		get(demosite.People, "/person/1")
		get(demosite.API, "/nothing?a=b")
		get(demosite.API, "/robots.txt")
		get(demosite.API, "/robots.txt")
		var both sync.WaitGroup
		for range 3 {
			both.Go(func() { get(demosite.Images, "/") })
		}
		both.Wait()
		synctest.Wait()

		stats := site.Stats()
		if stats.Requests != 9 || stats.Duplicates != 3 || stats.Untracked != 0 || stats.Agents["Go-http-client/1.1"] != 9 {
			t.Errorf("got %+v", stats)
		}
		people, images := stats.Hosts[demosite.People], stats.Hosts[demosite.Images]
		if people.Robots != 1 || people.Requests != 3 || people.Duplicates != 1 || people.MaxInFlight != 1 || people.MinGap != 2*time.Second {
			t.Errorf("people: %+v", people)
		}
		if images.MaxInFlight != 3 || images.MinGap != 0 || images.Targets["/"].Statuses[200] != 3 {
			t.Errorf("images: %+v", images)
		}
		if api := stats.Hosts[demosite.API]; api.Targets["/nothing?a=b"].Statuses[404] != 1 || api.Statuses[404] != 1 || api.Robots != 2 || api.Duplicates != 0 {
			t.Errorf("api: %+v", api)
		}
		if n := site.Hits(demosite.People, "/person/1"); n != 2 {
			t.Errorf("hits: %d", n)
		}
		stats.Hosts[demosite.People].Targets["/person/1"].Statuses[200] = 99
		if again := site.Stats().Hosts[demosite.People].Targets["/person/1"].Statuses[200]; again != 2 {
			t.Error("the account can be changed from outside")
		}
	})
}

func TestStatsAreBounded(t *testing.T) {
	t.Parallel()
	site := demosite.New(demosite.Options{Films: 1})
	agents := func() int { return len(site.Stats().Agents) }
	for i := range demosite.MaxAgents {
		ask(site, "GET", site.URL(), "User-Agent", fmt.Sprint("agent ", i))
	}
	if agents() != demosite.MaxAgents || site.Stats().Agents[""] != 0 {
		t.Errorf("%d agents at the bound", agents())
	}
	ask(site, "GET", site.URL(), "User-Agent", "one more")
	ask(site, "GET", site.URL(), "User-Agent", "agent 3")
	if a := site.Stats().Agents; a[""] != 1 || a["agent 3"] != 2 || a["one more"] != 0 {
		t.Errorf("past the bound: %v", a)
	}

	site.Reset()
	u := func(n int) string { return site.URL() + "?" + strings.Repeat("x", n-len("/?")) }
	ask(site, "GET", u(demosite.MaxTargetBytes))
	if n := site.Stats().Untracked; n != 0 {
		t.Errorf("longest target: %d untracked", n)
	}
	ask(site, "GET", u(demosite.MaxTargetBytes+1))
	if s := site.Stats(); s.Untracked != 1 || s.Requests != 2 {
		t.Errorf("a byte more: %+v", s)
	}

	site.Reset()
	const bound = 4096 + 32 // for one film
	for i := range bound {
		ask(site, "GET", fmt.Sprintf("%snothing?%d", site.HostURL(demosite.API), i))
	}
	if n := site.Stats().Untracked; n != 0 {
		t.Errorf("at the bound: %d untracked", n)
	}
	ask(site, "GET", site.URL()+"about")
	ask(site, "GET", site.HostURL(demosite.API)+"nothing?1")
	if s := site.Stats(); s.Untracked != 1 || s.Duplicates != 1 || s.Requests != bound+2 {
		t.Errorf("past the bound: %d untracked, %d duplicates, %d requests", s.Untracked, s.Duplicates, s.Requests)
	}
	if faults := site.Check(demosite.API); !slices.ContainsFunc(faults, func(f demosite.Fault) bool { return strings.Contains(f.Problem, "tell apart") }) {
		t.Error("Check does not say that it cannot tell")
	}
}

func TestResetInTheMidstOfARequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		site, client := inMemory(t, demosite.Options{Slow: time.Minute})
		go func() {
			time.Sleep(time.Second)
			site.Reset()
			if h := site.Stats().Hosts[demosite.Catalogue]; h.Requests != 0 || h.MaxInFlight != 1 {
				t.Errorf("after Reset: %+v", h)
			}
		}()
		resp, err := client.Get(site.URL() + "slow/answer")
		if err != nil {
			t.Fatal(err)
		}
		readAll(t, resp)
		synctest.Wait()
		if h := site.Stats().Hosts[demosite.Catalogue]; len(h.Statuses) != 0 || len(h.Targets) != 0 {
			t.Errorf("half an exchange was counted: %+v", h)
		}
	})
}

func TestHostsAreToldApartByName(t *testing.T) {
	t.Parallel()
	site := demosite.New(demosite.Options{Names: map[demosite.Host]string{demosite.API: "api.example:8080", demosite.People: "p.example:80"}})
	for _, tt := range []struct {
		host string
		code int
	}{
		{"films.test", 200},
		{"FILMS.test", 200},
		{"films.test:80", 200},
		{"p.example", 200},
		{"p.example:80", 200},
		{"api.example:8080", 200},
		{"api.example", 421},
		{"films.test:81", 421},
		{"other.test", 421},
		{"", 421},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = tt.host
		w := httptest.NewRecorder()
		site.Handler().ServeHTTP(w, r)
		if w.Code != tt.code {
			t.Errorf("host %q: %d, want %d", tt.host, w.Code, tt.code)
		}
	}
	if n := site.Stats().Requests; n != 6 {
		t.Errorf("%d requests, want those to the site's hosts", n)
	}
}
