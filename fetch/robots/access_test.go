package robots

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/internal/conformance"
	"github.com/seine-go/seine/internal/memhttp"
	"github.com/seine-go/seine/internal/weburl"
)

// accessCase is a case of the access rules: what sites answer, and what must follow from it.
type accessCase struct {
	Site      string
	Agent     string
	Responses []cannedResponse
	Sites     map[string][]cannedResponse
	Cached    *struct {
		Age         *float64 `json:"age_s"`
		Body        string
		Unreachable *float64 `json:"unreachable_since_s"`
	}
	Expect *accessExpect
	AnyOf  []accessExpect `json:"any_of"`
}

type cannedResponse struct {
	URL          string
	Status       int
	Location     string
	ContentType  string `json:"content_type"`
	Headers      map[string]string
	Body         string
	BodyBase64   string             `json:"body_base64"`
	BodyRepeat   conformance.Repeat `json:"body_repeat"`
	NetworkError string             `json:"network_error"`
	Repeats      bool
}

type accessExpect struct {
	Decision   *string
	Allowed    map[string]bool
	Fetches    json.RawMessage
	TTLMax     *float64        `json:"ttl_max_s"`
	CrawlDelay json.RawMessage `json:"crawl_delay_s"` // null and [] are named values: nothing of the kind
	Sitemaps   json.RawMessage
}

func TestConformanceAccess(t *testing.T) {
	cases := conformance.Load[accessCase](t, "robots/access-rules.json")
	conformance.Show(t, "first-crawl.4", "robots-access", cases, func(c accessCase) error {
		if c.Expect != nil {
			return c.meets(t, *c.Expect)
		}
		err := errors.New("nothing is expected")
		for _, expect := range c.AnyOf {
			if err = c.meets(t, expect); err == nil {
				return nil
			}
		}
		return err
	})
}

// meets plays the case in fake time.
func (c accessCase) meets(t *testing.T, expect accessExpect) (err error) {
	synctest.Test(t, func(t *testing.T) {
		sites := cannedSites{all: c.Responses, bySite: c.Sites, asked: map[string]int{}}
		sites.serve(t)
		cache := Cache{Fetcher: &sites, Agent: c.Agent, Store: c.stored(t)}
		err = expect.check(t.Context(), &cache, &sites, c.Site)
	})
	return err
}

func (c accessCase) stored(t *testing.T) *mapStore {
	var store mapStore
	if c.Cached == nil {
		return &store
	}
	ago := func(seconds float64) int64 {
		return time.Now().Add(-time.Duration(seconds * float64(time.Second))).UnixMilli()
	}
	r := record{Version: recordVersion}
	if c.Cached.Age != nil {
		r.Status, r.HasFile, r.Body = http.StatusOK, true, []byte(c.Cached.Body)
		r.Fetched, r.TTL = ago(*c.Cached.Age), DefaultMaxAge.Milliseconds()
	}
	if c.Cached.Unreachable != nil {
		r.Since = ago(*c.Cached.Unreachable)
	}
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Put(t.Context(), storeKey(c.Site), raw); err != nil {
		t.Fatal(err)
	}
	return &store
}

// check asks what is expected, each question within a second of the one before.
func (x accessExpect) check(ctx context.Context, cache *Cache, sites *cannedSites, site string) error {
	d, err := cache.Check(ctx, site+"/")
	if err != nil {
		return err
	}
	if x.Decision != nil && d.Source.String() != *x.Decision {
		return fmt.Errorf("decision is %s, want %s", d.Source, *x.Decision)
	}
	for target, want := range x.Allowed {
		elapse(time.Second / 2)
		if !strings.Contains(target, "://") {
			target = site + target
		}
		d, err := cache.Check(ctx, target)
		if err != nil {
			return err
		}
		if d.Allowed != want {
			return fmt.Errorf("%s: allowed %v by %v, want %v", target, d.Allowed, d.Rule, want)
		}
	}
	if x.CrawlDelay != nil {
		var want float64
		if err := json.Unmarshal(x.CrawlDelay, &want); err != nil {
			return err
		}
		if d.CrawlDelay.Seconds() != want {
			return fmt.Errorf("crawl-delay is %v, want %v s", d.CrawlDelay, want)
		}
	}
	if err := x.checkSitemaps(ctx, cache, site); err != nil {
		return err
	}
	if err := x.checkFetches(sites); err != nil {
		return err
	}
	return x.checkTTL(ctx, cache, sites, site)
}

func (x accessExpect) checkSitemaps(ctx context.Context, cache *Cache, site string) error {
	if x.Sitemaps == nil {
		return nil
	}
	var want []string
	if err := json.Unmarshal(x.Sitemaps, &want); err != nil {
		return err
	}
	got, err := cache.Sitemaps(ctx, site)
	if err == nil && !slices.Equal(got, want) {
		err = fmt.Errorf("sitemaps are %q, want %q", got, want)
	}
	return err
}

