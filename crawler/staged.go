package crawler

import (
	"context"
	"reflect"
	"sync"
)

// StagedStore returns a store for middlewares that keep something of a page, such as a cache of responses. What is put in
// the context of a page that is being worked on becomes one of the items of that page: it is stored in the transaction
// that ends the page, where the frontier is an ItemSettler of the store, and not at all if the page fails or is tried
// again. Until then Get finds it in that context alone, and Scan does not.
//
// All else takes effect at once: Delete, what is done in other contexts, and by engines that have another Config.Store.
// What comes after the page was settled is an error.
func StagedStore(s Store) Store { return stagedStore{s} }

type stagedStore struct{ Store }

// keepsake is what middlewares have put for a page.
type keepsake struct {
	mu    sync.Mutex
	items []Item
	over  bool
}

// of returns what is kept for the page that ctx belongs to; nil if there is none, or its items go elsewhere.
func (s stagedStore) of(ctx context.Context) *keepsake {
	v := visitOf(ctx)
	if v == nil || !isStore(v.e.cfg.Store, s.Store) {
		return nil
	}
	return &v.kept
}

// isStore reports whether two stores are one. Those that cannot be compared are not.
func isStore(a, b Store) bool {
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// Put implements Store.
func (s stagedStore) Put(ctx context.Context, key string, value []byte) error {
	k := s.of(ctx)
	if k == nil {
		return s.Store.Put(ctx, key, value)
	}
	if err := first(ctx.Err(), CheckItem(key, value)); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over {
		return errOver
	}
	k.drop(key)
	k.items = append(k.items, Item{Key: key, Value: append([]byte{}, value...)})
	return nil
}

// Get implements Store.
func (s stagedStore) Get(ctx context.Context, key string) ([]byte, error) {
	if k := s.of(ctx); k != nil {
		if value := k.find(key); value != nil {
			return value, ctx.Err()
		}
	}
	return s.Store.Get(ctx, key)
}

// Delete implements Store.
func (s stagedStore) Delete(ctx context.Context, key string) error {
	if k := s.of(ctx); k != nil {
		k.mu.Lock()
		k.drop(key)
		k.mu.Unlock()
	}
	return s.Store.Delete(ctx, key)
}

// drop takes a key out; k.mu is held.
func (k *keepsake) drop(key string) {
	for i := range k.items {
		if k.items[i].Key == key {
			k.items = append(k.items[:i], k.items[i+1:]...)
			return
		}
	}
}

// find returns a copy of what was put; nil if there is nothing.
func (k *keepsake) find(key string) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, i := range k.items {
		if !k.over && i.Key == key {
			return append([]byte{}, i.Value...)
		}
	}
	return nil
}

// close returns all that was put. Nothing is taken after it.
func (k *keepsake) close() []Item {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = true
	return k.items
}
