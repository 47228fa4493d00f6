package sqlitebackend

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

const maxLinks = 40 // that lead to a file which is not there yet

// resolve returns the name of a file that does not change with the working directory, nor with which link leads to it.
func resolve(path string) (string, error) {
	invalid := &fs.PathError{Op: "open", Path: path, Err: fs.ErrInvalid}
	if path == "" || path == ":memory:" || strings.ContainsRune(path, 0) {
		return "", invalid
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for range maxLinks {
		whole, err := filepath.EvalSymlinks(path)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return whole, err
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(path)) // the file is not there: its folder must be
		if err != nil {
			return "", err
		}
		path = filepath.Join(dir, filepath.Base(path))
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil // nor is it a link
		}
		if path = to; !filepath.IsAbs(to) {
			path = filepath.Join(dir, to)
		}
	}
	return "", invalid
}

// maxName and maxPath are how long the name of a crawl may be, and with its folders. Those of its snapshots and damaged files
// have up to 47 bytes more, of the 255 that file systems take and the 512 that SQLite does, which adds eight for a journal.
const (
	maxName = 200
	maxPath = 450
)

// checkName refuses a name that would be found too long when the first snapshot is made.
func checkName(path string) error {
	if n := len(filepath.Base(path)); n > maxName || len(path) > maxPath {
		return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf(
			"%w: the name has %d bytes and the path %d, not %d and %d at most: files beside it have longer names", fs.ErrInvalid, n, len(path), maxName, maxPath)}
	}
	return nil
}

// hold keeps a crawl from other processes, and from other DBs of this one. It locks a file beside the crawl, which is there
// before the crawl is and while a snapshot takes its place, and a byte of the file itself, which has it under all its names
// and when the lock beside it is removed.
type hold struct {
	path string
	side *os.File
	main *os.File
	id   os.FileInfo // of main
}

// held are the files that this process has, and those that it looks at. What SQLite has locked must not even be opened and
// closed: that ends its locks (https://sqlite.org/howtocorrupt.html#posix_close_bug).
var held struct {
	sync.Mutex
	files, views []os.FileInfo
}

func isOneOf(files []os.FileInfo, id os.FileInfo) bool {
	return slices.ContainsFunc(files, func(f os.FileInfo) bool { return os.SameFile(f, id) })
}

// without takes one of the files out.
func without(files []os.FileInfo, id os.FileInfo) []os.FileInfo {
	i := slices.IndexFunc(files, func(f os.FileInfo) bool { return os.SameFile(f, id) })
	return slices.Delete(files, i, i+1)
}

// looked reports whether this process looks at a file.
func looked(id os.FileInfo) bool {
	held.Lock()
	defer held.Unlock()
	return isOneOf(held.views, id)
}

// lookAt notes that this process looks at a file, until it calls what is returned.
func lookAt(id os.FileInfo) (end func()) {
	held.Lock()
	defer held.Unlock()
	held.views = append(held.views, id)
	return sync.OnceFunc(func() {
		held.Lock()
		defer held.Unlock()
		held.views = without(held.views, id)
	})
}

// takeHold locks the file beside a crawl.
func takeHold(path string) (*hold, error) {
	side, locked, err := lockFile(path + ".lock")
	switch {
	case err != nil:
		return nil, fmt.Errorf("seine: sqlite: %w", err)
	case !locked:
		return nil, &LockedError{Path: path}
	}
	return &hold{path: path, side: side}, nil
}

// own locks the file itself, which is made if it is not there. What was locked before is let go: SQLite must not have it open.
func (h *hold) own() error {
	if err := h.disown(); err != nil {
		return err
	}
	held.Lock()
	defer held.Unlock()
	if id, err := os.Stat(h.path); err == nil && isOneOf(held.files, id) {
		return &LockedError{Path: h.path}
	}
	f, err := os.OpenFile(h.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	id, err := f.Stat()
	locked := false
	if err == nil {
		locked, err = lockByte(f)
	}
	if err == nil && !locked {
		err = &LockedError{Path: h.path}
	}
	if err != nil {
		f.Close()
		return err
	}
	h.main, h.id = f, id
	held.files = append(held.files, id)
	return nil
}

// disown lets go of the file itself.
func (h *hold) disown() error {
	if h.main == nil {
		return nil
	}
	held.Lock()
	defer held.Unlock()
	held.files = without(held.files, h.id)
	err := h.main.Close()
	h.main, h.id = nil, nil
	return err
}

// still is ErrFileGone if the file is not the one that was opened.
func (h *hold) still() error {
	id, err := os.Stat(h.path)
	switch {
	case err == nil && os.SameFile(id, h.id):
		return nil
	case err == nil || errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s", ErrFileGone, h.path)
	}
	return err
}

func (h *hold) release() error {
	if h == nil {
		return nil
	}
	return errors.Join(h.disown(), h.side.Close())
}

// syncDir makes the names in a folder durable, where the system can.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
