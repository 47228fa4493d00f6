//go:build linux || darwin

package sqlitebackend

import (
	"errors"
	"io"
	"os"
	"runtime"
	"syscall"
)

// lockedByte is far beyond what SQLite locks, and the end of any file.
const lockedByte = 1 << 62

// lockByte locks a byte of a file for this open file, so that no other lock of the process on it, and no closing of it
// elsewhere, ends that. It reports false if another has it.
func lockByte(f *os.File) (bool, error) {
	setLock := 37 // F_OFD_SETLK
	if runtime.GOOS == "darwin" {
		setLock = 90
	}
	err := syscall.FcntlFlock(f.Fd(), setLock, &syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: lockedByte, Len: 1})
	switch {
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EACCES):
		return false, nil
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOLCK):
		return true, nil // a file system without such locks: that of the file beside it has to do
	}
	return err == nil, err
}
