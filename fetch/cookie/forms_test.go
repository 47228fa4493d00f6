package cookie

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// fullJar holds cookies of every kind.
func fullJar(t testing.TB, clock *clock) *Jar {
	t.Helper()
	jar := New(Options{Now: clock.now})
	set := jar.Set(Exchange{URL: "https://www.films.example/a/b"},
		"lang=中文; Path=/; Max-Age=3600",
		"gbk=\xd6\xd0\xce\xc4; Domain=films.example; SameSite=Lax",
		`quote=say "hi"; Secure; HttpOnly; SameSite=Strict`,
		`"odd name"=a,b=c; Path=/a%20b/\xff`,
		"tab=a\tb; SameSite=None; Secure",
		"empty=; Expires=Wed, 06 Nov 2030 08:49:37 GMT",
		"__Host-id=1; Secure; Path=/")
	if len(set) != 7 {
		t.Fatalf("%d cookies", len(set))
	}
	clock.pass(time.Minute)
	jar.Header(Exchange{URL: "https://www.films.example/"})
	return jar
}

func TestJSONKeepsEverything(t *testing.T) {
	t.Parallel()
	clock := newClock()
	jar := fullJar(t, clock)
	jar.Set(Exchange{URL: "https://w.test/", From: "https://top.test/", Embedded: true}, "p=1; Secure; SameSite=None; Partitioned")
	data, err := json.Marshal(jar)
	if err != nil {
		t.Fatal(err)
	}
	back := New(Options{Now: clock.now})
	if err := json.Unmarshal(data, back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back.All(), jar.All()) || back.secure != jar.secure || len(back.byUse) != len(jar.byUse) {
		t.Errorf("read\n%+v\nwrote\n%+v", back.All(), jar.All())
	}
}

func TestBadJSONLeavesTheJar(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"cut":           `{"version":1,"cookies":[{"na`,
		"other version": `{"version":2,"cookies":[]}`,
		"no version":    `{}`,
		"null":          `null`,
		"a list":        `[]`,
		"no list":       `{"version":1,"cookies":{}}`,
	} {
		jar := new(Jar)
		jar.Set(Exchange{URL: "https://a.test/"}, "x=1")
		if err := jar.UnmarshalJSON([]byte(text)); err == nil || errors.As(err, new(*FormError)) || !strings.HasPrefix(err.Error(), "seine: cookie") {
			t.Errorf("%s: %v", name, err)
		}
		if got := jar.Header(Exchange{URL: "https://a.test/"}); got != "x=1" {
			t.Errorf("%s: the jar sends %q", name, got)
		}
	}
}

// TestBadCookiesAreLeftOutOfJSON has one cookie that cannot be among two that can.
func TestBadCookiesAreLeftOutOfJSON(t *testing.T) {
	t.Parallel()
	cookie := func(name string) string { return `{"name":"` + name + `","value":"1","domain":"a.test","path":"/"}` }
	for what, bad := range map[string]string{
		"name":         `{"name":"a;b","value":"secret","domain":"a.test","path":"/"}`,
		"no name":      `{"value":"secret","domain":"a.test","path":"/"}`,
		"suffix":       `{"name":"a","value":"secret","domain":"com","path":"/"}`,
		"too long":     `{"name":"a","value":"secret` + strings.Repeat("x", MaxPair) + `","domain":"a.test","path":"/"}`,
		"prefix":       `{"name":"__Secure-a","value":"secret","domain":"a.test","path":"/"}`,
		"base64":       `{"name_base64":"*secret","domain":"a.test","path":"/"}`,
		"type":         `{"name":7,"value":"secret","domain":"a.test","path":"/"}`,
		"time":         `{"name":"a","value":"secret","domain":"a.test","path":"/","expires":"tomorrow"}`,
		"no object":    `"secret"`,
		"null":         `null`,
		"another list": `[]`,
	} {
		jar := new(Jar)
		jar.Set(Exchange{URL: "https://a.test/"}, "x=1")
		err := json.Unmarshal([]byte(`{"version":1,"cookies":[`+cookie("one")+`,`+bad+`,`+cookie("two")+`]}`), jar)
		var left *FormError
		if !errors.As(err, &left) || left.Count != 1 || len(left.Faults) != 1 || jar.LeftOut() != left || !strings.Contains(err.Error(), "cookie 2: ") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", what, err)
		}
		if got := jar.Header(Exchange{URL: "https://a.test/"}); got != "one=1; two=1" {
			t.Errorf("%s: the jar sends %q", what, got)
		}
	}
	jar := new(Jar)
	many := strings.Repeat("{},", maxFormFaults) + "{}"
	if err := json.Unmarshal([]byte(`{"version":1,"cookies":[`+many+`]}`), jar); err == nil || jar.LeftOut().Count != maxFormFaults+1 || len(jar.LeftOut().Faults) != maxFormFaults {
		t.Errorf("%v", err)
	}
	if err := json.Unmarshal([]byte(`{"version":1,"cookies":[`+cookie("one")+`]}`), jar); err != nil || jar.LeftOut() != nil {
		t.Errorf("read anew: %v, %v", err, jar.LeftOut())
	}
}

