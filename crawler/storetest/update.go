package storetest

import (
	"errors"
	"strings"
	"sync"

	"github.com/seine-go/seine/crawler"
)

func (e *env) updater() crawler.Updater {
	u, is := e.s.(crawler.Updater)
	if !is {
		e.t.Skipf("%s: the store is no Updater", e.rule)
	}
	return u
}

func updateBasics(e *env) {
	u := e.updater()
	set := func(key string, want []byte, value []byte, fail error) {
		e.t.Helper()
		err := u.Update(e.ctx(), key, func(old []byte) ([]byte, error) {
			if string(old) != string(want) || (old == nil) != (want == nil) {
				e.failf("Update is given %q, not %q", old, want)
			}
			if len(old) > 0 {
				old[0] = 'X' // it is the caller's
			}
			return value, fail
		})
		if !errors.Is(err, fail) {
			e.failf("Update: error %v, not %v", err, fail)
		}
	}
	why := errors.New("why")
	set("a", nil, []byte("1"), why)
	e.has("a", nil)
	set("a", nil, []byte("1"), nil)
	e.has("a", []byte("1"))
	set("a", []byte("1"), []byte("2"), why)
	e.has("a", []byte("1"))
	set("a", []byte("1"), nil, nil)
	e.has("a", []byte{})
	set("a", []byte{}, []byte("3"), nil)
	e.has("a", []byte("3"))
	for _, key := range []string{"", strings.Repeat("k", crawler.MaxKeyBytes+1)} {
		if err := u.Update(e.ctx(), key, func([]byte) ([]byte, error) { return nil, nil }); err == nil {
			e.failf("Update took a key of %d bytes", len(key))
		}
	}
}

func updatesAtOnce(e *env) {
	u := e.updater()
	const workers, each = 8, 25
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range each {
				err := u.Update(e.ctx(), "count", func(old []byte) ([]byte, error) { return append(old, 'x'), nil })
				if err != nil {
					e.t.Errorf("%s: %v", e.rule, err)
				}
			}
		})
	}
	wg.Wait()
	e.has("count", []byte(strings.Repeat("x", workers*each)))
}
