package jsonpath

import (
	"fmt"

	rfc "github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"
)

// Path is a compiled path. It is safe for concurrent use.
type Path struct {
	text     string
	segments []segment
	steps    []step
	definite bool
}

// step is one name or index of a definite path.
type step struct {
	name    string
	index   int
	isIndex bool
}

// PathError says what is wrong with a path.
type PathError struct {
	Path string
	Err  error
}

// Error quotes the path and gives the position of the fault in it.
func (e *PathError) Error() string { return fmt.Sprintf("seine: jsonpath %q: %v", e.Path, e.Err) }

// Unwrap returns the cause.
func (e *PathError) Unwrap() error { return e.Err }

// MaxPath is how long a path may be, in bytes.
const MaxPath = 64 << 10

// Compile reads a path. The error is a *PathError.
func Compile(path string) (*Path, error) {
	if len(path) > MaxPath {
		return nil, &PathError{path[:64] + "…", fmt.Errorf("longer than %d bytes", MaxPath)}
	}
	query, err := rfc.Parse(path)
	if err != nil {
		return nil, &PathError{path, err}
	}
	p := &Path{text: path}
	if p.segments, err = segmentsOf(query.Query()); err != nil {
		return nil, &PathError{path, err}
	}
	p.steps, p.definite = stepsOf(query.Query())
	return p, nil
}

// MustCompile is Compile for paths that are known to be right; it panics when they are not.
func MustCompile(path string) *Path {
	p, err := Compile(path)
	if err != nil {
		panic(err)
	}
	return p
}

func stepsOf(query *spec.PathQuery) ([]step, bool) {
	var steps []step
	for _, segment := range query.Segments() {
		if segment.IsDescendant() || len(segment.Selectors()) != 1 {
			return nil, false
		}
		switch s := segment.Selectors()[0].(type) {
		case spec.Name:
			steps = append(steps, step{name: string(s)})
		case spec.Index:
			steps = append(steps, step{index: int(s), isIndex: true})
		default:
			return nil, false
		}
	}
	return steps, true
}

// String returns the path as it was given.
func (p *Path) String() string { return p.text }

// Definite reports whether the path is of names and indexes alone, so that it leads to one value at most and Find and
// First take it.
func (p *Path) Definite() bool { return p.definite }
