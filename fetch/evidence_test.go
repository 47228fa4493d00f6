package fetch_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// wireFaults are the known failures that the wire, cookies and charsets are proof against; docs/faults.md says what each is.
var wireFaults = []string{
	"K055", "K058", "K059", "K060", "K063", "K067", "K087", "K091", "K123", "K124", "K125", "K126", "K127", "K128",
}

func TestEveryFaultOfFetchHasItsTestAndItsLine(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`(?m)^func (Test\w+_(K\d{3}))\(t \*testing\.T\)`)
	tests := map[string][]string{}
	for _, room := range []string{"../fetch", "../crawler", "../extract"} {
		err := filepath.WalkDir(room, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range name.FindAllStringSubmatch(string(text), -1) {
				tests[m[2]] = append(tests[m[2]], m[1])
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	listed, err := os.ReadFile("../docs/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, id := range wireFaults {
		line := regexp.MustCompile(`(?m)^\| ` + id + ` \| [^?|]+ \| .*$`).FindString(string(listed))
		if len(tests[id]) == 0 || line == "" {
			t.Errorf("%s: tests %q, line %q", id, tests[id], line)
		}
		for _, test := range tests[id] {
			if !strings.Contains(line, test) {
				t.Errorf("%s: %s is not in its line", id, test)
			}
		}
		count += len(tests[id])
	}
	if !t.Failed() {
		fmt.Printf("shown fetch.4: %d faults of the wire, of cookies and of charsets closed by %d tests\n", len(wireFaults), count)
	}
}
