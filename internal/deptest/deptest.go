// Package deptest holds the rules of the house: which room may import which, and what library code never does (read
// the environment, write to stdout, catch signals, keep registries, run init functions).
//
//	packages, err := deptest.Load("../..")
//	for _, fault := range deptest.CheckImports(packages) { … }
//
// It parses every Go file of the tree, so that files of other systems count as well. It is used by tests only.
package deptest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Module is the path of the root module.
const Module = "github.com/seine-go/seine"

// Package is the Go code of one folder, its tests included.
type Package struct {
	Path   string // relative to the root of the repository, with slashes; "." for the root
	Module string // folder of the module that holds it, relative to the root
	Name   string // of its files that are no tests; empty when there are only tests
	Files  []File
	Set    *token.FileSet
}

// File is one parsed file.
type File struct {
	Name string // relative to the root of the repository
	Test bool
	AST  *ast.File
}

// Room reports whether the package lies in a folder or below it.
func (p Package) Room(folder string) bool { return below(p.Path, folder) }

// Main reports whether the package is a program.
func (p Package) Main() bool { return p.Name == "main" }

// Support reports whether the package is made for tests: it may import testing, and only tests import it.
func (p Package) Support() bool { return supports(p.Path) }

// unreleased reports whether the package is in a module for this repository alone.
func (p Package) unreleased() bool { return p.Module != "." && below(p.Module, "internal") }

// Imports lists the paths that files import: of the tests, or of the others.
func (p Package) Imports(tests bool) []string {
	var paths []string
	for _, f := range p.Files {
		if f.Test != tests {
			continue
		}
		for _, spec := range f.AST.Imports {
			if name, err := strconv.Unquote(spec.Path.Value); err == nil {
				paths = append(paths, name)
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// Load parses the packages of all modules below root, in order of their paths.
func Load(root string) ([]Package, error) {
	byPath := map[string]*Package{}
	tree := os.DirFS(root)
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := path.Base(name); d.IsDir() && name != "." && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		src, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		p := byPath[path.Dir(name)]
		if p == nil {
			p = &Package{Path: path.Dir(name), Module: moduleOf(root, path.Dir(name)), Set: token.NewFileSet()}
			byPath[p.Path] = p
		}
		return p.add(name, src)
	})
	if err != nil {
		return nil, err
	}
	packages := make([]Package, 0, len(byPath))
	for _, p := range byPath {
		packages = append(packages, *p)
	}
	slices.SortFunc(packages, func(a, b Package) int { return strings.Compare(a.Path, b.Path) })
	return packages, nil
}

func (p *Package) add(name string, src []byte) error {
	file, err := parser.ParseFile(p.Set, name, src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	test := strings.HasSuffix(name, "_test.go")
	if !test {
		p.Name = file.Name.Name
	}
	p.Files = append(p.Files, File{Name: name, Test: test, AST: file})
	return nil
}

// moduleOf finds the nearest folder with a go.mod file, from folder upwards.
func moduleOf(root, folder string) string {
	for folder != "." {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(folder), "go.mod")); err == nil {
			return folder
		}
		folder = path.Dir(folder)
	}
	return "."
}

// below reports whether a path is a folder or lies in it.
func below(name, folder string) bool {
	return folder == "." || name == folder || strings.HasPrefix(name, folder+"/")
}

// room returns the folder of an imported package of this repository.
func room(imported string) (string, bool) {
	if imported == Module {
		return ".", true
	}
	return strings.CutPrefix(imported, Module+"/")
}
