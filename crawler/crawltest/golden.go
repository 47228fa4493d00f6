package crawltest

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// UpdateFlag is the name of the boolean test flag that makes Golden write files instead of comparing them.
const UpdateFlag = "update"

// maxShownLine is how many bytes of a differing line are shown.
const maxShownLine = 200

// Golden compares got, byte by byte, with a file, named with slashes and relative to the folder of the test. A difference or
// a missing file fails the test, which goes on.
//
// Under the flag -update it writes the file instead, with its folders. The flag belongs to the test that wants it, so that
// it meets no other of its name; one line in any _test.go file of the package declares it:
//
//	var _ = flag.Bool(crawltest.UpdateFlag, false, "write golden files anew")
//
// Then go test -update writes what go test compares.
func Golden(t testing.TB, file string, got []byte) {
	t.Helper()
	golden(t, file, got, flag.Lookup(UpdateFlag))
}

// golden is Golden under a flag, which is nil where none is declared.
func golden(t testing.TB, file string, got []byte, update *flag.Flag) {
	t.Helper()
	path := filepath.FromSlash(file)
	want, err := os.ReadFile(path)
	switch {
	case err == nil && bytes.Equal(got, want):
		return
	case isSet(update):
		write(t, path, got)
	case errors.Is(err, fs.ErrNotExist):
		t.Errorf("golden file %s does not exist%s", file, advice(update))
	case err != nil:
		t.Errorf("golden file: %v", err)
	default:
		t.Errorf("golden file %s: %s%s", file, difference(want, got), advice(update))
	}
}

func isSet(f *flag.Flag) bool {
	if f == nil {
		return false
	}
	value, ok := f.Value.(flag.Getter)
	if !ok {
		return false
	}
	set, ok := value.Get().(bool)
	return ok && set
}

func write(t testing.TB, path string, got []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Errorf("golden file: %v", err)
		return
	}
	if err := os.WriteFile(path, got, 0o644); err != nil {
		t.Errorf("golden file: %v", err)
		return
	}
	t.Logf("golden file %s written, %d bytes", path, len(got))
}

func advice(f *flag.Flag) string {
	if f == nil {
		return fmt.Sprintf("; to write it, declare flag.Bool(%q, …) in the test and run go test -%[1]s", UpdateFlag)
	}
	return fmt.Sprintf("; go test -%s writes it", UpdateFlag)
}

// difference tells where two texts part.
func difference(want, got []byte) string {
	wantLines, gotLines := bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n"))
	line := 0
	for line < len(wantLines) && line < len(gotLines) && bytes.Equal(wantLines[line], gotLines[line]) {
		line++
	}
	return fmt.Sprintf("line %d differs\n got: %s\nwant: %s", line+1, shown(gotLines, line), shown(wantLines, line))
}

func shown(lines [][]byte, i int) string {
	switch {
	case i >= len(lines):
		return "(the end)"
	case len(lines[i]) > maxShownLine:
		return fmt.Sprintf("%q… (%d bytes)", lines[i][:maxShownLine], len(lines[i]))
	default:
		return fmt.Sprintf("%q", lines[i])
	}
}
