package extract_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seine-go/seine/extract"
)

// Every bad declaration fails at Compile, with the field and the column of the fault.
func TestBadDeclarations(t *testing.T) {
	t.Parallel()
	tests := []struct {
		tag    string
		column int
		says   string
	}{
		{"h1", 1, "is no source"},
		{"sel=h1", 1, `no source is called "sel"`},
		{"css=h1 || cs=h2", 11, `no source is called "cs"`},
		{"css=h1[", 7, "is open"},
		{"css=h1:foo", 8, "css"},
		{"css=:self > ", 12, "css"},
		{"css=h1 ||", 10, "nothing stands here"},
		{"|| css=h1", 1, "nothing stands here"},
		{"css=h1 ; ; trim", 9, "nothing stands here"},
		{"css=h1 ;", 9, "nothing stands here"},
		{"css=h1 ; trimm", 10, `no option is called "trimm"`},
		{"css=h1 ; required=yes", 19, "takes no value"},
		{"css=h1 ; default", 10, "needs a value"},
		{"css=h1 ; trim ; trim", 17, "twice"},
		{"css=h1 ; re=/(/", 13, "missing closing"},
		{"css=h1 ; re=/a/2", 13, "no group"},
		{"css=h1 ; re=/a", 13, "closing slash"},
		{"css=h1 ; re=a", 13, "is written"},
		{"css=h1 ; unit=parsec", 15, "no unit"},
		{"css=h1 ; tz=Nowhere/Land", 13, "Nowhere"},
		{"css=h1 ; min=few", 14, "few"},
		{"css=h1 ; map=f", 14, "Options.Funcs"},
		{"css=h1 ; each", 10, "does not go"},
		{"css=h1 ; all", 10, "does not go"},
		{"css=h1 ; key=css=a", 10, "does not go"},
		{"css=h1 ; default=x", 10, "not a number"},
		{"css=h1 ; in=x", 10, "does not go"},
		{"css=h1 ; default='x", 18, "a quote"},
		{"json=$.a[", 5 + 4, ""},
		{"json=a", 6, "jsonpath"},
		{"state=name", 7, "jsonpath"},
		{"xpath=//a[", 0, ""},
		{"xpath=$v", 7, "xpath"},
		{"ld=", 4, "no name"},
		{"ld=Movie..name", 4, "no name"},
		{"ld=[*].name", 4, "no name"},
		{"ld=Movie.actor[*].name", 4, "no name"},
		{"og=a b", 4, "no name"},
		{"re=/[/", 4, "missing closing"},
		{"magnet=x", 8, "magnet takes"},
		{"url=x", 5, "takes nothing"},
		{"css=h1 ; trim || css=h2", 15, "among the options"},
		{strings.Repeat("x", 20_000), 16 << 10, "longer than"},
	}
	type film struct {
		Inner struct {
			Year int `extract:"css=h1"`
		}
	}
	for _, tt := range tests {
		_, err := extract.Compile[film](extract.Options{Rules: extract.Rules{"Inner": {Tag: "css=", Fields: extract.Rules{"Year": {Tag: tt.tag}}}}})
		var tag *extract.TagError
		switch {
		case !errors.As(err, &tag):
			t.Errorf("%q: %v", cut(tt.tag), err)
		case tag.Field != "Inner.Year" || tt.says != "" && (tag.Column != tt.column || !strings.Contains(err.Error(), tt.says)) || !strings.Contains(err.Error(), "Inner.Year"):
			t.Errorf("%q: column %d, %v; want column %d, %q", cut(tt.tag), tag.Column, err, tt.column, tt.says)
		}
	}
}

func cut(s string) string { return s[:min(len(s), 40)] }

