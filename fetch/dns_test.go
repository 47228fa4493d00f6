package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// scriptedResolver answers after a delay with what answer says.
type scriptedResolver struct {
	delay  time.Duration
	answer func(host string) ([]netip.Addr, error)
	mu     sync.Mutex
	asked  map[string]int
}

func (r *scriptedResolver) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	r.mu.Lock()
	if r.asked == nil {
		r.asked = map[string]int{}
	}
	r.asked[host]++
	r.mu.Unlock()
	select {
	case <-time.After(r.delay):
		return r.answer(host)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (r *scriptedResolver) count(host string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked[host]
}

var addr8 = netip.MustParseAddr("8.8.8.8")

func TestDNSCache(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		notFound := &net.DNSError{Err: "no such host", IsNotFound: true}
		servfail := &net.DNSError{Err: "server misbehaving", IsTemporary: true}
		r := &scriptedResolver{delay: time.Second, answer: func(host string) ([]netip.Addr, error) {
			switch host {
			case "gone.example":
				return nil, notFound
			case "sick.example":
				return nil, servfail
			case "empty.example":
				return nil, nil
			}
			return []netip.Addr{addr8}, nil
		}}
		var d dnsCache
		d.setup(r, time.Minute, 10*time.Second)
		for _, c := range []struct {
			host   string
			err    error
			cached bool
		}{{"a.example", nil, true}, {"gone.example", notFound, true}, {"sick.example", servfail, false}, {"empty.example", errNoAddress, false}} {
			var wg sync.WaitGroup
			for range 50 {
				wg.Go(func() {
					addrs, err := d.lookup(t.Context(), c.host)
					if !errors.Is(err, c.err) || c.err == nil && !slices.Equal(addrs, []netip.Addr{addr8}) {
						t.Errorf("%s: %v %v", c.host, addrs, err)
					}
				})
			}
			wg.Wait()
			if n := r.count(c.host); n != 1 {
				t.Errorf("%s: %d lookups for 50 that wait", c.host, n)
			}
			d.lookup(t.Context(), c.host)
			if again := r.count(c.host) == 2; again == c.cached {
				t.Errorf("%s: cached %v", c.host, !again)
			}
		}
		<-time.After(time.Minute)
		d.lookup(t.Context(), "a.example")
		if n := r.count("a.example"); n != 2 {
			t.Errorf("%d lookups after the end of the entry", n)
		}
	})
}

// TestDNSLeaderGivesUp: when the context of the one who asks ends, another asks.
func TestDNSLeaderGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &scriptedResolver{delay: 5 * time.Second, answer: func(string) ([]netip.Addr, error) { return []netip.Addr{addr8}, nil }}
		var d dnsCache
		d.setup(r, time.Minute, 10*time.Second)
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := d.lookup(short, "a.example"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("leader: %v", err)
			}
		})
		synctest.Wait()
		for range 3 {
			wg.Go(func() {
				if addrs, err := d.lookup(t.Context(), "a.example"); err != nil || addrs[0] != addr8 {
					t.Errorf("follower: %v %v", addrs, err)
				}
			})
		}
		wg.Wait()
		if n := r.count("a.example"); n != 2 {
			t.Errorf("%d lookups", n)
		}
	})
}

func TestDNSTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tr := &Transport{Resolver: &scriptedResolver{delay: time.Hour}}
		defer tr.Close()
		start := time.Now()
		_, err := tr.Fetch(t.Context(), &Request{URL: "http://silent.example/"})
		var e *Error
		if !errors.As(err, &e) || e.Kind != ErrDNS || !e.Timeout() || !e.Temporary() {
			t.Errorf("%v", err)
		}
		if d := time.Since(start); d != defaultDNSTimeout {
			t.Errorf("after %v", d)
		}
	})
}

func TestDNSCacheIsBounded(t *testing.T) {
	t.Parallel()
	r := &scriptedResolver{answer: func(string) ([]netip.Addr, error) { return []netip.Addr{addr8}, nil }}
	var d dnsCache
	d.setup(r, time.Hour, 0)
	for i := range maxNames + 1 {
		if i == maxNames {
			d.lookup(t.Context(), "0.example") // used again: not the oldest
		}
		d.lookup(t.Context(), fmt.Sprintf("%d.example", i))
		if i == maxNames-1 && len(d.names) != maxNames {
			t.Fatalf("%d names at the bound", len(d.names))
		}
	}
	if len(d.names) != maxNames || d.lru.len != maxNames {
		t.Errorf("%d names, %d in order", len(d.names), d.lru.len)
	}
	if d.names["0.example"] == nil || d.names["1.example"] != nil {
		t.Error("not the least recently used name went")
	}
}

func TestInterleave(t *testing.T) {
	t.Parallel()
	var in []netip.Addr
	for _, s := range []string{"2001:db8::1", "2001:db8::2", "2001:db8::3", "::ffff:1.1.1.1", "2.2.2.2"} {
		in = append(in, netip.MustParseAddr(s))
	}
	if got := fmt.Sprint(interleave(in)); got != "[2001:db8::1 1.1.1.1 2001:db8::2 2.2.2.2 2001:db8::3]" {
		t.Error(got)
	}
}

func TestLocalhostIsNotAsked(t *testing.T) {
	t.Parallel()
	var d dnsCache
	d.setup(nil, time.Minute, time.Second)
	for _, name := range []string{"localhost", "films.localhost", "localhost."} {
		addrs, err := d.lookup(t.Context(), name)
		if err != nil || !addrs[0].IsLoopback() {
			t.Errorf("%s: %v %v", name, addrs, err)
		}
	}
}
