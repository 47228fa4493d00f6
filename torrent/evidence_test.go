package torrent_test

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The known failures of this package and those below it.
const firstFailure, lastFailure = 138, 149

func TestEveryKnownFailureHasItsTest(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`(?m)^func (Test\w+_K(\d{3}))\(t \*testing\.T\)`)
	tests := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range name.FindAllStringSubmatch(string(text), -1) {
			tests["K"+m[2]] = append(tests["K"+m[2]], m[1])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for n := firstFailure; n <= lastFailure; n++ {
		id := fmt.Sprintf("K%d", n)
		if len(tests[id]) == 0 {
			t.Errorf("%s has no test", id)
		}
		count += len(tests[id])
	}
	if !t.Failed() {
		fmt.Printf("shown torrent-files.5: K%d to K%d closed by %d tests\n", firstFailure, lastFailure, count)
	}
}

const (
	rootModule    = "github.com/seine-go/seine"
	packedVersion = "v0.1.0"
	consumerMain  = `package main

import (
	"fmt"

	"github.com/seine-go/seine/torrent"
	"github.com/seine-go/seine/torrent/bencode"
	"github.com/seine-go/seine/torrent/release"
)

func main() {
	_, _, err := torrent.Parse(nil, torrent.Options{})
	fmt.Println(err, bencode.Unmarshal(nil, new(int)), release.Parse("A.Film.2020").Title)
}
`
)

// A module that imports the package gets one require line, no indirect ones, and needs no other module. The root module is
// packed as a proxy of files; the child processes have an empty module cache and no network.
func TestImportAddsOneRequirement(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module")
	}
	t.Parallel()
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	proxy, consumer, cache := t.TempDir(), t.TempDir(), t.TempDir()
	packRoot(t, "..", proxy)
	write(t, filepath.Join(consumer, "go.mod"), "module consumer.example\n\ngo 1.26.0\n")
	write(t, filepath.Join(consumer, "main.go"), consumerMain)
	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), goTool, args...)
		cmd.Dir = consumer
		cmd.Env = append(
			slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "GO") && !strings.HasPrefix(s, "GOCACHE=") }),
			"GOPROXY=file://"+filepath.ToSlash(proxy), "GOSUMDB=off", "GONOSUMDB=*", "GONOSUMCHECK=1", "GOFLAGS=-mod=mod -modcacherw",
			"GOMODCACHE="+cache, "GOTOOLCHAIN=local", "GOWORK=off",
		)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("get", rootModule+"/torrent@"+packedVersion)
	run("mod", "tidy")
	if out := run("run", "."); !strings.Contains(out, "A Film") {
		t.Errorf("the program printed %q", out)
	}
	mod, err := os.ReadFile(filepath.Join(consumer, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	requires := strings.Count(string(mod), " v") // each requirement has a version
	if requires != 1 || !strings.Contains(string(mod), "require "+rootModule+" "+packedVersion) || strings.Contains(string(mod), "// indirect") {
		t.Fatalf("go.mod:\n%s", mod)
	}
	packages := 0
	for p := range strings.FieldsSeq(run("list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", rootModule+"/torrent")) {
		packages++
		if !strings.HasPrefix(p, rootModule+"/torrent") {
			t.Errorf("package torrent imports %s", p)
		}
	}
	if !t.Failed() {
		fmt.Printf("shown torrent-files.4: %d require line, 0 indirect, %d packages beside the standard library\n", requires, packages)
	}
}

// packRoot writes the root module into a proxy of files.
func packRoot(t *testing.T, root, proxy string) {
	t.Helper()
	dir := filepath.Join(proxy, filepath.FromSlash(rootModule), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "list"), packedVersion+"\n")
	write(t, filepath.Join(dir, packedVersion+".info"), `{"Version":"`+packedVersion+`"}`)
	write(t, filepath.Join(dir, packedVersion+".mod"), string(mod))
	archive, err := os.Create(filepath.Join(dir, packedVersion+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(archive)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, nested := os.Stat(filepath.Join(path, "go.mod"))
			if path != root && nested == nil || strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		below, err := filepath.Rel(root, path)
		if err != nil || !d.Type().IsRegular() || filepath.Ext(path) != ".go" && below != "go.mod" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := w.Create(rootModule + "@" + packedVersion + "/" + filepath.ToSlash(below))
		if err == nil {
			_, err = f.Write(text)
		}
		return err
	})
	for _, err := range []error{err, w.Close(), archive.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
