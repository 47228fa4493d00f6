package storetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seine-go/seine/crawler"
)

// recorder is a testing.TB that notes failures instead of failing.
type recorder struct {
	testing.TB
	mu       sync.Mutex
	failures []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Skipf(string, ...any) { runtime.Goexit() }

// broken is a memory store that breaks a rule. Nil fields leave a method as it is.
type broken struct {
	*crawler.MemoryStore
	get    func(s *crawler.MemoryStore, key string) ([]byte, error)
	put    func(s *crawler.MemoryStore, key string, value []byte) error
	delete func(s *crawler.MemoryStore, key string) error
	change func(all []crawler.Entry) []crawler.Entry // of what a scan lists
	update func(s *crawler.MemoryStore, key string, f func([]byte) ([]byte, error)) error
}

func (b *broken) Get(ctx context.Context, key string) ([]byte, error) {
	if b.get == nil || ctx.Err() != nil {
		return b.MemoryStore.Get(ctx, key)
	}
	return b.get(b.MemoryStore, key)
}

func (b *broken) Put(ctx context.Context, key string, value []byte) error {
	if b.put == nil || ctx.Err() != nil {
		return b.MemoryStore.Put(ctx, key, value)
	}
	return b.put(b.MemoryStore, key, value)
}

func (b *broken) Delete(ctx context.Context, key string) error {
	if b.delete == nil || ctx.Err() != nil {
		return b.MemoryStore.Delete(ctx, key)
	}
	return b.delete(b.MemoryStore, key)
}

func (b *broken) Scan(ctx context.Context, prefix string) iter.Seq2[crawler.Entry, error] {
	if b.change == nil || ctx.Err() != nil {
		return b.MemoryStore.Scan(ctx, prefix)
	}
	return func(yield func(crawler.Entry, error) bool) {
		var all []crawler.Entry
		for e := range b.MemoryStore.Scan(ctx, prefix) {
			all = append(all, e)
		}
		for _, e := range b.change(all) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (b *broken) Update(ctx context.Context, key string, f func([]byte) ([]byte, error)) error {
	if b.update == nil || ctx.Err() != nil {
		return b.MemoryStore.Update(ctx, key, f)
	}
	return b.update(b.MemoryStore, key, f)
}

// The suite finds each broken rule and names it, and finds none in a store that keeps all.
func TestSuiteFindsBrokenRules(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var mu sync.Mutex
	kept := map[*crawler.MemoryStore]map[string][]byte{} // what callers gave, by store
	for name, fault := range map[string]struct {
		rule string
		with broken
	}{
		"none": {},
		"a missing key is empty": {"S1", broken{get: func(s *crawler.MemoryStore, key string) ([]byte, error) {
			if v, err := s.Get(ctx, key); !errors.Is(err, fs.ErrNotExist) {
				return v, err
			}
			return nil, nil
		}}},
		"the first value stays": {"S2", broken{put: func(s *crawler.MemoryStore, key string, value []byte) error {
			if _, err := s.Get(ctx, key); err == nil {
				return nil
			}
			return s.Put(ctx, key, value)
		}}},
		"the caller's memory is kept": {"S2", broken{
			put: func(s *crawler.MemoryStore, key string, value []byte) error {
				mu.Lock()
				defer mu.Unlock()
				if kept[s] == nil {
					kept[s] = map[string][]byte{}
				}
				kept[s][key] = value
				return s.Put(ctx, key, value)
			},
			get: func(s *crawler.MemoryStore, key string) ([]byte, error) {
				mu.Lock()
				defer mu.Unlock()
				if v, there := kept[s][key]; there {
					return v, nil
				}
				return s.Get(ctx, key)
			},
		}},
		"values end at a zero": {"S2", broken{put: func(s *crawler.MemoryStore, key string, value []byte) error {
			v, _, _ := strings.Cut(string(value), "\x00")
			return s.Put(ctx, key, []byte(v))
		}}},
		"deleting what is missing fails": {"S3", broken{delete: func(s *crawler.MemoryStore, key string) error {
			if _, err := s.Get(ctx, key); err != nil {
				return err
			}
			return s.Delete(ctx, key)
		}}},
		"scans are in no order": {"S4", broken{change: func(all []crawler.Entry) []crawler.Entry {
			slices.Reverse(all)
			return all
		}}},
		"scans repeat": {"S4", broken{change: func(all []crawler.Entry) []crawler.Entry { return append(all, all...) }}},
		"scans are cut": {"S4", broken{change: func(all []crawler.Entry) []crawler.Entry {
			return all[:min(len(all), 10)]
		}}},
		"long keys are cut": {"S5", broken{put: func(s *crawler.MemoryStore, key string, value []byte) error {
			return s.Put(ctx, key[:min(len(key), crawler.MaxKeyBytes)], value)
		}}},
		"keys are cleaned": {"S5", broken{put: func(s *crawler.MemoryStore, key string, value []byte) error {
			if key != "" && strings.TrimSpace(key) != "" {
				key = strings.TrimSpace(key)
			}
			return s.Put(ctx, key, value)
		}}},
		"an update is two steps": {"update", broken{update: func(s *crawler.MemoryStore, key string, f func([]byte) ([]byte, error)) error {
			old, err := s.Get(ctx, key)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			runtime.Gosched()
			value, err := f(old)
			if err != nil {
				return err
			}
			for range 100 {
				runtime.Gosched()
			}
			return s.Put(ctx, key, value)
		}}},
		"a failed update is kept": {"update", broken{update: func(s *crawler.MemoryStore, key string, f func([]byte) ([]byte, error)) error {
			var failed error
			return errors.Join(s.Update(ctx, key, func(old []byte) ([]byte, error) {
				value, err := f(old)
				failed = err
				return value, nil
			}), failed)
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var found []string
			for _, c := range tests {
				if fault.rule != "" && c.rule != fault.rule {
					continue
				}
				r := &recorder{TB: t}
				end := make(chan struct{})
				go func() {
					defer close(end)
					b := fault.with
					b.MemoryStore = new(crawler.MemoryStore)
					c.run(&env{t: r, rule: c.rule, s: &b})
				}()
				<-end
				found = append(found, r.failures...)
			}
			if (len(found) > 0) != (fault.rule != "") {
				t.Fatalf("the suite found %q", found)
			}
			for _, f := range found {
				if !strings.HasPrefix(f, fault.rule+": ") {
					t.Errorf("the failure %q does not name %s", f, fault.rule)
				}
			}
		})
	}
}
