package extract

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// What the controls of a page hold before anybody fills them.
func TestControlsAsBrowsersHaveThem(t *testing.T) {
	t.Parallel()
	const at = "GET https://films.example/dir/page"
	for _, c := range []struct{ name, page, button, want string }{
		{"radio buttons", `<form><input type=radio name=r value=1 checked><input type=radio name=q value=3 checked><input type=radio name=r value=2 checked>`, "", at + "?q=3&r=2#f"},
		{"radio buttons, last disabled", `<form><input type=radio name=r value=1 checked><input type=radio name=r value=2 checked disabled>`, "", at + "?#f"},
		{"button of another type", `<form><button type=go name=a value=1>`, "", at + "?a=1#f"},
		{"button of a menu", `<form><button type=menu name=a value=1>`, "", at + "?a=1#f"},
		{"buttons that command", `<form><button command=show-modal name=a></button><button commandfor=x name=b></button><button type=submit commandfor=x name=c>`, "", at + "?c=#f"},
		{"input of another type", "<form><input type=go name=a value='1&#10;2'>", "", at + "?a=12#f"},
		{"legends", `<form><fieldset disabled><fieldset disabled><legend><input name=x></legend></fieldset><fieldset><legend><input name=y></legend></fieldset></fieldset>`, "", at + "?#f"},
		{"legends of the first", `<form><fieldset disabled><p><legend><input name=x></legend></p><legend><fieldset><input name=a value=1></fieldset></legend><legend><input name=y></legend></fieldset>`, "", at + "?a=1#f"},
		{"no method", `<form method=post><button formmethod="" formenctype=text/plain>`, "", at + "?#f"},
		{"no enctype", `<form method=post enctype=text/plain><input name=a><button formenctype="">`, "", "POST https://films.example/dir/page?x=1#f a="},
		{"no action", `<base href=/b/><form action=/go><button formaction=" ">`, "", at + "?#f"},
		{"size 0", `<form><select name=s size=0><option>1</select>`, "", at + "?s=1#f"},
		{"size abc", `<form><select name=s size=abc><option>1</select>`, "", at + "?s=1#f"},
		{"size 01", `<form><select name=s size=" +01x"><option>1</select>`, "", at + "?s=1#f"},
		{"size 2", `<form><select name=s size=2x><option>1</select>`, "", at + "?#f"},
		{"large size", `<form><select name=s size=99999999999999999999><option>1</select>`, "", at + "?#f"},
		{"disabled div of a select", `<form><select name=s><div disabled><option>1</div></select>`, "", at + "?s=1#f"},
		{"no-break space", `<form><select name=s><option> a  b&nbsp; </select>`, "", at + "?s=a+b%C2%A0#f"},
		{"SVG", `<form><svg><input name=x /><g><select name=y /></g><form id=g /></svg><input name=a value=1>`, "", at + "?a=1#f"},
		{"direction", `<form><input name=a dirname=a.dir><input name="" dirname=x><input name=b dirname=""><input type=number name=n dirname=x>`, "", at + "?a=&a.dir=ltr&b=&n=#f"},
		{"direction of the page", `<html dir=RTL><form><input name=a dirname=d><input type=tel name=b dirname=e><textarea name=c dirname=f dir=ltr></textarea>`, "", at + "?a=&d=rtl&b=&e=ltr&c=&f=ltr#f"},
		{"direction of the value", `<form><input dir=auto name=a dirname=d value="1 שלום x"><input dir=auto name=b dirname=e value="1 x ש"><input dir=auto name=c dirname=f>`, "", at + "?a=1+%D7%A9%D7%9C%D7%95%D7%9D+x&d=rtl&b=1+x+%D7%A9&e=ltr&c=&f=ltr#f"},
		{"direction of what is around", `<form dir=auto><bdi>x</bdi><p dir=ltr>x</p>12 <b>عرب</b><input type=submit name=a dirname=d value=1>`, "", at + "?a=1&d=rtl#f"},
	} {
		f, err := NewDocument([]byte(c.page), DocumentOptions{URL: "https://films.example/dir/page?x=1#f", Encoding: "utf-8"}).Form("form")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		s, err := f.Submit(c.button)
		if got := strings.TrimSuffix(s.Method+" "+s.URL+" "+string(s.Body), " "); err != nil || got != c.want {
			t.Errorf("%s: %v\n got %q\nwant %q", c.name, err, got, c.want)
		}
	}
}

