package sqlitebackend

import (
	"errors"
	"fmt"
	"time"

	"github.com/seine-go/seine/crawler"
)

// Options of a crawl in a file. The zero value is good for a crawl on one machine.
type Options struct {
	// Durability says what a commit withstands. Zero means Process.
	Durability Durability
	// Frontier are the bounds of the frontier. SpillDir and HashKey have no effect: what has no room in memory is in the
	// file, and the key is drawn when the crawl is begun. SpillBytes is how much of the queues stays in memory; zero means
	// 4 MiB.
	Frontier crawler.MemoryOptions
	// SnapshotEvery is how often a copy of the file is made beside it. Zero and negative mean never. When the file is
	// found to be damaged, Open goes on with the newest copy that is whole.
	SnapshotEvery time.Duration
	// Snapshots is how many copies are kept. Zero means 2.
	Snapshots int
	// Verify has Open look through the whole file, as DB.Check does, and through the snapshots that it might go on with. Zero
	// means that it finds what it meets on the way: the frontier, not each item and each queued request. Set it when an error of
	// a run is Damaged.
	Verify bool
	// ReadOnly opens the crawl to look at it, as it was at that moment: the frontier tells and lists what it holds, the store
	// is read, and all that would change them is a crawler.ErrReadOnly. The file may be that of a crawl which goes on in
	// another process, a snapshot, or lie in a folder that cannot be written. While it is open the log of the other process
	// grows. Nothing is repaired: a damaged file is a *DamagedError. Of the other options Frontier.SeenBytes counts.
	ReadOnly bool
}

// Durability is what a commit withstands.
type Durability uint8

const (
	// Process commits withstand the death of the process at any moment. When the machine loses power the last of them may
	// be undone; the crawl is then as it was a moment earlier.
	Process Durability = iota
	// Power commits withstand that too. Each waits for the disk.
	Power
)

// LockedError says that another process, or another DB of this one, has the crawl.
type LockedError struct{ Path string }

// Error names the file.
func (e *LockedError) Error() string {
	return fmt.Sprintf("seine: sqlite: %s: the crawl is open in another process", e.Path)
}

// DamagedError says that the file is damaged and no snapshot is whole, or that it was opened to be looked at.
type DamagedError struct {
	Path     string
	ReadOnly bool  // no snapshot was looked for
	Err      error // what was found
}

// Error says what was found.
func (e *DamagedError) Error() string {
	if e.ReadOnly {
		return fmt.Sprintf("seine: sqlite: %s is damaged: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("seine: sqlite: %s is damaged, and there is no whole snapshot: %v", e.Path, e.Err)
}

// Unwrap returns what was found.
func (e *DamagedError) Unwrap() error { return e.Err }

// ErrClosed says that the DB was closed.
var ErrClosed = errors.New("seine: sqlite: the database is closed")

// errDamaged says that what is in the file is not what was written.
var errDamaged = errors.New("a checksum or a count is wrong")
