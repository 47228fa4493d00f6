package extract

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
)

// Schema is the compiled declaration of a type: a struct whose fields have tags `extract:"…"`. It is safe for concurrent use.
//
// A tag lists sources, parted by "||", and options, each behind a ";":
//
//	css=h1.title         the text of an element, without scripts and styles in it, with a newline where br or the like breaks a line;
//	                     css=a@href an attribute, also css=a::attr(href); @own or ::text the text that is not in elements below, in lines too,
//	                     @html, @outer. Nothing, or :self, is the element itself
//	xpath=//h1/text()    a node, an attribute, or the value of an expression
//	json=$.data.title    a path (RFC 9535) in a body of JSON; with in=NAME in the state of that name
//	state=NAME$.a.b      a path in data of a script (see Document.States); without a name in whichever has it
//	ld=Movie.name        JSON-LD, Microdata or RDFa: a property of the first object of the type (see structured.Data.Main), so that all
//	                     such fields are of one film; ld=Movie are the objects, ld=Movie[*].name is of all of them, ld=*.name of those
//	                     that have it, whatever their type; in an element what lies in it
//	og=title, meta=NAME  OpenGraph; the content of a meta element
//	re=/S(\d+)/1         a group of a pattern, in the text of the page
//	magnet=              magnet links, in texts and attributes, and links to .torrent files; magnet=magnet and magnet=torrent only
//	                     those. In a struct that it finds magnet= is the link, and the others look at its element
//	url=                 the URL of the page
//
// The first source that has a value counts; one whose value does not convert, or is empty, is passed over, and its fault is told
// in the Report. It is an error when no other source has a value, and no default stands in. Options:
//
//	required             a value must be there, and must not be empty
//	default=V            what stands in when no source has a value that converts
//	first, last, one     which of several values; one: several are an error. A list has all of them
//	join=", "            texts of several values, joined
//	each                 says that a list is meant, which the type says anyway
//	skip                 values of a list that do not convert are left out and told, and are no error while others do
//	trim, raw            runs of blanks become one; blanks at the ends stay. By default those at the ends go
//	re=/(\d{4})/1        a group of a pattern; a text that does not match is no value
//	lower, upper, url    cases; references become URLs, as those of type url.URL do anyway
//	map=f|g              functions of Options.Funcs
//	layout=A|B, tz=      how dates are written: 2006-01-02, and unix or unixmilli for seconds or milliseconds since 1970
//	lang=de, lang=en-GB  the language of dates and numbers: names of months, order of figures, decimal point. A number in the form
//	                     of JSON, in JSON, JSON-LD, a state, or an attribute content, value of data and meter, or data-*, is of none
//	unit=bytes           sizes; unit=minutes (ms, seconds, hours, days): numbers that count durations
//	min=, max=           bounds of a number (with unit=bytes also 700MB), of the runes of a text, of the length of a list, or of
//	                     a duration: 90s, 1h30m, or a number of what unit= says
//	prefer, agree, all   all sources are asked: it is told, or is an error, when values or lists differ; a list has each value
//	                     of all once. prefer and agree are not for structs and maps
//	key=, value=         sources of a map's keys and values, in each of the elements that the field's sources find. Of a key that stands
//	                     twice the first value counts, and the Report says that it is ambiguous
//
// Values are put in quotes, '…' or "…", when they have a ";" or blanks at their ends. Options that contradict each other, or do
// nothing for the type of the field, are errors of Compile.
//
// Fields are texts, numbers with separators and 万 or 亿, booleans, time.Time, time.Duration, url.URL, types with
// UnmarshalText, any, structs, and pointers, lists and maps of those. A null of JSON is no value, but lists whose members can be nil
// ([]any, []*string) have one in its place, so that two of them stay side by side; from other lists it is left out, which the Report
// tells (its Err, with the status OK). The sources of a struct say where its fields look: in an
// element, or in a value of JSON, where json=$ and ld= are of that value. A struct without a tag looks where it stands itself, and so
// does what a pointer without a tag points to, which is nil when nothing of it is found; of embedded structs the exported fields
// are filled as encoding/json does. What is put into fields is the caller's own, to keep and to change.
//
// Structured data leads in circles: an article names its page and the page its article. An object is not filled into a struct in
// which it is being filled already, as if it were not there; an any holds a tree, in which what leads back, or stands deeper than
// sixteen objects with an @id, is {"@id": …} alone.
type Schema[T any] struct {
	plan *plan
	o    Options
}

