package crawler

import (
	"context"
	"iter"
)

// Store keeps values by key: items of pages, and the state of packages below.
//
// An implementation obeys these rules; storetest checks them by number.
//
//   - S1: Get of a missing key is an error for which errors.Is(err, fs.ErrNotExist) holds.
//   - S2: a value is what was put last; the memory given to Put, and what Get returned, is the caller's.
//   - S3: Delete of a missing key is no error.
//   - S4: Scan goes through the keys with the prefix in the order of their bytes, each at most once, and sees every key
//     that was there from its start to its end. It may be stopped early and the store may be used meanwhile.
//   - S5: a key has 1 to 4,096 bytes; any other is an error.
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
