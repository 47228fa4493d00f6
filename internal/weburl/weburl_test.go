package weburl

import (
	"errors"
	"strings"
	"testing"
)

func mustParse(t testing.TB, raw string) URL {
	t.Helper()
	u, err := Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestParts(t *testing.T) {
	t.Parallel()
	type parts struct {
		href, scheme, user, password, hostname, host, port, portOrDefault, path, query, fragment, target, origin, redacted string
	}
	tests := []struct {
		name, raw string
		want      parts
	}{
		{"everything", "HTTP://us%65r:p@ss@EXAMPLE.com:8080/a/./b/../c?q=1#top", parts{
			"http://us%65r:p%40ss@example.com:8080/a/c?q=1#top", "http", "us%65r", "p%40ss", "example.com", "example.com:8080",
			"8080", "8080", "/a/c", "q=1", "top", "/a/c?q=1", "http://example.com:8080", "http://example.com:8080/a/c?q=1#top",
		}},
		{"default port", "https://example.com:443?", parts{
			"https://example.com/?", "https", "", "", "example.com", "example.com", "", "443", "/", "", "", "/?", "https://example.com",
			"https://example.com/?",
		}},
		{"ipv6", "http://[1:0:0:2:0:0:3:4]:81", parts{
			"http://[1::2:0:0:3:4]:81/", "http", "", "", "[1::2:0:0:3:4]", "[1::2:0:0:3:4]:81", "81", "81", "/", "", "", "/", "http://[1::2:0:0:3:4]:81",
			"http://[1::2:0:0:3:4]:81/",
		}},
		{"user without password", "ftp://me:@h", parts{
			"ftp://me@h/", "ftp", "me", "", "h", "h", "", "21", "/", "", "", "/", "ftp://h", "ftp://h/",
		}},
		{"password without user", "ws://:x@h/", parts{
			"ws://:x@h/", "ws", "", "x", "h", "h", "", "80", "/", "", "", "/", "ws://h", "ws://h/",
		}},
		{"opaque", "mailto:a@b?subject=x", parts{
			"mailto:a@b?subject=x", "mailto", "", "", "", "", "", "", "a@b", "subject=x", "", "a@b?subject=x", "null", "mailto:a@b?subject=x",
		}},
		{"path that reads as a host", "foo:/.//p", parts{
			"foo:/.//p", "foo", "", "", "", "", "", "", "//p", "", "", "//p", "null", "foo:/.//p",
		}},
		{"blob", "blob:https://h:8/uuid", parts{
			"blob:https://h:8/uuid", "blob", "", "", "", "", "", "", "https://h:8/uuid", "", "", "https://h:8/uuid", "https://h:8",
			"blob:https://h:8/uuid",
		}},
		{"empty path", "foo://h?", parts{
			"foo://h?", "foo", "", "", "h", "h", "", "", "", "", "", "?", "null", "foo://h?",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			u := mustParse(t, tt.raw)
			got := parts{
				u.Href(), u.Scheme(), u.Username(), u.Password(), u.Hostname(), u.Host(), u.Port(), u.PortOrDefault(), u.Path(), u.Query(),
				u.Fragment(), u.RequestTarget(), u.Origin(), u.Redacted(),
			}
			if got != tt.want {
				t.Errorf("%q:\n got %q\nwant %q", tt.raw, got, tt.want)
			}
			if u.String() != u.Redacted() {
				t.Errorf("String() = %q shows more than Redacted() = %q", u.String(), u.Redacted())
			}
			if again := mustParse(t, u.Redacted()); again != u.WithoutUserInfo() {
				t.Errorf("WithoutUserInfo() = %+v, not %+v", u.WithoutUserInfo(), again)
			}
			if again := mustParse(t, u.WithoutFragment().Href()); again != u.WithoutFragment() || again.HasFragment() {
				t.Errorf("WithoutFragment() = %+v, not %+v", u.WithoutFragment(), again)
			}
		})
	}
}

func TestZeroURL(t *testing.T) {
	t.Parallel()
	var u URL
	for _, part := range []string{
		u.Href(), u.Scheme(), u.Username(), u.Password(), u.Host(), u.Port(), u.PortOrDefault(), u.Path(), u.Query(), u.Fragment(), u.Redacted(),
	} {
		if part != "" {
			t.Errorf("a part of the zero URL is %q", part)
		}
	}
	if u.IsHTTP() || u.HasAuthority() || u.HasQuery() || u.HasFragment() || u.HasUserInfo() {
		t.Error("the zero URL has parts")
	}
	if got, err := u.Resolve("http://h"); err != nil || got.Href() != "http://h/" {
		t.Errorf("absolute against the zero URL: %q, %v", got.Href(), err)
	}
	if _, err := u.Resolve("/a"); !errors.Is(err, OpaqueBase) {
		t.Errorf("relative against the zero URL: %v", err)
	}
}

func TestReasons(t *testing.T) {
	t.Parallel()
	tests := []struct {
		raw  string
		want Reason
	}{
		{"", NoBase},
		{"/a", NoBase},
		{"//h/", NoBase},
		{"1http://h/", NoBase},
		{"http://", HostMissing},
		{"http://user@/", HostMissing},
		{"http://:80/", HostMissing},
		{"foo://:80/", HostMissing},
		{"http://%/", HostInvalid},
		{"http://a b/", HostInvalid},
		{"http://a%00b/", HostInvalid},
		{"foo://a|b/", HostInvalid},
		{"http://\u064aa/", IDNAInvalid},
		{"http://%ff/", IDNAInvalid},
		{"http://a\u200d/", IDNAInvalid},
		{"http://" + strings.Repeat("é", maxIDNA/2) + "é/", TooLong},
		{"http://1.2.3.4.5/", IPv4Invalid},
		{"http://256/", 0},
		{"http://1.256.1/", IPv4Invalid},
		{"http://1.2.65536/", IPv4Invalid},
		{"http://1.2.65535/", 0},
		{"http://4294967295/", 0},
		{"http://4294967296/", IPv4Invalid},
		{"http://0xffffffffffffffffffff/", IPv4Invalid},
		{"http://99999999999999999999999/", IPv4Invalid},
		{"http://1.09/", IPv4Invalid},
		{"http://a.0x/", IPv4Invalid},
		{"http://+1/", 0},
		{"http://[::1/", IPv6Invalid},
		{"http://[fe80::1%25eth0]/", IPv6Invalid},
		{"http://[1.2.3.4]/", IPv6Invalid},
		{"http://[]/", IPv6Invalid},
		{"http://h:65535/", 0},
		{"http://h:65536/", PortInvalid},
		{"http://h:0080/", 0},
		{"http://h:8o/", PortInvalid},
		{"http://h:99999999999999999999/", PortInvalid},
	}
	for _, tt := range tests {
		u, err := Parse(tt.raw)
		var e *Error
		switch {
		case tt.want == 0 && err != nil:
			t.Errorf("%.60q: %v", tt.raw, err)
		case tt.want != 0 && (!errors.Is(err, tt.want) || !errors.As(err, &e)):
			t.Errorf("%.60q: %q, %v; want %v", tt.raw, u.Href(), err, tt.want)
		}
	}
	mail := mustParse(t, "mailto:a@b")
	if _, err := mail.Resolve("c"); !errors.Is(err, OpaqueBase) {
		t.Errorf("relative to mailto: %v", err)
	}
	if u, err := mail.Resolve("#c"); err != nil || u.Href() != "mailto:a@b#c" {
		t.Errorf("fragment of mailto: %q, %v", u.Href(), err)
	}
}

func TestErrorsHideUserInfo(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"http://me:secret@h:x/p":       `seine: parse url "http://…@h:x/p": invalid port`,
		"http:me:secret@h:x/p":         `seine: parse url "http:…@h:x/p": invalid port`,
		"http://me:sec/ret@h/":         `seine: parse url "http://…@h/": invalid port`,
		" \thttp:\\\\me:secret@h:x":    `seine: parse url " \thttp:\\\\…@h:x": invalid port`,
		"//me:secret@h":                `seine: parse url "//…@h": relative reference without a base`,
		"http://a b/\xff\x00":          "seine: parse url \"http://a b/\\xff\\x00\": invalid character in host",
		"/" + strings.Repeat("é", 100): `seine: parse url "/` + strings.Repeat("é", 99) + `…": relative reference without a base`,
	} {
		if _, err := Parse(raw); err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", raw, err, want)
		}
	}
	for raw, want := range map[string]string{
		"http://me:secret@h/@x?a@b": "http://h/@x?a@b",
		"http://h/@x":               "http://h/@x",
		"mailto:a@b":                "mailto:a@b",
		"":                          "",
	} {
		if got := Redact(raw); got != want {
			t.Errorf("Redact(%q) = %q, not %q", raw, got, want)
		}
	}
	if got := Reason(200).Error(); got != "unknown reason" {
		t.Errorf("Reason(200) = %q", got)
	}
}

