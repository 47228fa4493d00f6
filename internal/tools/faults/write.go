package main

import (
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
)

// rewrite brings the tests of the table up to date in the file.
func rewrite(repo fs.FS) error {
	text, err := fs.ReadFile(repo, table)
	if err != nil {
		return err
	}
	tests, err := findTests(repo)
	if err != nil {
		return err
	}
	return os.WriteFile(table, []byte(update(string(text), tests)), 0o644)
}

// update returns the text with one table row for each fault that has a test, in order of the ids. The words of rows
// that stood there are kept; the rows of faults without a test are dropped.
func update(text string, tests []test) string {
	words := map[string]string{}
	var before, after []string
	for line := range strings.Lines(text) {
		switch row := rowForm.FindStringSubmatch(strings.TrimSuffix(line, "\n")); {
		case row != nil:
			words[row[1]] = row[2]
		case len(words) == 0:
			before = append(before, line)
		default:
			after = append(after, line)
		}
	}
	byID := map[string][]string{}
	for _, t := range tests {
		byID[t.id()] = append(byID[t.id()], string(t))
	}
	var b strings.Builder
	b.WriteString(strings.Join(before, ""))
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		fault, ok := words[id]
		if !ok {
			fault = "?"
		}
		slices.Sort(byID[id])
		b.WriteString("| " + id + " | " + fault + " | " + strings.Join(byID[id], "; ") + " |\n")
	}
	b.WriteString(strings.Join(after, ""))
	return b.String()
}
