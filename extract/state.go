package extract

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/seine-go/seine/extract/internal/island"
	"github.com/seine-go/seine/extract/jsonpath"
	"github.com/seine-go/seine/extract/literal"
	"github.com/seine-go/seine/extract/structured"
	"github.com/seine-go/seine/internal/jslex"
)

// State is data that a page carries in a script: the JSON of <script id="__NEXT_DATA__" type="application/json">, or an
// object or array that a script assigns: window.__INITIAL_STATE__ = {…}, var player = {…}, x = JSON.parse("…"). What the app
// router of Next.js streams, self.__next_f.push([1,"…"]), is one State of the name __next_f: an object of its rows by their ids,
// the texts that they refer to put in. A path such as $..film finds what it holds wherever that is.
type State struct {
	// Name is the id of the script, or what is assigned, without "window.", "self.", "globalThis." and "this.".
	Name string
	// LeftOut is the first *literal.SyntaxError of what a script assigns that is no literal, such as a function: such members are
	// left out, and elements of arrays are nil. It is nil when the data is whole.
	LeftOut error

	raw   []byte // JSON as it stands; nil for what a script assigns
	value func() (any, error)
}

// Value returns the data, in the types of encoding/json with json.Number. It is read once; nobody may change it. The error
// is a *literal.SyntaxError or a *literal.LimitError.
func (s *State) Value() (any, error) { return s.value() }

// pageData is what the scripts of a page hold.
type pageData struct {
	states []*State
	blocks []string // of JSON-LD
	flight [][]byte // scripts that push pieces of Next.js' data
	faults []error  // of the search for states

	structured func() (*structured.Data, error)
	objects    func() *structured.Data // of JSON-LD alone, for which no tree is built
}

// States returns the data in the scripts of the page, in its order. Nothing is evaluated: what is assigned must be a
// literal (see package literal), which may stand behind "S = S ||" or in Object.freeze, or a string that is JSON; members of it
// that are no literals are left out (State.LeftOut), and what is assigned in them is no data. At most 1,000 are taken, and in each script
// bounded work is done; where something may have been left out for that, Report.Faults says so. A page that cannot be decoded
// has none.
func (d *Document) States() []*State { return d.data().states }

// State returns the first data of that name; "" is the first of any. It is nil if there is none.
func (d *Document) State(name string) *State {
	for _, s := range d.data().states {
		if name == "" || s.Name == name {
			return s
		}
	}
	return nil
}

// Structured returns what the page says in JSON-LD, Microdata, RDFa Lite and OpenGraph. The error is that of Tree; what
// cannot be read of the page stands in Data.Errors.
func (d *Document) Structured() (*structured.Data, error) { return d.data().structured() }

// JSON returns the body as JSON, with comments, trailing commas and the like let pass (see package literal). The error is
// that of Text, or tells what is wrong with the JSON: a *literal.SyntaxError or a *literal.LimitError.
func (d *Document) JSON() (any, error) { return d.value() }

func (d *Document) parseJSON() (any, error) {
	text, err := d.text()
	if err != nil {
		return nil, err
	}
	return parseWhole(text, d.o.Limits)
}

// faults are those of the page's data that somebody has asked for.
func (d *Document) faults() []error {
	var faults []error
	if page := d.scripts.Load(); page != nil {
		faults = page.faults
	}
	if data := d.read.Load(); data != nil {
		return slices.Concat(faults, data.Errors)
	}
	return faults
}

// parseWhole reads a text that is one value.
func parseWhole(text []byte, l literal.Limits) (any, error) {
	values, err := literal.ParseAll(text, l)
	switch {
	case err != nil:
		return nil, err
	case len(values) != 1:
		return nil, &literal.SyntaxError{Offset: len(text), Reason: fmt.Sprintf("%d values, not one", len(values))}
	}
	return values[0], nil
}

const (
	maxStates = 1_000
	// maxTries is how many bytes may be read in search of literals, as a multiple of the script's.
	maxTries = 8
)

