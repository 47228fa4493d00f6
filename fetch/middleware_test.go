package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// through returns the request that comes out of a middleware.
func through(t *testing.T, m Middleware, req *Request) *Request {
	t.Helper()
	before := *req
	before.Header = req.Header.Clone()
	var got *Request
	_, err := m(FetcherFunc(func(_ context.Context, req *Request) (*Response, error) {
		got = req
		return &Response{Request: req}, nil
	})).Fetch(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&before, req) {
		t.Errorf("the request has changed: %+v was %+v", req, before)
	}
	return got
}

func TestReferer(t *testing.T) {
	t.Parallel()
	const page = "https://user:pw@films.example/list?page=2#top"
	for _, c := range []struct {
		name     string
		o        RefererOptions
		page, to string
		want     string
	}{
		{"within the origin", RefererOptions{}, page, "https://films.example/7", "https://films.example/list?page=2"},
		{"to another origin", RefererOptions{}, page, "https://other.example/", "https://films.example/"},
		{"to another port", RefererOptions{}, page, "https://films.example:8443/", "https://films.example/"},
		{"to http", RefererOptions{}, page, "http://films.example/", ""},
		{"from http to https", RefererOptions{}, "http://films.example/a", "https://films.example/", "http://films.example/"},
		{"same origin", RefererOptions{Policy: SameOrigin}, page, "https://other.example/", ""},
		{"same origin, within", RefererOptions{Policy: SameOrigin}, page, "https://films.example/", "https://films.example/list?page=2"},
		{"origin", RefererOptions{Policy: StrictOrigin}, page, "https://films.example/", "https://films.example/"},
		{"origin to http", RefererOptions{Policy: StrictOrigin}, page, "http://films.example/", ""},
		{"all of it", RefererOptions{Policy: FullURL}, page, "http://other.example/", "https://films.example/list?page=2"},
		{"nothing", RefererOptions{Policy: NoReferer}, page, "https://films.example/", ""},
		{"no URL", RefererOptions{}, "nonsense", "https://films.example/", ""},
		{"a file", RefererOptions{}, "file:///etc/passwd", "https://films.example/", ""},
		{"none", RefererOptions{}, "", "https://films.example/", ""},
		{"from elsewhere", RefererOptions{From: func(*Request) string { return page }}, "", "https://films.example/", "https://films.example/list?page=2"},
		{"the request counts for more", RefererOptions{From: func(*Request) string { return page }}, "https://films.example/own", "https://films.example/", "https://films.example/own"},
	} {
		req := &Request{URL: c.to}
		if c.page != "" {
			req.Header = http.Header{"referer": {c.page}}
		}
		got, _ := headerValues(through(t, Referer(c.o), req).Header, "Referer")
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAuth(t *testing.T) {
	t.Parallel()
	m := Auth(map[string]Credential{
		"https://films.example":       {User: "ann", Password: "s:1"},
		"HTTPS://API.films.example:8": {User: "x", Token: "abc.def"},
	})
	for _, c := range []struct{ url, own, want string }{
		{"https://films.example/a", "", "Basic YW5uOnM6MQ=="},
		{"https://films.example:443/a", "", "Basic YW5uOnM6MQ=="},
		{"https://api.films.example:8/", "", "Bearer abc.def"},
		{"https://api.films.example/", "", ""},
		{"http://films.example/", "", ""},
		{"https://www.films.example/", "", ""},
		{"https://films.example/", "Bearer own", "Bearer own"},
		{"https://bob:pw@films.example/", "", ""},
	} {
		req := &Request{URL: c.url}
		if c.own != "" {
			req.Header = http.Header{"authorization": {c.own}}
		}
		got, _ := headerValues(through(t, m, req).Header, "Authorization")
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q, want %q", c.url, got, c.want)
		}
	}
	for name, bad := range map[string]map[string]Credential{
		"path":     {"https://films.example/a": {}},
		"no URL":   {"films.example": {}},
		"scheme":   {"ftp://films.example": {}},
		"userinfo": {"https://a:secret@films.example": {}},
		"colon":    {"https://films.example": {User: "a:b", Password: "secret"}},
		"token":    {"https://films.example": {Token: "secret\r\nX: y"}},
		"blank":    {"https://films.example": {Token: "secret two"}},
	} {
		_, err := Auth(bad)(nil).Fetch(t.Context(), &Request{URL: "https://films.example/"})
		if !errors.Is(err, ErrInvalid) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s := fmt.Sprintf("%v %+v %#v", Credential{User: "ann", Password: "secret"}, Credential{Token: "secret"}, Credential{Token: "secret"}); strings.Contains(s, "secret") {
		t.Errorf("printed: %s", s)
	}
}

func TestUserAgent(t *testing.T) {
	t.Parallel()
	if got := through(t, UserAgent(nil), &Request{URL: "https://films.example/"}); got.Header != nil {
		t.Errorf("%v", got.Header)
	}
	m := UserAgent(func(req *Request) string { return strings.TrimPrefix(req.URL, "https://films.example/") })
	for _, c := range []struct {
		url    string
		header http.Header
		want   string
	}{
		{"https://films.example/mine/1.0", nil, "[mine/1.0] true"},
		{"https://films.example/", nil, "[] false"},
		{"https://films.example/mine", http.Header{"user-agent": {"own"}}, "[own] true"},
		{"https://films.example/mine", http.Header{"User-Agent": nil}, "[] true"},
	} {
		values, there := headerValues(through(t, m, &Request{URL: c.url, Header: c.header}).Header, "User-Agent")
		if got := fmt.Sprint(values, there); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.url, c.header, got, c.want)
		}
	}
}

