// Testlog reads the output of go test -json and prints what a person wants to see of it: the lines that are evidence
// (conformance, shown, drift:), the closing line of every package, why tests were skipped, and the whole output of
// whatever failed, at most maxLines of each test.
//
//	go test -json ./... | testlog -log whole.log
//
// It never fails by itself because of a failed test: the exit code is that of go test.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// maxLines bounds what is printed of one test: a time-out dumps every goroutine. The whole is in the log.
const maxLines = 300

func main() {
	file := flag.String("log", "", "write the whole output to this file")
	flag.Parse()
	if err := run(*file); err != nil {
		fmt.Fprintln(os.Stderr, "testlog:", err)
		os.Exit(1)
	}
}

func run(file string) (err error) {
	whole := io.Discard
	if file != "" {
		f, err := os.Create(file)
		if err != nil {
			return err
		}
		defer func() { err = f.Close() }()
		whole = f
	}
	return report(os.Stdin, os.Stdout, whole)
}

// event is one line of go test -json, as "go doc test2json" and "go help buildjson" describe it.
type event struct {
	Action     string
	Package    string
	ImportPath string // of build events
	Test       string
	Output     string
}

// testID names a test; an empty Test stands for the package itself.
type testID struct{ Package, Test string }

type log struct {
	out    *bufio.Writer
	output map[testID][]string // of tests that have not ended, and of packages
	order  []testID            // of the keys of output, by first appearance
	skips  map[string]int      // reason: number of tests
}

// report copies the events' text to whole and writes the digest to w. Lines that are no events go to both.
func report(r io.Reader, w, whole io.Writer) error {
	l := &log{out: bufio.NewWriter(w), output: map[testID][]string{}, skips: map[string]int{}}
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if line != "" {
			text := l.line(line)
			if _, err := io.WriteString(whole, text); err != nil {
				return err
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	l.printSkips()
	return l.out.Flush()
}

// line digests one line and returns the text that it carries.
func (l *log) line(line string) string {
	var e event
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &e) != nil {
		l.out.WriteString(line)
		return line
	}
	id := testID{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		l.out.WriteString(e.Output)
	case "output":
		l.take(id, e.Output)
	case "pass":
		l.forget(id)
	case "skip":
		l.skipped(id)
		l.forget(id)
	case "fail":
		if e.Test == "" {
			l.printPackage(e.Package)
		} else {
			l.print(id)
		}
	}
	return e.Output
}

var (
	evidence = regexp.MustCompile(`^(conformance |shown |drift: )`)
	closing  = regexp.MustCompile(`^(ok  |FAIL)\t`)
	progress = regexp.MustCompile(`^=== (RUN|PAUSE|CONT|NAME)`)
	place    = regexp.MustCompile(`^\s+\w+\.go:\d+: `)
)

func (l *log) take(id testID, text string) {
	if evidence.MatchString(text) || id.Test == "" && closing.MatchString(text) {
		l.out.WriteString(text)
		if !strings.HasSuffix(text, "\n") {
			l.out.WriteString("\n")
		}
		return
	}
	if progress.MatchString(text) {
		return
	}
	if _, ok := l.output[id]; !ok {
		l.order = append(l.order, id)
	}
	l.output[id] = append(l.output[id], text)
}

func (l *log) forget(id testID) {
	if _, ok := l.output[id]; ok {
		delete(l.output, id)
		l.order = slices.DeleteFunc(l.order, func(other testID) bool { return other == id })
	}
}

func (l *log) print(id testID) {
	lines := l.output[id]
	for _, text := range lines[:min(len(lines), maxLines)] {
		l.out.WriteString(text)
	}
	if n := len(lines) - maxLines; n > 0 {
		fmt.Fprintf(l.out, "... %d more lines of %s %s in the log\n", n, id.Package, id.Test)
	}
	l.forget(id)
}

// printPackage prints the package's own output and that of tests that never ended, as after a panic or a time-out.
func (l *log) printPackage(path string) {
	for _, id := range slices.Clone(l.order) {
		if id.Package == path {
			l.print(id)
		}
	}
}

// skipped counts the reason that stands in the output of a skipped test. A package without tests is no skip.
func (l *log) skipped(id testID) {
	if id.Test == "" {
		return
	}
	reason := "no reason given"
	for _, text := range l.output[id] {
		if at := place.FindString(text); at != "" {
			reason = strings.TrimSpace(text[len(at):])
		}
	}
	l.skips[reason]++
}

func (l *log) printSkips() {
	reasons := make([]string, 0, len(l.skips))
	for reason := range l.skips {
		reasons = append(reasons, reason)
	}
	slices.Sort(reasons)
	for _, reason := range reasons {
		fmt.Fprintf(l.out, "skipped %d: %s\n", l.skips[reason], reason)
	}
}