func TestNetscapeRoundTrip(t *testing.T) {
	t.Parallel()
	clock := newClock()
	jar := fullJar(t, clock)
	jar.Set(Exchange{URL: "https://w.test/"}, "p=1; Secure; Partitioned", "a\tb=1")
	var file bytes.Buffer
	err := jar.WriteNetscape(&file)
	var left *FormError
	if !errors.As(err, &left) || left.Count != 2 {
		t.Fatalf("left out: %v", err)
	}
	back := New(Options{Now: clock.now})
	if err := back.ReadNetscape(bytes.NewReader(file.Bytes())); err != nil {
		t.Fatal(err)
	}
	want, got := jar.All()[:7], back.All()
	for i := range want { // what the form has no place for
		want[i].SameSite, want[i].Created, want[i].Accessed = Default, time.Time{}, time.Time{}
		got[i].Created, got[i].Accessed = time.Time{}, time.Time{}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read\n%+v\nwrote\n%+v\n%s", got, want, file.String())
	}
}

func TestNetscapeOfOthers(t *testing.T) {
	t.Parallel()
	const text = "# Netscape HTTP Cookie File\r\n# http://curl.haxx.se/docs/http-cookies.html\r\n\r\n" +
		".films.example\tTRUE\t/\tFALSE\t0\tsession\t1\r\n" +
		"#HttpOnly_www.films.example\tFALSE\t/a\tTRUE\t1893456000\tid\tx y\r\n" +
		"films.example\ttrue\t/\tfalse\t99999999999999999999\tfar\tz\n" +
		"www.films.example\tFALSE\t/\tFALSE\t0\tempty\n" +
		"www.films.example\tFALSE\t/\tFALSE\t1\told\tgone\n" +
		"www.films.example FALSE / FALSE 0 blanks 1\n" +
		"com\tTRUE\t/\tFALSE\t0\tsuffix\t1\n" +
		"www.films.example\tmaybe\t/\tFALSE\t0\tflag\t1\n" +
		"www.films.example\tFALSE\t/\tFALSE\tsoon\texpires\t1\n" +
		"www.films.example\tFALSE\t/\tFALSE\t0\tlast\tno line break"
	clock := newClock()
	clock.t = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	jar := New(Options{Now: clock.now})
	err := jar.ReadNetscape(strings.NewReader(text))
	var left *FormError
	if !errors.As(err, &left) || left.Count != 4 || !strings.Contains(left.Faults[0].Error(), "line 9") {
		t.Fatalf("left out: %v", err)
	}
	got := jar.Header(Exchange{URL: "https://www.films.example/a"})
	if want := "id=x y; session=1; far=z; empty=; last=no line break"; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	for _, c := range jar.All() {
		if c.Name == "id" && (!c.HTTPOnly || !c.HostOnly || !c.Secure) || c.Name == "far" && c.Expires != maxExpires {
			t.Errorf("%+v", c)
		}
	}
}

