//go:build unix && !solaris && !aix

package fetch

import (
	"errors"
	"os"
	"syscall"
)

// renamesOpen says that a file can be renamed while it is open.
const renamesOpen = true

// openLocked opens a file to read and write, and locks it; closing it ends that, as does the death of the process.
func openLocked(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	switch err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case err == nil, errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.ENOSYS): // a file system without locks
		return f, nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		err = ErrInUse
	}
	return nil, errors.Join(err, f.Close())
}
