package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// proxy is a module proxy made of files ("go help goproxy") that serves one version of each packed module.
type proxy struct {
	dir, temp string
	paths     map[string]string // module path by folder
	sums      []byte
}

// pack adds the module that lies in folder of the work tree. Files that git ignores are left out.
func (p *proxy) pack(folder string) error {
	tree, err := os.MkdirTemp(p.temp, "tree.")
	if err != nil {
		return err
	}
	if err := copyTree(tree, folder); err != nil {
		return err
	}
	mod, path, err := releasedMod(filepath.Join(folder, "go.mod"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tree, "go.mod"), mod, 0o600); err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(folder, "go.sum"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	p.sums = append(p.sums, sums...)
	if p.paths == nil {
		p.paths = map[string]string{}
	}
	p.paths[folder] = path
	return p.publish(path, mod, tree)
}

func (p *proxy) publish(path string, mod []byte, tree string) (err error) {
	escaped, err := module.EscapePath(path)
	if err != nil {
		return err
	}
	dir := filepath.Join(p.dir, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"list":            version + "\n",
		version + ".info": fmt.Sprintf(`{"Version":%q,"Time":"2000-01-01T00:00:00Z"}`, version),
		version + ".mod":  string(mod),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	file, err := os.Create(filepath.Join(dir, version+".zip"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return zip.CreateFromDir(file, module.Version{Path: path, Version: version}, tree)
}

// copyTree copies what git would commit below folder; zip leaves the nested modules in it out.
func copyTree(to, folder string) error {
	list, err := output(folder, nil, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(list, "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, and not committed yet
		}
		if err != nil {
			return err
		}
		path := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// releasedMod returns a go.mod as a release has it, and the module's path: modules of this repository are required in
// the packed version instead of v0.0.0, and nothing is replaced.
func releasedMod(file string) (mod []byte, path string, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, "", err
	}
	f, err := modfile.Parse(file, text, nil)
	if err != nil {
		return nil, "", err
	}
	if f.Module == nil {
		return nil, "", fmt.Errorf("%s names no module", file)
	}
	for _, r := range f.Require {
		if r.Mod.Version == "v0.0.0" && ours(r.Mod.Path) {
			if err := f.AddRequire(r.Mod.Path, version); err != nil {
				return nil, "", err
			}
		}
	}
	for _, r := range f.Replace {
		if !ours(r.Old.Path) {
			return nil, "", fmt.Errorf("%s replaces %s, which no user would get", file, r.Old.Path)
		}
		if err := f.DropReplace(r.Old.Path, r.Old.Version); err != nil {
			return nil, "", err
		}
	}
	f.Cleanup()
	mod, err = f.Format()
	return mod, f.Module.Mod.Path, err
}

func ours(path string) bool { return path == rootPath || strings.HasPrefix(path, rootPath+"/") }

// environment makes the go command take our modules from the proxy, and those of others from the machine's module
// cache before it asks whom it would ask anyway. The modules land in a cache of their own: the packed version is
// another one at every run.
func (p *proxy) environment() ([]string, error) {
	out, err := output(".", nil, "go", "env", "GOMODCACHE", "GOPROXY", "GONOSUMDB")
	if err != nil {
		return nil, err
	}
	setting := strings.Split(out, "\n")
	cache, upstream, unchecked := setting[0], setting[1], setting[2]
	return append(
		os.Environ(),
		"GOMODCACHE="+filepath.Join(p.temp, "cache"),
		"GOPROXY=file://"+p.dir+",file://"+filepath.Join(cache, "cache", "download")+","+upstream,
		"GONOSUMDB="+strings.TrimPrefix(unchecked+","+rootPath, ","),
		"GOPRIVATE=",
		"GONOPROXY=none",
		"GOFLAGS=-mod=mod -modcacherw",
		"GOWORK=off",
	), nil
}
