package crawltest_test

import (
	"testing"

	"github.com/seine-go/seine/crawler/crawltest"
)

// In a test, beside a line that declares the flag:
//
//	var _ = flag.Bool(crawltest.UpdateFlag, false, "write golden files anew")
func ExampleGolden() {
	test := func(t *testing.T) {
		got := []byte("a golden file\n") // what the adapter made of its fixtures
		crawltest.Golden(t, "testdata/golden.txt", got)
	}
	_ = test
	// Output:
}
