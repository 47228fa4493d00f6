package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReleasedMod(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, mod, path string
		want, not       []string
		fails           string
	}{
		{
			name: "nested module", path: rootPath + "/crawler/x",
			mod:  "module " + rootPath + "/crawler/x\n\ngo 1.26.0\n\nrequire (\n\t" + rootPath + " v0.0.0\n\tgolang.org/x/mod v0.41.0\n)\n\nreplace " + rootPath + " => ../..\n",
			want: []string{rootPath + " v0.0.1", "golang.org/x/mod v0.41.0"},
			not:  []string{"replace", "v0.0.0"},
		},
		{name: "a look-alike is not ours", path: "m", mod: "module m\n\nrequire " + rootPath + "x v0.0.0\n", want: []string{rootPath + "x v0.0.0"}},
		{name: "replaces others", mod: "module m\n\nreplace golang.org/x/mod => ../mod\n", fails: "replaces golang.org/x/mod"},
		{name: "no module", mod: "go 1.26.0\n", fails: "names no module"},
		{name: "broken", mod: "module", fails: "go.mod"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "go.mod")
			if err := os.WriteFile(file, []byte(tt.mod), 0o600); err != nil {
				t.Fatal(err)
			}
			mod, path, err := releasedMod(file)
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) {
					t.Fatalf("error %v, want one that says %q", err, tt.fails)
				}
				return
			}
			if err != nil || path != tt.path {
				t.Fatalf("path %q, %v", path, err)
			}
			for _, w := range tt.want {
				if !strings.Contains(string(mod), w) {
					t.Errorf("lacks %q:\n%s", w, mod)
				}
			}
			for _, n := range tt.not {
				if strings.Contains(string(mod), n) {
					t.Errorf("has %q:\n%s", n, mod)
				}
			}
		})
	}
}

func TestConsumerRefusesWhatLacksTheRoot(t *testing.T) {
	t.Parallel()
	if err := run([]string{"crawler/x"}); err == nil || !strings.Contains(err.Error(), "usage") {
		t.Errorf("got %v", err)
	}
}
