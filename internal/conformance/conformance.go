// Package conformance runs public test suites that are kept as data outside the repository.
//
// The folder is named by SEINE_CONFORMANCE (an absolute path). A test reads the cases of one file, runs those that are
// not excepted and reports the count in one line:
//
//	cases := conformance.Load[myCase](t, "url/urltestdata.json")
//	conformance.Run(t, "url", cases, func(c myCase) error { … })
//
// It is used by tests only.
package conformance

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Env is the environment variable that names the folder of the suites.
const Env = "SEINE_CONFORMANCE"

// Dir returns the folder of the suites. Without one the test is skipped, or fails when SEINE_REQUIRE is "all"; a folder
// that cannot be read is a failure.
func Dir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv(Env)
	if dir == "" {
		if os.Getenv("SEINE_REQUIRE") == "all" {
			t.Fatalf("%s is not set, and SEINE_REQUIRE=all", Env)
		}
		t.Skipf("%s is not set", Env)
	}
	if !filepath.IsAbs(dir) {
		t.Fatalf("%s must be an absolute path, not %q", Env, dir)
	}
	if _, err := os.ReadDir(dir); err != nil {
		t.Fatalf("%s: %v", Env, err)
	}
	return dir
}

// Case is one case of a suite: what every case has, and the suite's own fields in Data.
type Case[T any] struct {
	ID     string
	Except string // why the case does not count; empty when it does
	Data   T
}

// Load reads the cases of a file, which is a list or an object that holds them under "cases" or "tests".
func Load[T any](t testing.TB, file string) []Case[T] {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(Dir(t), filepath.FromSlash(file)))
	if err != nil {
		t.Fatalf("conformance: %v", err)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		var object struct{ Cases, Tests []json.RawMessage }
		if err := json.Unmarshal(raw, &object); err != nil {
			t.Fatalf("conformance: %s: %v", file, err)
		}
		list = append(object.Cases, object.Tests...)
	}
	cases := make([]Case[T], 0, len(list))
	for i, item := range list {
		var head struct {
			ID     string
			Except string
		}
		var c Case[T]
		if err := json.Unmarshal(item, &head); err != nil {
			t.Fatalf("conformance: %s, case %d: %v", file, i, err)
		}
		if err := json.Unmarshal(item, &c.Data); err != nil {
			t.Fatalf("conformance: %s, case %s: %v", file, head.ID, err)
		}
		c.ID, c.Except = head.ID, head.Except
		cases = append(cases, c)
	}
	return cases
}

// Run runs the cases of one name and prints its lines. A nil error means that the case has passed. It returns how many
// passed of how many counted. A panic in run fails the case that caused it.
func Run[T any](t testing.TB, name string, cases []Case[T], run func(T) error) (passed, total int) {
	t.Helper()
	var lines strings.Builder
	for _, c := range cases {
		if c.Except != "" {
			fmt.Fprintf(&lines, "conformance %s except: %s %s\n", name, c.ID, oneLine(c.Except))
			continue
		}
		total++
		if err := guarded(run, c.Data); err != nil {
			fmt.Fprintf(&lines, "conformance %s fail: %s %s\n", name, c.ID, oneLine(err.Error()))
			t.Errorf("conformance %s: %s: %v", name, c.ID, err)
			continue
		}
		passed++
	}
	if len(cases) > 0 {
		fmt.Printf("conformance %s: %d/%d\n%s", name, passed, total, lines.String())
	}
	return passed, total
}

// Show is Run, and tells that a point is shown when every case has passed.
func Show[T any](t testing.TB, point, name string, cases []Case[T], run func(T) error) {
	t.Helper()
	if passed, total := Run(t, name, cases, run); passed == total && total > 0 {
		fmt.Printf("shown %s: %s %d/%d\n", point, name, passed, total)
	}
}

func guarded[T any](run func(T) error, data T) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return run(data)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Repeat is an input written as pieces: [[text, times], …], where {n} in a text stands for the number of the
// repetition, counted from 1.
type Repeat [][2]any

// Bytes joins the pieces.
func (r Repeat) Bytes() []byte {
	var b []byte
	for _, piece := range r {
		text, _ := piece[0].(string)
		times, _ := piece[1].(float64)
		for n := 1; n <= int(times); n++ {
			b = append(b, strings.ReplaceAll(text, "{n}", strconv.Itoa(n))...)
		}
	}
	return b
}

// Base64 decodes a *_base64 field.
func Base64(s string) ([]byte, error) { return base64.StdEncoding.DecodeString(s) }
