// Faults compares docs/faults.md with the tests of all modules: every test or fuzz target whose name ends in the id of
// a fault (TestScopeComparesLabels_K011) stands in the table, and every test of the table exists. It runs in the root
// of the repository.
//
// A row of the table is
//
//	| K011 | the fault in a line | crawler: TestScopeComparesLabels_K011; dedupe: TestOther_K011 |
//
// With -w the tests of all rows are written anew, and rows that are missing are added with a question mark in the
// middle, which a person has to replace.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

const table = "docs/faults.md"

func main() {
	write := flag.Bool("w", false, "write the tests into the table")
	flag.Parse()
	repo := os.DirFS(".")
	err := error(nil)
	if *write {
		err = rewrite(repo)
	}
	if err == nil {
		err = run(repo, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

// test is a test of a fault, written as in the table: "folder: name". The root package's folder is ".".
type test string

func (t test) id() string { return string(t[strings.LastIndexByte(string(t), '_')+1:]) }

func run(repo fs.FS, w io.Writer) error {
	text, err := fs.ReadFile(repo, table)
	if err != nil {
		return err
	}
	rows, problems := readTable(string(text))
	tests, err := findTests(repo)
	if err != nil {
		return err
	}
	problems = append(problems, compare(rows, tests)...)
	for _, p := range problems {
		fmt.Fprintln(w, p)
	}
	if len(problems) > 0 {
		return fmt.Errorf("%s and the tests differ", table)
	}
	fmt.Fprintf(w, "%d faults, %d tests\n", len(rows), len(tests))
	return nil
}

var (
	rowForm  = regexp.MustCompile(`^\| (K\d{3}) \| (.+) \| (.+) \|$`)
	testForm = regexp.MustCompile(`^\S+: (Test|Fuzz)\w+_(K\d{3})$`)
	nameForm = regexp.MustCompile(`^(Test|Fuzz)\w+_K\d{3}$`)
)

// readTable returns the tests of every row by the row's id, and what is wrong with the rows' form.
func readTable(text string) (rows map[string][]test, problems []string) {
	rows = map[string][]test{}
	last := ""
	for n, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, "| K") {
			continue
		}
		complain := func(what string) { problems = append(problems, fmt.Sprintf("%s:%d: %s", table, n+1, what)) }
		row := rowForm.FindStringSubmatch(line)
		if row == nil {
			complain("not of the form | K000 | fault | folder: TestName_K000 |")
			continue
		}
		id, fault := row[1], strings.TrimSpace(row[2])
		if fault == "?" || fault == "" {
			complain(id + " does not say the fault")
		}
		if id <= last {
			complain(id + " stands after " + last)
		}
		last = id
		for _, t := range strings.Split(strings.ReplaceAll(row[3], "`", ""), ";") {
			t := test(strings.TrimSpace(t))
			if !testForm.MatchString(string(t)) || t.id() != id {
				complain(fmt.Sprintf("%q is no test of %s", t, id))
				continue
			}
			rows[id] = append(rows[id], t)
		}
	}
	return rows, problems
}

// findTests parses all test files of the tree, those of nested modules too.
func findTests(repo fs.FS) ([]test, error) {
	var tests []test
	err := fs.WalkDir(repo, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := path.Base(name); d.IsDir() && name != "." && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		src, err := fs.ReadFile(repo, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && nameForm.MatchString(f.Name.Name) {
				tests = append(tests, test(path.Dir(name)+": "+f.Name.Name))
			}
		}
		return nil
	})
	return tests, err
}

func compare(rows map[string][]test, tests []test) (problems []string) {
	missing := map[string][]string{}
	for _, t := range tests {
		if !slices.Contains(rows[t.id()], t) {
			missing[t.id()] = append(missing[t.id()], string(t))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(missing)) {
		if rows[id] == nil {
			problems = append(problems, fmt.Sprintf("missing: | %s | ? | %s |", id, strings.Join(missing[id], "; ")))
		} else {
			problems = append(problems, fmt.Sprintf("missing in the row of %s: %s", id, strings.Join(missing[id], "; ")))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		for _, t := range rows[id] {
			if !slices.Contains(tests, t) {
				problems = append(problems, "no such test: "+string(t))
			}
		}
	}
	return problems
}
