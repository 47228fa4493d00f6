//go:build unix && !linux && !darwin

package sqlitebackend

import "os"

// lockByte does nothing: what could lock a file here would keep SQLite from it too. The lock of the file beside it has to do.
func lockByte(*os.File) (bool, error) { return true, nil }