func TestMaxLength(t *testing.T) {
	t.Parallel()
	const host = "http://h/"
	long := host + strings.Repeat("a", MaxLength-len(host))
	base := NewBase(mustParse(t, host), "")
	for _, tt := range []struct {
		name, raw string
		ok        bool
	}{
		{"at the bound", long, true},
		{"one past it", long + "a", false},
		{"at the bound, full parser", "HTTP" + long[4:], true},
		{"one past it, full parser", "HTTP" + long[4:] + "a", false},
		{"href longer than the input", host + strings.Repeat(" a", (MaxLength-len(host))/2), false},
		{"input longer than the href", long + " ", false},
	} {
		if _, err := Parse(tt.raw); (err == nil) != tt.ok || !tt.ok && !errors.Is(err, TooLong) {
			t.Errorf("%s: Parse: %v", tt.name, err)
		}
		got, err := base.AppendResolve([]byte("x"), []byte(tt.raw))
		if (err == nil) != tt.ok || !tt.ok && (!errors.Is(err, TooLong) || string(got) != "x") {
			t.Errorf("%s: AppendResolve: %v", tt.name, err)
		}
	}
	if _, ok := Split(long); !ok {
		t.Error("Split refuses a URL at the bound")
	}
	if _, ok := Split(long + "a"); ok {
		t.Error("Split takes a URL past the bound")
	}
	if _, err := mustParse(t, long).Resolve("?"); !errors.Is(err, TooLong) {
		t.Errorf("a result past the bound: %v", err)
	}
	// Joined it is too long, though each part is not.
	if _, err := NewBase(mustParse(t, long[:MaxLength-1]+"/"), "").AppendResolve(nil, []byte("ab")); !errors.Is(err, TooLong) {
		t.Errorf("a joined result past the bound: %v", err)
	}
	// Dot segments that climb a long path must not cost its square.
	if _, err := Parse("HTTP://h" + strings.Repeat("/a", 9000) + strings.Repeat("/..", 9000)); err != nil {
		t.Error(err)
	}
}

