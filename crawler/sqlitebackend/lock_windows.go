package sqlitebackend

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// Of the system's errors.
const (
	errSharing = syscall.Errno(32) // ERROR_SHARING_VIOLATION
	errLocked  = syscall.Errno(33) // ERROR_LOCK_VIOLATION
)

// lockFile opens a file so that nobody else can; closing it ends that, as does the death of the process. It reports false
// if another has it.
func lockFile(path string) (f *os.File, locked bool, err error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, false, err
	}
	const shareNothing = 0
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, shareNothing, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errSharing) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return os.NewFile(uintptr(h), path), true, nil
}

var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

// lockByte locks a byte of a file, far beyond what SQLite locks and the end of any file. It reports false if another has it.
func lockByte(f *os.File) (bool, error) {
	const exclusiveAtOnce = 3 // LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY
	at := syscall.Overlapped{OffsetHigh: 1 << 30}
	ok, _, err := lockFileEx.Call(f.Fd(), exclusiveAtOnce, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	switch {
	case ok != 0:
		return true, nil
	case errors.Is(err, errLocked):
		return false, nil
	}
	return false, err
}
