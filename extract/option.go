package extract

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seine-go/seine/extract/internal/convert"
)

// flags are the options without a value.
var flags = map[string]func(o *options){
	"required": func(o *options) { o.required = true },
	"each":     func(o *options) { o.each = true },
	"skip":     func(o *options) { o.skip = true },
	"trim":     func(o *options) { o.spaces = true },
	"raw":      func(o *options) { o.raw = true },
	"lower":    func(o *options) { o.lower = true },
	"upper":    func(o *options) { o.upper = true },
	"url":      func(o *options) { o.isURL = true },
	"first":    func(o *options) { o.pick = pickFirst },
	"last":     func(o *options) { o.pick = pickLast },
	"one":      func(o *options) { o.pick = pickOne },
	"prefer":   func(o *options) { o.merge = mergePrefer },
	"agree":    func(o *options) { o.merge = mergeAgree },
	"all":      func(o *options) { o.merge = mergeAll },
}

// valued are the options with a value.
var valued = []string{"join", "default", "re", "layout", "tz", "lang", "unit", "map", "min", "max", "in", "key", "value", "type"}

var durationUnits = map[string]time.Duration{
	"duration": time.Second, "ms": time.Millisecond, "seconds": time.Second, "minutes": time.Minute, "hours": time.Hour, "days": 24 * time.Hour,
}

// option takes one option.
func (o *options) option(p part, compile Options) *tagError {
	if set, ok := flags[p.key]; ok {
		if p.hasValue {
			return faultAt(p.at, "option %s takes no value", p.key)
		}
		set(o)
		return nil
	}
	if !p.hasValue && slices.Contains(valued, p.key) {
		return faultAt(p.column, "option %s needs a value", p.key)
	}
	switch p.key {
	case "join":
		o.pick, o.sep = pickJoin, p.value
	case "default":
		o.def = &p.value
	case "in":
		if p.value == "" {
			return faultAt(p.at, "in needs a name")
		}
	case "min", "max": // read when the unit is known
	case "re", "tz", "lang", "layout", "unit":
		if err := o.parsed(p); err != nil {
			return &tagError{column: p.at, err: err}
		}
	case "type":
		if !o.untyped {
			return faultAt(p.column, "the Go type of the field says its type")
		}
	case "map":
		return o.mapped(p, compile)
	case "key", "value":
		return o.pair(p)
	default:
		return faultAt(p.column, "no option is called %q", cut(p.key))
	}
	return nil
}

// parsed takes an option whose value has a form of its own.
func (o *options) parsed(p part) (err error) {
	switch p.key {
	case "re":
		o.re, o.part, err = compilePattern(p.value)
	case "tz":
		o.convert.Location, err = time.LoadLocation(p.value)
	case "unit":
		unit, ok := durationUnits[p.value]
		if !ok && p.value != "bytes" {
			return fmt.Errorf("no unit is called %q", cut(p.value))
		}
		o.convert.Unit = convert.Unit{Bytes: p.value == "bytes", Duration: unit}
	case "lang":
		if !convert.Knows(p.value) {
			return fmt.Errorf("no language is called %q", cut(p.value))
		}
		o.convert.Lang = p.value
	case "layout":
		o.convert.Layouts = strings.Split(p.value, "|")
		for _, layout := range o.convert.Layouts {
			err = errors.Join(err, convert.CheckLayout(layout))
		}
	}
	return err
}

// mapped takes the names of functions.
func (o *options) mapped(p part, compile Options) *tagError {
	for name := range strings.SplitSeq(p.value, "|") {
		f := compile.Funcs[strings.TrimSpace(name)]
		if f == nil {
			return faultAt(p.at, "Options.Funcs has no %q", cut(name))
		}
		o.funcs = append(o.funcs, f)
	}
	return nil
}

// pair takes the sources of the keys or values of a map, in the place of each of its elements.
func (o *options) pair(p part) *tagError {
	sources, fault := compileSources(p.value)
	if fault != nil {
		return &tagError{column: p.at + fault.column - 1, err: fault.err}
	}
	if p.key == "key" {
		o.key = sources
	} else {
		o.value = sources
	}
	return nil
}

// compileSources compiles sources that stand alone.
func compileSources(text string) (sources []*source, _ *tagError) {
	d, fault := parseTag(text)
	if fault != nil {
		return nil, fault
	}
	if len(d.options) > 0 {
		return nil, faultAt(d.options[0].column, "options have no meaning here")
	}
	return d.compile()
}

// compile compiles sources without options; none is the element itself.
func (d *declaration) compile() (sources []*source, _ *tagError) {
	for _, p := range d.sources {
		s, fault := compileSource(p, "")
		if fault != nil {
			return nil, fault
		}
		sources = append(sources, s)
	}
	if len(sources) == 0 {
		sources = []*source{self}
	}
	return sources, nil
}

// self is the source of the element itself.
var self = &source{text: "css=", kind: fromCSS}
