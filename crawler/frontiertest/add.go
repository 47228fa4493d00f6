package frontiertest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seine-go/seine/crawler"
)

var addTests = []test{
	{"R1", "one of concurrent adds is added", oneOfConcurrentAdds},
	{"R1", "a key is seen in every state", seenInEveryState},
	{"R1", "statuses come in order", statusesInOrder},
	{"R1", "what was added can be leased at once", addedIsQueued},
	{"R1", "a raised request comes once", raisedComesOnce},
	{"R1", "a bad request stops the batch before anything is written", badRequestStopsBatch},
	{"R1", "a request comes back as it was given", requestIsKept},
	{"R1", "an ended context has no effect", endedContext},
}

func oneOfConcurrentAdds(e *env) {
	e.open(Options{})
	const adders, keys = 64, 8
	var added [keys]atomic.Int32
	var wg sync.WaitGroup
	for range adders {
		wg.Go(func() {
			for i := range keys {
				s, err := e.f.Add(e.ctx(), request(page("a", i)))
				switch {
				case err != nil || len(s) != 1:
					e.t.Errorf("R1: Add: %v, %v", s, err)
				case s[0] == crawler.Added:
					added[i].Add(1)
				case s[0] != crawler.Duplicate:
					e.t.Errorf("R1: a concurrent Add of one key was answered %v", s[0])
				}
			}
		})
	}
	wg.Wait()
	for i := range added {
		if n := added[i].Load(); n != 1 {
			e.failf("%d of %d concurrent Adds of one key were told that it is new", n, adders)
		}
	}
	e.counts(keys, 0, 0, 0, 0)
	e.lease("A", keys)
}

func seenInEveryState(e *env) {
	e.open(Options{})
	for i, state := range []struct {
		name  string
		reach func(l crawler.Lease)
	}{
		{"leased", func(crawler.Lease) {}},
		{"done", func(l crawler.Lease) { e.settle(l, crawler.Done) }},
		{"failed", func(l crawler.Lease) { e.settle(l, crawler.Failed) }},
		{"delayed", func(l crawler.Lease) {
			s := done(l, crawler.Retry)
			s.Delay = 1000 * e.unit
			e.must(e.f.Settle(e.ctx(), s))
		}},
		{"released", func(l crawler.Lease) { e.settle(l, crawler.Released) }},
	} {
		url := page("a", i)
		e.add(url)
		e.offer(request(url), crawler.Duplicate)
		state.reach(e.one("A"))
		if s, err := e.f.Add(e.ctx(), request(url), request(url)); err != nil || !slices.Equal(s, []crawler.AddStatus{crawler.Duplicate, crawler.Duplicate}) {
			e.failf("Add of a request that is %s: %v, %v", state.name, s, err)
		}
	}
	e.counts(1, 1, 1, 1, 1)
}

func statusesInOrder(e *env) {
	e.open(Options{})
	s, err := e.f.Add(e.ctx(), request(page("a", 1)), request(page("b", 1)), request(page("a", 1)),
		&crawler.Request{URL: page("a", 1), Priority: 1}, &crawler.Request{URL: page("c", 1), Key: page("b", 1)},
		&crawler.Request{URL: page("a", 1), Key: "another"}, &crawler.Request{URL: page("a", 1), Priority: 1})
	e.must(err)
	want := []crawler.AddStatus{crawler.Added, crawler.Added, crawler.Duplicate, crawler.Raised, crawler.Duplicate, crawler.Added, crawler.Duplicate}
	if !slices.Equal(s, want) {
		e.failf("%v, not %v", s, want)
	}
	if s, err := e.f.Add(e.ctx()); err != nil || len(s) != 0 {
		e.failf("Add of nothing: %v, %v", s, err)
	}
	e.counts(3, 0, 0, 0, 0)
}

func addedIsQueued(e *env) {
	e.open(Options{})
	e.add(page("a", 1))
	l := e.one("A")
	if l.Key != page("a", 1) || l.Attempt != 1 || l.Suspect {
		e.failf("the first lease of a request is %+v", l)
	}
	e.none("B", "a leased request was leased again")
	e.counts(0, 0, 1, 0, 0)
}

