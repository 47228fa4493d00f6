// Package storetest checks that a crawler.Store keeps its rules S1 to S5 and, where it is an Updater, that an update is one
// step. Whoever writes a store passes it before anything is kept in it:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) storetest.Harness {
//			return storetest.Harness{Open: func(t testing.TB) crawler.Store { return openMine(t) }}
//		})
//	}
//
// A failure begins with the rule that was broken, as in "S3: …".
package storetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seine-go/seine/crawler"
)

// Harness makes the stores of a test. Only Open is needed.
type Harness struct {
	// Open makes an empty store that lasts until the test ends.
	Open func(t testing.TB) crawler.Store
	// Reopen closes a store and opens it again. Nil: it does not outlive its process.
	Reopen func(t testing.TB, s crawler.Store) crawler.Store
}

// env is what a test works with. Its methods end the test when a rule is broken.
type env struct {
	t    testing.TB
	rule string
	h    Harness
	s    crawler.Store
}

type test struct {
	rule, name string
	run        func(e *env)
}

var tests = []test{
	{"S1", "a missing key does not exist", missingKey},
	{"S2", "a value is what was put last", lastValue},
	{"S2", "memory given and taken is the caller's", ownMemory},
	{"S2", "values of any bytes and sizes", anyValue},
	{"S2", "what was put is there after a restart", restart},
	{"S3", "a missing key can be deleted", deleteMissing},
	{"S4", "a scan is in order of bytes and ends with the prefix", scanInOrder},
	{"S4", "a scan may be stopped, and the store used meanwhile", scanAndUse},
	{"S4", "a scan sees what is there all the time, once", scanSeesAll},
	{"S5", "a key has 1 to 4,096 bytes", keyBounds},
	{"S5", "keys of any bytes are apart", anyKey},
	{"S5", "a value has 64 MiB at most", valueBounds},
	{"context", "an ended context has no effect", endedContext},
	{"concurrency", "all methods at once", atOnce},
	{"update", "a missing key is nil, an error leaves the value", updateBasics},
	{"update", "updates of many are one step each", updatesAtOnce},
	{"model", "random operations equal a map", randomOperations},
}

// Run runs the suite. It makes a harness for each test.
func Run(t *testing.T, harness func(t *testing.T) Harness) {
	for _, c := range tests {
		t.Run(c.rule+"/"+c.name, func(t *testing.T) {
			h := harness(t)
			c.run(&env{t: t, rule: c.rule, h: h, s: h.Open(t)})
		})
	}
}

func (e *env) ctx() context.Context { return e.t.Context() }

func (e *env) failf(format string, args ...any) {
	e.t.Helper()
	e.t.Fatalf(e.rule+": "+format, args...)
}

func (e *env) must(err error) {
	e.t.Helper()
	if err != nil {
		e.failf("%v", err)
	}
}

func (e *env) put(key, value string) {
	e.t.Helper()
	e.must(e.s.Put(e.ctx(), key, []byte(value)))
}

// has checks a value; nil: that there is none.
func (e *env) has(key string, want []byte) {
	e.t.Helper()
	got, err := e.s.Get(e.ctx(), key)
	switch {
	case want == nil && !errors.Is(err, fs.ErrNotExist):
		e.failf("Get of the missing %.40q: %.40q, %v; not fs.ErrNotExist", key, got, err)
	case want != nil && (err != nil || string(got) != string(want)):
		e.failf("Get of %.40q: %.40q, %v; not %.40q", key, got, err, want)
	}
}

func (e *env) scan(prefix string) (keys []string) {
	e.t.Helper()
	for entry, err := range e.s.Scan(e.ctx(), prefix) {
		e.must(err)
		keys = append(keys, entry.Key)
	}
	return keys
}

func missingKey(e *env) {
	e.has("never", nil)
	e.put("a", "1")
	e.has("A", nil)
	e.has("a/", nil)
	e.must(e.s.Delete(e.ctx(), "a"))
	e.has("a", nil)
	if keys := e.scan(""); len(keys) > 0 {
		e.failf("an empty store lists %q", keys)
	}
}

func lastValue(e *env) {
	for i := range 5 {
		e.put("a", fmt.Sprint("value ", i))
		e.put(fmt.Sprint("b", i), "other")
		e.has("a", fmt.Append(nil, "value ", i))
	}
	e.must(e.s.Delete(e.ctx(), "a"))
	e.put("a", "again")
	e.has("a", []byte("again"))
}

