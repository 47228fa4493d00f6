package crawler

import (
	"context"
	"fmt"
	"iter"
)

// Bounds of what is in a Store.
const (
	MaxKeyBytes   = 4096
	MaxValueBytes = 64 << 20
)

// Store keeps values by key: items of pages, and the state of packages below.
//
// An implementation obeys these rules; storetest checks them by number.
//
//   - S1: Get of a missing key is an error for which errors.Is(err, fs.ErrNotExist) holds.
//   - S2: a value is what was put last; the memory given to Put, and what Get returned, is the caller's.
//   - S3: Delete of a missing key is no error.
//   - S4: Scan goes through the keys with the prefix in the order of their bytes, each at most once, and sees every key
//     that was there from its start to its end. It may be stopped early and the store may be used meanwhile. An error
//     beside a key is about that value, and the others follow; any other is the last that it tells.
//   - S5: a key has 1 to 4,096 bytes, and a value 64 MiB at most; any other is an error, as CheckItem says.
//
// All methods are safe for concurrent use. Who opens a store closes it.
type Store interface {
	Get(ctx context.Context, key string) ([]byte, error)
	Put(ctx context.Context, key string, value []byte) error
	Delete(ctx context.Context, key string) error
	Scan(ctx context.Context, prefix string) iter.Seq2[Entry, error]
}

// Entry is a key with its value.
type Entry struct {
	Key   string
	Value []byte
}

// Updater is a Store that can change a value in one atomic step. f gets nil for a missing key, may be called more than
// once, and leaves the value as it is by returning an error.
type Updater interface {
	Update(ctx context.Context, key string, f func(old []byte) ([]byte, error)) error
}

// ItemError says that a key or a value is none that a Store takes.
type ItemError struct {
	Key  string
	Size int // of the value
}

// Error names what is out of bounds.
func (e *ItemError) Error() string {
	if len(e.Key) == 0 || len(e.Key) > MaxKeyBytes {
		return fmt.Sprintf("seine: store: key of %d bytes, not of 1 to %d", len(e.Key), MaxKeyBytes)
	}
	return fmt.Sprintf("seine: store: %q: value of %d bytes, more than %d", e.Key, e.Size, MaxValueBytes)
}

// CheckItem returns an *ItemError for what a Store must not take.
func CheckItem(key string, value []byte) error {
	if len(key) == 0 || len(key) > MaxKeyBytes || len(value) > MaxValueBytes {
		return &ItemError{Key: key, Size: len(value)}
	}
	return nil
}
