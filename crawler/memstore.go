package crawler

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"sync"
)

// MemoryStore is a Store that lasts as long as the process. The zero value is ready.
type MemoryStore struct {
	mu     sync.RWMutex
	values map[string][]byte
}

var (
	_ Store   = (*MemoryStore)(nil)
	_ Updater = (*MemoryStore)(nil)
)

// Get implements Store.
func (m *MemoryStore) Get(ctx context.Context, key string) ([]byte, error) {
	if err := first(ctx.Err(), CheckItem(key, nil)); err != nil {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	v, ok := m.values[key]
	if !ok {
		return nil, fmt.Errorf("seine: store: %q: %w", key, fs.ErrNotExist)
	}
	return bytes.Clone(v), nil
}

// Put implements Store.
func (m *MemoryStore) Put(ctx context.Context, key string, value []byte) error {
	if err := first(ctx.Err(), CheckItem(key, value)); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(key, value)
	return nil
}

func (m *MemoryStore) put(key string, value []byte) {
	if m.values == nil {
		m.values = make(map[string][]byte)
	}
	if value == nil {
		value = []byte{}
	}
	m.values[key] = bytes.Clone(value)
}

// Delete implements Store.
func (m *MemoryStore) Delete(ctx context.Context, key string) error {
	if err := first(ctx.Err(), CheckItem(key, nil)); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, key)
	return nil
}

// Update implements Updater. f may use the store; it is called again when the value has changed meanwhile.
func (m *MemoryStore) Update(ctx context.Context, key string, f func(old []byte) ([]byte, error)) error {
	for {
		if err := first(ctx.Err(), CheckItem(key, nil)); err != nil {
			return err
		}
		m.mu.RLock()
		old, there := m.values[key]
		m.mu.RUnlock()
		value, err := f(bytes.Clone(old)) // nobody writes to a value that is kept
		if err = first(err, CheckItem(key, value)); err != nil {
			return err
		}
		m.mu.Lock()
		now, still := m.values[key]
		if still == there && bytes.Equal(now, old) {
			m.put(key, value)
			m.mu.Unlock()
			return nil
		}
		m.mu.Unlock()
	}
}

// Scan implements Store.
func (m *MemoryStore) Scan(ctx context.Context, prefix string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		m.mu.RLock()
		var keys []string
		for k := range m.values {
			if strings.HasPrefix(k, prefix) {
				keys = append(keys, k)
			}
		}
		m.mu.RUnlock()
		slices.Sort(keys)
		for _, k := range keys {
			if err := ctx.Err(); err != nil {
				yield(Entry{}, err)
				return
			}
			m.mu.RLock()
			v, ok := m.values[k]
			v = bytes.Clone(v)
			m.mu.RUnlock()
			if ok && !yield(Entry{Key: k, Value: v}, nil) {
				return
			}
		}
	}
}

// first returns the first error that is not nil.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