func TestMaxBody(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ bytes, own, want int64 }{
		{0, 0, DefaultMaxBody},
		{100, 0, 100},
		{100, -1, 100},
		{100, 50, 50},
		{100, 200, 100},
		{-1, 0, 0},
		{-1, 50, 50},
	} {
		if got := through(t, MaxBody(c.bytes), &Request{URL: "https://films.example/", MaxBody: c.own}); got.MaxBody != c.want {
			t.Errorf("MaxBody(%d) of %d: %d, want %d", c.bytes, c.own, got.MaxBody, c.want)
		}
	}
	for n, cut := range map[int]bool{10: false, 11: true} {
		whole := &Response{Body: []byte(strings.Repeat("x", n))}
		f := MaxBody(10)(FetcherFunc(func(context.Context, *Request) (*Response, error) { return whole, nil }))
		resp, err := f.Fetch(t.Context(), &Request{URL: "https://films.example/"})
		if err != nil || len(resp.Body) != 10 || resp.Truncated != cut || errors.Is(resp.BodyErr(), ErrBodyLimit) != cut || len(whole.Body) != n {
			t.Errorf("%d bytes: %d, %v, %v", n, len(resp.Body), resp.Truncated, err)
		}
	}
}

// slow answers after the time that the host's name says, or when the context ends.
func slow(ctx context.Context, req *Request) (*Response, error) {
	d, err := time.ParseDuration(strings.TrimSuffix(strings.TrimPrefix(req.URL, "http://"), "/"))
	if err != nil {
		d = 10 * time.Millisecond
	}
	select {
	case <-time.After(d):
		return &Response{Request: req, Status: 200}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			policy TimeoutPolicy
			url    string
			ok     bool
			after  time.Duration
		}{
			{TimeoutPolicy{}, "http://119s/", true, 119 * time.Second},
			{TimeoutPolicy{}, "http://121s/", false, DefaultTimeout},
			{TimeoutPolicy{Limit: time.Second}, "http://2s/", false, time.Second},
			{TimeoutPolicy{Limit: -1}, "http://999h/", true, 999 * time.Hour},
		} {
			start := time.Now()
			_, err := Timeout(c.policy)(FetcherFunc(slow)).Fetch(t.Context(), &Request{URL: c.url})
			var late *TimeoutError
			if (err == nil) != c.ok || !c.ok && (!errors.Is(err, ErrTimeout) || !errors.As(err, &late) || late.After != c.after) || time.Since(start) != c.after {
				t.Errorf("%+v, %s: %v after %v", c.policy, c.url, err, time.Since(start))
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := Timeout(TimeoutPolicy{})(FetcherFunc(slow)).Fetch(ctx, &Request{URL: "http://5s/"})
		if !errors.Is(err, context.DeadlineExceeded) || errors.As(err, new(*TimeoutError)) {
			t.Errorf("the caller's deadline: %v", err)
		}
	})
}

func TestTimeoutGoesByTheHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		took := 100 * time.Millisecond
		f := Timeout(TimeoutPolicy{Limit: time.Minute, Factor: 3, Least: 10 * time.Millisecond})(FetcherFunc(func(ctx context.Context, req *Request) (*Response, error) {
			return slow(ctx, &Request{URL: "http://" + took.String() + "/"})
		}))
		get := func() (time.Duration, error) {
			start := time.Now()
			_, err := f.Fetch(t.Context(), &Request{URL: "http://films.example/"})
			return time.Since(start), err
		}
		for range latencyLeast - 1 {
			get()
		}
		took = 10 * time.Second
		if d, err := get(); err != nil || d != took { // the twentieth: nothing is known yet
			t.Errorf("before there are enough: %v, %v", d, err)
		}
		took = 100 * time.Millisecond
		for range latencySamples {
			get()
		}
		took = 10 * time.Second
		d, err := get()
		var late *TimeoutError
		if !errors.As(err, &late) || !late.Factor || d != 300*time.Millisecond {
			t.Errorf("three times the 99th percentile: %v, %v", d, err)
		}
		for n := 0; err != nil; n++ { // a host that has become slower is given more, not refused for ever
			if d, err = get(); n > 50 {
				t.Fatalf("still %v, %v", d, err)
			}
		}
		if _, err := f.Fetch(t.Context(), &Request{URL: "http://"}); !errors.Is(err, ErrInvalid) {
			t.Errorf("%v", err)
		}
	})
}

func TestLatenciesAreBounded(t *testing.T) {
	t.Parallel()
	var l latencies
	for i := range latencyHosts + 1 {
		for range latencyLeast {
			l.add(fmt.Sprint(i), time.Second)
		}
		l.add("0", time.Second) // is used, and stays
	}
	_, first := l.quantile("0", 0.5)
	_, second := l.quantile("1", 0.5)
	if len(l.hosts) != latencyHosts || l.recent.len != latencyHosts || !first || second {
		t.Errorf("%d hosts, %v %v", len(l.hosts), first, second)
	}
	for i := range latencySamples {
		l.add("x", time.Duration(i+1))
	}
	for q, want := range map[float64]time.Duration{0: 1, 0.5: 64, 0.99: 127, 1: 128} {
		if got, _ := l.quantile("x", q); got != want {
			t.Errorf("%v: %d, want %d", q, got, want)
		}
	}
}