func raisedComesOnce(e *env) {
	e.open(Options{})
	raised := func(i, priority int) *crawler.Request {
		return &crawler.Request{URL: page("a", i), Priority: priority}
	}
	e.add(page("a", 1), page("a", 2))
	e.offer(raised(2, 5), crawler.Raised)
	e.offer(raised(2, 5), crawler.Duplicate)
	e.offer(raised(2, 4), crawler.Duplicate)
	e.offer(raised(2, 1_000_000), crawler.Raised)
	e.offer(raised(2, 1_000_001), crawler.Raised)
	e.offer(raised(2, -7), crawler.Duplicate)
	e.counts(2, 0, 0, 0, 0)
	if got, want := urls(e.lease("A", 2)), []string{page("a", 2), page("a", 1)}; !slices.Equal(got, want) {
		e.failf("%q, not %q", got, want)
	}
	e.none("A", "a raised request came twice")
}

func badRequestStopsBatch(e *env) {
	e.open(Options{})
	good := request(page("a", 1))
	header := func(name string, n int) http.Header { return http.Header{name: {strings.Repeat("x", n)}} }
	quoted := func(n int) json.RawMessage {
		return json.RawMessage(`"` + string(slices.Repeat([]byte("x"), n-2)) + `"`)
	}
	for name, bad := range map[string]*crawler.Request{
		"data that is no JSON": {Data: json.RawMessage("{")},
		"data over the bound":  {Data: quoted(crawler.MaxDataBytes + 1)},
		"body over the bound":  {Body: make([]byte, crawler.MaxBodyBytes+1)},
		"label over the bound": {Label: string(make([]byte, crawler.MaxLabelBytes+1))},
		"a credential":         {Header: header("Authorization", 1)},
		"header over it":       {Header: header("X", crawler.MaxHeaderBytes)},
		"no header name":       {Header: header("X Y", 1)},
		"a second header line": {Header: http.Header{"X": {"a\r\nY: b"}}},
		"a negative depth":     {Depth: -1},
	} {
		bad.URL = page("a", 2)
		var fault *crawler.RequestError
		if _, err := e.f.Add(e.ctx(), good, bad); !errors.As(err, &fault) {
			e.failf("%s: error %v, not a RequestError", name, err)
		}
		e.counts(0, 0, 0, 0, 0)
	}
	s, err := e.f.Add(e.ctx(), good, &crawler.Request{
		URL: page("a", 2), Data: quoted(crawler.MaxDataBytes), Body: make([]byte, crawler.MaxBodyBytes),
		Label: string(make([]byte, crawler.MaxLabelBytes)), Header: header("X", crawler.MaxHeaderBytes-1),
	})
	if err != nil || !slices.Equal(s, []crawler.AddStatus{crawler.Added, crawler.Added}) {
		e.failf("a request at every bound: %v, %v", s, err)
	}
}

func requestIsKept(e *env) {
	e.open(Options{})
	give := func() *crawler.Request {
		return &crawler.Request{
			URL: "https://a.example:8443/p?q=%20#f", Method: "POST", Header: http.Header{"Accept": {"a", "b"}, "X-Empty": {""}}, Body: []byte("a=1\x00"),
			Kind: 2, Key: "the key", Label: "film", Data: json.RawMessage(`{"id": 1}`), Session: "s", Priority: -3, Depth: 4, Hops: 2,
		}
	}
	spoil := func(r *crawler.Request) {
		r.Header["Accept"][0], r.Body[0], r.Data[2], r.URL = "spoilt", 'b', 'x', "https://other.example/"
	}
	given := give()
	e.offer(given, crawler.Added)
	spoil(given)
	for attempt := 1; attempt <= 2; attempt++ {
		l := e.one("A")
		if !reflect.DeepEqual(l.Request, give()) || l.Key != "the key" || l.Attempt != attempt {
			e.failf("%+v came back, as attempt %d", l.Request, l.Attempt)
		}
		spoil(l.Request) // it belongs to the holder
		e.settle(l, crawler.Retry)
	}
}

func endedContext(e *env) {
	e.open(Options{})
	e.add(page("a", 1), page("a", 2))
	l := e.one("A")
	ended, cancel := context.WithCancel(e.ctx())
	cancel()
	e.unchanged("a call with an ended context", func() {
		_, addErr := e.f.Add(ended, request(page("a", 3)))
		_, leaseErr := e.f.Lease(ended, crawler.LeaseRequest{Owner: "A", Boot: 1, Max: 1})
		_, statsErr := e.f.Stats(ended)
		for name, err := range map[string]error{
			"Add": addErr, "Lease": leaseErr, "Stats": statsErr,
			"Settle": e.f.Settle(ended, done(l, crawler.Done)), "Extend": e.f.Extend(ended, e.unit, l),
		} {
			if !errors.Is(err, context.Canceled) {
				e.failf("%s with an ended context: error %v", name, err)
			}
		}
	})
}