// Options says how a type is compiled and extracted.
type Options struct {
	// Rules stand in place of the tags of the fields that they name, which may be those of embedded structs.
	Rules Rules
	// Funcs are the functions that the option map= names. What they return goes to the next, or into the field if it is of
	// the field's type; a text is converted.
	Funcs map[string]func(string) (any, error)
	// MaxItems bounds each list and map; more is an error beside the first that fit. Zero means 100,000, negative no limit.
	MaxItems int
	// MaxSteps bounds what an extraction does: nodes and values that its sources look at, bytes of the texts that are taken, values
	// that any holds; of Each the extraction of each value by itself. Types that hold themselves can make of a small page more than
	// anybody waits for. More is a *StepsError beside what was filled. Zero means 134,217,728, which takes some seconds, negative no limit.
	MaxSteps int
}

const (
	defaultItems = 100_000
	// maxNested is how deep structs may be in each other.
	maxNested = 64
)

// Compile compiles the declaration of a struct type, or Options.Rules for a map[string]any. The error is a *TagError.
//
// A map has a member for each rule whose value is not missing: of the type that the rule's option type= names (text, int, float,
// bool, time, duration, any; text without it), which in Go are string, int64, float64, bool, time.Time, time.Duration and what
// JSON has; a []any of these with each or all, a map[string]any with key, and a map[string]any for a rule with fields.
func Compile[T any](o Options) (*Schema[T], error) {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct && t != mapType {
		return nil, &TagError{Type: t.String(), Err: errors.New("not a struct")}
	}
	if o.MaxItems == 0 {
		o.MaxItems = defaultItems
	}
	c := compiler{o: o, root: t.String(), plans: map[reflect.Type]*plan{}}
	var p *plan
	var err error
	if t == mapType {
		p, err = c.dynamic(o.Rules)
	} else {
		p, err = c.compile(t, o.Rules)
	}
	if err != nil {
		return nil, err
	}
	if len(p.fields) == 0 {
		return nil, &TagError{Type: t.String(), Err: errors.New("no field is declared")}
	}
	p.simple = simpleOf(p)
	return &Schema[T]{p, o}, nil
}

// MustCompile is Compile for types that are known to be right; it panics when they are not.
func MustCompile[T any](o Options) *Schema[T] {
	s, err := Compile[T](o)
	if err != nil {
		panic(err)
	}
	return s
}

// Extract fills a T from a page. All fields that can be filled are, and the Report tells of all, also beside an error. The
// error joins a *FieldError for each field that is required and missing, does not convert, has several values with the option one, or
// in which sources disagree that must not; or it is that of ctx.
func (s *Schema[T]) Extract(ctx context.Context, d *Document) (T, *Report, error) {
	var v T
	report, err := s.fill(ctx, d, reflect.ValueOf(&v).Elem())
	return v, report, err
}

// ExtractInto is Extract for callers that do not know T; dst is a *T.
func (s *Schema[T]) ExtractInto(ctx context.Context, d *Document, dst any) (*Report, error) {
	v, ok := dst.(*T)
	if !ok || v == nil {
		return &Report{}, fmt.Errorf("seine: extract: %T is not a %T that can be set", dst, v)
	}
	return s.fill(ctx, d, reflect.ValueOf(v).Elem())
}

var _ Extractor = (*Schema[struct{}])(nil)

// Extractor fills values from pages. Every *Schema is one.
type Extractor interface {
	ExtractInto(ctx context.Context, d *Document, dst any) (*Report, error)
}

func (s *Schema[T]) fill(ctx context.Context, d *Document, dst reflect.Value) (*Report, error) {
	x := newRun(ctx, d, &s.o, len(s.plan.fields))
	s.fillAt(x, place{}, dst)
	return x.report, x.end()
}

func (s *Schema[T]) fillAt(x *run, at place, dst reflect.Value) {
	if at.node == nil && !at.isRaw {
		x.pass(s.plan)
	}
	if dst.Kind() == reflect.Struct {
		x.fill(s.plan, at, dst, "")
		return
	}
	made := reflect.New(s.plan.typ).Elem()
	x.fill(s.plan, at, made, "")
	dst.Set(reflect.ValueOf(s.plan.object(made)))
}

// compiled holds the schemas of SchemaOf, by type: a cache, which nobody can put anything else into.
var compiled sync.Map

// SchemaOf returns the schema of a type by its tags alone. It is compiled when it is first wanted and kept. The error is
// Compile's.
func SchemaOf[T any]() (*Schema[T], error) {
	t := reflect.TypeFor[T]()
	if known, ok := compiled.Load(t); ok {
		return known.(*Schema[T]), nil
	}
	s, err := Compile[T](Options{})
	if err != nil {
		return nil, err
	}
	known, _ := compiled.LoadOrStore(t, s)
	return known.(*Schema[T]), nil
}

// From fills a T from a page by its tags; see SchemaOf and Schema.Extract.
func From[T any](d *Document) (T, error) {
	s, err := SchemaOf[T]()
	if err != nil {
		var zero T
		return zero, err
	}
	v, _, err := s.Extract(context.Background(), d)
	return v, err
}
