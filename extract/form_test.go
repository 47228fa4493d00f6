package extract

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/seine-go/seine/extract/css"
)

func formOf(t testing.TB, page string) *Form {
	t.Helper()
	f, err := NewDocument([]byte(page), DocumentOptions{URL: "https://films.example/dir/page?x=1#f", Encoding: "utf-8"}).Form("form")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFormIsSentAsItStands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, page, button, want string }{
		{"text", `<form><input name=a value=1><input name=b type=TEXT value="x y&z"><input value=none></form>`, "", "GET https://films.example/dir/page?a=1&b=x+y%26z#f"},
		{"action", `<form action="../go?old=1" method=post><input name=a>`, "", "POST https://films.example/go?old=1 a="},
		{"query replaced", `<form action="/go?old=1#z"><input name=a>`, "", "GET https://films.example/go?a=#z"},
		{"base", `<base href="https://other.example/b/"><form action=c><input name=a>`, "", "GET https://other.example/b/c?a="},
		{"no action, base", `<base href="https://other.example/b/"><form><input name=a>`, "", "GET https://films.example/dir/page?a=#f"},
		{"boxes", `<form><input type=checkbox name=a><input type=checkbox name=a checked><input type=radio name=r value=1><input type=radio name=r value=2 checked>`, "", "GET https://films.example/dir/page?a=on&r=2#f"},
		{"select", `<form><select name=s><option disabled>0<option> one  two <option value=3>x</select>`, "", "GET https://films.example/dir/page?s=one+two#f"},
		{"select, last of two", `<form><select name=s><option selected>1<option selected>2<option>3</select>`, "", "GET https://films.example/dir/page?s=2#f"},
		{"select, many", `<form><select multiple name=s><optgroup disabled><option selected>0</optgroup><option selected>1<option selected>2</select>`, "", "GET https://films.example/dir/page?s=1&s=2#f"},
		{"select, many and none", `<form><select multiple name=s><option>1</select><input name=a value=b>`, "", "GET https://films.example/dir/page?a=b#f"},
		{"list box", `<form><select size=3 name=s><option>1</select><input name=a value=b>`, "", "GET https://films.example/dir/page?a=b#f"},
		{"textarea", "<form><textarea name=t>\nl1\nl2</textarea>", "", "GET https://films.example/dir/page?t=l1%0D%0Al2#f"},
		{"first button", `<form><input name=a><button name=b value=1>x</button><input type=submit name=c value=2>`, "", "GET https://films.example/dir/page?a=&b=1#f"},
		{"a button", `<form><input name=a><button name=b value=1>x</button><input type=submit name=c value=2>`, "c", "GET https://films.example/dir/page?a=&c=2#f"},
		{"button says more", `<form><input name=a><button name=b formaction=/z formmethod=post>x</button>`, "", "POST https://films.example/z a=&b="},
		{"other buttons", `<form><button type=button name=x>x</button><input type=reset name=y><button type=reset name=z>`, "", "GET https://films.example/dir/page?#f"},
		{"image", `<form><input type=image name=i><input type=image>`, "", "GET https://films.example/dir/page?i.x=0&i.y=0#f"},
		{"disabled", `<form><input name=a disabled><fieldset disabled><legend><input name=l value=1></legend><input name=b></fieldset><button disabled name=c>`, "", "GET https://films.example/dir/page?l=1#f"},
		{"elsewhere", `<input form=f name=o value=1><form id=f><input name=a value=2><input form=g name=x></form><form id=g></form><input name=free>`, "", "GET https://films.example/dir/page?o=1&a=2#f"},
		{"in a table", `<table><form action=/t><tr><td><input name=a value=1></td></tr></form></table><form><input name=b></form>`, "", "GET https://films.example/t?a=1"},
		{"templates", `<form><template><input name=x></template><datalist><option value=y></datalist><input name=a>`, "", "GET https://films.example/dir/page?a=#f"},
		{"plain", `<form method=post enctype=TEXT/plain><input name=a value="1 2">`, "", "POST https://films.example/dir/page?x=1#f a=1 2\r\n"},
		{"file without multipart", `<form method=post><input type=file name=f value=no>`, "", "POST https://films.example/dir/page?x=1#f f="},
		{"charset", `<form accept-charset="klingon GB2312"><input name=a value="电€ 😀"><input type=hidden name=_charset_ value=x>`, "", "GET https://films.example/dir/page?a=%B5%E7%80+%26%23128512%3B&_charset_=gbk#f"},
		{"charset UTF-16", `<form accept-charset=utf-16><input name=a value=é>`, "", "GET https://films.example/dir/page?a=%C3%A9#f"},
	} {
		s, err := formOf(t, c.page).Submit(c.button)
		got := strings.TrimSuffix(s.Method+" "+s.URL+" "+string(s.Body), " ")
		if err != nil || got != c.want {
			t.Errorf("%s: %v\n got %q\nwant %q", c.name, err, got, c.want)
		}
		if (s.Method == "GET") != (s.ContentType == "") || (s.Method == "GET") != (s.Body == nil) {
			t.Errorf("%s: %q, %q", c.name, s.ContentType, s.Body)
		}
	}
}

