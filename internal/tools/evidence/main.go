// Command evidence shows again what a benchmark has shown: it builds the library's program, runs scenarios of the
// benchmark kit in the folder SEINE_BENCH beside the peers, judges the medians against the bars and prints a line
// for each point.
//
//	SEINE_BENCH=/path/to/kit go -C internal/tools run ./evidence first-crawl.2
//
// Results go to build/bench in the repository. RUNS, CLIENTS and the kit's other settings are passed on.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// point is what can be shown.
type point struct {
	name  string
	steps []step
	judge func(results) (string, error)
}

// step is one run of the kit.
type step struct {
	scenarios []string
	env       []string // settings beside the caller's own
	rounds    string   // RUNS, unless the caller says
	out       string   // folder of the results
}

// results are the kit's rows by scenario.
type results map[string][]row

type row map[string]any

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "evidence:", err)
		os.Exit(1)
	}
}

func run(names []string) error {
	kit := os.Getenv("SEINE_BENCH")
	if kit == "" || len(names) == 0 {
		return errors.New("usage: SEINE_BENCH=/path/to/kit evidence POINT…")
	}
	root, err := filepath.Abs("../..") // the folder of this module is internal/tools
	if err != nil {
		return err
	}
	build := filepath.Join(root, "build", "bench")
	if err := os.MkdirAll(build, 0o755); err != nil {
		return err
	}
	program := filepath.Join(build, "benchcrawl")
	if err := command(filepath.Join(root, "internal/benchcrawl"), nil, "go", "build", "-o", program, "."); err != nil {
		return err
	}
	if err := command(kit, []string{"BUILD=" + build, "OUT=" + build}, filepath.Join(kit, "run.sh"), "setup"); err != nil {
		return err
	}
	for _, name := range names {
		i := slices.IndexFunc(points, func(p point) bool { return p.name == name })
		if i < 0 {
			return fmt.Errorf("%q is no point that is shown here", name)
		}
		if err := show(points[i], kit, build, program); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func show(p point, kit, build, program string) error {
	all := results{}
	for _, s := range p.steps {
		out := filepath.Join(build, p.name, s.out)
		if err := os.RemoveAll(out); err != nil {
			return err
		}
		env := append(s.env, "SEINE="+program, "BUILD="+build, "OUT="+out)
		if os.Getenv("RUNS") == "" {
			env = append(env, "RUNS="+s.rounds)
		}
		if err := command(kit, env, filepath.Join(kit, "run.sh"), append(s.scenarios, "summary")...); err != nil {
			return err
		}
		raw, err := os.ReadFile(filepath.Join(out, "results.json"))
		if err != nil {
			return err
		}
		var part map[string]json.RawMessage
		if err := json.Unmarshal(raw, &part); err != nil {
			return err
		}
		for scenario, text := range part {
			var rows []row
			if json.Unmarshal(text, &rows) == nil { // else it is about the machine
				all[scenario] = append(all[scenario], rows...)
			}
		}
	}
	text, err := p.judge(all)
	if err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	fmt.Printf("shown %s: %s\n", p.name, text)
	return nil
}

func command(dir string, env []string, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stderr, os.Stderr
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", filepath.Base(name), strings.Join(args, " "), err)
	}
	return nil
}

// find returns the row whose fields have the given values.
func (r results) find(scenario string, fields row) (row, error) {
	for _, candidate := range r[scenario] {
		if candidate.has(fields) {
			return candidate, nil
		}
	}
	return nil, fmt.Errorf("scenario %s has no row with %v", scenario, fields)
}

func (r row) has(fields row) bool {
	for name, want := range fields {
		if fmt.Sprint(r[name]) != fmt.Sprint(want) {
			return false
		}
	}
	return true
}

// num returns a figure of a row, a median over the rounds.
func (r row) num(name string) float64 {
	f, _ := r[name].(float64)
	return f
}
