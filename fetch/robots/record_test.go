package robots

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/fetch"
)

func TestStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &web{answer: always(200, someRules)}
		store := &mapStore{}
		restart := func() *Cache { return &Cache{Fetcher: w, Store: store} }
		forbidden := func(c *Cache, requests int) Decision {
			t.Helper()
			d := check(t, c, "http://h.test/private")
			if d.Allowed || w.count() != requests {
				t.Errorf("%+v after %d requests, want %d", d, w.count(), requests)
			}
			return d
		}
		forbidden(restart(), 1)
		elapse(23 * time.Hour)
		forbidden(restart(), 1)
		elapse(time.Hour)
		forbidden(restart(), 2)

		elapse(24 * time.Hour)
		w.set(fails(fetch.ErrConnect))
		c := restart()
		if d := forbidden(c, 3); !d.Stale || d.Source != SourceRules {
			t.Errorf("the stored rules do not go on: %+v", d)
		}
		elapse(time.Hour)
		forbidden(c, 4)
		if d := forbidden(restart(), 5); !d.Stale || d.Source != SourceRules {
			t.Errorf("the stored rules do not go on: %+v", d)
		}

		store.values["robots/http://new.test"] = []byte("{")
		w.set(always(404, ""))
		if d := check(t, restart(), "http://new.test/"); !d.Allowed || w.count() != 6 {
			t.Errorf("a damaged record: %+v", d)
		}
		if d := check(t, restart(), "http://new.test/"); !d.Allowed || d.Status != 404 || w.count() != 6 {
			t.Errorf("404 is not stored: %+v", d)
		}
	})
}

func TestOutageIsStored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &mapStore{}
		w := &web{answer: fails(fetch.ErrConnect)}
		for range 30 {
			if check(t, &Cache{Fetcher: w, Store: store}, "http://h.test/").Allowed {
				t.Fatal("allowed too early")
			}
			elapse(24 * time.Hour)
		}
		if !check(t, &Cache{Fetcher: w, Store: store}, "http://h.test/").Allowed {
			t.Error("the outage began anew with each start")
		}
	})
}

func TestRecordFromTheFuture(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		c := &Cache{Fetcher: fetch.FetcherFunc(always(404, ""))}
		check(t, c, "http://h.test/")
		future := now.Add(time.Hour).UnixMilli()
		s := c.restore(record{HasFile: true, Body: []byte(someRules), Fetched: future, TTL: DefaultMaxAge.Milliseconds()}, now)
		if s.due.After(now) || !s.isCopy {
			t.Errorf("due in %v", s.due.Sub(now))
		}
		s = c.restore(record{Since: future}, now)
		if s.since.After(now) || s.due.After(now) {
			t.Errorf("since %v, due in %v", s.since, s.due.Sub(now))
		}
	})
}

func TestFailingStoreIsNotInTheWay(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	store := &mapStore{err: errors.New("disk full")}
	for _, logger := range []*slog.Logger{nil, slog.New(slog.NewTextHandler(&log, nil))} {
		c := &Cache{Fetcher: &web{answer: always(200, someRules)}, Store: store, Log: logger}
		if d := check(t, c, "http://h.test/private"); d.Allowed {
			t.Errorf("%+v", d)
		}
	}
	for _, want := range []string{"op=get", "op=put", "disk full", "origin=http://h.test"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, &log)
		}
	}
}

func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"v":1,"status":200,"file":true,"body":"VXNlci1hZ2VudDogKgpEaXNhbGxvdzogLwo=","fetched":1700000000000,"ttl_ms":86400000}`))
	f.Add([]byte(`{"v":1,"unreachable_since":-9223372036854775808}`))
	f.Add([]byte(`{"v":1,"fetched":9223372036854775807,"ttl_ms":9223372036854775807}`))
	f.Add([]byte(`{"v":2}`))
	f.Add([]byte("{"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		const origin = "http://h.test"
		store := &mapStore{values: map[string][]byte{storeKey(origin): raw}}
		c := &Cache{Fetcher: &web{answer: always(404, "")}, Store: store}
		check(t, c, "http://other.test/")
		s := c.load(t.Context(), origin)
		now := time.Now() // after the load, which clamps to the time that it sees
		if s == nil {
			if len(store.keys()) != 1 { // that of the other origin
				t.Error("a damaged record is left")
			}
			return
		}
		if s.due.Sub(now) > DefaultMaxAge || s.since.After(now) {
			t.Errorf("due in %v, since %v", s.due.Sub(now), s.since)
		}
		s.decide("/", now)
	})
}
