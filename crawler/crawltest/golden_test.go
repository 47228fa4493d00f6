package crawltest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var _ = flag.Bool(UpdateFlag, false, "write golden files anew")

// spy is a test that is looked at.
type spy struct {
	testing.TB
	failures []string
}

func (s *spy) Helper()             {}
func (s *spy) Logf(string, ...any) {}
func (s *spy) Errorf(format string, args ...any) {
	s.failures = append(s.failures, fmt.Sprintf(format, args...))
}

// newFlag is a flag of its own set, so that the real one is left alone.
func newFlag(t *testing.T, value string) *flag.Flag {
	t.Helper()
	set := flag.NewFlagSet("", flag.ContinueOnError)
	set.Bool(UpdateFlag, false, "")
	if err := set.Set(UpdateFlag, value); err != nil {
		t.Fatal(err)
	}
	return set.Lookup(UpdateFlag)
}

func TestGoldenComparesAndWrites(t *testing.T) {
	t.Parallel()
	file := filepath.ToSlash(filepath.Join(t.TempDir(), "new", "films.golden"))
	check := func(name, got string, update *flag.Flag, parts ...string) {
		t.Helper()
		s := &spy{}
		golden(s, file, []byte(got), update)
		if all := strings.Join(s.failures, "\n"); len(s.failures) > 1 || (len(parts) > 0) != (len(s.failures) == 1) {
			t.Errorf("%s: failures %q", name, s.failures)
		} else {
			for _, part := range parts {
				if !strings.Contains(all, part) {
					t.Errorf("%s: %q does not tell of %q", name, all, part)
				}
			}
		}
	}
	off, on := newFlag(t, "false"), newFlag(t, "true")
	check("no file", "a\nb\n", off, file, "does not exist", "go test -update writes it")
	check("no file and no flag", "a\nb\n", nil, "does not exist", `declare flag.Bool("update"`)
	if _, err := os.Stat(file); err == nil {
		t.Fatal("written unasked")
	}
	check("update", "a\nb\n", on)
	check("equal", "a\nb\n", off)
	check("equal under update", "a\nb\n", on)
	check("a line differs", "a\nc\n", off, "line 2 differs", `got: "c"`, `want: "b"`)
	check("a line more", "a\nb\nc", off, "line 3 differs", `got: "c"`, `want: ""`)
	check("no line end", "a\nb", off, "line 3 differs", "got: (the end)")
	check("other line ends", "a\r\nb\n", off, "line 1 differs", `got: "a\r"`)
	check("long line", strings.Repeat("x", maxShownLine+1), off, "… (201 bytes)")
	check("line as long as is shown", strings.Repeat("x", maxShownLine), off, `got: "`+strings.Repeat("x", maxShownLine)+`"`+"\n")
	check("changed by update", "z", on)
	check("what was written", "z", off)
	if got, err := os.ReadFile(file); err != nil || string(got) != "z" {
		t.Errorf("file holds %q, %v", got, err)
	}
}

func TestGoldenCannotReadOrWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := &spy{}
	golden(s, dir, nil, nil)                                  // a folder
	golden(s, dir, []byte("x"), newFlag(t, "true"))           // cannot be written
	golden(s, dir+"/\x00/x", []byte("x"), newFlag(t, "true")) // nor can this folder be made
	if len(s.failures) != 3 {
		t.Errorf("failures %q", s.failures)
	}
	for _, f := range s.failures {
		if !strings.HasPrefix(f, "golden file: ") {
			t.Errorf("failure %q", f)
		}
	}
}

func TestGoldenAsksTheFlagOfTheTest(t *testing.T) {
	t.Parallel()
	if isSet(flag.Lookup("test.run")) || isSet(nil) || isSet(newFlag(t, "false")) || !isSet(newFlag(t, "true")) {
		t.Error("a flag is misread")
	}
	var text flag.Flag
	text.Value = noGetter{}
	if isSet(&text) {
		t.Error("a flag of another kind is taken for ours")
	}
	Golden(t, "testdata/golden.txt", []byte("a golden file\n"))
}

type noGetter struct{}

func (noGetter) String() string   { return "true" }
func (noGetter) Set(string) error { return nil }
