package extract_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/seine-go/seine/extract"
)

type ruled struct {
	Title string
	Year  int
	None  string
	Yes   bool
	Cast  []struct{ Name, Role string }
}

const rulesJSON = `{
	// what the site calls a film
	"Title": {"from": ["css=h2", "ld=Movie.name"], "required": true, "upper": true},
	"Year": {"from": "ld=Movie.datePublished", "re": "/\\d{4}/", "min": 1900},
	"None": "css=h7 ; default='-'",
	"Yes": {"from": "css=h7", "default": true},
	"Cast": {"from": "css=ul.cast li", "fields": {"Name": "css=a", "Role": {"from": "css=i", "default": "?", "trim": false}}},
}`

const rulesYAML = `
# what the site calls a film
Title:
  from:
    - css=h2
    - ld=Movie.name
  required: true
  upper: true
Year: {from: ld=Movie.datePublished, re: '/\d{4}/', min: 1900}
None: css=h7 ; default='-'
Yes:
  from: css=h7
  default: true
Cast:
  from: css=ul.cast li
  fields:
    Name: "css=a"
    Role: {from: css=i, default: '?', trim: false}
`

// Tags and rules, as JSON, as YAML and as a part of another file, are one form: the same results, the same report.
func TestRulesAreTags(t *testing.T) {
	t.Parallel()
	type tagged struct {
		Title string `extract:"css=h2 || ld=Movie.name ; required ; upper"`
		Year  int    `extract:"ld=Movie.datePublished ; re=/\\d{4}/ ; min=1900"`
		None  string `extract:"css=h7 ; default='-'"`
		Yes   bool   `extract:"css=h7 ; default=true"`
		Cast  []struct {
			Name string `extract:"css=a"`
			Role string `extract:"css=i ; default=?"`
		} `extract:"css=ul.cast li"`
	}
	a, first, err := extract.MustCompile[tagged](extract.Options{}).Extract(t.Context(), document(filmPage))
	if err != nil {
		t.Fatal(err)
	}
	want, _ := json.Marshal(a)
	var inJSON, inYAML struct{ Films extract.Rules }
	plain := strings.Replace(strings.Replace(rulesJSON, "// what the site calls a film", "", 1), "},\n}", "}}", 1)
	if err := json.Unmarshal([]byte(`{"Films": `+plain+`}`), &inJSON); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte("films:"+strings.ReplaceAll(rulesYAML, "\n", "\n  ")), &inYAML); err != nil {
		t.Fatal(err)
	}
	for name, rules := range map[string]extract.Rules{
		"JSON": parsed(t, extract.ParseRules, rulesJSON), "YAML": parsed(t, extract.ParseRulesYAML, rulesYAML),
		"JSON as YAML": parsed(t, extract.ParseRulesYAML, strings.ReplaceAll(plain, "\t", " ")), "part of JSON": inJSON.Films, "part of YAML": inYAML.Films,
	} {
		b, report, err := extract.MustCompile[ruled](extract.Options{Rules: rules}).Extract(t.Context(), document(filmPage))
		if got, _ := json.Marshal(b); err != nil || string(got) != string(want) || !reflect.DeepEqual(report, first) {
			t.Errorf("%s: %s\n%s\n%+v\n%+v %v", name, got, want, report, first, err)
		}
	}
}

