package extract

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/seine-go/seine/extract/internal/island"
	"github.com/seine-go/seine/extract/jsonpath"
	"github.com/seine-go/seine/extract/literal"
	"github.com/seine-go/seine/extract/structured"
)

// State is data that a page carries in a script: the JSON of <script id="__NEXT_DATA__" type="application/json">, or an
// object or array that a script assigns: window.__INITIAL_STATE__ = {…}, var player = {…}, x = JSON.parse("…"). What the app
// router of Next.js streams, self.__next_f.push([1,"…"]), is one State of the name __next_f: an object of its rows by their ids,
// the texts that they refer to put in. A path such as $..film finds what it holds wherever that is.
type State struct {
	// Name is the id of the script, or what is assigned, without "window.", "self.", "globalThis." and "this.".
	Name string

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
// literal (see package literal), which may stand behind "S = S ||" or in Object.freeze. At most 1,000 are taken, and in each script
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
		data := structured.ReadBlocks(p.blocks, o)
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
		p.states = append(p.states, &State{it.ID, raw, sync.OnceValues(func() (any, error) { return parseWhole(raw, l) })})
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
	for i := 0; i < len(js); i++ {
		if tries <= 0 {
			p.fault(&literal.LimitError{What: "bytes in search of literals", Limit: maxTries*len(js) + 1<<10})
			return
		}
		switch c := js[i]; c {
		case '"', '\'', '`':
			i = passQuoted(js, i, open)
		case '/':
			if end := passComment(js, i); end > i {
				i = end
			} else {
				i = passPattern(js, i)
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
			value, n, err := literal.Parse(js[at:], l)
			tries -= n + 1
			if err == nil {
				p.states = append(p.states, &State{name, nil, func() (any, error) { return value, nil }})
				i = at + n - 1
			} else if _, beyond := err.(*literal.LimitError); beyond {
				p.states = append(p.states, &State{name, nil, func() (any, error) { return nil, err }})
			}
		}
	}
}

// assigned returns the name before an equals sign and where the object, the array, the JSON.parse or the function begins that
// stands behind it; the name is empty when it is no such assignment.
func assigned(js []byte, i int) (name string, at int) {
	if i == 0 || bytes.IndexByte([]byte("=!<>+-*/%&|^?"), js[i-1]) >= 0 {
		return "", 0
	}
	at = passWrappers(js, passBlanks(js, i+1), js[:i])
	if rest := js[at:]; !bytes.HasPrefix(rest, []byte("{")) && !bytes.HasPrefix(rest, []byte("[")) && !bytes.HasPrefix(rest, []byte("JSON.parse")) &&
		!bytes.HasPrefix(rest, []byte("(function")) {
		return "", 0
	}
	return nameBefore(js[:i]), at
}

// nameBefore returns the name at the end of js: a.b, a["b"].
func nameBefore(js []byte) string {
	js = bytes.TrimRight(js[max(0, len(js)-256):], " \t\r\n")
	end := len(js)
	if end > 3 && js[end-1] == ']' && (js[end-2] == '"' || js[end-2] == '\'') {
		quote := js[end-2]
		open := bytes.LastIndexByte(js[:end-2], quote)
		if open < 1 || js[open-1] != '[' {
			return ""
		}
		return plainName(string(identifier(js[:open-1])) + "." + string(js[open+1:end-2]))
	}
	return plainName(string(identifier(js)))
}

// identifier is what js ends with of names and dots.
func identifier(js []byte) []byte {
	i := len(js)
	for i > 0 && (js[i-1] == '.' || isNameByte(js[i-1])) {
		i--
	}
	return js[i:]
}

func plainName(name string) string {
	for _, global := range [...]string{"window.", "self.", "globalThis.", "this."} {
		if rest, ok := strings.CutPrefix(name, global); ok {
			name = rest
			break
		}
	}
	if name == "" || '0' <= name[0] && name[0] <= '9' {
		return ""
	}
	return name
}

// passQuoted returns the last byte of a string; where it has no end, or none on its line, its quote. Up to where there is none
// stands in open, by the quote: the same quote that stands before that has none either.
func passQuoted(js []byte, i int, open map[byte]int) int {
	quote := js[i]
	if i < open[quote] {
		return i
	}
	k := i + 1
	for ; k < len(js) && (js[k] != '\n' || quote == '`'); k++ {
		switch js[k] {
		case quote:
			return k
		case '\\':
			k++
		}
	}
	open[quote] = k
	return i
}

// passComment returns the last byte of a comment, or i when there is none.
func passComment(js []byte, i int) int {
	end, skip := -1, 0
	switch {
	case bytes.HasPrefix(js[i:], []byte("//")):
		end = bytes.IndexByte(js[i:], '\n')
	case bytes.HasPrefix(js[i:], []byte("/*")):
		end, skip = bytes.Index(js[i+2:], []byte("*/")), 3
	default:
		return i
	}
	if end < 0 {
		return len(js) - 1
	}
	return i + end + skip
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
