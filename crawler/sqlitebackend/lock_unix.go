//go:build unix

package sqlitebackend

import (
	"errors"
	"os"
	"syscall"
)

// lockFile locks a file for this process; closing it ends that, as does the death of the process. It reports false if
// another has it.
func lockFile(path string) (f *os.File, locked bool, err error) {
	f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, err
	}
	if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
		return f, true, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = nil
	}
	return nil, false, err
}
