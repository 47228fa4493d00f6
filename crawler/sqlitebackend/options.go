package sqlitebackend

import (
	"errors"
	"fmt"
	"log/slog"
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
	//
	// Hosts stay in memory as long as they have work, with queues that have less than half a KiB: some 500 bytes for a host with
	// two URLs. They are also what a state is made of, which is saved after 4 MiB of changes or as many as the last state had,
	// while all else waits. On two busy cores an Add that met with that waited for up to 0.4 s with 100,000 such hosts, and for 2.5 s
	// with 300,000; opening took 0.8 and 4.5 s of CPU, closing 0.3 and 0.9 s. Crawls of more hosts at a time are better
	// split over several files.
	Frontier crawler.MemoryOptions
	// SnapshotEvery is how often a copy of the file is made beside it. Zero and negative mean never. The age of the newest copy
	// counts, over the lives of the crawl: one that is due is made when the file is opened or, if that life ends before it is
	// whole, by Close. A crawl without copies is due when it is opened again. When the file is
	// found to be damaged, Open goes on with the newest copy that is whole.
	SnapshotEvery time.Duration
	// Snapshots is how many copies are kept. Zero means 2.
	Snapshots int
	// Logger is told of each copy that could not be made. Nil means that Close tells of the last one alone.
	Logger *slog.Logger
	// Verify has Open look through the whole file, as DB.Check does. Zero means that it looks through the frontier with all
	// that is queued, and not through the items: damage to those is an error of Store.Get and Store.Scan alone. It does so in
	// any case if the log is missing.
	Verify bool
	// ReadOnly opens the crawl to look at it, as it was at that moment: the frontier tells and lists what it holds, the store
	// is read, and all that would change them is a crawler.ErrReadOnly. The file may be that of a crawl which goes on in
	// another process, a snapshot, or lie in a folder that cannot be written. While it is open the log of the other process
	// grows. Nothing is repaired: a damaged file is a *DamagedError. Of the other options Frontier.SeenBytes counts.
	ReadOnly bool

	storeAlone bool // with ReadOnly: the frontier is not read
	hurry      bool // commits wait for nobody
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

// ErrFileGone says that the file was removed, moved or replaced while it was open: what is written has no name any more, and
// will not be found again. It is an error of the next commit and of all that follow, of Snapshot and of Close.
var ErrFileGone = errors.New("seine: sqlite: the file of the crawl is gone")

// ErrNotCrawl says that the file is a database of something else.
var ErrNotCrawl = errors.New("seine: sqlite: the file is a database of something else")

// SchemaError says that the file is of another version of the library.
type SchemaError struct {
	Schema int // of the file
	Known  int // the newest that this version knows
}

// Error names the versions.
func (e *SchemaError) Error() string {
	if e.Schema < e.Known {
		return fmt.Sprintf("seine: sqlite: the file has schema %d, which has to become %d: open it once to go on with the crawl", e.Schema, e.Known)
	}
	return fmt.Sprintf("seine: sqlite: the file has schema %d, and this version of the library knows %d", e.Schema, e.Known)
}

// ErrClosed says that the DB was closed.
var ErrClosed = errors.New("seine: sqlite: the database is closed")

// errDamaged says that what is in the file is not what was written.
var errDamaged = errors.New("a checksum or a count is wrong")
