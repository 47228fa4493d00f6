package extract

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seine-go/seine/extract/jsonpath"
	"github.com/seine-go/seine/extract/literal"
)

// Rules are declarations by the names of Go fields, or of members of a map (see Compile): what tags say, as data, so that an
// adapter can be shipped as a file.
// They are read from JSON (comments and trailing commas are let pass) or YAML:
//
//	Title: css=h1 || og=title ; required
//	Year:  {from: [ld=Movie.datePublished, css=.year], re: '/\d{4}/', default: 0}
//	Cast:
//	  from: css=ul.cast li
//	  fields: {Name: css=a, Role: css=.role}
type Rules map[string]Rule

// Rule declares a field. As data it is a text, the Tag, or an object: from (a source or a list of them), fields, and the
// options, with true for those that take no value. Anything else is an error.
type Rule struct {
	Tag    string // as in a struct tag
	Fields Rules  // of a struct, or of the structs in a list or map

	made *declaration
	text string // made as a tag, when it is not known where it stands
	at   spot   // of the Tag
}

// RulesError says what is wrong with rules, and where.
type RulesError struct {
	// Line and Column are where it stands in the text of the rules, in characters from 1. They are zero where that is not
	// known: in JSON that needs tolerance, and in what another library has read.
	Line, Column int
	Path         string // of the keys that lead there
	Err          error
}

// Error names the place.
func (e *RulesError) Error() string {
	var at strings.Builder
	at.WriteString("seine: extract: rules")
	if e.Line > 0 {
		fmt.Fprintf(&at, ": line %d, column %d", e.Line, e.Column)
	}
	if e.Path != "" {
		at.WriteString(": " + e.Path)
	}
	return fmt.Sprintf("%s: %v", at.String(), e.Err)
}

// Unwrap returns the cause.
func (e *RulesError) Unwrap() error { return e.Err }

// ParseRules reads rules from JSON; see ParseRulesYAML for YAML. The error is a *RulesError.
func ParseRules(text []byte) (Rules, error) {
	v, err := literal.ParseUnique(text, literal.Limits{})
	if err != nil {
		return nil, rulesError(text, err)
	}
	rules, fault := (&ruleReader{}).rules(plainValue(v), 0)
	if fault != nil {
		fault.Line, fault.Column = locate(text, fault.Path)
		return nil, fault
	}
	return rules, nil
}

// rulesError says where rules are no JSON.
func rulesError(text []byte, err error) *RulesError {
	var syntax *literal.SyntaxError
	if !errors.As(err, &syntax) {
		return &RulesError{Err: err}
	}
	line, column := lineOf(text, syntax.Offset)
	return &RulesError{Line: line, Column: column, Err: errors.New(syntax.Reason)}
}

// MarshalJSON writes a rule as ParseRules reads it: a text if that is all, or an object.
func (r Rule) MarshalJSON() ([]byte, error) {
	if r.made == nil && r.Fields == nil {
		return json.Marshal(r.Tag)
	}
	d, fault := r.declaration()
	if fault != nil {
		return nil, fault
	}
	o := map[string]any{}
	if r.Fields != nil {
		o["fields"] = r.Fields
	}
	sources := make([]string, 0, len(d.sources))
	for _, p := range d.sources {
		sources = append(sources, p.key+"="+p.value)
	}
	if len(sources) > 0 {
		o["from"] = sources
	}
	for _, p := range d.options {
		if o[p.key] = any(p.value); !p.hasValue {
			o[p.key] = true
		}
	}
	return json.Marshal(o)
}

// UnmarshalJSON reads rules.
func (r *Rules) UnmarshalJSON(text []byte) error {
	rules, err := ParseRules(text)
	if err == nil {
		*r = rules
	}
	return err
}

// UnmarshalYAML reads rules that are a part of something else; the libraries for YAML know the signature. It cannot tell
// where a fault stands, as ParseRulesYAML can.
func (r *Rules) UnmarshalYAML(decode func(any) error) error {
	var v any
	if err := decode(&v); err != nil {
		return err
	}
	rules, fault := (&ruleReader{}).rules(plainValue(v), 0)
	if fault != nil {
		return fault
	}
	*r = rules
	return nil
}

// locate finds where the value at a path of keys stands in JSON to the letter.
func locate(text []byte, path string) (line, column int) {
	if path == "" {
		return 0, 0
	}
	keys := strings.Split(path, ".")
	for i, key := range keys {
		name, _ := json.Marshal(key)
		keys[i] = "[" + string(name) + "]"
	}
	p, err := jsonpath.Compile("$" + strings.Join(keys, ""))
	if err != nil {
		return 0, 0
	}
	raw, ok, err := p.Find(text)
	if err != nil || !ok {
		return 0, 0
	}
	return lineOf(text, cap(text)-cap(raw))
}

// lineOf is the place of an offset, in characters from 1.
func lineOf(text []byte, offset int) (line, column int) {
	before := string(text[:min(offset, len(text))])
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, len([]rune(before[start:])) + 1
}

// spot is a place in a text, in characters from 1; the zero spot is nowhere.
type spot struct{ line, column int }

// ruleValue is a value of rules: a string, a ruleNumber, a bool, a []ruleValue, a []ruleMember, or something that rules have
// not.
type ruleValue struct {
	v    any
	at   spot
	text spot // where the text of a string begins; nowhere if it does not stand there as it is
}

// ruleNumber is a number as it is written.
type ruleNumber string

type ruleMember struct {
	key   string
	at    spot
	value ruleValue
}

