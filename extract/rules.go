package extract

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"github.com/seine-go/seine/extract/literal"
)

// Rules are declarations by the names of Go fields: what tags say, as data, so that an adapter can be shipped as a file.
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
}

// ParseRules reads rules from JSON. For YAML decode into a Rules by a library for YAML.
func ParseRules(text []byte) (Rules, error) {
	var r Rules
	err := r.UnmarshalJSON(text)
	return r, err
}

// UnmarshalJSON reads rules.
func (r *Rules) UnmarshalJSON(text []byte) error {
	v, err := parseWhole(text, literal.Limits{})
	if err != nil {
		return fmt.Errorf("seine: extract: rules: %w", err)
	}
	return r.from(v)
}

// UnmarshalYAML reads rules; the libraries for YAML know the signature.
func (r *Rules) UnmarshalYAML(decode func(any) error) error {
	var v any
	if err := decode(&v); err != nil {
		return err
	}
	return r.from(v)
}

func (r *Rules) from(v any) error {
	rules, err := rulesOf(v, "", 0)
	if err != nil {
		return fmt.Errorf("seine: extract: rules: %w", err)
	}
	*r = rules
	return nil
}

// object takes the forms in which libraries give objects.
func object(v any) (map[string]any, bool) {
	switch v := v.(type) {
	case map[string]any:
		return v, true
	case map[any]any:
		o := make(map[string]any, len(v))
		for k, member := range v {
			o[fmt.Sprint(k)] = member
		}
		return o, true
	}
	return nil, false
}

func rulesOf(v any, path string, depth int) (Rules, error) {
	o, ok := object(v)
	if !ok || depth > maxNested {
		return nil, fmt.Errorf("%q is no object of rules", path)
	}
	rules := Rules{}
	for name, rule := range o {
		at := strings.TrimPrefix(path+"."+name, ".")
		made, err := ruleOf(rule, at, depth)
		if err != nil {
			return nil, err
		}
		rules[name] = made
	}
	return rules, nil
}

func ruleOf(v any, path string, depth int) (r Rule, err error) {
	if tag, ok := v.(string); ok {
		return Rule{Tag: tag}, nil
	}
	o, ok := object(v)
	if !ok {
		return r, fmt.Errorf("%s: neither a tag nor an object", path)
	}
	keys := make([]string, 0, len(o))
	for key := range o {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	d := &declaration{}
	for _, key := range keys {
		switch key {
		case "fields":
			if r.Fields, err = rulesOf(o[key], path, depth+1); err != nil {
				return r, err
			}
		case "from":
			if d.sources, err = sourcesOf(o[key]); err != nil {
				return r, fmt.Errorf("%s: from: %w", path, err)
			}
		default:
			p := part{key: key, hasValue: true}
			switch value := o[key].(type) {
			case bool:
				if !value {
					continue
				}
				p.hasValue = false
			case string:
				p.value = value
			case int, int64, uint64, float64, json.Number:
				p.value = fmt.Sprint(value)
			default:
				return r, fmt.Errorf("%s: %s: not a text, a number or true", path, key)
			}
			d.options = append(d.options, p)
		}
	}
	r.made = d
	return r, nil
}

func sourcesOf(v any) ([]part, error) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var sources []part
	for _, member := range list {
		text, ok := member.(string)
		if !ok {
			return nil, fmt.Errorf("%v is no source", member)
		}
		d, fault := parseTag(text)
		if fault != nil {
			return nil, fault
		}
		if len(d.options) > 0 || len(d.sources) == 0 && strings.TrimSpace(text) != "" {
			return nil, fmt.Errorf("%q is no source", text)
		}
		sources = append(sources, d.sources...)
	}
	return sources, nil
}

// declaration reads the rule.
func (r Rule) declaration() (*declaration, *tagError) {
	if r.made != nil {
		return r.made, nil
	}
	return parseTag(r.Tag)
}