// The examples are those of HTML 2.3 and 4.10.5.1.
func TestValuesAreSanitized(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ input, value, want string }{
		{"type=text", " a\r\nb ", " ab "},
		{"type=search", "a\nb", "ab"},
		{"type=password", "a\nb", "ab"},
		{"type=hidden", "a\nb", "a\r\nb"},
		{"type=url", " http://x\n.example ", "http://x.example"},
		{"type=email", " a@b , c@d ", "a@b , c@d"},
		{"type=email multiple", " a@b , c@d ", "a@b,c@d"},
		{"type=number", "-1.5e+3", "-1.5e+3"},
		{"type=number", ".5", ".5"},
		{"type=number", "1.", ""},
		{"type=number", "+1", ""},
		{"type=number", "0x10", ""},
		{"type=number", "1e999", ""},
		{"type=number", "Infinity", ""},
		{"type=color", "#FFaa00", "#ffaa00"},
		{"type=color", "red", "#000000"},
		{"type=color", "", "#000000"},
		{"type=range", "", "50"},
		{"type=range", "7.0", "7.0"},
		{"type=range min=0", "7.5", "8"},
		{"type=range", "7.5", "7.5"}, // steps from the value
		{"type=range", "-7", "0"},
		{"type=range", "1e3", "100"},
		{"type=range min=10 max=5", "7", "10"},
		{"type=range min=10 max=5", "", "10"},
		{"type=range min=1 max=10 step=4", "8", "9"},
		{"type=range min=1 max=8 step=4", "8", "5"},
		{"type=range min=0 max=1 step=0.1", "0.3", "0.3"},
		{"type=range min=0 max=1 step=0.1", "0.34", "0.3"},
		{"type=range max=1 step=any", "0.34", "0.34"},
		{"type=range min=0 max=1 step=-1", "0.34", "0"},
		{"type=range step=3", "50", "50"},
		{"type=date", "2024-02-29", "2024-02-29"},
		{"type=date", "2023-02-29", ""},
		{"type=date", "12024-12-31", "12024-12-31"},
		{"type=date", "0000-01-01", ""},
		{"type=date", "2024-1-1", ""},
		{"type=date", "2024-01", ""},
		{"type=month", "2024-12", "2024-12"},
		{"type=month", "2024-13", ""},
		{"type=month", "2024-12-01", ""},
		{"type=week", "2020-W53", "2020-W53"},
		{"type=week", "2021-W53", ""},
		{"type=week", "2021-W00", ""},
		{"type=time", "23:59:59.999", "23:59:59.999"},
		{"type=time", "24:00", ""},
		{"type=time", "1:00", ""},
		{"type=datetime-local", "2024-02-29 10:00:00.000", "2024-02-29T10:00"},
		{"type=datetime-local", "2024-02-29T10:00:00.50", "2024-02-29T10:00:00.5"},
		{"type=datetime-local", "2024-02-30T10:00", ""},
		{"type=datetime-local", "2024-02-29T10:00Z", ""},
		{"type=checkbox checked", "a\nb", "a\r\nb"},
	} {
		f := formOf(t, fmt.Sprintf(`<form method=post enctype=text/plain><input name=a %s value="%s">`, c.input, c.value))
		s, err := f.Submit("")
		if got := strings.TrimSuffix(strings.TrimPrefix(string(s.Body), "a="), "\r\n"); err != nil || got != c.want {
			t.Errorf("%s, %q: %v, %q, want %q", c.input, c.value, err, got, c.want)
		}
	}
}