func TestBadTypes(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"channel": second(extract.Compile[struct {
			C chan int `extract:"css=a"`
		}](extract.Options{})),
		"func": second(extract.Compile[struct {
			C func() `extract:"css=a"`
		}](extract.Options{})),
		"unexported": second(extract.Compile[struct {
			c int `extract:"css=a"`
		}](extract.Options{})),
		"none":      second(extract.Compile[struct{ C int }](extract.Options{})),
		"no struct": second(extract.Compile[int](extract.Options{})),
		"pointers": second(extract.Compile[struct {
			C **int `extract:"css=a"`
		}](extract.Options{})),
		"int keys": second(extract.Compile[struct {
			C map[int]int `extract:"css=a"`
		}](extract.Options{})),
		"rule of no field": second(extract.Compile[struct {
			C int `extract:"css=a"`
		}](extract.Options{Rules: extract.Rules{"D": {Tag: "css=a"}}})),
		"fields of no struct": second(extract.Compile[struct {
			C int `extract:"css=a"`
		}](extract.Options{Rules: extract.Rules{"C": {Tag: "css=a", Fields: extract.Rules{"D": {}}}}})),
		"options of a struct": second(extract.Compile[struct {
			C struct {
				D int `extract:"css=a"`
			} `extract:"css=a ; lower"`
		}](extract.Options{})),
	} {
		var tag *extract.TagError
		if !errors.As(err, &tag) {
			t.Errorf("%s: %v", name, err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("MustCompile does not panic")
		}
	}()
	extract.MustCompile[int](extract.Options{})
}

func second[T any](_ T, err error) error { return err }

// What parts sources and options counts only outside quotes, brackets and patterns.
func TestSeparatorsInDeclarations(t *testing.T) {
	t.Parallel()
	type film struct {
		Or      string `extract:"json=$.a[?@.x == 1 || @.y == ';'].v"`
		Pattern string `extract:"json=$.text ; re=/a;(b|c||d)/1 ; default='d;e'"`
		Quoted  string `extract:"json=$.none ; default=' a;\\'b\\' || c '"`
		Double  string `extract:"json=$.none ; default=\"it's\""`
		Slash   string `extract:"json=$.url ; re=/\\/(\\d+)$/"`
		Equals  string `extract:"json=$.none ; default=a=b"`
	}
	v, err := extract.From[film](document(`{"a":[{"x":2,"v":"no"},{"x":1,"v":"yes"}],"text":"a;c","url":"/f/12"}`))
	want := film{"yes", "c", " a;'b' || c ", "it's", "12", "a=b"}
	if err != nil || v != want {
		t.Errorf("%+v, %v", v, err)
	}
}

func FuzzTag(f *testing.F) {
	for _, tag := range []string{"css=h1@own || ld=Movie.name ; required ; default='a;b'", "json=$.a[?@.b || @.c] ; in=x", "re=/(a;b)/1", "state=N$.a ; join=', '", "xpath=//a[.=\"x\"] ; re=/\\/(.)/", "magnet= ; min=1", "; trim"} {
		f.Add(tag)
	}
	type film struct {
		Text string
		N    int
		List []string
		Map  map[string]float64
		In   *struct{ A any }
	}
	doc := document(filmPage)
	f.Fuzz(func(t *testing.T, tag string) {
		for _, name := range []string{"Text", "N", "List", "Map", "In"} {
			rules := extract.Rules{name: {Tag: tag}}
			if name == "In" {
				rules[name] = extract.Rule{Tag: tag, Fields: extract.Rules{"A": {Tag: tag}}}
			}
			s, err := extract.Compile[film](extract.Options{Rules: rules, MaxItems: 100})
			if err != nil {
				var fault *extract.TagError
				if !errors.As(err, &fault) || fault.Column < 0 || fault.Column > len(tag)+2 || fault.Field == "" {
					t.Fatalf("%q: %#v", tag, err)
				}
				continue
			}
			_, report, _ := s.Extract(t.Context(), doc)
			if len(report.Fields) == 0 {
				t.Fatalf("%q: no report", tag)
			}
		}
	})
}