const fullForm = `<form method=post><input name=user><input name=twice value=1><input name=twice value=2><input type=hidden name=token value=t>
	<input type=checkbox name=box value=1 checked><input type=checkbox name=box value=2><input type=checkbox name=box value=3 disabled>
	<input type=radio name=r value=1 checked><input type=radio name=r value=2>
	<select name=one><option selected>1<option>2</select><select name=many multiple><option>1<option>2<option>3</select>
	<textarea name=t>old</textarea><button name=go value=1>`

func TestFormIsFilled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		values []string
		want   string // of the name; "!" for an error
	}{
		{"user", []string{"ann & co"}, "ann & co"},
		{"user", nil, ""},
		{"user", []string{"a", "b"}, "!"},
		{"twice", []string{"x", "y"}, "x|y"},
		{"twice", []string{"x"}, "x|"},
		{"token", []string{"new"}, "new"},
		{"box", []string{"2"}, "2"},
		{"box", []string{"2", "1"}, "1|2"},
		{"box", nil, "-"},
		{"box", []string{"4"}, "!"},
		{"box", []string{"3"}, "!"},
		{"r", []string{"2"}, "2"},
		{"r", []string{"1", "2"}, "!"},
		{"one", []string{"2"}, "2"},
		{"one", []string{"1", "2"}, "!"},
		{"one", []string{"9"}, "!"},
		{"many", []string{"3", "1"}, "1|3"},
		{"t", []string{"new"}, "new"},
		{"go", []string{"2"}, "!"},
		{"none", []string{"1"}, "!"},
	} {
		f := formOf(t, fullForm)
		before, _ := f.Submit("")
		err := f.Set(c.name, c.values...)
		after, _ := f.Submit("")
		if c.want == "!" {
			var bad *FormFieldError
			if !errors.As(err, &bad) || bad.Name != c.name || string(after.Body) != string(before.Body) {
				t.Errorf("%s=%q: %v, %s", c.name, c.values, err, after.Body)
			}
			continue
		}
		got, _ := url.ParseQuery(string(after.Body))
		want := strings.Split(c.want, "|")
		if c.want == "-" {
			want = nil
		}
		if err != nil || !slices.Equal(got[c.name], want) || got["token"] == nil {
			t.Errorf("%s=%q: %v, %q", c.name, c.values, err, got[c.name])
		}
	}
	f := formOf(t, fullForm)
	if f.Value("twice") != "1" || f.Value("none") != "" || !slices.Equal(f.Fields(), []string{"user", "twice", "token", "box", "r", "one", "many", "t", "go"}) {
		t.Errorf("%q %q", f.Value("twice"), f.Fields())
	}
	if err := f.Add("made", "by script"); err != nil || f.Value("made") != "by script" {
		t.Error(err)
	}
}

