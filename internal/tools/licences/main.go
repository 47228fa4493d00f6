// Licences names the licence of every module that the module in the current folder is built or tested with.
//
//	licences -strict
//
// With -strict a licence that asks for more than attribution (copyleft), and one that it does not know, are failures;
// without it they are only listed. A licence is recognised by the words that grant it, never by a file's title alone.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// systems are those that users build for: what a package imports depends on it.
var systems = []string{"linux", "windows", "darwin"}

func main() {
	strict := flag.Bool("strict", false, "fail when a licence is copyleft or unknown")
	flag.Parse()
	if err := run(os.Stdout, *strict); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, strict bool) error {
	deps, err := dependencies()
	if err != nil {
		return err
	}
	names := map[string][]string{} // licence: modules
	var refused []string
	for _, path := range slices.Sorted(maps.Keys(deps)) {
		found, err := deps[path].licences()
		if err != nil {
			return err
		}
		for _, l := range found {
			names[l.name] = append(names[l.name], path)
			if !l.free {
				refused = append(refused, path+" ("+l.name+")")
			}
		}
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, len(names[name])))
	}
	fmt.Fprintf(w, "licences of %d modules: %s\n", len(deps), strings.Join(parts, ", "))
	if len(refused) == 0 {
		return nil
	}
	fmt.Fprintf(w, "licences copyleft or unknown: %s\n", strings.Join(refused, ", "))
	if strict {
		return errors.New("a released module must not depend on these")
	}
	return nil
}

// module is a dependency and the folders of it whose packages are used.
type module struct {
	root    string
	folders map[string]bool
}

// dependencies lists the modules of others that packages and their tests are built from, on all systems.
func dependencies() (map[string]module, error) {
	deps := map[string]module{}
	for _, system := range systems {
		cmd := exec.Command("go", "list", "-deps", "-test", "-json=Dir,Standard,Module", "./...")
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", system, err)
		}
		if err := addPackages(deps, out); err != nil {
			return nil, err
		}
	}
	return deps, nil
}

func addPackages(deps map[string]module, list []byte) error {
	for d := json.NewDecoder(bytes.NewReader(list)); ; {
		var p struct {
			Dir    string
			Module *struct {
				Path, Version, Dir string
				Replace            *struct{ Version string }
			}
		}
		if err := d.Decode(&p); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		// Modules of this repository are replaced by a folder or are the main module: neither has a version.
		if p.Module == nil || p.Module.Version == "" || p.Module.Replace != nil && p.Module.Replace.Version == "" {
			continue
		}
		m, ok := deps[p.Module.Path]
		if !ok {
			m = module{root: p.Module.Dir, folders: map[string]bool{}}
			deps[p.Module.Path] = m
		}
		m.folders[p.Dir] = true
	}
}

// licences reads the licence files beside the used packages and in every folder above them up to the module's root.
// A module without any, or with one that says nothing known, has the licence "unknown".
func (m module) licences() ([]licence, error) {
	seen := map[string]bool{}
	var found []licence
	for folder := range m.folders {
		for dir := folder; !seen[dir]; dir = filepath.Dir(dir) {
			seen[dir] = true
			files, err := os.ReadDir(dir)
			if err != nil {
				return nil, err
			}
			for _, f := range files {
				if f.IsDir() || !isLicenceFile(f.Name()) || isRead(dir, f.Name()) {
					continue
				}
				text, err := os.ReadFile(filepath.Join(dir, f.Name()))
				if err != nil {
					return nil, err
				}
				found = append(found, classify(string(text))...)
			}
			if dir == m.root {
				break
			}
		}
	}
	if len(found) == 0 {
		return []licence{unknown}, nil
	}
	slices.SortFunc(found, func(a, b licence) int { return strings.Compare(a.name, b.name) })
	return slices.Compact(found), nil
}

// read are files that somebody has read, since they grant nothing themselves.
var read = map[string]string{
	"modernc.org/memory LICENSE-LOGO":         "the address of a picture",
	"modernc.org/sqlite LICENSE-3RD-PARTY.md": "a list of others: the MPL is that of modules which are compiled into nothing",
}

func isRead(dir, name string) bool {
	module, _, _ := strings.Cut(filepath.Base(dir), "@")
	return read[filepath.Base(filepath.Dir(dir))+"/"+module+" "+name] != ""
}

func isLicenceFile(name string) bool {
	name = strings.ToLower(name)
	if strings.HasSuffix(name, ".go") {
		return false
	}
	for _, prefix := range []string{"licence", "license", "copying", "unlicense", "copyright"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
