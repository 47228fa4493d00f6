package deptest

import (
	"go/token"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

func load(t *testing.T) []Package {
	t.Helper()
	packages, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

func TestImportRules(t *testing.T) {
	t.Parallel()
	for _, fault := range CheckImports(load(t)) {
		t.Error(fault)
	}
}

// The other half of K009, what a running crawl does, is shown where the engine is.
func TestLibraryLeavesProcessStateAlone_K009(t *testing.T) {
	t.Parallel()
	for _, fault := range CheckHabits(load(t)) {
		t.Error(fault)
	}
}

// A package that Load missed would escape the rules: every one that the go command knows must be among Load's.
func TestLoadSeesEveryPackage(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-f", "{{.ImportPath}}", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := load(t)
	for _, name := range strings.Fields(string(out)) {
		folder, own := room(name)
		if !own || !slices.ContainsFunc(packages, func(p Package) bool { return p.Path == folder && p.Module == "." }) {
			t.Errorf("%s was not loaded", name)
		}
	}
}

// Whatever they import themselves, packages of others must not bring testing into a program.
func TestNothingLinksTesting(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-deps", "-f", "{{.ImportPath}} {{join .Imports \",\"}}", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		name, imports, _ := strings.Cut(strings.TrimSpace(line), " ")
		folder, own := room(name)
		if own && supports(folder) || !strings.Contains(strings.Split(name, "/")[0], ".") {
			continue
		}
		if slices.Contains(strings.Split(imports, ","), "testing") {
			t.Errorf("%s imports testing", name)
		}
	}
}

// source makes a package of one file from its path and text; a name that ends in _test is a test file.
func source(t *testing.T, module, file, text string) Package {
	t.Helper()
	p := Package{Path: path.Dir(file), Module: module, Set: token.NewFileSet()}
	if err := p.add(file, []byte(text)); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCheckImportsFindsWhatIsPlanted(t *testing.T) {
	t.Parallel()
	tests := []struct {
		module, file, imports string
		want                  string // part of the fault; empty: none
	}{
		{".", "dedupe/a.go", Module + "/internal/weburl", ""},
		{".", "dedupe/a.go", Module + "/fetch", "it may import"},
		{".", "dedupe/a_test.go", Module + "/fetch", ""},
		{".", "dedupe/a.go", "testing", "only tests"},
		{".", "dedupe/a.go", "testing/fstest", "only tests"},
		{".", "dedupe/a_test.go", "testing", ""},
		{".", "dedupe/dedupetest/a.go", "testing", ""},
		{".", "internal/conformance/a.go", "testing", ""},
		{".", "internal/weburl/a.go", Module + "/fetch", "it may import"},
		{".", "internal/weburl/a.go", Module + "/internal/golden", "made for tests"},
		{".", "extract/a.go", Module + "/extract/css", ""},
		{".", "extract/a.go", Module + "/extract/feed", "it may import"},
		{".", "extract/feed/a.go", Module + "/extract", ""},
		{".", "extract/css/a.go", Module + "/extract", "it may import"},
		{".", "fetch/a.go", Module + "/fetch/identity", ""},
		{".", "fetch/a.go", Module + "/fetch/robots", "it may import"},
		{".", "fetch/robots/a.go", Module + "/fetch", ""},
		{".", "fetch/internal/h1/a.go", Module + "/fetch", "it may import"},
		{".", "fetch/a.go", Module + "/crawler", "it may import"},
		{".", "fetcher/a.go", Module + "/internal/weburl", "no rule"},
		{".", "crawler/a.go", Module + "/torrent", "it may import"},
		{".", "crawler/a.go", Module + "/crawler/pipeline", "it may import"},
		{".", "crawler/pipeline/a.go", Module + "/crawler", ""},
		{".", "crawler/crawltest/demosite/a.go", Module + "/crawler", "it may import"},
		{".", "crawler/crawltest/demosite/a.go", "golang.org/x/net/html", "standard library alone"},
		{".", "torrent/bencode/a.go", "golang.org/x/text/encoding", "standard library alone"},
		{".", "examples/quickstart/main.go", Module + "/crawler/crawltest/demosite", ""},
		{".", "examples/quickstart/main.go", Module + "/internal/weburl", "it may import"},
		{".", "examples/adapter/a_test.go", Module + "/internal/golden", "must build elsewhere"},
		{"crawler/redisbackend", "crawler/redisbackend/a.go", Module + "/crawler", ""},
		{"crawler/redisbackend", "crawler/redisbackend/a.go", Module + "/internal/weburl", "another version"},
		{"crawler/redisbackend", "crawler/redisbackend/a_test.go", Module + "/internal/weburl", ""},
		{"crawler/redisbackend", "crawler/redisbackend/a.go", Module + "/crawler/redisbackend/internal/x", ""},
		{"internal/tools", "internal/tools/a.go", "testing", ""},
		{"crawler/redisbackend", "crawler/redisbackend/a.go", "testing", "only tests"},
		{"crawler/etcdbackend", "crawler/etcdbackend/a.go", Module + "/crawler/sqlitebackend", "only programs"},
	}
	backend := source(t, "crawler/sqlitebackend", "crawler/sqlitebackend/a.go", "package sqlitebackend\n")
	for _, tt := range tests {
		t.Run(tt.file+" "+tt.imports, func(t *testing.T) {
			t.Parallel()
			p := source(t, tt.module, tt.file, "package p\n\nimport _ \""+tt.imports+"\"\n")
			faults := CheckImports([]Package{p, backend})
			if tt.want == "" && len(faults) > 0 || tt.want != "" && (len(faults) != 1 || !strings.Contains(faults[0], tt.want)) {
				t.Errorf("got %q, want %q", faults, tt.want)
			}
		})
	}
}

func TestCheckHabitsFindsWhatIsPlanted(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, text string
		want             int
	}{
		{"environment", "fetch/a.go", "import \"os\"\nvar x = os.Getenv(\"X\")", 1},
		{"renamed", "fetch/a.go", "import sys \"os\"\nvar x, _ = sys.LookupEnv(\"X\")", 1},
		{"dot", "fetch/a.go", "import . \"os\"\nvar x = Args", 1},
		{"output", "fetch/a.go", "import \"fmt\"\nfunc f() { fmt.Println(1); println(2) }", 2},
		{"as a value", "fetch/a.go", "import (\"io\"; \"os\")\nvar w io.Writer = os.Stderr", 1},
		{"global logger", "fetch/a.go", "import \"log/slog\"\nvar l = slog.Default()", 1},
		{"given logger", "fetch/a.go", "import \"log/slog\"\nfunc f(l *slog.Logger) { l.Info(\"x\") }", 0},
		{"signals", "fetch/a.go", "import _ \"os/signal\"", 1},
		{"flags", "fetch/a.go", "import \"flag\"\nvar f = flag.Bool", 1},
		{"handlers", "fetch/a.go", "import \"net/http\"\nfunc f() { http.Handle(\"/\", nil) }", 1},
		{"own mux", "fetch/a.go", "import \"net/http\"\nfunc f(m *http.ServeMux) { m.Handle(\"/\", nil) }", 0},
		{"memory limit set", "fetch/a.go", "import \"runtime/debug\"\nvar m = debug.SetMemoryLimit(1)", 1},
		{"memory limit read", "fetch/a.go", "import \"runtime/debug\"\nvar m = debug.SetMemoryLimit(-1)", 0},
		{"init", "fetch/a.go", "func init() {}", 1},
		{"a method named init", "fetch/a.go", "type T struct{}\nfunc (T) init() {}", 0},
		{"files", "fetch/a.go", "import \"os\"\nvar f, _ = os.Open(\"x\")", 0},
		{"test", "fetch/a_test.go", "import \"os\"\nvar x = os.Getenv(\"X\")", 0},
		{"test support", "internal/conformance/a.go", "import \"os\"\nvar x = os.Getenv(\"X\")", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := CheckHabits([]Package{source(t, ".", tt.file, "package p\n\n"+tt.text+"\n")})
			if len(got) != tt.want {
				t.Errorf("got %q, want %d faults", got, tt.want)
			}
		})
	}
	program := source(t, ".", "examples/quickstart/main.go", "package main\n\nimport \"os\"\n\nvar x = os.Args\n")
	if got := CheckHabits([]Package{program}); got != nil {
		t.Errorf("a program: got %q", got)
	}
}
