package crawler

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/seine-go/seine/fetch"
)

func TestClassOf(t *testing.T) {
	t.Parallel()
	kind := func(k fetch.ErrorKind) error {
		return fmt.Errorf("wrapped: %w", &fetch.Error{Kind: k, Err: errors.New("x")})
	}
	for _, c := range []struct {
		err       error
		class     RetryClass
		temporary bool
	}{
		{errors.New("what"), RetryOther, true},
		{&handlerError{err: errors.New("x")}, RetryHandler, true},
		{Permanent(errors.New("x")), RetryHandler, false},
		{&handlerError{err: kind(fetch.ErrTimeout)}, RetryHandler, true},
		{&fetch.StatusError{Status: 503}, RetryStatus, true},
		{&fetch.StatusError{Status: 429}, RetryStatus, true},
		{&fetch.StatusError{Status: 404}, RetryStatus, false},
		{&fetch.StatusError{Status: 501}, RetryStatus, false},
		{&fetch.StatusError{Status: 519}, RetryStatus, false},
		{&fetch.StatusError{Status: 520}, RetryStatus, true},
		{&fetch.StatusError{Status: 530}, RetryStatus, true},
		{&fetch.StatusError{Status: 531}, RetryStatus, false},
		{&RobotsError{Err: kind(fetch.ErrConnect)}, RetryRobots, true},
		{kind(fetch.ErrDNS), RetryConnect, true},
		{&fetch.Error{Kind: fetch.ErrDNS, Final: true}, RetryConnect, false},
		{kind(fetch.ErrConnect), RetryConnect, true},
		{kind(fetch.ErrProxy), RetryConnect, true},
		{kind(fetch.ErrTLS), RetryConnect, true},
		{&fetch.Error{Kind: fetch.ErrTLS, Final: true}, RetryConnect, false},
		{kind(fetch.ErrTimeout), RetryTimeout, true},
		{kind(fetch.ErrClosed), RetryClosed, true},
		{kind(fetch.ErrTruncated), RetryBody, true},
		{kind(fetch.ErrTooSlow), RetryBody, true},
		{kind(fetch.ErrProtocol), RetryOther, false},
		{kind(fetch.ErrRefused), RetryOther, false},
	} {
		if class, again := classOf(c.err), temporary(c.err); class != c.class || again != c.temporary {
			t.Errorf("%v: %v, temporary %v, want %v, %v", c.err, class, again, c.class, c.temporary)
		}
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	rules := RetryPolicy{Rules: map[RetryClass]RetryRule{RetryBody: {Wait: time.Minute, MaxWait: 3 * time.Minute, Attempts: -1}}}.withDefaults().Rules
	for _, c := range []struct {
		class   RetryClass
		attempt int
		wait    time.Duration
	}{
		{RetryStatus, 1, time.Second},
		{RetryStatus, 2, 2 * time.Second},
		{RetryStatus, 9, 256 * time.Second},
		{RetryStatus, 10, 5 * time.Minute},
		{RetryStatus, math.MaxInt, 5 * time.Minute},
		{RetryConnect, 1, 5 * time.Second},
		{RetryTimeout, 2, 10 * time.Second},
		{RetryBody, 1, time.Minute},
		{RetryBody, 2, 2 * time.Minute},
		{RetryBody, 3, 3 * time.Minute},
	} {
		least, most := time.Duration(math.MaxInt64), time.Duration(0)
		for range 1000 {
			d := rules[c.class].backoff(c.attempt)
			least, most = min(least, d), max(most, d)
		}
		if least < c.wait/2 || most > c.wait+c.wait/2 || least > c.wait || most < c.wait {
			t.Errorf("%v, try %d: %v to %v, want about %v", c.class, c.attempt, least, most, c.wait)
		}
	}
	if rules[RetryBody].Attempts != 1 || rules[RetryStatus].Attempts != 0 {
		t.Errorf("%+v", rules)
	}
}

// The share of a host: so many in any case, then by the pages that came through since.
func TestHostShareOfRetries(t *testing.T) {
	t.Parallel()
	p := RetryPolicy{HostMin: 3, HostShare: 0.25}.withDefaults()
	var r retries
	r.through("a.example") // before the first retry nothing is known of a host
	for range 3 {
		if !r.take(&p, "a.example") {
			t.Error("refused within HostMin")
		}
	}
	if r.take(&p, "a.example") || !r.take(&p, "b.example") {
		t.Error("one past HostMin, or another host's")
	}
	for range 4 {
		r.through("a.example")
	}
	if !r.take(&p, "a.example") || r.take(&p, "a.example") {
		t.Error("not one for four pages")
	}
	none, all := RetryPolicy{HostMin: -1, HostShare: 1e-9}.withDefaults(), RetryPolicy{HostMin: -1, HostShare: -1}.withDefaults()
	if r.through("c.example"); r.take(&none, "c.example") {
		t.Error("HostMin of none")
	}
	for range 1000 {
		if !r.take(&all, "d.example") {
			t.Fatal("refused without a bound")
		}
	}
	for i := range 2 * maxRetryHosts {
		r.take(&p, fmt.Sprint(i))
	}
	if len(r.hosts) > maxRetryHosts {
		t.Errorf("%d hosts remembered", len(r.hosts))
	}
}

// What hosts have spent is known of so many; one beyond is refused.
func TestBoundOfBudgetHosts(t *testing.T) {
	t.Parallel()
	s := newSpending()
	s.most = 3
	b := Budget{Pages: 2}.withDefaults()
	for i := range 4 {
		err := s.takeHost(b, fmt.Sprint(i), false)
		var spent *BudgetError
		if (i < 3) != (err == nil) || i == 3 && !errors.As(err, &spent) {
			t.Errorf("host %d: %v", i, err)
		}
	}
	if err := s.takeHost(b, "0", false); err != nil {
		t.Error(err)
	}
	if err := s.takeHost(b, "0", false); !errors.Is(err, ErrBudget) {
		t.Errorf("one past the budget: %v", err)
	}
}