func TestNetscapeFaults(t *testing.T) {
	t.Parallel()
	head := "a.test\tFALSE\t/\tFALSE\t0\tx\t"
	line := func(n int) string { return head + strings.Repeat("v", n-len(head)-1) + "\n" }
	var jar Jar
	// Values beyond MaxPair are told as such, lines beyond their bound are passed over whole.
	err := jar.ReadNetscape(strings.NewReader(line(maxNetscapeLine) + line(maxNetscapeLine+1) + head + "1\n"))
	var left *FormError
	if !errors.As(err, &left) || left.Count != 2 || !errors.Is(left.Faults[0], errTooLong) || !errors.Is(left.Faults[1], errLongLine) {
		t.Errorf("%v", err)
	}
	if got := jar.Header(Exchange{URL: "http://a.test/"}); got != "x=1" {
		t.Errorf("sent %q", got)
	}
	err = jar.ReadNetscape(strings.NewReader(strings.Repeat("bad\n", 1000)))
	if !errors.As(err, &left) || left.Count != 1000 || len(left.Faults) != maxFormFaults {
		t.Errorf("%v", err)
	}
	own := errors.New("disk")
	if err := jar.ReadNetscape(iotest.ErrReader(own)); !errors.Is(err, own) {
		t.Errorf("%v", err)
	}
	if err := jar.WriteNetscape(failing{own}); !errors.Is(err, own) {
		t.Errorf("%v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func FuzzForms(f *testing.F) {
	f.Add([]byte("a.test\tFALSE\t/\tFALSE\t0\tx\t1\n#HttpOnly_.a.test\tTRUE\t/\tTRUE\t1893456000\ty\t\xff"))
	f.Add([]byte(`{"version":1,"cookies":[{"name":"a","value_base64":"/w==","domain":"a.test","path":"/"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		clock := newClock()
		one := New(Options{Now: clock.now})
		one.ReadNetscape(bytes.NewReader(data))
		_ = json.Unmarshal(data, one)
		text, err := json.Marshal(one)
		if err != nil {
			t.Fatal(err)
		}
		two := New(Options{Now: clock.now})
		if err := json.Unmarshal(text, two); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if again, _ := json.Marshal(two); !bytes.Equal(text, again) {
			t.Fatalf("%s\n%s", text, again)
		}
		if err := one.WriteNetscape(io.Discard); err != nil && !errors.As(err, new(*FormError)) {
			t.Fatal(err)
		}
	})
}

func TestHTTPJar(t *testing.T) {
	t.Parallel()
	jar := new(Jar)
	u, _ := url.Parse("https://a.example.com/d/e")
	bridge := jar.HTTP()
	header := http.Header{"Set-Cookie": {`quoted="a b"; Path=/`, "plain=1; Domain=example.com", "raw=a\"b"}}
	bridge.SetCookies(u, (&http.Response{Header: header}).Cookies())
	bridge.SetCookies(u, []*http.Cookie{
		nil,
		{Name: "made", Value: "x", Path: "/d", MaxAge: 60, Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode},
		{Name: "gone", Value: "x", MaxAge: -1},
		{Name: "parted", Value: "x", Quoted: true, Domain: "example.com", Expires: time.Now().Add(time.Hour), Partitioned: true, Secure: true},
		{Name: "inject", Value: "x; Domain=example.com; \r\nX: y"},
	})
	bridge.SetCookies(nil, nil)
	if len(bridge.Cookies(nil)) != 0 {
		t.Error("cookies for no URL")
	}
	got := map[string]string{}
	for _, c := range jar.All() {
		got[c.Name] = c.Value
	}
	want := map[string]string{"quoted": `"a b"`, "plain": "1", "made": "x", "parted": `"x"`}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	req, _ := http.NewRequest("GET", u.String(), nil)
	for _, c := range bridge.Cookies(u) {
		req.AddCookie(c)
	}
	if got := req.Header.Get("Cookie"); !strings.Contains(got, `quoted="a b"`) || !strings.Contains(got, "made=x") {
		t.Errorf("net/http sends %q", got)
	}
}

func TestImport(t *testing.T) {
	t.Parallel()
	from, _ := cookiejar.New(nil)
	u, _ := url.Parse("https://a.example.com/d/e")
	from.SetCookies(u, []*http.Cookie{{Name: "x", Value: "1"}, {Name: "q", Value: "2", Quoted: true}})
	jar := new(Jar)
	if err := jar.Import(from, u.String(), "https://other.test/"); err != nil {
		t.Fatal(err)
	}
	if got := jar.Header(Exchange{URL: "https://a.example.com/"}); got != `x=1; q="2"` {
		t.Errorf("sent %q", got)
	}
	for _, bad := range []string{"://", "ftp://a.test/"} {
		if err := jar.Import(from, bad); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
	if err := jar.Import(nil, u.String()); err == nil {
		t.Error("nil: no error")
	}
}
