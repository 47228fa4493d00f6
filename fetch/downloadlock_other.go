//go:build !windows && (!unix || solaris || aix)

package fetch

import "os"

// renamesOpen says that a file can be renamed while it is open.
const renamesOpen = false

// openLocked opens a file to read and write; there are no locks that a process can leave to its death.
func openLocked(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
}
