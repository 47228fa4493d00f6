package jsonpath

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	rfc "github.com/theory/jsonpath"
)

// errUnread says that the parser's package writes a filter in a way that is not known here.
var errUnread = errors.New("a filter that cannot be read")

// filterText is what is left of a comparison or a function in the canonical text that the parser's package gives, which is all
// that it tells of them: operands, separated by operators and commas with one blank.
type filterText string

// operand is a literal, or what is taken from the value at hand: nothing when there is none.
type operand struct {
	literal any
	take    func(v any, s *selection) (any, bool)
}

func (o *operand) value(v any, s *selection) (any, bool) {
	if o.take == nil {
		return o.literal, true
	}
	return o.take(v, s)
}

// readTest reads a comparison, or a function that is true or false.
func readTest(text string) (test, error) {
	t := filterText(text)
	for _, name := range []string{"match(", "search("} {
		if t.skip(name) {
			return t.pattern(name == "match(")
		}
	}
	left, err := t.operand()
	if err != nil || !t.skip(" ") {
		return nil, errUnread
	}
	op, rest, _ := strings.Cut(string(t), " ")
	t = filterText(rest)
	right, err := t.operand()
	if err != nil || t != "" {
		return nil, errUnread
	}
	return comparison(op, left, right)
}

// pattern reads the operands of match and search.
func (t *filterText) pattern(whole bool) (test, error) {
	text, err := t.operand()
	if err != nil || !t.skip(", ") {
		return nil, errUnread
	}
	pattern, err := t.operand()
	if err != nil || *t != ")" {
		return nil, errUnread
	}
	return matching(text, pattern, whole), nil
}

func (t *filterText) skip(prefix string) bool {
	rest, ok := strings.CutPrefix(string(*t), prefix)
	*t = filterText(rest)
	return ok
}

// operand reads one.
func (t *filterText) operand() (*operand, error) {
	switch {
	case *t == "":
		return nil, errUnread
	case (*t)[0] == '"':
		text, err := t.quoted()
		return &operand{literal: text}, err
	case (*t)[0] == '@' || (*t)[0] == '$':
		q, err := t.query()
		return &operand{take: q.value}, err
	}
	word := string(*t)
	if end := strings.IndexAny(word, " ,()"); end >= 0 {
		word = word[:end]
	}
	*t = (*t)[len(word):]
	if t.skip("(") {
		return t.function(word)
	}
	switch word {
	case "true", "false":
		return &operand{literal: word == "true"}, nil
	case "null":
		return &operand{}, nil
	}
	if end, reason := numberEnd([]byte(word), 0); reason != 0 || end < len(word) {
		return nil, errUnread
	}
	return &operand{literal: json.Number(word)}, nil
}

// function reads the operand of one that gives a value.
func (t *filterText) function(name string) (*operand, error) {
	made := &operand{}
	switch name {
	case "length":
		of, err := t.operand()
		if err != nil {
			return nil, err
		}
		made.take = func(v any, s *selection) (any, bool) { return length(of.value(v, s)) }
	case "count":
		q, err := t.query()
		if err != nil {
			return nil, err
		}
		made.take = func(v any, s *selection) (any, bool) { return whole(len(q.nodes(v, s))), true }
	case "value":
		q, err := t.query()
		if err != nil {
			return nil, err
		}
		made.take = func(v any, s *selection) (any, bool) {
			if nodes := q.nodes(v, s); len(nodes) == 1 {
				return nodes[0], true
			}
			return nil, false
		}
	}
	if made.take == nil || !t.skip(")") {
		return nil, errUnread
	}
	return made, nil
}

func whole(n int) json.Number { return json.Number(strconv.Itoa(n)) }

// length counts the characters of a text, the elements of an array, the members of an object.
func length(v any, ok bool) (any, bool) {
	switch v := v.(type) {
	case string:
		return whole(utf8.RuneCountInString(v)), ok
	case []any:
		return whole(len(v)), ok
	case map[string]any:
		return whole(len(v)), ok
	}
	return nil, false
}

// quoted reads a text, which is quoted as Go does.
func (t *filterText) quoted() (string, error) {
	quoted, err := strconv.QuotedPrefix(string(*t))
	if err != nil {
		return "", errUnread
	}
	*t = (*t)[len(quoted):]
	return strconv.Unquote(quoted)
}

// query reads a path. The parser's package reads it once more, with its texts quoted as in JSON.
func (t *filterText) query() (*query, error) {
	if *t == "" || (*t)[0] != '@' && (*t)[0] != '$' {
		return nil, errUnread
	}
	fromRoot := (*t)[0] == '$'
	*t = (*t)[1:]
	path, open := []byte("$"), 0
	for *t != "" && (open > 0 || (*t)[0] == '[' || (*t)[0] == '.') {
		switch (*t)[0] {
		case '"':
			text, err := t.quoted()
			if err != nil {
				return nil, err
			}
			quoted, _ := json.Marshal(text)
			path = append(path, quoted...)
			continue
		case '[':
			open++
		case ']':
			open--
		}
		path = append(path, (*t)[0])
		*t = (*t)[1:]
	}
	parsed, err := rfc.Parse(string(path))
	if err != nil {
		return nil, errUnread
	}
	return queryOf(parsed.Query(), fromRoot)
}
