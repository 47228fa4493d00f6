package extract_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/extract"
	"github.com/seine-go/seine/extract/literal"
	"github.com/seine-go/seine/extract/xpath"
)

const filmPage = `<!DOCTYPE html><html><head><title>T</title><base href="/films/">
<meta name=description content="A film"><meta property="og:title" content="The Matrix (1999)"><meta property="og:image" content="og.jpg">
<script type="application/ld+json">{"@type":"Movie","name":"The Matrix","datePublished":"1999-03-31","duration":"PT2H16M","actor":[{"name":"Keanu Reeves"},{"name":"Carrie-Anne Moss"}],"aggregateRating":{"ratingValue":"8.7"}}</script>
<script>window.__STATE__ = {film: {votes: 1900000, tags: ['a', 'b'], nested: {x: [1, 2]}}};</script>
<script id=d type="application/json">{"id": 12345678901234567890, "cast": [{"n": "Keanu", "role": "Neo"}, {"n": "Carrie-Anne"}]}</script>
</head><body><h1 class=title> The   Matrix <small>1999</small></h1><img class=poster src="p/1.jpg"><span class=votes>190万</span>
<ul class=cast><li><a href="/p/1">Keanu Reeves</a> <i>Neo</i></li><li><a href="/p/2">Carrie-Anne Moss</a></li></ul>
<dl><dt>Country</dt><dd>USA</dd><dt>Language</dt><dd>English</dd></dl><p class=empty></p><span class=zero>0</span><span class=size>1.4 GB</span>
<a href="magnet:?xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a&dn=x">Magnet</a><a href="/t/7.torrent">Torrent</a> <p>magnet:?xt=urn:btih:d12fe1c06bba254a9dc9f519b335aa7c1367a88a, and more</p>
</body></html>`

func document(body string) *extract.Document {
	return extract.NewDocument([]byte(body), extract.DocumentOptions{URL: "https://h/list/x"})
}