func TestHedge(t *testing.T) {
	t.Parallel()
	own := errors.New("refused")
	type try struct {
		took time.Duration
		err  error
	}
	for _, c := range []struct {
		name   string
		policy HedgePolicy
		req    Request
		tries  []try
		asked  int
		after  time.Duration
		err    error
	}{
		{"in time", HedgePolicy{After: time.Second}, Request{}, []try{{900 * time.Millisecond, nil}}, 1, 900 * time.Millisecond, nil},
		{"late", HedgePolicy{After: time.Second}, Request{}, []try{{time.Minute, nil}, {time.Second, nil}}, 2, 2 * time.Second, nil},
		{"the first wins all the same", HedgePolicy{After: time.Second}, Request{}, []try{{2 * time.Second, nil}, {time.Minute, nil}}, 2, 2 * time.Second, nil},
		{"fails at once", HedgePolicy{After: time.Second}, Request{}, []try{{0, own}}, 1, 0, own},
		{"the second fails", HedgePolicy{After: time.Second}, Request{}, []try{{5 * time.Second, nil}, {time.Second, own}}, 2, 5 * time.Second, nil},
		{"both fail", HedgePolicy{After: time.Second}, Request{}, []try{{5 * time.Second, own}, {time.Second, errors.New("other")}}, 2, 5 * time.Second, own},
		{"a POST", HedgePolicy{After: time.Second}, Request{Method: "POST"}, []try{{5 * time.Second, nil}}, 1, 5 * time.Second, nil},
		{"nothing known", HedgePolicy{}, Request{}, []try{{5 * time.Second, nil}}, 1, 5 * time.Second, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			var asked atomic.Int32
			f := Hedge(c.policy)(FetcherFunc(func(ctx context.Context, req *Request) (*Response, error) {
				mine := c.tries[asked.Add(1)-1]
				select {
				case <-time.After(mine.took):
					if mine.err != nil {
						return nil, mine.err
					}
					return &Response{Request: req}, nil
				case <-ctx.Done():
					return nil, context.Cause(ctx)
				}
			}))
			c.req.URL = "http://films.example/"
			start := time.Now()
			resp, err := f.Fetch(t.Context(), &c.req)
			if !errors.Is(err, c.err) || (resp == nil) == (err == nil) || int(asked.Load()) != c.asked || time.Since(start) != c.after {
				t.Errorf("%s: %v %v, asked %d times, after %v", c.name, resp, err, asked.Load(), time.Since(start))
			}
		})
	}
}

func TestHedgeKeepsItsShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		took := 10 * time.Millisecond
		h := &hedger{policy: HedgePolicy{Share: DefaultHedgeShare}}
		host := FetcherFunc(func(ctx context.Context, req *Request) (*Response, error) {
			asked.Add(1)
			return slow(ctx, &Request{URL: "http://" + took.String() + "/"})
		})
		get := func(n int) int {
			asked.Store(0)
			for range n {
				if _, err := h.fetch(t.Context(), host, &Request{URL: "http://films.example/"}); err != nil {
					t.Fatal(err)
				}
			}
			return int(asked.Load()) - n
		}
		get(100)
		h.tokens, took = hedgeBurst, time.Second
		if n := get(5); n != 5 { // late by the measure of what came before
			t.Errorf("%d second requests of 5 late ones", n)
		}
		h.tokens = hedgeBurst
		sent := 0
		for range 1000 {
			h.earn()
			if h.spend() {
				sent++
			}
		}
		if sent < 50 || sent > 50+hedgeBurst {
			t.Errorf("%d second requests of 1000", sent)
		}
	})
}

func TestHedgeHandsPanicsOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		defer func() {
			if r := recover(); r != "own" {
				t.Errorf("recovered %v", r)
			}
		}()
		Hedge(HedgePolicy{After: time.Second})(FetcherFunc(func(context.Context, *Request) (*Response, error) { panic("own") })).
			Fetch(t.Context(), &Request{URL: "http://films.example/"})
	})
}

func TestMiddlewaresTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tr, h := cookieSite(t, &Transport{})
		f := Chain(tr, MaxBody(1000), Hedge(HedgePolicy{After: time.Second}), Timeout(TimeoutPolicy{Factor: 5}), Referer(RefererOptions{}),
			Auth(map[string]Credential{"http://films.example": {Token: "t"}}), UserAgent(func(*Request) string { return "mine/1" }))
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				resp := wantAnswer(t, f, &Request{URL: "http://films.example/a?to=//other.example/b&status=302"})
				for _, field := range resp.Trace.Sent {
					if field.Name == "Authorization" {
						t.Error("a credential for another origin")
					}
				}
			})
		}
		wg.Wait()
		if n := len(h.take()); n != 100 {
			t.Errorf("asked %d times", n)
		}
	})
}