// plainValue takes the forms in which libraries give values.
func plainValue(v any) ruleValue {
	switch v := v.(type) {
	case map[string]any:
		o := make([]ruleMember, 0, len(v))
		for _, key := range sortedNames(v) {
			o = append(o, ruleMember{key: key, value: plainValue(v[key])})
		}
		return ruleValue{v: o}
	case map[any]any:
		named := make(map[string]any, len(v))
		for key, member := range v {
			named[fmt.Sprint(key)] = member
		}
		return plainValue(named)
	case []any:
		list := make([]ruleValue, len(v))
		for i, element := range v {
			list[i] = plainValue(element)
		}
		return ruleValue{v: list}
	case int, int64, uint64, float64, json.Number:
		return ruleValue{v: ruleNumber(fmt.Sprint(v))}
	}
	return ruleValue{v: v}
}

// ruleReader makes rules of values; path are the keys that lead to the one at hand.
type ruleReader struct{ path []string }

func (r *ruleReader) fault(at spot, err error) *RulesError {
	return &RulesError{Line: at.line, Column: at.column, Path: strings.Join(r.path, "."), Err: err}
}

// in does something with a member of an object.
func (r *ruleReader) in(key string, do func() *RulesError) *RulesError {
	r.path = append(r.path, key)
	fault := do()
	r.path = r.path[:len(r.path)-1]
	return fault
}

func (r *ruleReader) rules(v ruleValue, depth int) (Rules, *RulesError) {
	o, ok := v.v.([]ruleMember)
	if !ok || depth > maxNested {
		return nil, r.fault(v.at, errors.New("no object of rules"))
	}
	rules := Rules{}
	for _, m := range o {
		if fault := r.in(m.key, func() (fault *RulesError) {
			rules[m.key], fault = r.rule(m.value, depth)
			return fault
		}); fault != nil {
			return nil, fault
		}
	}
	return rules, nil
}

func (r *ruleReader) rule(v ruleValue, depth int) (rule Rule, fault *RulesError) {
	if tag, ok := v.v.(string); ok {
		return Rule{Tag: tag, at: v.text}, nil
	}
	o, ok := v.v.([]ruleMember)
	if !ok {
		return rule, r.fault(v.at, errors.New("neither a tag nor an object"))
	}
	rule.made = &declaration{}
	for _, m := range o {
		if fault = r.in(m.key, func() *RulesError { return r.member(&rule, m, depth) }); fault != nil {
			return rule, fault
		}
	}
	if v.at.line == 0 {
		rule.text = rule.made.write()
	}
	return rule, nil
}

// write writes a declaration as a tag, and counts the places of its parts there.
func (d *declaration) write() string {
	var b strings.Builder
	for i, parts := range [][]part{d.sources, d.options} {
		for k := range parts {
			if k > 0 && i == 0 {
				b.WriteString(" || ")
			} else if i == 1 {
				b.WriteString(" ; ")
			}
			p := &parts[k]
			p.column, p.at = b.Len()+1, b.Len()+len(p.key)+2
			b.WriteString(p.key)
			if p.hasValue {
				b.WriteString("=" + p.value)
			}
		}
	}
	return b.String()
}

// member takes a member of a rule.
func (r *ruleReader) member(rule *Rule, m ruleMember, depth int) (fault *RulesError) {
	switch _, isFlag := flags[m.key]; {
	case m.key == "fields":
		rule.Fields, fault = r.rules(m.value, depth+1)
		return fault
	case m.key == "from":
		rule.made.sources, fault = r.sources(m.value)
		return fault
	case !isFlag && !slices.Contains(valued, m.key):
		return r.fault(m.at, fmt.Errorf("no option is called %q", cut(m.key)))
	}
	p := part{key: m.key, hasValue: true, line: m.at.line, column: m.at.column, at: m.value.at.column}
	switch value := m.value.v.(type) {
	case string:
		p.value = value
	case ruleNumber:
		p.value = string(value)
	case bool:
		if _, isFlag := flags[m.key]; isFlag && !value {
			return nil
		} else if isFlag {
			p.hasValue = false
		} else {
			p.value = fmt.Sprint(value)
		}
	default:
		return r.fault(m.value.at, errors.New("not a text, a number, true or false"))
	}
	rule.made.options = append(rule.made.options, p)
	return nil
}

func (r *ruleReader) sources(v ruleValue) (sources []part, _ *RulesError) {
	list, ok := v.v.([]ruleValue)
	if !ok {
		list = []ruleValue{v}
	}
	for _, element := range list {
		text, ok := element.v.(string)
		if !ok {
			return nil, r.fault(element.at, errors.New("no source"))
		}
		d, tagFault := parseTag(text)
		if tagFault != nil {
			return nil, r.fault(element.at, tagFault.err)
		}
		if len(d.options) > 0 || len(d.sources) == 0 && strings.TrimSpace(text) != "" {
			return nil, r.fault(element.at, fmt.Errorf("%q is no source", cut(text)))
		}
		d.moveTo(element.text)
		sources = append(sources, d.sources...)
	}
	return sources, nil
}

// declaration reads the rule.
func (r Rule) declaration() (*declaration, *tagError) {
	if r.made != nil {
		return r.made, nil
	}
	d, fault := parseTag(r.Tag)
	if fault != nil && r.at.line > 0 {
		fault.line, fault.column = r.at.line, fault.column+r.at.column-1
	} else if fault == nil {
		d.moveTo(r.at)
	}
	return d, fault
}

// moveTo counts places of a declaration from where it stands in a text.
func (d *declaration) moveTo(at spot) {
	if at.line == 0 {
		return
	}
	for _, parts := range [][]part{d.sources, d.options} {
		for i := range parts {
			parts[i].line = at.line
			parts[i].column += at.column - 1
			parts[i].at += at.column - 1
		}
	}
}