func TestOddLinksAreTakenOrRefusedWithAReason_K131(t *testing.T) {
	t.Parallel()
	base := NewBase(mustParse(t, "http://page.example/dir/doc"), "")
	for _, tt := range []struct {
		ref, want string
		reason    Reason
	}{
		{ref: "http://a_b/", want: "http://a_b/"},
		{ref: "http://_/", want: "http://_/"},
		{ref: "http://-a-/", want: "http://-a-/"},
		{ref: "//", reason: HostMissing},
		{ref: "///", reason: HostMissing},
		{ref: "http://", reason: HostMissing},
		{ref: "http:///x", want: "http://x/"},
		{ref: "http:////x/y", want: "http://x/y"},
		{ref: "http:x", want: "http://page.example/dir/x"},
		{ref: "http://bücher.example/", want: "http://xn--bcher-kva.example/"},
		{ref: "http://xn--bcher-kva.example/ü", want: "http://xn--bcher-kva.example/%C3%BC"},
		{ref: "//нэб.рф", want: "http://xn--90ax2c.xn--p1ai/"},
		{ref: "a\x00b", want: "http://page.example/dir/a%00b"},
		{ref: "\x00", want: "http://page.example/dir/doc"},
		{ref: "http://a\x00b/", reason: HostInvalid},
		{ref: "\xff\xfe", want: "http://page.example/dir/%EF%BF%BD%EF%BF%BD"},
		{ref: "?\xe2\x82", want: "http://page.example/dir/doc?%EF%BF%BD"},
		{ref: "100%", want: "http://page.example/dir/100%"},
		{ref: "17:30", want: "http://page.example/dir/17:30"},
		{ref: "javascript:void(0)", want: "javascript:void(0)"},
		{ref: "mailto:a@b", want: "mailto:a@b"},
		{ref: "::", want: "http://page.example/dir/::"},
		{ref: "http://[::1", reason: IPv6Invalid},
	} {
		got, err := base.AppendResolve(nil, []byte(tt.ref))
		if tt.reason != 0 {
			if !errors.Is(err, tt.reason) {
				t.Errorf("%q: %q, %v; want %v", tt.ref, got, err, tt.reason)
			}
		} else if err != nil || string(got) != tt.want {
			t.Errorf("%q: %q, %v; want %q", tt.ref, got, err, tt.want)
		}
	}
}
