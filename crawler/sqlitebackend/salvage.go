package sqlitebackend

import (
	"context"
	"fmt"
	"time"
)

// StoreView is the store of a crawl that was opened alone. What would change it is a crawler.ErrReadOnly.
type StoreView struct{ *Store }

// Close closes the file.
func (v *StoreView) Close() error { return v.db.Close() }

// OpenStore opens the store of a crawl to read it, as it was at that moment, and not the frontier. It is for files of which
// Open and Options.ReadOnly say that they are damaged: the items are there as long as their own part of the file is. Scan
// tells of each value that is not, and goes on; crawler.ExportStore leaves those out, and says so. Nothing is repaired.
func OpenStore(ctx context.Context, path string) (*StoreView, error) {
	path, err := resolve(path)
	if err != nil {
		return nil, fmt.Errorf("seine: sqlite: %w", err)
	}
	db, err := openReadOnly(ctx, path, Options{ReadOnly: true, storeAlone: true}, func() time.Duration { return 0 }, time.Now)
	if err != nil {
		return nil, err
	}
	return &StoreView{db.store}, nil
}