func (d *Document) readData() *pageData {
	p := &pageData{}
	if text, err := d.text(); err == nil {
		for _, it := range island.Find(text) {
			p.take(it, d.o.Limits)
		}
	}
	d.scripts.Store(p)
	o := structured.Options{URL: d.o.URL, Limits: d.o.Limits}
	p.objects = sync.OnceValue(func() *structured.Data {
		data := structured.ReadBlocks(p.blocks, structured.Options{URL: d.baseURL(), Limits: d.o.Limits})
		d.read.CompareAndSwap(nil, data)
		return data
	})
	p.structured = sync.OnceValues(func() (*structured.Data, error) {
		root, err := d.Tree()
		if err != nil {
			return nil, err
		}
		data := structured.ReadWith(root, p.blocks, o)
		d.read.Store(data)
		return data, nil
	})
	return p
}

func (p *pageData) take(it island.Script, l literal.Limits) {
	switch {
	case it.Type == "application/ld+json":
		p.blocks = append(p.blocks, string(it.Text))
	case len(p.states) >= maxStates:
		p.fault(&literal.LimitError{What: "states", Limit: maxStates})
	case it.Type == "application/json" || it.Type == "text/json" || strings.HasSuffix(it.Type, "+json"):
		raw := it.Text
		p.states = append(p.states, &State{Name: it.ID, raw: raw, value: sync.OnceValues(func() (any, error) { return parseWhole(raw, l) })})
	case it.Type == "" || it.Type == "module" || strings.HasSuffix(it.Type, "javascript") || strings.HasSuffix(it.Type, "ecmascript"):
		p.takeFlight(it.Text, l)
		p.assignments(it.Text, l)
	}
}

// fault keeps a fault of the search; one of each kind is enough.
func (p *pageData) fault(err *literal.LimitError) {
	for _, known := range p.faults {
		if known.(*literal.LimitError).What == err.What {
			return
		}
	}
	p.faults = append(p.faults, err)
}

// assignments finds what a script assigns. It passes strings and comments, so that what looks like code in them is none.
func (p *pageData) assignments(js []byte, l literal.Limits) {
	tries := maxTries*len(js) + 1<<10
	open := map[byte]int{}
	whole := false // brackets have no end: what is in them is no literal in parts
	for i := 0; i < len(js); i++ {
		if tries <= 0 {
			p.fault(&literal.LimitError{What: "bytes in search of literals", Limit: maxTries*len(js) + 1<<10})
			return
		}
		switch c := js[i]; c {
		case '"', '\'', '`':
			i = passQuoted(js, i, open)
		case '/':
			if end := jslex.Comment(js, i); end > i {
				i = end
			} else {
				i = jslex.Pattern(js, i)
			}
		case '=':
			name, at := assigned(js, i)
			if name == "" {
				continue
			}
			if len(p.states) >= maxStates {
				p.fault(&literal.LimitError{What: "states", Limit: maxStates})
				return
			}
			state, read, done := readAssigned(js[at:], whole, l)
			tries -= read + 1
			if state != nil {
				state.Name = name
				p.states = append(p.states, state)
			}
			whole = whole || state == nil && at+read >= len(js)
			if done {
				i = at + read - 1
			}
		}
	}
}

// lookup finds what a path leads to in the data, without reading it into values where the path and the data allow that.
func (s *State) lookup(p *jsonpath.Path, steps *int) ([]any, error) {
	return lookupJSON(s.raw, s.value, p, steps)
}

// scanStep is how many bytes of JSON, or of a text that is searched, count as a step.
const scanStep = 64

func lookupJSON(raw []byte, value func() (any, error), p *jsonpath.Path, steps *int) ([]any, error) {
	if raw != nil && p.Definite() {
		*steps -= len(raw) / scanStep
		found, ok, err := p.Find(raw)
		switch {
		case err != nil: // not JSON to the letter
		case !ok:
			return nil, nil
		default:
			v, _, err := literal.Parse(found, literal.Limits{Bytes: -1})
			if err != nil {
				return nil, err
			}
			return []any{v}, nil
		}
	}
	v, err := value()
	if err != nil {
		return nil, err
	}
	return p.SelectWithin(v, steps)
}
