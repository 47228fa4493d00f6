package extract

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"
	"sync"

	"github.com/seine-go/seine/extract/literal"
)

// flightName is the name of the State of what Next.js with its app router streams into a page: scripts that each push a piece,
//
//	self.__next_f.push([1,"4:[\"$\",\"$L5\",null,{\"film\":{\"title\":\"Tampopo\"}}]\n"])
//
// The pieces together are rows of React's flight protocol: an id in hex, a colon, and JSON up to the end of the line, or a
// T, a length in hex, a comma and a text. Rows of other kinds (modules, hints, errors) hold no data of the page.
const flightName = "__next_f"

var flightPush = []byte("__next_f.push(")

// takeFlight takes a script that pushes pieces; they are read when somebody asks for them.
func (p *pageData) takeFlight(js []byte, l literal.Limits) {
	if !bytes.Contains(js, flightPush) {
		return
	}
	if p.flight == nil {
		p.states = append(p.states, &State{Name: flightName, value: sync.OnceValues(func() (any, error) { return readFlight(p.flight, l) })})
	}
	p.flight = append(p.flight, js)
}

// readFlight reads the rows in the pieces that scripts push: an object of their values by id. A value that is "$" and the id of
// a text is that text, "$$" at the beginning of another stands for one "$", and other references stay as they are. A row that
// cannot be read is left out. The error is a *literal.LimitError: the bounds are those of all rows together.
func readFlight(scripts [][]byte, l literal.Limits) (any, error) {
	stream, err := flightStream(scripts, l)
	if err != nil {
		return nil, err
	}
	if l.Nodes == 0 {
		l.Nodes = literal.DefaultNodes
	}
	f := flightReader{rows: map[string]any{}, texts: map[string]string{}, limits: l, left: l.Nodes}
	for len(stream) > 0 {
		if stream, err = f.row(stream); err != nil {
			return nil, err
		}
	}
	for id, v := range f.rows {
		f.rows[id] = f.resolved(v)
	}
	for id, text := range f.texts {
		f.rows[id] = text
	}
	return f.rows, nil
}

// flightStream puts the pieces together.
func flightStream(scripts [][]byte, l literal.Limits) (stream []byte, _ error) {
	most := l.Bytes
	if most == 0 {
		most = literal.DefaultBytes
	}
	for _, js := range scripts {
		for {
			at := bytes.Index(js, flightPush)
			if at < 0 {
				break
			}
			js = js[at+len(flightPush):]
			v, n, _ := literal.Parse(js, literal.Limits{Bytes: -1}) // what is no literal pushes nothing
			js = js[n:]
			if stream = append(stream, flightPiece(v)...); most > 0 && len(stream) > most {
				return nil, &literal.LimitError{What: "bytes", Limit: most}
			}
		}
	}
	return stream, nil
}

// flightPiece is what one push adds: [1, text] or [3, bytes in base64].
func flightPiece(v any) []byte {
	list, _ := v.([]any)
	if len(list) != 2 {
		return nil
	}
	text, _ := list[1].(string)
	switch jsonText(list[0], false) {
	case "1":
		return []byte(text)
	case "3":
		raw, _ := base64.StdEncoding.DecodeString(text)
		return raw
	}
	return nil
}

type flightReader struct {
	rows   map[string]any
	texts  map[string]string
	limits literal.Limits
	left   int // of the values of all rows; negative from the start: no bound
}

// row reads a row and returns what follows it.
func (f *flightReader) row(b []byte) (rest []byte, err error) {
	line, rest, _ := bytes.Cut(b, []byte("\n"))
	id, payload, ok := bytes.Cut(line, []byte(":"))
	if !ok || len(payload) == 0 || !isHexID(id) {
		return rest, nil
	}
	if c := payload[0]; isSized(c) {
		length, _, ok := bytes.Cut(payload[1:], []byte(","))
		n, err := strconv.ParseUint(string(length), 16, 31)
		if !ok || err != nil {
			return rest, nil
		}
		body := b[len(id)+len(length)+3:]
		size := min(int(n), len(body))
		if c == 'T' {
			f.texts[string(id)] = strings.ToValidUTF8(string(body[:size]), "\uFFFD")
		}
		return body[size:], nil
	}
	if 'A' <= payload[0] && payload[0] <= 'Z' || payload[0] == '#' {
		return rest, nil
	}
	v, err := parseWhole(payload, f.limits)
	if _, beyond := err.(*literal.LimitError); beyond {
		return nil, err
	}
	if err != nil {
		return rest, nil
	}
	if n := countValues(v); f.left >= 0 && n > f.left {
		return nil, &literal.LimitError{What: "nodes", Limit: f.limits.Nodes}
	} else if f.left >= 0 {
		f.left -= n
	}
	f.rows[string(id)] = v
	return rest, nil
}

// countValues counts a value and those in it.
func countValues(v any) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			n += countValues(element)
		}
	case map[string]any:
		for _, member := range v {
			n += countValues(member)
		}
	}
	return n
}

func isHexID(id []byte) bool {
	return len(id) > 0 && len(id) <= 8 && len(bytes.Trim(id, "0123456789abcdef")) == 0
}

// isSized reports whether a row of that kind has a length: a text, or numbers in binary.
func isSized(kind byte) bool { return strings.IndexByte("TAOobUSsLlGgMmV", kind) >= 0 }

// resolved puts texts in the places of what refers to them.
func (f *flightReader) resolved(v any) any {
	switch v := v.(type) {
	case string:
		if rest, ok := strings.CutPrefix(v, "$"); ok {
			if text, isText := f.texts[rest]; isText {
				return text
			}
			if strings.HasPrefix(rest, "$") {
				return rest
			}
		}
	case []any:
		for i := range v {
			v[i] = f.resolved(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = f.resolved(v[key])
		}
	}
	return v
}
