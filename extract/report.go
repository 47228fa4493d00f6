package extract

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// Status says what became of a field.
type Status uint8

// The values of Status. Missing is never the same as a zero value: a text "0" and an empty text are OK.
const (
	OK            Status = iota // a source has it
	Default                     // no source has it, and the declaration says what stands in
	Missing                     // no source has it
	ConvertFailed               // sources have it, but not as a value of the field's type, or not within its bounds
	Ambiguous                   // there are several, of which the first was taken; an error with the option one
	Disagreed                   // sources have different values; that of the first was taken
)

var statusNames = [...]string{"ok", "default", "missing", "convert_failed", "ambiguous", "disagreed"}

// String returns the status in lower case.
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("Status(%d)", s)
}

// FieldReport says where a field's value came from.
type FieldReport struct {
	Path        string // of the field: "Cast[2].Name"
	Source      string // that the value is of, as it was declared, or the last of which a value did not convert; or empty
	SourceIndex int    // among the field's sources; above 0 it was a fallback, -1 none
	Matched     int    // values that the source has found
	Raw         string // the text before conversion, at most 1,024 bytes
	Status      Status
	Err         error  // what failed, of the last source that failed; nil when all went well
	Snippet     string // at most 200 bytes of where a field that has no value was looked for
}

const (
	maxRaw     = 1024
	maxSnippet = 200
	// maxReports is how many fields a report tells of; of more it counts only the errors.
	maxReports = 10_000
)

// Report is the account of one extraction.
type Report struct {
	Fields    []FieldReport
	Cut       int     // fields that were left out because there were more than 10,000
	Flattened bool    // the tree lacks elements; see Document.Tree
	Faults    []error // of the page: data in it that cannot be read
	Err       error   // of the extraction, as Schema.Extract returns it
}

// Field returns the report of a field by its path.
func (r *Report) Field(path string) (FieldReport, bool) {
	for _, f := range r.Fields {
		if f.Path == path {
			return f, true
		}
	}
	return FieldReport{}, false
}

// FieldError says which field could not be filled as it was declared.
type FieldError struct{ FieldReport }

// Error names the field, and the source if there is one.
func (e *FieldError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seine: extract: %s: %s", e.Path, strings.ReplaceAll(e.Status.String(), "_", " "))
	if e.Source != "" {
		fmt.Fprintf(&b, " (%s)", cut(e.Source))
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Unwrap returns the cause, which may be nil.
func (e *FieldError) Unwrap() error { return e.Err }

// StateError says that a source has looked at data of a script of which something was left out, since it is no literal.
type StateError struct {
	Name string // of the State
	Err  error  // of what was left out first
}

// Error names the state.
func (e *StateError) Error() string {
	return fmt.Sprintf("seine: extract: state %s is not whole: %v", cut(e.Name), e.Err)
}

// Unwrap returns the cause, a *literal.SyntaxError.
func (e *StateError) Unwrap() error { return e.Err }

// Drift counts what became of fields, for metrics: a rising count of a source that is not the first shows that a selector
// broke before data is lost. The zero value is ready; it may be used by many goroutines.
type Drift struct {
	mu     sync.Mutex
	counts map[DriftKey]int64
}

// DriftKey is what Drift counts by. Indexes of lists are left out of the field, and keys of maps are [*].
type DriftKey struct {
	Field       string
	SourceIndex int
	Status      Status
}

// maxDrift is how many keys a Drift holds; what comes beyond is counted under the field "".
const maxDrift = 10_000

// Add counts the fields of a report.
func (d *Drift) Add(r *Report) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.counts == nil {
		d.counts = map[DriftKey]int64{}
	}
	for _, f := range r.Fields {
		key := DriftKey{withoutIndexes(f.Path), f.SourceIndex, f.Status}
		if _, known := d.counts[key]; !known && len(d.counts) >= maxDrift {
			key = DriftKey{"", f.SourceIndex, f.Status}
		}
		d.counts[key]++
	}
}

// Counts returns the counts so far.
func (d *Drift) Counts() map[DriftKey]int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	counts := make(map[DriftKey]int64, len(d.counts))
	for k, n := range d.counts {
		counts[k] = n
	}
	return counts
}

// withoutIndexes is a path without what the page says of it: indexes of lists are left out, keys of maps are "*".
func withoutIndexes(path string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(path, "[")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		if quoted, err := strconv.QuotedPrefix(rest); err == nil {
			b.WriteString("[*]")
			rest = rest[len(quoted):]
		}
		_, path, _ = strings.Cut(rest, "]")
	}
}