func ownMemory(e *env) {
	given := []byte("as it was")
	e.must(e.s.Put(e.ctx(), "a", given))
	given[0] = 'X'
	e.has("a", []byte("as it was"))
	got, err := e.s.Get(e.ctx(), "a")
	e.must(err)
	got[0] = 'X'
	e.has("a", []byte("as it was"))
	for entry, err := range e.s.Scan(e.ctx(), "a") {
		e.must(err)
		entry.Value[0] = 'X'
	}
	e.has("a", []byte("as it was"))
}

func anyValue(e *env) {
	r := rand.New(rand.NewPCG(1, 2))
	for i, size := range []int{0, 1, 255, 4096, 65_537, 1 << 20} {
		value := make([]byte, size)
		for j := range value {
			value[j] = byte(r.Uint32())
		}
		key := fmt.Sprint("size ", i)
		e.must(e.s.Put(e.ctx(), key, value))
		e.has(key, value)
	}
	e.must(e.s.Put(e.ctx(), "nil", nil)) // as good as no bytes; the key is there
	e.has("nil", []byte{})
}

func restart(e *env) {
	if e.h.Reopen == nil {
		e.t.Skipf("%s: the store does not outlive its process (no Reopen)", e.rule)
	}
	for i := range 100 {
		e.put(fmt.Sprint("key ", i), fmt.Sprint("value ", i))
	}
	e.must(e.s.Delete(e.ctx(), "key 7"))
	e.s = e.h.Reopen(e.t, e.s)
	e.has("key 7", nil)
	e.has("key 8", []byte("value 8"))
	if keys := e.scan("key"); len(keys) != 99 {
		e.failf("%d keys of 99 are there after a restart", len(keys))
	}
}

func deleteMissing(e *env) {
	e.must(e.s.Delete(e.ctx(), "never"))
	e.put("a", "1")
	e.must(e.s.Delete(e.ctx(), "a"))
	e.must(e.s.Delete(e.ctx(), "a"))
	e.has("a", nil)
}

func scanInOrder(e *env) {
	keys := []string{"a", "a/", "a/1", "a/10", "a/2", "a/\x00", "a/\xff", "a/\xff\xff", "a0", "b", "ä", "A/1", "%", "a_", "a%"}
	for _, k := range keys {
		e.put(k, "value of "+k)
	}
	slices.Sort(keys)
	for _, prefix := range []string{"", "a", "a/", "a/\xff", "a/1", "a_", "a%", "%", "zz"} {
		var want []string
		for _, k := range keys {
			if strings.HasPrefix(k, prefix) {
				want = append(want, k)
			}
		}
		if got := e.scan(prefix); !slices.Equal(got, want) {
			e.failf("the scan of %q lists %q, not %q", prefix, got, want)
		}
	}
	for entry, err := range e.s.Scan(e.ctx(), "") {
		e.must(err)
		if string(entry.Value) != "value of "+entry.Key {
			e.failf("the scan gives %q for %q", entry.Value, entry.Key)
		}
	}
}

func scanAndUse(e *env) {
	for i := range 50 {
		e.put(fmt.Sprintf("k%02d", i), "x")
	}
	seen := 0
	for range e.s.Scan(e.ctx(), "k") {
		if seen++; seen == 3 {
			break
		}
	}
	seen = 0
	for entry, err := range e.s.Scan(e.ctx(), "k") {
		e.must(err)
		seen++
		e.must(e.s.Delete(e.ctx(), entry.Key))
		e.has(entry.Key, nil)
		e.put("other/"+entry.Key, "y")
		for inner, err := range e.s.Scan(e.ctx(), "k49") {
			e.must(err)
			_ = inner
			break
		}
	}
	if seen != 50 || len(e.scan("k")) != 0 || len(e.scan("other/")) != 50 {
		e.failf("a scan whose keys are deleted on the way gave %d of 50", seen)
	}
}

func scanSeesAll(e *env) {
	for i := range 100 {
		e.put(fmt.Sprintf("stay/%02d", i), "x")
	}
	got := map[string]int{}
	i := 0
	for entry, err := range e.s.Scan(e.ctx(), "") {
		e.must(err)
		got[entry.Key]++
		e.put(fmt.Sprintf("stay/%02d-more", i%100), "new") // may be listed or not
		e.put(fmt.Sprintf("early/%d", i), "new")
		e.must(e.s.Delete(e.ctx(), fmt.Sprintf("early/%d", i-1)))
		if i++; i > 1000 {
			e.failf("a scan has no end")
		}
	}
	for i := range 100 {
		if n := got[fmt.Sprintf("stay/%02d", i)]; n != 1 {
			e.failf("a key that was there all the time was listed %d times", n)
		}
	}
	for key, n := range got {
		if n != 1 {
			e.failf("%q was listed %d times", key, n)
		}
	}
}