func TestMultipartForm(t *testing.T) {
	t.Parallel()
	f := formOf(t, `<form method=post enctype=multipart/form-data><input type=hidden name='a"b' value="x&#10;y"><input type=file name=f><input type=file name=g><input type=file name=f>`)
	data := []byte("\x00\xff----seine\r\n")
	if err := errors.Join(f.Attach("f", "a\"b\r\n.png", "image/png", data), f.Attach("f", "二.txt", "", nil)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"f", "a\"b", "none"} {
		if err := f.Attach(name, "x", "", nil); !errors.As(err, new(*FormFieldError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s, err := f.Submit("")
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := f.Submit(""); string(again.Body) != string(s.Body) {
		t.Error("the same form gives other bytes")
	}
	_, params, err := mime.ParseMediaType(s.ContentType)
	if err != nil {
		t.Fatal(err)
	}
	r := multipart.NewReader(strings.NewReader(string(s.Body)), params["boundary"])
	for _, want := range [][4]string{
		{"a%22b", "", "", "x\r\ny"},
		{"f", "a%22b%0D%0A.png", "image/png", string(data)},
		{"g", "", "application/octet-stream", ""},
		{"f", "二.txt", "application/octet-stream", ""},
	} {
		part, err := r.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(part)
		if got := [4]string{part.FormName(), part.FileName(), part.Header.Get("Content-Type"), string(body)}; got != want {
			t.Errorf("part %q, want %q", got, want)
		}
	}
	if _, err := r.NextPart(); err != io.EOF {
		t.Error(err)
	}
}

func TestFormFaults(t *testing.T) {
	t.Parallel()
	doc := func(page string) *Document {
		return NewDocument([]byte(page), DocumentOptions{URL: "https://films.example/"})
	}
	if _, err := doc("<p>").Form("form"); !errors.Is(err, ErrNoForm) {
		t.Error(err)
	}
	if _, err := doc("<form>").Form("form["); !errors.As(err, new(*css.Error)) {
		t.Error(err)
	}
	if _, err := doc("<form action='https://[x'>").Form("form"); err == nil || !strings.HasPrefix(err.Error(), "seine: ") {
		t.Error(err)
	}
	if _, err := formOf(t, "<form method=dialog>").Submit(""); !errors.Is(err, ErrDialog) {
		t.Error(err)
	}
	if _, err := formOf(t, "<form>").Submit("none"); !errors.As(err, new(*FormFieldError)) {
		t.Error(err)
	}
	if _, err := formOf(t, "<form><button formaction='https://[x'>").Submit(""); err == nil {
		t.Error("an action that is no URL")
	}
	for n, want := range map[int]error{MaxFormFields: nil, MaxFormFields + 1: ErrFormSize} {
		if _, err := doc("<form>" + strings.Repeat("<input name=a>", n)).Form("form"); !errors.Is(err, want) {
			t.Errorf("%d inputs: %v", n, err)
		}
		if _, err := doc("<form><select>" + strings.Repeat("<option>", n)).Form("form"); !errors.Is(err, want) {
			t.Errorf("%d options: %v", n, err)
		}
	}
	full := formOf(t, "<form>"+strings.Repeat("<input name=a>", MaxFormFields))
	if err := full.Add("b", ""); !errors.Is(err, ErrFormSize) {
		t.Error(err)
	}
}

func FuzzForm(f *testing.F) {
	f.Add(fullForm, "user", "x")
	f.Add(`<table><form method=post enctype=multipart/form-data accept-charset=gbk><tr><td><input type=file name=f><fieldset disabled><legend>`, "f", "\xff")
	f.Fuzz(func(t *testing.T, page, name, value string) {
		form, err := NewDocument([]byte(page), DocumentOptions{URL: "https://films.example/"}).Form("form")
		if err != nil {
			return
		}
		_ = form.Set(name, value)
		_ = form.Attach(name, value, "", []byte(value))
		one, err := form.Submit("")
		if err != nil {
			return
		}
		if two, _ := form.Submit(""); one.URL != two.URL || string(one.Body) != string(two.Body) {
			t.Fatal("not the same twice")
		}
		if one.ContentType == urlencodedForm {
			if _, err := url.ParseQuery(string(one.Body)); err != nil {
				t.Fatal(err)
			}
		}
	})
}