// What an input cannot hold is not put into it, rather than changed without a word.
func TestSetKeepsToTheInput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ input, value, want string }{
		{"type=text", "a\nb", "!"},
		{"type=password", "secret\n", "!"},
		{"type=email", " a@b", "!"},
		{"type=number", "many", "!"},
		{"type=number", "2", "2"},
		{"type=range", "101", "!"},
		{"type=date", "1.2.2024", "!"},
		{"type=date", "2024-02-01", "2024-02-01"},
		{"type=date", "", ""},
		{"type=color", "#FFFFFF", "#ffffff"},
		{"type=color", "white", "!"},
		{"type=range", "", "50"},
		{"type=hidden", "a\nb", "a\nb"},
	} {
		f := formOf(t, `<form><input name=a `+c.input+`><input name=b value=old>`)
		before := f.Value("a")
		err := f.Set("a", c.value)
		if c.want == "!" {
			var bad *FormFieldError
			if !errors.As(err, &bad) || strings.Contains(err.Error(), "secret") || f.Value("a") != before {
				t.Errorf("%s, %q: %v, %q", c.input, c.value, err, f.Value("a"))
			}
		} else if err != nil || f.Value("a") != c.want {
			t.Errorf("%s, %q: %v, %q", c.input, c.value, err, f.Value("a"))
		}
	}
}

func TestButtonsArePressed(t *testing.T) {
	t.Parallel()
	const page = `<form><input name=a><button name=go value=1></button><button name=go value=2 formaction=/two></button><button name=go value=3 disabled></button>
		<input type=submit value=Delete formaction=/delete></form>`
	for _, c := range []struct{ name, value, then, want string }{
		{"go", "2", "", "/two?a=&go=2"},
		{"", "Delete", "", "/delete?a="},
		{"go", "2", "go", "/dir/page?a=&go=1#f"},
		{"go", "3", "", "!"},
		{"go", "4", "", "!"},
		{"a", "", "", "!"},
	} {
		f := formOf(t, page)
		err := f.Press(c.name, c.value)
		s, _ := f.Submit(c.then)
		got := strings.TrimPrefix(s.URL, "https://films.example")
		switch bad := new(FormFieldError); {
		case c.want == "!" && (!errors.As(err, &bad) || got != "/dir/page?a=&go=1#f"), c.want != "!" && (err != nil || got != c.want):
			t.Errorf("%q=%q: %v, %q", c.name, c.value, err, got)
		}
	}
}

func TestSeveralFiles(t *testing.T) {
	t.Parallel()
	f := formOf(t, `<form method=post><input type=file name=f multiple><input type=file name=one>`)
	for _, name := range []string{"1", "2", "3"} {
		if err := f.Attach("f", name, "", nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(f.Attach("one", "x", "", nil), f.Set("f")); err == nil {
		t.Error("a file input is set")
	}
	if err := f.Attach("one", "y", "", nil); !errors.As(err, new(*FormFieldError)) {
		t.Error(err)
	}
	if s, err := f.Submit(""); err != nil || string(s.Body) != "f=1&f=2&f=3&one=x" {
		t.Errorf("%v, %s", err, s.Body)
	}
	for n := f.files; n <= MaxFormFields; n++ {
		err := f.Attach("f", "more", "", nil)
		if want := n == MaxFormFields; errors.Is(err, ErrFormSize) != want {
			t.Fatalf("file %d: %v", n+1, err)
		}
	}
}

func FuzzSanitize(f *testing.F) {
	f.Add("range", "1e3", "-1", "1e9", "0.1")
	f.Add("datetime-local", "2024-02-29 10:00:00.000", "", "", "any")
	f.Add("email", " a , b ", "", "", "")
	f.Fuzz(func(t *testing.T, kind, value, least, most, step string) {
		form, err := NewDocument(fmt.Appendf(nil, `<form><input multiple name=a type="%s" min="%s" max="%s" step="%s">`, kind, least, most, step),
			DocumentOptions{URL: "https://films.example/", Encoding: "utf-8"}).Form("form")
		if err != nil || len(form.fields) != 1 {
			return
		}
		field := &form.fields[0]
		if once := field.sanitize(value); field.sanitize(once) != once {
			t.Errorf("%s, %q (%+v): %q becomes %q", field.kind, value, field.scale, once, field.sanitize(once))
		}
	})
}