func (x accessExpect) checkFetches(sites *cannedSites) error {
	if sites.fault != nil {
		return sites.fault
	}
	if x.Fetches == nil {
		return nil
	}
	var exact int
	if json.Unmarshal(x.Fetches, &exact) == nil {
		if sites.count != exact {
			return fmt.Errorf("%d requests, want %d", sites.count, exact)
		}
		return nil
	}
	var bound struct{ Max int }
	if err := json.Unmarshal(x.Fetches, &bound); err != nil {
		return err
	}
	if sites.count > bound.Max {
		return fmt.Errorf("%d requests, want at most %d", sites.count, bound.Max)
	}
	return nil
}

func (x accessExpect) checkTTL(ctx context.Context, cache *Cache, sites *cannedSites, site string) error {
	if x.TTLMax == nil {
		return nil
	}
	before := sites.count
	sites.goOn = true
	elapse(time.Duration((*x.TTLMax + 1) * float64(time.Second)))
	if _, err := cache.Check(ctx, site+"/"); err != nil {
		return err
	}
	if sites.count != before+1 {
		return fmt.Errorf("%d further requests after %v s, want 1", sites.count-before, *x.TTLMax+1)
	}
	return nil
}

// cannedSites is a Fetcher that gives responses in order: through a Transport, so that bodies are decoded and bounded as
// they are in a crawl.
type cannedSites struct {
	all       []cannedResponse
	bySite    map[string][]cannedResponse
	transport fetch.Transport

	mu    sync.Mutex
	asked map[string]int // by site; "" where one list is for all
	next  cannedResponse // that the server gives
	count int
	goOn  bool  // give the last response again
	fault error // a request that must not have been made
}

// serve starts the server that stands for all sites.
func (s *cannedSites) serve(t *testing.T) {
	const addr = "sites.test:80"
	network := new(memhttp.Network)
	network.Serve(t, addr, s)
	s.transport.Resolver = resolver{network}
	s.transport.AllowPrivate = true
	s.transport.TLS = noTLS{}
	s.transport.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) { return network.DialContext(ctx, "tcp", addr) }
	t.Cleanup(func() { s.transport.Close() })
}

// resolver finds every name where the server is.
type resolver struct{ network *memhttp.Network }

func (r resolver) LookupNetIP(ctx context.Context, network, _ string) ([]netip.Addr, error) {
	return r.network.LookupNetIP(ctx, network, "sites.test")
}

// noTLS leaves connections as they are.
type noTLS struct{}

func (noTLS) Handshake(_ context.Context, conn net.Conn, _ fetch.Target) (net.Conn, fetch.ConnInfo, error) {
	return conn, fetch.ConnInfo{ALPN: "http/1.1"}, nil
}

func (s *cannedSites) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.take(req.URL)
	if err != nil {
		s.fault = err
		return nil, err
	}
	if r.NetworkError != "" {
		kinds := map[string]fetch.ErrorKind{"refused": fetch.ErrConnect, "no such host": fetch.ErrDNS, "timeout": fetch.ErrTimeout}
		return nil, &fetch.Error{URL: req.URL, Kind: kinds[r.NetworkError], Err: errors.New(r.NetworkError)}
	}
	s.next = r
	return s.transport.Fetch(ctx, req)
}

// take returns the response that is due for a URL.
func (s *cannedSites) take(url string) (r cannedResponse, err error) {
	s.count++
	list, site := s.all, ""
	if s.bySite != nil {
		u, err := weburl.Parse(url)
		if err != nil {
			return r, err
		}
		site = u.Origin()
		list = s.bySite[site]
	}
	n := s.asked[site]
	s.asked[site]++
	if n >= len(list) {
		if len(list) == 0 || !list[len(list)-1].Repeats && !s.goOn {
			return r, fmt.Errorf("request %d for %s is one too many", n+1, url)
		}
		n = len(list) - 1
	}
	if want := list[n].URL; want != "" && want != url {
		return r, fmt.Errorf("request %d is for %s, want %s", n+1, url, want)
	}
	return list[n], nil
}

func (s *cannedSites) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	r := &s.next // the Fetch that waits for it holds mu
	for name, value := range r.Headers {
		w.Header().Set(name, value)
	}
	if r.Location != "" {
		w.Header().Set("Location", r.Location)
	}
	w.Header()["Content-Type"] = nil
	if r.ContentType != "" {
		w.Header().Set("Content-Type", r.ContentType)
	}
	body := []byte(r.Body)
	if r.BodyRepeat != nil {
		body = r.BodyRepeat.Bytes()
	}
	if r.BodyBase64 != "" {
		body, _ = conformance.Base64(r.BodyBase64)
	}
	w.WriteHeader(r.Status)
	w.Write(body)
}
