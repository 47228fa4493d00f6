package extract_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/extract"
)

type every struct {
	Text  string
	N     int
	Size  int64
	Float float64
	D     time.Duration
	T     time.Time
	Bool  bool
	L     []string
	Ints  []int
	M     map[string]string
	S     struct {
		X string `extract:"css=x"`
	}
	LS []struct {
		X string `extract:"css=x"`
	}
	MS map[string]struct {
		X string `extract:"css=x"`
	}
}

// What a field can never be filled by, and options that do nothing or contradict each other, are errors with their place.
func TestSenselessDeclarations(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		field, tag string
		column     int // 0: it is right
	}{
		{"S", "og=title", 1},
		{"S", "css=a || re=/x/", 10},
		{"LS", "url=", 1},
		{"MS", "og=image ; key=css=a", 1},
		{"S", "meta=x || magnet= || xpath=//a", 0},
		{"M", "css=h1", 1},
		{"M", "json=$.a || css=h1", 13},
		{"M", "json=$.a || state=X$ || ld=Movie", 0},
		{"M", "css=dt ; key=css=", 0},
		{"M", "", 0},
		{"MS", "css=li", 1},
		{"T", "css=h1 ; layout=YYYY-MM-DD", 17},
		{"T", "css=h1 ; layout=2006-01-02|date", 17},
		{"T", "css=h1 ; layout=unix|2006", 0},
		{"T", "css=h1 ; lang=klingon", 15},
		{"T", "css=h1 ; lang=de-DE", 0},
		{"N", "css=h1 ; lang=de", 0},
		{"Text", "css=h1 ; lang=de", 10},
		{"Bool", "css=h1 ; lang=de", 10},
		{"N", "css=h1 ; min=NaN", 14},
		{"N", "css=h1 ; max=Inf", 14},
		{"N", "css=h1 ; min=10 ; max=1", 23},
		{"N", "css=h1 ; min=-5 ; max=5", 0},
		{"Text", "css=h1 ; max=-1", 14},
		{"L", "css=h1 ; min=-1", 14},
		{"L", "css=h1 ; min=1.5", 14},
		{"L", "css=h1 ; min=1 ; max=5", 0},
		{"T", "css=h1 ; min=2000", 10},
		{"D", "css=h1 ; min=60", 14},
		{"D", "css=h1 ; min=60s ; max=2h", 0},
		{"D", "css=h1 ; min=60 ; unit=minutes", 0},
		{"D", "css=h1 ; min=0", 0},
		{"N", "css=h1 ; min=1h", 14},
		{"N", "css=h1 ; unit=minutes ; min=1h ; max=300", 0},
		{"Size", "css=h1 ; unit=bytes ; min=1MB", 0},
		{"Size", "css=h1 ; min=1MB", 14},
		{"Text", "css=h1 ; unit=bytes", 10},
		{"T", "css=h1 ; unit=minutes", 10},
		{"D", "css=h1 ; unit=bytes", 10},
		{"Text", "css=h1 ; layout=2006", 10},
		{"N", "css=h1 ; tz=UTC", 10},
		{"N", "css=h1 ; url", 10},
		{"N", "css=h1 ; lower", 10},
		{"Text", "css=h1 ; lower ; url", 0},
		{"N", "css=h1 ; lower ; map=f", 0},
		{"L", "css=h1 ; upper", 0},
		{"Ints", "css=h1 ; upper", 10},
		{"Text", "css=h1 ; first ; last", 18},
		{"Text", "css=h1 ; one ; join=x", 16},
		{"Text", "css=h1 ; trim ; raw", 17},
		{"Text", "css=a || css=b ; prefer ; agree", 27},
		{"L", "css=a || css=b ; all ; agree", 24},
		{"Text", "css=h1 ; lower ; upper", 18},
		{"Text", "css=h1 ; required ; default=x", 21},
		{"L", "css=a || css=b ; agree", 0},
		{"Ints", "css=a || css=b ; prefer", 0},
		{"S", "css=a || css=b ; agree", 18},
		{"LS", "css=a || css=b ; prefer", 18},
		{"M", "json=$.a || json=$.b ; agree", 24},
		{"Text", "ld=Movie.", 4},
		{"Text", "ld=.name", 4},
		{"Text", "ld=Movie.name", 0},
		{"MS", "css=li ; key=css=a ; lower", 22},
	} {
		o := extract.Options{Rules: extract.Rules{tt.field: {Tag: tt.tag}}, Funcs: map[string]func(string) (any, error){"f": func(s string) (any, error) { return s, nil }}}
		_, err := extract.Compile[every](o)
		var fault *extract.TagError
		switch {
		case tt.column == 0 && err != nil:
			t.Errorf("%s %q: %v", tt.field, tt.tag, err)
		case tt.column > 0 && (!errors.As(err, &fault) || fault.Column != tt.column || fault.Field != tt.field || fault.Tag != tt.tag):
			t.Errorf("%s %q: %v, want column %d", tt.field, tt.tag, err, tt.column)
		}
	}
	for name, err := range map[string]error{
		"map of lists": second(extract.Compile[struct {
			F map[string][]string `extract:"css=a"`
		}](extract.Options{})),
		"array": second(extract.Compile[struct {
			F [2]int `extract:"css=a"`
		}](extract.Options{})),
		"list of lists": second(extract.Compile[struct {
			F [][]int `extract:"css=a"`
		}](extract.Options{})),
		"bytes": second(extract.Compile[struct {
			F []byte `extract:"css=a"`
		}](extract.Options{})),
	} {
		var fault *extract.TagError
		if !errors.As(err, &fault) || fault.Field != "F" || fault.Tag != "css=a" || !strings.Contains(err.Error(), "cannot be filled: it may be") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Bounds are in the measure of the field.
func TestBoundsOfUnits(t *testing.T) {
	t.Parallel()
	type film struct {
		Minutes int           `extract:"css=.r ; unit=minutes ; min=1h ; max=2h"`
		Long    time.Duration `extract:"css=.r ; unit=minutes ; min=60 ; max=120"`
		Short   time.Duration `extract:"css=.r ; unit=minutes ; max=89m"`
		Size    int64         `extract:"css=.s ; unit=bytes ; max=1GB"`
	}
	v, report, err := extract.MustCompile[film](extract.Options{}).Extract(t.Context(), document(`<i class=r>90</i><i class=s>1.4 GB</i>`))
	if v.Minutes != 90 || v.Long != 90*time.Minute || v.Short != 0 || v.Size != 0 || err == nil || strings.Count(err.Error(), "more than") != 2 {
		t.Errorf("%+v, %v, %+v", v, err, report)
	}
}

// prefer and agree compare lists, and all has each value once, whatever its text.
func TestMergesOfLists(t *testing.T) {
	t.Parallel()
	type film struct {
		Agree  []string    `extract:"css=.a || css=.b ; agree"`
		Prefer []int       `extract:"css=.n || css=.m ; prefer"`
		Same   []time.Time `extract:"css=.d || css=.e ; agree"`
		Missed []string    `extract:"css=.a || css=.none ; agree"`
		All    []int       `extract:"css=.n || css=.m ; all"`
		Then   []int       `extract:"css=.a || css=.n"`
		Part   []int       `extract:"css=.a, .n"`
	}
	page := `<i class=a>x</i><i class=b>y</i><i class=n>1,000</i><i class=m>1000</i><i class=m>2</i><i class=d>2024-01-15</i><i class=e>Jan 15, 2024</i>`
	v, report, err := extract.MustCompile[film](extract.Options{}).Extract(t.Context(), document(page))
	if !reflect.DeepEqual(v.Agree, []string{"x"}) || !reflect.DeepEqual(v.All, []int{1000, 2}) || !reflect.DeepEqual(v.Then, []int{1000}) || !reflect.DeepEqual(v.Part, []int{1000}) || err == nil {
		t.Errorf("%+v, %v", v, err)
	}
	for path, want := range map[string]extract.Status{
		"Agree": extract.Disagreed, "Prefer": extract.Disagreed, "Same": extract.OK, "Missed": extract.OK, "All": extract.OK, "Then": extract.OK, "Part": extract.ConvertFailed,
	} {
		if f, _ := report.Field(path); f.Status != want || f.SourceIndex < 0 {
			t.Errorf("%+v", f)
		}
	}
	if f, _ := report.Field("Then"); f.Err == nil || f.SourceIndex != 1 {
		t.Errorf("%+v", f)
	}
	if n := strings.Count(err.Error(), "seine: extract:"); n != 2 { // Agree and Part
		t.Errorf("%v", err)
	}
}

// A list that is required has a text that is not empty.
func TestRequiredListOfEmptyTexts(t *testing.T) {
	t.Parallel()
	type film struct {
		Some  []string `extract:"css=i ; required"`
		None  []string `extract:"css=b ; required"`
		Maybe []string `extract:"css=b"`
	}
	v, err := extract.From[film](document(`<i> </i><i>x</i><b></b>`))
	if err == nil || !strings.Contains(err.Error(), "None: missing") || !reflect.DeepEqual(v, film{Some: []string{"x"}, Maybe: []string{""}}) {
		t.Errorf("%+v, %v", v, err)
	}
}

// A default stands in for what does not convert, and for data that cannot be read; what was wrong is told.
func TestDefaultStandsInForBadValues(t *testing.T) {
	t.Parallel()
	type film struct {
		Year int  `extract:"css=.y || json=$.year ; default=-1"`
		High *int `extract:"css=.h ; max=10 ; default=5"`
	}
	s := extract.MustCompile[film](extract.Options{})
	for _, page := range []string{`<i class=y>N/A</i><i class=h>11</i>`, `{"year": `, `{"year": "N/A"}`} {
		v, report, err := s.Extract(t.Context(), document(page))
		f, _ := report.Field("Year")
		if err != nil || v.Year != -1 || *v.High != 5 || f.Status != extract.Default || f.Err == nil || f.SourceIndex != -1 {
			t.Errorf("%s: %+v, %v, %+v", page, v, err, f)
		}
	}
	if v, err := extract.From[film](document(`<i class=y>N/A</i>`)); err != nil || v.Year != -1 {
		t.Errorf("%+v, %v", v, err)
	}
}

type base struct {
	Title string `extract:"css=h1 ; required"`
}

type Outer struct {
	base
	Named struct{ Title string }
}

// Embedded structs are filled as encoding/json does, by tags and by rules that name the promoted field.
func TestEmbeddedStructs(t *testing.T) {
	t.Parallel()
	type film struct {
		Outer
		Year int `extract:"css=.y"`
	}
	page := document(`<h1>T</h1><h2>R</h2><i class=y>1999</i>`)
	if v, err := extract.From[film](page); err != nil || v.Title != "T" || v.Year != 1999 {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := extract.From[film](document(`<p>`)); err == nil {
		t.Error("nothing is missing")
	}
	for name, rules := range map[string]extract.Rules{
		"promoted":     {"Title": {Tag: "css=h2"}},
		"by the outer": {"Outer": {Fields: extract.Rules{"Title": {Tag: "css=h2"}}}},
		"by each":      {"Outer": {Fields: extract.Rules{"base": {Fields: extract.Rules{"Title": {Tag: "css=h2"}}}}}},
	} {
		v, _, err := extract.MustCompile[film](extract.Options{Rules: rules}).Extract(t.Context(), page)
		if err != nil || v.Title != "R" || v.Year != 1999 {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
	twice := extract.Rules{"Title": {Tag: "css=h2"}, "Outer": {Fields: extract.Rules{"Title": {Tag: "css=h1"}}}}
	var fault *extract.TagError
	if _, err := extract.Compile[film](extract.Options{Rules: twice}); !errors.As(err, &fault) || fault.Field != "Title" {
		t.Errorf("%v", err)
	}
}