func valueBounds(e *env) {
	value := make([]byte, crawler.MaxValueBytes+1)
	var refused *crawler.ItemError
	if err := e.s.Put(e.ctx(), "a", value); !errors.As(err, &refused) {
		e.failf("a value of a byte more than MaxValueBytes: %v", err)
	}
	value = value[:crawler.MaxValueBytes]
	value[len(value)-1] = 1
	e.must(e.s.Put(e.ctx(), "a", value))
	e.has("a", value)
}

func keyBounds(e *env) {
	longest := strings.Repeat("k", crawler.MaxKeyBytes)
	e.put(longest, "1")
	e.put("k", "2")
	e.has(longest, []byte("1"))
	if got := e.scan(longest); !slices.Equal(got, []string{longest}) {
		e.failf("the longest key is not listed")
	}
	for _, key := range []string{"", longest + "k"} {
		_, getErr := e.s.Get(e.ctx(), key)
		for name, err := range map[string]error{"Get": getErr, "Put": e.s.Put(e.ctx(), key, nil), "Delete": e.s.Delete(e.ctx(), key)} {
			if err == nil || errors.Is(err, fs.ErrNotExist) {
				e.failf("%s of a key of %d bytes: error %v", name, len(key), err)
			}
		}
	}
	if got := e.scan(""); len(got) != 2 {
		e.failf("%d keys are there, not 2", len(got))
	}
}

func anyKey(e *env) {
	keys := []string{"a", "a\x00", "a\x00b", "\x00", "\xff", "a ", " a", "a\n", "../a", "a/../b", "'; drop", "?", "*", "\u00e4", "a\u0308", "A"}
	for i, k := range keys {
		e.put(k, fmt.Sprint(i))
	}
	for i, k := range keys {
		e.has(k, fmt.Append(nil, i))
	}
}

func endedContext(e *env) {
	e.put("a", "1")
	ended, cancel := context.WithCancel(e.ctx())
	cancel()
	_, getErr := e.s.Get(ended, "a")
	errs := map[string]error{"Get": getErr, "Put": e.s.Put(ended, "a", []byte("2")), "Delete": e.s.Delete(ended, "a"), "Scan": nil}
	for _, err := range e.s.Scan(ended, "a") {
		errs["Scan"] = err
	}
	if u, is := e.s.(crawler.Updater); is {
		errs["Update"] = u.Update(ended, "a", func([]byte) ([]byte, error) { return []byte("3"), nil })
	}
	for name, err := range errs {
		if !errors.Is(err, context.Canceled) {
			e.failf("%s with an ended context: error %v", name, err)
		}
	}
	e.has("a", []byte("1"))
}

func atOnce(e *env) {
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 50 {
				key := fmt.Sprintf("%d/%d", w, i)
				if err := e.s.Put(e.ctx(), key, []byte(key)); err != nil {
					e.t.Errorf("%s: %v", e.rule, err)
				}
				if got, err := e.s.Get(e.ctx(), key); err != nil || string(got) != key {
					e.t.Errorf("%s: %q, %v", e.rule, got, err)
				}
				for _, err := range e.s.Scan(e.ctx(), fmt.Sprintf("%d/", (w+1)%8)) {
					if err != nil {
						e.t.Errorf("%s: %v", e.rule, err)
					}
				}
				if i%2 == 1 {
					if err := e.s.Delete(e.ctx(), key); err != nil {
						e.t.Errorf("%s: %v", e.rule, err)
					}
				}
			}
		})
	}
	wg.Wait()
	if got := len(e.scan("")); got != 8*25 {
		e.failf("%d keys are there, not %d", got, 8*25)
	}
}

func randomOperations(e *env) {
	r := rand.New(rand.NewPCG(3, 4))
	model := map[string]string{}
	for i := range 2000 {
		key := fmt.Sprintf("k%d", r.IntN(40))
		switch r.IntN(5) {
		case 0:
			e.must(e.s.Delete(e.ctx(), key))
			delete(model, key)
		case 1:
			var want []string
			for k := range model {
				if strings.HasPrefix(k, key) {
					want = append(want, k)
				}
			}
			slices.Sort(want)
			if got := e.scan(key); !slices.Equal(got, want) {
				e.failf("step %d: the scan of %q lists %q, not %q", i, key, got, want)
			}
		case 2:
			if value, there := model[key]; there {
				e.has(key, []byte(value))
			} else {
				e.has(key, nil)
			}
		default:
			model[key] = fmt.Sprint(i)
			e.put(key, model[key])
		}
	}
}
