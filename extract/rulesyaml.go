package extract

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	yamltoken "github.com/goccy/go-yaml/token"
)

const (
	// maxRules is how long the YAML of rules may be, in bytes: the parser's time grows faster than its input.
	maxRules = 256 << 10
	// maxFlow is how deep lists and objects in brackets, or lists on one line, may be in each other.
	maxFlow = 2 * maxNested
)

// ParseRulesYAML reads rules from YAML 1.2: one document of objects, lists and scalars. What is in effect a program is an
// error: anchors, aliases, merge keys and tags. It takes 256 KiB at most. The error is a *RulesError and says where the fault
// stands; so does the *TagError of Compile for what is wrong with a source or the value of an option.
func ParseRulesYAML(text []byte) (Rules, error) {
	if len(text) > maxRules {
		return nil, &RulesError{Err: fmt.Errorf("longer than %d bytes", maxRules)}
	}
	tokens := lexer.Tokenize(string(text))
	if t := tooDeep(tokens); t != nil {
		return nil, &RulesError{Line: t.Position.Line, Column: t.Position.Column, Err: fmt.Errorf("nested deeper than %d", maxFlow)}
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, yamlError(err)
	}
	if len(file.Docs) != 1 {
		return nil, &RulesError{Err: fmt.Errorf("%d documents, not one", len(file.Docs))}
	}
	rules, fault := (&ruleReader{}).rules(yamlValue(file.Docs[0].Body), 0)
	if fault != nil {
		return nil, fault
	}
	return rules, nil
}

// tooDeep returns the token that is nested too deep, or nil.
func tooDeep(tokens yamltoken.Tokens) *yamltoken.Token {
	depth, entries, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, entries = t.Position.Line, 0
		}
		switch t.Type {
		case yamltoken.SequenceStartType, yamltoken.MappingStartType:
			depth++
		case yamltoken.SequenceEndType, yamltoken.MappingEndType:
			depth--
		case yamltoken.SequenceEntryType, yamltoken.MappingKeyType, yamltoken.TagType, yamltoken.AnchorType:
			entries++
		}
		if max(depth, entries) > maxFlow {
			return t
		}
	}
	return nil
}

// yamlError tells where the parser has found a fault.
func yamlError(err error) *RulesError {
	var e yaml.Error
	if !errors.As(err, &e) || e.GetToken() == nil {
		return &RulesError{Err: err}
	}
	at := spotOf(e.GetToken())
	return &RulesError{Line: at.line, Column: at.column, Err: fmt.Errorf("yaml: %s", e.GetMessage())}
}

func spotOf(t *yamltoken.Token) spot { return spot{t.Position.Line, t.Position.Column} }

// yamlValue takes a node. Numbers are texts, so that they keep their digits.
func yamlValue(n ast.Node) ruleValue {
	if n == nil {
		return ruleValue{}
	}
	at := spotOf(n.GetToken())
	switch n := n.(type) {
	case *ast.MappingNode:
		o := make([]ruleMember, 0, len(n.Values))
		for _, m := range n.Values {
			t := m.Key.GetToken()
			o = append(o, ruleMember{t.Value, spotOf(t), yamlValue(m.Value)})
		}
		return ruleValue{v: o, at: at}
	case *ast.SequenceNode:
		list := make([]ruleValue, 0, len(n.Values))
		for _, element := range n.Values {
			list = append(list, yamlValue(element))
		}
		return ruleValue{v: list, at: at}
	case *ast.StringNode:
		return ruleValue{n.Value, at, textSpot(n.Token)}
	case *ast.LiteralNode:
		return ruleValue{v: n.Value.Value, at: at}
	case *ast.BoolNode:
		return ruleValue{v: n.Value, at: at}
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return ruleValue{v: ruleNumber(n.GetToken().Value), at: at}
	}
	return ruleValue{at: at}
}

// textSpot is where the text of a scalar begins, if it stands there on one line and as it is.
func textSpot(t *yamltoken.Token) spot {
	at := spotOf(t)
	switch t.Type {
	case yamltoken.SingleQuoteType, yamltoken.DoubleQuoteType:
		at.column++
	}
	if !strings.Contains(t.Origin, t.Value) || strings.Contains(t.Value, "\n") {
		return spot{}
	}
	return at
}
