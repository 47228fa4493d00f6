package weburl

import "testing"

// The expectations follow from the encoders of https://encoding.spec.whatwg.org/ and the percent-encoding of
// https://url.spec.whatwg.org/#string-percent-encode-after-encoding.
func TestQueryInTheEncodingOfTheDocument(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, encoding, ref, want string }{
		{"utf-8", "utf-8", "?é", "http://h/?%C3%A9"},
		{"none", "", "?é", "http://h/?%C3%A9"},
		{"unknown label", "no such", "?é", "http://h/?%C3%A9"},
		{"utf-16 is written as utf-8", "utf-16le", "?é", "http://h/?%C3%A9"},
		{"replacement is written as utf-8", "iso-2022-kr", "?é", "http://h/?%C3%A9"},
		{"latin 1 is windows-1252", " ISO-8859-1 ", "?é…", "http://h/?%E9%85"},
		{"path and fragment stay utf-8", "windows-1252", "é?é#é", "http://h/%C3%A9?%E9"},
		{"unencodable", "windows-1252", "?†€х", "http://h/?%86%80%26%231093%3B"},
		{"ascii as ever", "windows-1252", "?a 'b'%20\"", "http://h/?a%20%27b%27%20%22"},
		{"cyrillic", "windows-1251", "?Россия", "http://h/?%D0%EE%F1%F1%E8%FF"},
		{"gbk euro", "gb2312", "?中€", "http://h/?%D6%D0%80"},
		{"gb18030 euro", "gb18030", "?中€\ue5e5", "http://h/?%D6%D0%A2%E3%26%2358853%3B"},
		{"big5", "big5", "?中", "http://h/?%A4%A4"},
		{"big5 extension is only read", "big5", "?\u43f0", "http://h/?%26%2317392%3B"},
		{"euc-kr", "euc-kr", "?가", "http://h/?%B0%A1"},
		{"shift_jis", "sjis", "?日‾¥−ｱ\u0080", "http://h/?%93%FA~\\%81|%B1%80"},
		{"euc-jp", "euc-jp", "?日‾¥−ｱ", "http://h/?%C6%FC~\\%A1%DD%8E%B1"},
		{"euc-jp supplement is only read", "euc-jp", "?丂", "http://h/?%26%2319970%3B"},
		{"iso-2022-jp", "iso-2022-jp", "?a日b", "http://h/?a%1B$BF|%1B(Bb"},
		{"iso-2022-jp ends in ascii", "iso-2022-jp", "?日", "http://h/?%1B$BF|%1B(B"},
		{"iso-2022-jp yen", "iso-2022-jp", "?¥a\\", "http://h/?%1B(J\\a%1B(B\\"},
		{"iso-2022-jp overline", "iso-2022-jp", "?‾\\", "http://h/?%1B(J~%1B(B\\"},
		{"iso-2022-jp half width", "iso-2022-jp", "?ｱﾞ", "http://h/?%1B$B%%22!+%1B(B"},
		{"iso-2022-jp shift out", "iso-2022-jp", "?\x0ea", "http://h/?%26%2365533%3Ba"},
		{"iso-2022-jp unencodable", "iso-2022-jp", "?日é", "http://h/?%1B$BF|%1B(B%26%23233%3B"},
		{"x-user-defined", "x-user-defined", "?†", "http://h/?%26%238224%3B"},
		{"other schemes", "windows-1252", "foo://h/?é", "foo://h/?%C3%A9"},
		{"web sockets", "windows-1252", "wss://h/?é", "wss://h/?%C3%A9"},
		{"files", "windows-1252", "file:///?é", "file:///?%E9"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			base := NewBase(mustParse(t, "http://h/"), tt.encoding)
			if got, err := base.AppendResolve(nil, []byte(tt.ref)); err != nil || string(got) != tt.want {
				t.Errorf("%q in %s: %q, %v; want %q", tt.ref, tt.encoding, got, err, tt.want)
			}
		})
	}
}
