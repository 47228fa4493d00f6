package cookie

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// memory is a Store for tests.
type memory struct {
	mu     sync.Mutex
	values map[string][]byte
	gets   int
	puts   int
	fail   error
	wait   chan struct{} // Get waits for it
}

func (m *memory) Get(ctx context.Context, key string) ([]byte, error) {
	if m.wait != nil {
		<-m.wait
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gets++
	if m.fail != nil {
		return nil, m.fail
	}
	value, ok := m.values[key]
	if !ok {
		return nil, fmt.Errorf("no %s: %w", key, fs.ErrNotExist)
	}
	return value, nil
}

func (m *memory) Put(ctx context.Context, key string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	if m.values == nil {
		m.values = map[string][]byte{}
	}
	m.puts++
	m.values[key] = value
	return nil
}

func (m *memory) Delete(ctx context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, key)
	return m.fail
}

var home = Exchange{URL: "https://a.test/"}

func TestSessionsAreKept(t *testing.T) {
	t.Parallel()
	ctx, store := t.Context(), &memory{}
	jars := &Jars{Store: store}
	for _, session := range []string{"", "one", "two"} {
		jar, err := jars.Open(ctx, session)
		if err != nil {
			t.Fatal(err)
		}
		if session != "two" {
			jar.Set(home, "s="+session+"x")
		}
		if again, _ := jars.Open(ctx, session); again != jar {
			t.Error("another jar for the same session")
		}
	}
	if err := jars.Save(ctx); err != nil || store.puts != 2 {
		t.Errorf("%v, %d written", err, store.puts)
	}
	if err := jars.Save(ctx); err != nil || store.puts != 2 {
		t.Errorf("%v, %d written, of which none has changed", err, store.puts)
	}
	jars = &Jars{Store: store}
	jar, err := jars.Open(ctx, "one")
	if err != nil || jar.Header(home) != "s=onex" {
		t.Errorf("%v, %q", err, jar.Header(home))
	}
	jar.Set(home, "t=1")
	if err := jars.Release(ctx, "one"); err != nil {
		t.Error(err)
	}
	if jar, err = jars.Open(ctx, "one"); err != nil || jar.Header(home) != "s=onex; t=1" {
		t.Errorf("%v, %q", err, jar.Header(home))
	}
	if err := errors.Join(jars.Drop(ctx, "one"), jars.Drop(ctx, ""), jars.Release(ctx, "unknown")); err != nil {
		t.Error(err)
	}
	if jar.Header(home) != "" || len(store.values) != 0 || len(jars.Sessions()) != 0 {
		t.Errorf("after the end: %q, %v, %v", jar.Header(home), store.values, jars.Sessions())
	}
}

func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	jars := &Jars{MaxSessions: 2}
	for _, name := range []string{"a", "b", "a"} {
		if _, err := jars.Open(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := jars.Open(ctx, "c"); !errors.Is(err, ErrTooManySessions) {
		t.Errorf("past the bound: %v", err)
	}
	if err := jars.Drop(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := jars.Open(ctx, "c"); err != nil {
		t.Errorf("after one has ended: %v", err)
	}
	jars = &Jars{MaxSessions: -1}
	for i := range DefaultMaxSessions + 1 {
		if _, err := jars.Open(ctx, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	jars = new(Jars)
	for i := range DefaultMaxSessions + 1 {
		if _, err := jars.Open(ctx, fmt.Sprint(i)); (err != nil) != (i == DefaultMaxSessions) {
			t.Fatalf("session %d: %v", i, err)
		}
	}
	if _, err := (&Jars{}).Open(ctx, strings.Repeat("x", MaxSession)); err != nil {
		t.Errorf("longest name: %v", err)
	}
	if _, err := (&Jars{}).Open(ctx, strings.Repeat("x", MaxSession+1)); !errors.Is(err, ErrSessionName) {
		t.Errorf("name beyond: %v", err)
	}
}

func TestStoreFaults(t *testing.T) {
	t.Parallel()
	ctx, own := t.Context(), errors.New("disk")
	store := &memory{fail: own}
	jars := &Jars{Store: store, MaxSessions: 1}
	if _, err := jars.Open(ctx, "a"); !errors.Is(err, own) || !strings.HasPrefix(err.Error(), "seine: cookie") {
		t.Errorf("%v", err)
	}
	store.fail = nil
	jar, err := jars.Open(ctx, "a") // asked again, and the place of the one that failed is free
	if err != nil {
		t.Fatal(err)
	}
	jar.Set(home, "x=1")
	store.fail = own
	if err := errors.Join(jars.Save(ctx)); !errors.Is(err, own) {
		t.Errorf("%v", err)
	}
	if err := jars.Release(ctx, "a"); !errors.Is(err, own) || len(jars.Sessions()) != 1 {
		t.Errorf("%v; what could not be written is gone", err)
	}
	store.fail = nil
	if err := jars.Save(ctx); err != nil || store.puts != 1 {
		t.Errorf("%v, %d written", err, store.puts)
	}
	store.values["cookies/b"] = []byte("{")
	jars.MaxSessions = 2
	if _, err := jars.Open(ctx, "b"); err == nil {
		t.Error("a damaged jar was read as an empty one")
	}
}

// TestStoredJarWithABadCookie opens what is left of it and says what is not.
func TestStoredJarWithABadCookie(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	const text = `{"version":1,"cookies":[{"name":"a;b","domain":"a.test","path":"/"},{"name":"s","value":"1","domain":"a.test","path":"/"}]}`
	for _, told := range []bool{true, false} {
		store := &memory{values: map[string][]byte{"cookies/one": []byte(text)}}
		jars := &Jars{Store: store}
		var got []string
		if told {
			jars.OnLeftOut = func(session string, left *FormError) {
				jar, err := jars.Open(ctx, session) // nothing is held
				got = append(got, fmt.Sprint(session, " ", left.Count, " ", jar.Header(home), " ", err))
			}
		}
		for range 2 {
			jar, err := jars.Open(ctx, "one")
			if err != nil || jar.Header(home) != "s=1" || jar.LeftOut() == nil || jar.LeftOut().Count != 1 {
				t.Errorf("%v, %v", jar, err)
			}
		}
		if want := "one 1 s=1 <nil>"; told && (len(got) != 1 || got[0] != want) {
			t.Errorf("told %q", got)
		}
		if err := jars.Save(ctx); err != nil || store.puts != 0 {
			t.Errorf("%v, %d written of a jar that has not changed", err, store.puts)
		}
	}
}

func TestOneReadForManyWaiters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &memory{wait: make(chan struct{})}
		jars := &Jars{Store: store}
		found := make(chan *Jar, 8)
		for range cap(found) {
			go func() {
				jar, _ := jars.Open(t.Context(), "a")
				found <- jar
			}()
		}
		synctest.Wait()
		own := errors.New("gone home")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(own)
		if _, err := jars.Open(ctx, "a"); !errors.Is(err, own) {
			t.Errorf("a waiter whose context has ended: %v", err)
		}
		close(store.wait)
		first := <-found
		for range cap(found) - 1 {
			if jar := <-found; jar != first || jar == nil {
				t.Error("another jar")
			}
		}
		if store.gets != 1 {
			t.Errorf("read %d times", store.gets)
		}
	})
}
