package extract_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// The failures of extraction that are not about links, sitemaps, feeds or quality.
const (
	firstFailure = 134
	lastFailure  = 137
)

func TestEveryKnownFailureHasItsTest(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`(?m)^func Test\w+_(K\d{3})\(t \*testing\.T\)`)
	tests := map[string]int{}
	for _, pattern := range []string{"*_test.go", "*/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range name.FindAllStringSubmatch(string(text), -1) {
				tests[m[1]]++
			}
		}
	}
	count := 0
	for n := firstFailure; n <= lastFailure; n++ {
		id := fmt.Sprintf("K%d", n)
		if tests[id] == 0 {
			t.Errorf("%s has no test", id)
		}
		count += tests[id]
	}
	if !t.Failed() {
		fmt.Printf("shown extraction.5: K%d to K%d closed by %d tests\n", firstFailure, lastFailure, count)
	}
}