// from extracts a T from the page above.
func from[T any](t *testing.T) T {
	t.Helper()
	v, err := extract.From[T](document(filmPage))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSources(t *testing.T) {
	t.Parallel()
	type actor struct {
		Name string   `extract:"css=a"`
		URL  *url.URL `extract:"css=a@href"`
		Role *string  `extract:"css=i"`
	}
	type role struct {
		Name string `extract:"json=$.n ; required"`
		Role string `extract:"json=$.role ; default=unknown"`
	}
	type film struct {
		CSS       string            `extract:"css=h1.title ; trim"`
		Own       string            `extract:"css=h1.title@own"`
		Pseudo    string            `extract:"css=h1.title::text ; trim"`
		HTML      string            `extract:"css=h1.title@html ; trim"`
		Poster    *url.URL          `extract:"css=img.poster::attr(src)"`
		PosterURL string            `extract:"css=img.poster@src ; url"`
		Raw       string            `extract:"css=img.poster@src"`
		XPath     string            `extract:"xpath=//ul/li[2]/a/@href"`
		Count     int               `extract:"xpath=count(//li)"`
		State     int               `extract:"state=__STATE__$.film.votes"`
		AnyState  []string          `extract:"state=$.film.tags"`
		In        json.Number       `extract:"json=$.id ; in=script#d"`
		LD        string            `extract:"ld=Movie.name"`
		Actors    []string          `extract:"ld=Movie.actor"`
		Rating    float64           `extract:"ld=Movie.aggregateRating.ratingValue ; min=0 ; max=10"`
		Runtime   time.Duration     `extract:"ld=Movie.duration"`
		Minutes   int               `extract:"ld=Movie.duration ; unit=minutes"`
		Published time.Time         `extract:"ld=Movie.datePublished"`
		OG        string            `extract:"og=title ; re=/^(.*) \\(/ ; upper"`
		Image     string            `extract:"og=image"`
		Meta      string            `extract:"meta=Description"`
		Year      uint16            `extract:"css=.none || css=h1 ; re=/(19|20)\\d\\d/0"`
		Pattern   string            `extract:"re=/votes: (\\d+)/1"`
		Here      string            `extract:"url="`
		Votes     int               `extract:"css=.votes"`
		Size      int64             `extract:"css=.size ; unit=bytes"`
		Cast      []actor           `extract:"css=ul.cast li ; each"`
		Roles     []*role           `extract:"state=d$.cast[*]"`
		First     *actor            `extract:"css=ul.cast li"`
		Last      actor             `extract:"css=ul.cast li ; last"`
		Absent    *actor            `extract:"css=ul.nobody li"`
		Info      map[string]string `extract:"css=dt ; key=css= ; value=xpath=following-sibling::dd[1]"`
		Nested    map[string]any    `extract:"state=$.film"`
		Anything  any               `extract:"state=$.film.nested"`
		Joined    string            `extract:"css=ul.cast a ; join=' / '"`
		All       []string          `extract:"css=ul.cast a || ld=Movie.actor || state=d$.cast[*].n ; all"`
		Links     []string          `extract:"magnet="`
		Torrent   []string          `extract:"magnet=torrent"`
		unset     int
		Untagged  string
	}
	at := func(s string) *url.URL { u, _ := url.Parse(s); return u }
	neo := "Neo"
	want := film{
		CSS: "The Matrix 1999", Own: "The   Matrix", Pseudo: "The Matrix", HTML: "The Matrix <small>1999</small>", Poster: at("https://h/films/p/1.jpg"), PosterURL: "https://h/films/p/1.jpg", Raw: "p/1.jpg",
		XPath: "/p/2", Count: 2, State: 1900000, AnyState: []string{"a", "b"}, In: "12345678901234567890", LD: "The Matrix", Actors: []string{"Keanu Reeves", "Carrie-Anne Moss"},
		Rating: 8.7, Runtime: 136 * time.Minute, Minutes: 136, Published: time.Date(1999, 3, 31, 0, 0, 0, 0, time.UTC), OG: "THE MATRIX", Image: "https://h/films/og.jpg", Meta: "A film", Year: 1999, Pattern: "1900000", Here: "https://h/list/x", Votes: 1900000, Size: 1400000000,
		Cast: []actor{{"Keanu Reeves", at("https://h/p/1"), &neo}, {"Carrie-Anne Moss", at("https://h/p/2"), nil}}, Roles: []*role{{"Keanu", "Neo"}, {"Carrie-Anne", "unknown"}},
		First: &actor{"Keanu Reeves", at("https://h/p/1"), &neo}, Last: actor{"Carrie-Anne Moss", at("https://h/p/2"), nil},
		Info: map[string]string{"Country": "USA", "Language": "English"}, Joined: "Keanu Reeves / Carrie-Anne Moss", All: []string{"Keanu Reeves", "Carrie-Anne Moss", "Keanu", "Carrie-Anne"},
		Nested:   map[string]any{"votes": json.Number("1900000"), "tags": []any{"a", "b"}, "nested": map[string]any{"x": []any{json.Number("1"), json.Number("2")}}},
		Anything: map[string]any{"x": []any{json.Number("1"), json.Number("2")}},
		Links:    []string{"magnet:?xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a&dn=x", "https://h/t/7.torrent", "magnet:?xt=urn:btih:d12fe1c06bba254a9dc9f519b335aa7c1367a88a"},
		Torrent:  []string{"https://h/t/7.torrent"},
	}
	got := from[film](t)
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range g.NumField() {
		if f := g.Type().Field(i); f.IsExported() && !reflect.DeepEqual(g.Field(i).Interface(), w.Field(i).Interface()) {
			t.Errorf("%s: %#v, want %#v", f.Name, g.Field(i), w.Field(i))
		}
	}
	_ = got.unset
}

// Fields of any type are filled, an empty selector is the element itself, and errors name the field.
func TestTypesAndTheElementItself_K134(t *testing.T) {
	t.Parallel()
	type credit struct {
		Whole string `extract:"css=" `
		Self  string `extract:"css=:self"`
		Bare  string `extract:""`
		Href  string `extract:"css=@href"`
		Only  string `extract:"; required"`
	}
	type deep struct {
		Credit *credit `extract:"css=a"`
	}
	type film struct {
		Zero    int      `extract:"css=.zero"`
		Pointer *int     `extract:"css=.zero"`
		Float   *float64 `extract:"css=.zero"`
		Nested  deep     `extract:"css=ul.cast li"`
		List    []deep   `extract:"css=ul.cast li"`
		deep
		Inline deep
	}
	got := from[film](t)
	want := credit{"Keanu Reeves", "Keanu Reeves", "Keanu Reeves", "/p/1", "Keanu Reeves"}
	if got.Pointer == nil || *got.Pointer != 0 || got.Float == nil || *got.Nested.Credit != want || len(got.List) != 2 || *got.List[0].Credit != want || got.List[1].Credit.Href != "/p/2" || *got.Inline.Credit != want {
		t.Errorf("%+v", got)
	}
	type bad struct {
		Nested struct {
			List []struct {
				Year int `extract:"css=a"`
			} `extract:"css=ul.cast li"`
		}
	}
	_, err := extract.From[bad](document(filmPage))
	var field *extract.FieldError
	if !errors.As(err, &field) || field.Path != "Nested.List[0].Year" || field.Raw != "Keanu Reeves" || field.Status != extract.ConvertFailed {
		t.Errorf("%v", err)
	}
}

// "0", an empty text, nothing, and nothing with a default are four different things.
func TestMissingIsNotZero_K135(t *testing.T) {
	t.Parallel()
	type film struct {
		Zero      int     `extract:"css=.zero"`
		ZeroText  string  `extract:"css=.zero ; default=x"`
		Empty     string  `extract:"css=.empty ; default=x"`
		EmptyPtr  *string `extract:"css=.empty"`
		EmptyInt  *int    `extract:"css=.empty"`
		Missing   string  `extract:"css=.none"`
		MissingP  *string `extract:"css=.none"`
		Defaulted int     `extract:"css=.none ; default=0"`
		DefaultP  *string `extract:"css=.none ; default=''"`
		Fallback  string  `extract:"css=.empty || css=.zero"`
	}
	got, report, err := extract.MustCompile[film](extract.Options{}).Extract(t.Context(), document(filmPage))
	if err != nil {
		t.Fatal(err)
	}
	if got.ZeroText != "0" || got.Empty != "" || got.EmptyPtr == nil || got.EmptyInt != nil || got.MissingP != nil || got.DefaultP == nil || got.Fallback != "0" {
		t.Errorf("%+v", got)
	}
	for path, want := range map[string]struct {
		status  extract.Status
		index   int
		matched int
	}{
		"Zero": {extract.OK, 0, 1}, "ZeroText": {extract.OK, 0, 1}, "Empty": {extract.OK, 0, 1}, "EmptyPtr": {extract.OK, 0, 1}, "EmptyInt": {extract.Missing, -1, 1},
		"Missing": {extract.Missing, -1, 0}, "MissingP": {extract.Missing, -1, 0}, "Defaulted": {extract.Default, -1, 0}, "DefaultP": {extract.Default, -1, 0}, "Fallback": {extract.OK, 1, 1},
	} {
		f, ok := report.Field(path)
		if !ok || f.Status != want.status || f.SourceIndex != want.index || f.Matched != want.matched {
			t.Errorf("%s: %+v", path, f)
		}
		if f.Status == extract.Missing && f.Snippet == "" {
			t.Errorf("%s: no snippet", path)
		}
	}
	type required struct {
		Empty string   `extract:"css=.empty ; required"`
		None  []string `extract:"css=.none ; required"`
		Title string   `extract:"css=h1@own"`
	}
	again, err := extract.From[required](document(filmPage))
	if err == nil || again.Title == "" || strings.Count(err.Error(), "missing") != 2 {
		t.Errorf("%v, %+v", err, again)
	}
}

// Expressions with wrong types, bad patterns and variables are errors: at Compile, or typed ones in the report.
func TestBadXPathIsAnError_K136(t *testing.T) {
	t.Parallel()
	for _, expr := range []string{"sum('a')", "replace('a','(','')", "$test/@attr", "matches('a','[')", "//a[sum(1)]", "number(", "foo(1)", "//", "sum(//h1)"} {
		s, err := extract.Compile[struct {
			V string `extract:"css=.none || xpath=//nothing"`
			W string `extract:"css=h1"`
		}](extract.Options{Rules: extract.Rules{"V": {Tag: "xpath=" + expr}}})
		if err != nil {
			var tag *extract.TagError
			var fault *xpath.Error
			if !errors.As(err, &tag) || tag.Field != "V" || tag.Column == 0 || !strings.HasSuffix(expr, "(") && !errors.As(err, &fault) {
				t.Errorf("%s: %v", expr, err)
			}
			continue
		}
		v, report, err := s.Extract(t.Context(), document(filmPage))
		var fault *xpath.Error
		if f, _ := report.Field("V"); err != nil && (!errors.As(err, &fault) || f.Err == nil) || v.W == "" {
			t.Errorf("%s: %v, %+v", expr, err, report)
		}
	}
}

func TestMergesAndPicks(t *testing.T) {
	t.Parallel()
	type film struct {
		Agree    string   `extract:"css=h1@own || ld=Movie.name || og=title ; agree ; trim ; re=/^[\\w ]*\\w/0"`
		Differ   string   `extract:"ld=Movie.name || og=title ; agree"`
		Prefer   string   `extract:"ld=Movie.name || og=title ; prefer"`
		One      string   `extract:"css=ul.cast a ; one"`
		Last     string   `extract:"css=ul.cast a ; last"`
		TooLarge float64  `extract:"ld=Movie.aggregateRating.ratingValue ; max=5"`
		Then     float64  `extract:"css=.votes || ld=Movie.aggregateRating.ratingValue ; max=10"`
		Few      []string `extract:"css=ul.cast a ; min=3"`
	}
	got, report, err := extract.MustCompile[film](extract.Options{}).Extract(t.Context(), document(filmPage))
	want := film{"The Matrix", "The Matrix", "The Matrix", "Keanu Reeves", "Carrie-Anne Moss", 0, 8.7, []string{"Keanu Reeves", "Carrie-Anne Moss"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	statuses := map[string]extract.Status{"Agree": extract.OK, "Differ": extract.Disagreed, "Prefer": extract.Disagreed, "One": extract.Ambiguous, "Last": extract.OK, "TooLarge": extract.ConvertFailed, "Then": extract.OK, "Few": extract.ConvertFailed}
	for path, status := range statuses {
		if f, _ := report.Field(path); f.Status != status {
			t.Errorf("%s: %+v", path, f)
		}
	}
	for _, path := range []string{"Differ", "One", "TooLarge", "Few"} {
		if !strings.Contains(err.Error(), ": "+path+": ") {
			t.Errorf("no error of %s", path)
		}
	}
	if n := strings.Count(err.Error(), "seine: extract:"); n != 4 {
		t.Errorf("%d errors: %v", n, err)
	}
	if f, _ := report.Field("Then"); f.SourceIndex != 1 || f.Err == nil {
		t.Errorf("%+v", f)
	}
}

func TestFuncs(t *testing.T) {
	t.Parallel()
	type film struct {
		Title string    `extract:"ld=Movie.name ; map=shout|twice"`
		When  time.Time `extract:"ld=Movie.name ; map=now"`
		Bad   int       `extract:"ld=Movie.name ; map=now"`
	}
	s := extract.MustCompile[film](extract.Options{Funcs: map[string]func(string) (any, error){
		"shout": func(s string) (any, error) { return s + "!", nil },
		"twice": func(s string) (any, error) { return s + s, nil },
		"now":   func(string) (any, error) { return time.Unix(7, 0), nil },
	}})
	got, _, err := s.Extract(t.Context(), document(filmPage))
	if got.Title != "The Matrix!The Matrix!" || got.When.Unix() != 7 || err == nil || !strings.Contains(err.Error(), "Bad") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestEach(t *testing.T) {
	t.Parallel()
	type person struct {
		Name string `extract:"css=a || json=$.n ; required"`
	}
	s := extract.MustCompile[person](extract.Options{})
	for _, scope := range []string{"css=ul.cast li", "css=.none || state=d$.cast[*]"} {
		var names []string
		for p, report := range s.Each(t.Context(), document(filmPage), scope) {
			if len(report.Fields) != 1 || report.Err != nil {
				t.Errorf("%+v", report)
			}
			names = append(names, p.Name)
		}
		if len(names) != 2 || !strings.HasPrefix(names[1], "Carrie-Anne") {
			t.Errorf("%s: %v", scope, names)
		}
	}
	for _, report := range s.Each(t.Context(), document(filmPage), "css=li[") {
		var tag *extract.TagError
		if !errors.As(report.Err, &tag) {
			t.Errorf("%+v", report)
		}
	}
	for range s.Each(t.Context(), document(filmPage), "css=li") {
		break
	}
}

// A comment holds comments: types may hold themselves.
func TestRecursiveTypes(t *testing.T) {
	t.Parallel()
	type comment struct {
		Text    string    `extract:"css=:scope > p"`
		Replies []comment `extract:"css=:scope > div"`
	}
	v, err := extract.From[comment](document(`<body><p>0<div><p>1<div><p>2</div></div><div><p>3</div>`))
	_ = v
	if err != nil {
		t.Fatal(err)
	}
	s := extract.MustCompile[comment](extract.Options{})
	var all []comment
	for c := range s.Each(t.Context(), document(`<body><p>0<div><p>1</p><div><p>2</p></div></div><div><p>3</p></div>`), "css=body") {
		all = append(all, c)
	}
	if len(all) != 1 || len(all[0].Replies) != 2 || all[0].Replies[0].Replies[0].Text != "2" || all[0].Replies[1].Text != "3" {
		t.Errorf("%+v", all)
	}
	deep := strings.Repeat("<div><p>x</p>", 200)
	if _, err := extract.From[struct {
		C comment `extract:"css=body"`
	}](document(deep)); err == nil || !strings.Contains(err.Error(), "deeper than") {
		t.Errorf("%v", err)
	}
}

func TestBoundsOfExtraction(t *testing.T) {
	t.Parallel()
	type list struct {
		Items []string `extract:"css=i"`
	}
	page := strings.Repeat("<i>x</i>", 11)
	s := extract.MustCompile[list](extract.Options{MaxItems: 10})
	if v, report, err := s.Extract(t.Context(), document(page)); err == nil || len(v.Items) != 10 || report.Fields[0].Status != extract.ConvertFailed {
		t.Errorf("%v, %v", v, err)
	}
	if v, _, err := s.Extract(t.Context(), document(page[:80])); err != nil || len(v.Items) != 10 {
		t.Errorf("%v, %v", v, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.Extract(ctx, document(page)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	type items struct {
		Items []struct {
			V string `extract:""`
		} `extract:"css=i"`
	}
	_, report, err := extract.MustCompile[items](extract.Options{}).Extract(t.Context(), document(strings.Repeat("<i>x</i>", 10_001)))
	if err != nil || len(report.Fields) != 10_000 || report.Cut != 2 {
		t.Errorf("%d, %d, %v", len(report.Fields), report.Cut, err)
	}
	type island struct {
		V string `extract:"state=$.a"`
		T string `extract:"css=h1"`
	}
	var limit *literal.LimitError
	v, err := extract.From[island](document(`<h1>T</h1><script>x={a:` + strings.Repeat("[", 10_000) + `</script>`))
	if !errors.As(err, &limit) || v.T != "T" {
		t.Errorf("%v, %v", v, err)
	}
}
