// Consumer shows that released modules work for those who get them by version, without replace lines:
//
//	consumer . crawler/sqlitebackend
//
// It runs in the root of the repository. It packs the named modules, as they lie in the work tree, into a module proxy
// made of files, all under one version. Then, for each module, an empty module gets it from there, a program that
// imports all its public packages is built, and the requirements that this added to go.mod are compared with the
// modules that the program's packages come from. At last the same for package fetch alone.
//
// Modules of others come from the machine's module cache, or by the machine's proxy setting where they are not in it;
// they are checked against the go.sum files of the packed modules.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

const (
	rootPath = "github.com/seine-go/seine"
	version  = "v0.0.1"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "consumer:", err)
		os.Exit(1)
	}
}

func run(folders []string) (err error) {
	if !slices.Contains(folders, ".") {
		return errors.New("usage: consumer . [folders of nested modules]")
	}
	temp, err := os.MkdirTemp("", "seine-consumer.")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	p := proxy{dir: filepath.Join(temp, "proxy"), temp: temp}
	for _, folder := range folders {
		if err := p.pack(folder); err != nil {
			return fmt.Errorf("pack %s: %w", folder, err)
		}
	}
	env, err := p.environment()
	if err != nil {
		return err
	}
	c := consumer{temp: temp, env: env, sums: p.sums}
	for _, folder := range folders {
		packages, err := publicPackages(folder)
		if err != nil {
			return err
		}
		a, err := c.consume(p.paths[folder], packages)
		if err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
		fmt.Printf("consumer of %s: %d packages, %d modules required: %s\n", folder, len(packages), len(a.required), strings.Join(a.required, " "))
	}
	a, err := c.consume(rootPath, []string{rootPath + "/fetch"})
	if err != nil {
		return fmt.Errorf("fetch: %w", err)
	}
	fmt.Printf("shown first-crawl.7: importing fetch in an empty module requires %d modules, each of which its packages import, and no other: %s (go list -m all: %d)\n",
		len(a.required), strings.Join(a.required, " "), a.listed)
	return nil
}

// publicPackages are those of a module that users import: no programs, nothing internal.
func publicPackages(folder string) ([]string, error) {
	out, err := output(folder, nil, "go", "list", "-f", "{{.Name}} {{.ImportPath}}", "./...")
	if err != nil {
		return nil, err
	}
	var packages []string
	for line := range strings.Lines(out) {
		name, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name != "main" && !slices.Contains(strings.Split(path, "/"), "internal") && !strings.HasPrefix(path, rootPath+"/examples/") {
			packages = append(packages, path)
		}
	}
	return packages, nil
}

// consumer makes modules that require the packed ones.
type consumer struct {
	temp string
	env  []string
	sums []byte // of all packed modules
}

// added is what one import did to an empty module.
type added struct {
	required []string // module paths in go.mod
	listed   int      // modules of go list -m all, but for the consumer itself
}

// consume gets a module in a new, empty one, builds a program of the packages, and fails when go.mod requires more or
// less than what the program is made of.
func (c consumer) consume(module string, packages []string) (added, error) {
	dir, err := os.MkdirTemp(c.temp, "empty.")
	if err != nil {
		return added{}, err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), c.sums, 0o600); err != nil {
		return added{}, err
	}
	for _, args := range [][]string{{"mod", "init", "consumer.example"}, {"get", module + "@" + version}} {
		if _, err := output(dir, c.env, "go", args...); err != nil {
			return added{}, err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), program(packages), 0o600); err != nil {
		return added{}, err
	}
	if _, err := output(dir, c.env, "go", "build", "-o", filepath.Join(dir, "program"), "."); err != nil {
		return added{}, err
	}
	return c.compare(dir)
}

func program(packages []string) []byte {
	var b strings.Builder
	b.WriteString("package main\n\n")
	for _, p := range packages {
		fmt.Fprintf(&b, "import _ %q\n", p)
	}
	b.WriteString("\nfunc main() {}\n")
	return []byte(b.String())
}

func (c consumer) compare(dir string) (added, error) {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return added{}, err
	}
	mod, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return added{}, err
	}
	var a added
	for _, r := range mod.Require {
		a.required = append(a.required, r.Mod.Path)
	}
	slices.Sort(a.required)
	out, err := output(dir, c.env, "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", ".")
	if err != nil {
		return added{}, err
	}
	imported := strings.Fields(out)
	slices.Sort(imported)
	imported = slices.Compact(imported)
	if !slices.Equal(a.required, imported) {
		return added{}, fmt.Errorf("go.mod requires %v, the program is made of %v", a.required, imported)
	}
	if len(mod.Replace) > 0 {
		return added{}, errors.New("go.mod has a replace line")
	}
	out, err = output(dir, c.env, "go", "list", "-m", "all")
	a.listed = strings.Count(out, "\n") - 1
	return a, err
}

// output runs a command in dir and returns what it printed; an error carries what it complained of.
func output(dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, exit.Stderr)
	}
	return string(out), err
}