func parsed(t *testing.T, parse func([]byte) (extract.Rules, error), text string) extract.Rules {
	t.Helper()
	rules, err := parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// What is wrong with rules is told with its place: by the parser, or by Compile.
func TestBadRulesAreFoundAtTheirPlace(t *testing.T) {
	t.Parallel()
	deep := func(n int) string {
		return "A: " + strings.Repeat("{fields: {A: ", n) + "css=a" + strings.Repeat("}}", n)
	}
	for _, tt := range []struct {
		yaml         string
		line, column int
		says         string
	}{
		{"A: css=a\nB:\n  form: css=a\n", 3, 3, `no option is called "form"`},
		{"A: {from: css=a, defualt: 1}", 1, 18, `no option is called "defualt"`},
		{"A:\n  from: css=ul\n  fields:\n    B: {from: css=a, x: 1}\n", 4, 22, `A.fields.B.x: no option`},
		{"A: css=a ; requird", 1, 12, `no option is called "requird"`},
		{"\nA: 'css=a ; requird'", 2, 13, `no option is called "requird"`},
		{"A: css=a[", 1, 9, "open to the end"},
		{"A:\n  from: css=a >", 2, 16, "css"},
		{"A:\n  from:\n    - css=b\n    - \"css=a >\"", 4, 15, "css"},
		{"A:\n  from: css=a\n  re: '/(/'", 3, 7, "missing closing"},
		{"A:\n  from: css=a\n  key: css=b", 3, 3, "does not go with"},
		{"A:\n  from: [css=a, 5]", 2, 17, "no source"},
		{"A: [css=a]", 1, 4, "neither a tag nor an object"},
		{"A:\n", 1, 4, "neither a tag nor an object"},
		{"A: {from: css=a, trim: x}", 1, 24, "takes no value"},
		{"A: {from: css=a, default: true}", 1, 18, "default"},
		{"A: {from: css=a, min: [1]}", 1, 23, "not a text"},
		{"A: css=a\nA: css=b", 2, 1, "already defined"},
		{"A: {from: css=a", 1, 4, "yaml"},
		{"A: &x css=a", 1, 4, "neither a tag nor an object"},
		{"A: {from: &x css=a}\nB: *x", 1, 11, "no source"},
		{"A: {<<: {from: css=a}}", 1, 5, `no option is called "<<"`},
		{"A: !!str css=a", 1, 4, "neither a tag nor an object"},
		{"- css=a", 1, 1, "no object of rules"},
		{"css=a", 1, 1, "no object of rules"},
		{"", 0, 0, "no object of rules"},
		{"A: css=a\n---\nA: css=b", 0, 0, "2 documents"},
		{deep(65), 0, 0, "nested deeper"},
		{"A: " + strings.Repeat("[", 129), 1, 132, "nested deeper"},
		{"A: " + strings.Repeat("- ", 129), 1, 260, "nested deeper"},
		{"A: css=a\n" + strings.Repeat("#", 256<<10-8), 0, 0, "longer than"},
	} {
		rules, err := extract.ParseRulesYAML([]byte(tt.yaml))
		var fault *extract.RulesError
		if err == nil {
			_, err = extract.Compile[struct{ A, B int }](extract.Options{Rules: rules})
		} else if !errors.As(err, &fault) {
			t.Errorf("%q: %#v", cut(tt.yaml), err)
		}
		line, column := 0, 0
		var tag *extract.TagError
		if errors.As(err, &tag) {
			line, column = tag.Line, tag.Column
		} else if fault != nil {
			line, column = fault.Line, fault.Column
		}
		if err == nil || !strings.Contains(err.Error(), tt.says) || tt.line > 0 && (line != tt.line || column != tt.column) {
			t.Errorf("%q: %v; want line %d, column %d, %q", cut(tt.yaml), err, tt.line, tt.column, tt.says)
		}
	}
	for _, text := range []string{deep(64), "A: css=a\n" + strings.Repeat("#", 256<<10-9)} {
		if _, err := extract.ParseRulesYAML([]byte(text)); err != nil {
			t.Errorf("at the bound: %v", err)
		}
	}
}

// Where it is not known where a rule stands, its faults have a place in the tag that says the same.
func TestFaultsOfRulesWithoutPlaces(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]extract.TagError{
		`{"A": {"from": ["css=a", "css=b >"]}}`:        {Tag: "css=a || css=b >", Column: 17},
		`{"A": {"from": "css=a", "trim": "x"}}`:        {Tag: "css=a ; trim=x", Column: 14},
		`{"A": {"from": "css=a", "min": 5, "max": 1}}`: {Tag: "css=a ; max=1 ; min=5", Column: 21},
		`{"A": {"each": true}}`:                        {Tag: " ; each", Column: 4},
	} {
		_, err := extract.Compile[struct{ A int }](extract.Options{Rules: parsed(t, extract.ParseRules, text)})
		var fault *extract.TagError
		if !errors.As(err, &fault) || fault.Tag != want.Tag || fault.Column != want.Column || fault.Line != 0 {
			t.Errorf("%s: %#v", text, err)
		}
	}
}

// What json.Marshal writes of rules is read as the same rules.
func TestRulesRoundTrip(t *testing.T) {
	t.Parallel()
	code := extract.Rules{"A": {Tag: "css=h1 ; join=' ; ' ; trim"}, "B": {Tag: "css=li", Fields: extract.Rules{"C": {Tag: "css=a || json=$['a||b'] ; required"}}}}
	for _, rules := range []extract.Rules{parsed(t, extract.ParseRules, rulesJSON), parsed(t, extract.ParseRulesYAML, rulesYAML), code} {
		first, err := json.Marshal(rules)
		if err != nil {
			t.Fatal(err)
		}
		again := parsed(t, extract.ParseRules, string(first))
		second, err := json.Marshal(again)
		if err != nil || string(first) != string(second) || len(again) != len(rules) {
			t.Errorf("%s\n%s, %v", first, second, err)
		}
	}
	for _, source := range []string{rulesJSON, rulesYAML} {
		parse := extract.ParseRules
		if source == rulesYAML {
			parse = extract.ParseRulesYAML
		}
		text, _ := json.Marshal(parsed(t, parse, source))
		a, _, err := extract.MustCompile[ruled](extract.Options{Rules: parsed(t, parse, source)}).Extract(t.Context(), document(filmPage))
		b, _, err2 := extract.MustCompile[ruled](extract.Options{Rules: parsed(t, extract.ParseRules, string(text))}).Extract(t.Context(), document(filmPage))
		if err != nil || err2 != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%+v, %+v, %v, %v", a, b, err, err2)
		}
	}
	if _, err := json.Marshal(extract.Rules{"A": {Tag: "css=a[", Fields: extract.Rules{}}}); err == nil {
		t.Error("a tag that is none is marshalled")
	}
}

func TestBadRulesOfJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`[]`, `{`, `{"A":1}`, `{"A":{"from":1}}`, `{"A":{"from":"css=a ; trim"}}`, `{"A":{"from":[["css=a"]]}}`, `{"A":{"fields":[]}}`, `{"A":{"min":[1]}}`, `{"A":{"from":"h1"}}`,
		`{"A":{"from":"css=a","frm":"css=b"}}`, `{"A":` + strings.Repeat(`{"fields":{"A":`, 100) + `""` + strings.Repeat(`}}`, 100) + `}`,
	} {
		if r, err := extract.ParseRules([]byte(text)); !errors.As(err, new(*extract.RulesError)) {
			t.Errorf("%s: %v, %v", cut(text), r, err)
		}
	}
	type film struct{ A string }
	for _, text := range []string{`{"A":{"from":"css=a","trim":"x"}}`, `{"A":{"from":"css=a","default":[]}}`, `{"A":{"from":"css=a >"}}`, `{"B":"css=a"}`} {
		rules, err := extract.ParseRules([]byte(text))
		if err == nil {
			_, err = extract.Compile[film](extract.Options{Rules: rules})
		}
		if !errors.As(err, new(*extract.TagError)) && !errors.As(err, new(*extract.RulesError)) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"{\n  \"A\": {\"from\": \"css=a\",\n    \"frm\": 1}}": `seine: extract: rules: line 3, column 12: A.frm: no option is called "frm"`,
		"{\"A\": \"css=a\",\n \"A\": \"css=b\"}":              `seine: extract: rules: line 2, column 2: the name "A" stands twice`,
		"{\"A\": {\"from\": \"css=a\", \"from\": \"css=b\"}}": `seine: extract: rules: line 1, column 25: the name "from" stands twice`,
		"{\"A\": {frm: 1}}": `seine: extract: rules: A.frm: no option is called "frm"`,
	} {
		if _, err := extract.ParseRules([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// FuzzRules holds that no rules panic, and that what is wrong is told by a typed error with a place that there is.
func FuzzRules(f *testing.F) {
	for _, text := range []string{rulesYAML, rulesJSON, "A: &a {from: *a}", "? A\n: css=a", "A: |\n  css=a ; x", "A: >-\n  css=a\n  || css=b", "A: \"css=\\x61 ; z\"", "{A: [", "%TAG ! x\n---\n{}", "A: !x", "\ta: b", "é: 'ü ; x'"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, parse := range []func([]byte) (extract.Rules, error){extract.ParseRules, extract.ParseRulesYAML} {
			rules, err := parse([]byte(text))
			var fault *extract.RulesError
			if err != nil {
				if !errors.As(err, &fault) || fault.Line < 0 || fault.Line > strings.Count(text, "\n")+strings.Count(text, "\r")+1 || fault.Column < 0 {
					t.Fatalf("%q: %#v", text, err)
				}
				continue
			}
			if _, err = extract.Compile[struct{ A, Title string }](extract.Options{Rules: rules}); err != nil && !errors.As(err, new(*extract.TagError)) {
				t.Fatalf("%q: %#v", text, err)
			}
		}
	})
}

func ExampleParseRules() {
	type Film struct{ Title, Country string }
	rules, err := extract.ParseRules([]byte(`{
		"Title":   {"from": ["css=h1@own", "og=title"], "required": true},
		"Country": "css=.country ; default=unknown",
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	films, err := extract.Compile[Film](extract.Options{Rules: rules})
	if err != nil {
		fmt.Println(err)
		return
	}
	var film Film
	_, err = films.ExtractInto(context.Background(), extract.NewDocument([]byte(`<h1>Alien</h1>`), extract.DocumentOptions{}), &film)
	fmt.Println(film, err)
	// Output: {Alien unknown} <nil>
}

func ExampleParseRulesYAML() {
	type Film struct {
		Title string
		Year  int
		Cast  []struct{ Name, Role string }
	}
	rules, err := extract.ParseRulesYAML([]byte(`
Title: css=h1@own || og=title ; required
Year:
  from: [ld=Movie.datePublished, css=.year]
  re: /\d{4}/
Cast:
  from: css=ul.cast li
  fields: {Name: css=a, Role: css=.role}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	films, err := extract.Compile[Film](extract.Options{Rules: rules})
	if err != nil {
		fmt.Println(err)
		return
	}
	page := `<h1>Alien</h1><i class=year>May 1979</i><ul class=cast><li><a>Sigourney Weaver</a> <i class=role>Ripley</i></ul>`
	film, _, err := films.Extract(context.Background(), extract.NewDocument([]byte(page), extract.DocumentOptions{}))
	fmt.Println(film, err)
	_, err = extract.ParseRulesYAML([]byte("Title: css=h1\nYear:\n  form: css=.year\n"))
	fmt.Println(err)
	// Output:
	// {Alien 1979 [{Sigourney Weaver Ripley}]} <nil>
	// seine: extract: rules: line 3, column 3: Year.form: no option is called "form"
}
