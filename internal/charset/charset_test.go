package charset

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// In its own words, so that each test says in which encoding it is.
const (
	chinese  = "这部电影讲述了一个渔夫和他的女儿在海边的生活。导演用了三年的时间拍摄。"
	taiwan   = "這部電影講述了一個漁夫和他的女兒在海邊的生活。導演用了三年的時間拍攝。"
	japanese = "この映画は海辺に住む漁師とその娘の暮らしを描いています。監督は三年をかけて撮影しました。"
	korean   = "이 영화는 바닷가에 사는 어부와 그의 딸의 삶을 그린다. 감독은 삼 년에 걸쳐 촬영하였다."
	russian  = "Этот фильм рассказывает о жизни рыбака и его дочери на берегу моря. Режиссёр снимал его три года."
	french   = "Ce film raconte la vie d’un pêcheur et de sa fille au bord de la mer. Le réalisateur y a consacré trois années."
)

// in encodes a text.
func in(t testing.TB, name, text string) string {
	t.Helper()
	out, err := encodingOf(name).NewEncoder().String(text)
	if err != nil {
		t.Fatalf("%s cannot say %q: %v", name, text, err)
	}
	return out
}

func page(head, text string) string {
	return "<!DOCTYPE html><html><head>" + head + "<title>" + text + "</title></head><body class=film><p>" + text + "</p><script>var x = 'y';</script></body></html>"
}

func TestFind(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, contentType, body string
		want                    string
		source                  Source
	}{
		{"nothing", "", "", "windows-1252", Default},
		{"ascii, undeclared", "text/html", page("", "film"), "windows-1252", Default},
		{"ascii, json", "application/json", `{"a":1}`, "utf-8", Default},
		{"ascii, json by suffix", "application/vnd.api+json; x=y", `{"a":1}`, "utf-8", Default},
		{"ascii, xml", "application/rss+xml", "<rss>", "utf-8", Default},
		{"ascii, xml by its declaration", "", "<?xml version='1.0'?><rss>", "utf-8", Default},
		{"ascii, declared", "text/html; charset=big5", page("", "film"), "big5", Header},
		{"header", "text/html; charset=utf-8", page("", chinese), "utf-8", Header},
		{"mark before all", "text/html; charset=gbk", "\xef\xbb\xbf" + page("<meta charset=big5>", chinese), "utf-8", BOM},
		{"mark, utf-16", "text/html; charset=gbk", "\xfe\xff\x00a", "utf-16be", BOM},
		{"meta", "text/html", page("<meta charset=gb2312>", in(t, "gbk", chinese)), "gbk", Meta},
		{"header before meta", "text/html; charset=big5", page("<meta charset=gb2312>", in(t, "big5", taiwan)), "big5", Header},
		{"xml", "text/xml", "<?xml version='1.0' encoding='windows-1251'?><a>" + in(t, "windows-1251", russian), "windows-1251", XML},
		{"xml in utf-16 without mark", "text/xml", "<\x00?\x00x\x00m\x00l\x00?\x00>\x00<\x00a\x00>\x00", "utf-16le", XML},
		{"meta is none in json", "application/json", `{"a":"<meta charset=gbk>"}`, "utf-8", Default},
		{"utf-16 in the header", "text/html; charset=utf-16", "<\x00p\x00>\x00a\x00", "utf-16le", Header},
		{"utf-16 in the header, which it is not", "text/html; charset=utf-16", page("", french), "utf-8", Detected},
		{"utf-16, undeclared", "text/html", "<\x00p\x00>\x00a\x00", "utf-16le", Detected},
		{"utf-16, undeclared, other order", "text/html", "\x00<\x00p\x00>\x00a", "utf-16be", Detected},

		{"utf-8, undeclared", "text/html", page("", russian), "utf-8", Detected},
		{"utf-8, one letter, undeclared", "", "caf\u00e9", "utf-8", Detected},
		{"utf-8 that is called latin-1", "text/html; charset=iso-8859-1", page("", "café"), "utf-8", Detected},
		{"utf-8 that the header calls latin-1, the meta rightly", "text/html; charset=iso-8859-1", page("<meta charset=utf-8>", "café"), "utf-8", Meta},
		{"utf-8 that is called gbk", "text/html; charset=gbk", page("", chinese), "utf-8", Detected},
		{"utf-8 of a thousand characters with one damaged", "text/html", page("<meta charset=gbk>", strings.Repeat("电", 600)+"\xe7"+strings.Repeat("电", 600)), "utf-8", Detected},
		{"utf-8 with damage, declared", "text/html; charset=utf-8", page("", french+"\xff\xfe"+french+russian), "utf-8", Header},
		{"utf-8 cut inside a character", "text/html; charset=utf-8", "電\xe5\xbd", "utf-8", Header},
		{"gbk that chance makes utf-8", "text/html; charset=gbk", "\xc4\xa3\xca\xbd", "gbk", Header}, // 模式
		{"gbk that is called utf-8, rightly declared inside", "text/html; charset=utf-8", page("<meta charset=gbk>", in(t, "gbk", chinese)), "gbk", Meta},
		{"gbk that is called utf-8", "text/html; charset=utf-8", page("", in(t, "gbk", chinese)), "gbk", Detected},
		{"latin-1 that is called utf-8", "text/html; charset=utf-8", page("", in(t, "windows-1252", french)), "windows-1252", Detected},
		{"noise that is called utf-8", "text/html; charset=utf-8", "\x81\x8d\x8f\x90\x9d\xff\xfe\xa0\x00\x01\x81\x8d", "utf-8", Header},
		{"shift_jis that is called euc-jp", "text/html; charset=euc-jp", page("", in(t, "shift_jis", japanese)), "shift_jis", Detected},
		{"unknown label", "text/html; charset=klingon", page("<meta charset=koi8-r>", in(t, "koi8-r", "фильм")), "koi8-r", Meta},

		{"gbk", "", page("", in(t, "gbk", chinese)), "gbk", Detected},
		{"big5", "", page("", in(t, "big5", taiwan)), "big5", Detected},
		{"shift_jis", "", page("", in(t, "shift_jis", japanese)), "shift_jis", Detected},
		{"euc-jp", "", page("", in(t, "euc-jp", japanese)), "euc-jp", Detected},
		{"iso-2022-jp", "", page("", in(t, "iso-2022-jp", japanese)), "iso-2022-jp", Detected},
		{"euc-kr", "", page("", in(t, "euc-kr", korean)), "euc-kr", Detected},
		{"windows-1251", "", page("", in(t, "windows-1251", russian)), "windows-1251", Detected},
		{"koi8-r", "", page("", in(t, "koi8-r", russian)), "koi8-r", Detected},
		{"windows-1252", "", page("", in(t, "windows-1252", french)), "windows-1252", Detected},
		{"text late", "", strings.Repeat("<div class=x></div>\n", 4000) + in(t, "gbk", chinese), "gbk", Detected},
		{"text in attributes alone", "", "<img alt='" + in(t, "gbk", chinese) + "'>", "gbk", Detected},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var header []string
			if test.contentType != "" {
				header = []string{test.contentType}
			}
			got := Find([]byte(test.body), header)
			if got.Name != test.want || got.Source != test.source {
				t.Errorf("%v, want %s by %s", got, test.want, test.source)
			}
			if got.Confidence < 0 || got.Confidence > 1 || (got.Confidence == 0) != (got.Source == Default) {
				t.Errorf("confidence %v", got.Confidence)
			}
		})
	}
}

func TestHeaderLabel(t *testing.T) {
	t.Parallel()
	tests := []struct {
		values string // joined by |
		want   string
	}{
		{"", ""},
		{"text/html", ""},
		{"text/html; charset=utf-8", "utf-8"},
		{"text/html;charset = \t utf-8 ; x=y", "utf-8"},
		{"text/html; Charset=\"Shift_JIS\"", "shift_jis"},
		{"text/html; charset='gb2312'", "gbk"},
		{"text/html; charset=\"gbk", "gbk"},
		{"text/html; charset=", ""},
		{"text/html; charset", ""},
		{"text/html; charset=\"\"", ""},
		{"text/html; charset=none; charset=big5", "big5"},
		{"text/html; charset=gbk; charset=utf-8", "gbk"},
		{"text/html, text/html; charset=gbk", "gbk"},
		{"text/html|text/plain; charset=euc-kr", "euc-kr"},
		{"text/html charset=koi8-r", "koi8-r"},
		{"charset=koi8-r", "koi8-r"},
		{"text/html; accept-charset=koi8-r", ""},
		{"text/html; xcharset=koi8-r", ""},
		{"text/html; charset charset=koi8-r", "koi8-r"},
		{"text/html; charset=utf-16", "utf-16le"},
		{"text/html; charset=iso-2022-kr", ""}, // which the standard replaces
		{"text/html; charset=\xc2\xa0utf-8", ""},
		{"text/html; charset=\u212aoi8-r", ""}, // which letters fold to "k"
		{"text/html; charset=" + strings.Repeat("x", 1<<16), ""},
	}
	for _, test := range tests {
		var values []string
		if test.values != "" {
			values = strings.Split(test.values, "|")
		}
		if got := HeaderLabel(values); got != test.want {
			t.Errorf("%.60q: %q, want %q", test.values, got, test.want)
		}
	}
}

func TestPrescan(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, body, want string }{
		{"after a comment", "<!-- <meta charset=big5> --><meta charset=gbk>", "gbk"},
		{"comment of two dashes", "<!--><meta charset=gbk>", "gbk"},
		{"comment that does not end", "<!-- <meta charset=gbk>", ""},
		{"in an attribute", "<p title='<meta charset=big5>'><meta charset=gbk>", "gbk"},
		{"slash for a blank", "<meta/charset=gbk>", "gbk"},
		{"no blank", "<metacharset=gbk>", ""},
		{"upper case", "<META CHARSET=GBK>", "gbk"},
		{"closed", "<meta charset=gbk/>", ""}, // the slash is of the value
		{"content", "<meta content='text/html; charset=gbk' http-equiv=content-type>", "gbk"},
		{"content without pragma", "<meta content='text/html; charset=gbk'>", ""},
		{"charset before content", "<meta charset=big5 content='charset=gbk' http-equiv=content-type>", "big5"},
		{"bad charset hides content", "<meta charset=klingon content='charset=gbk' http-equiv=content-type>", ""},
		{"bad one, then a good one", "<meta charset=klingon><meta charset=gbk>", "gbk"},
		{"of two attributes the first", "<meta charset=big5 charset=gbk>", "big5"},
		{"content, second word", "<meta http-equiv=content-type content='charset gbk; charset=gbk'>", "gbk"},
		{"equals sign in front", "<meta =x charset=gbk>", "gbk"},
		{"cut in the value", "<meta charset=gbk", ""},
		{"cut in a quoted value", "<meta charset='gbk", ""},
		{"cut behind a name", "<meta charset ", ""},
		{"long s is no s", "<meta char\u017fet=gbk>", ""},
		{"utf-16 it cannot be", "<meta charset=utf-16be>", "utf-8"},
		{"x-user-defined", "<meta charset=x-user-defined>", "windows-1252"},
		{"xml", "<?xml version=\"1.0\" encoding=\"gbk\"?>", "gbk"},
		{"xml, blanks", " \r\n<?xml version='1.0' encoding = 'gbk' ?>", "gbk"},
		{"xml, unquoted", "<?xml encoding=gbk?>", ""},
		{"xml, not closed", "<?xml encoding='gbk?>", ""},
		{"xml, cut", "<?xml encoding='gbk'", ""},
		{"xml, none", "<?xml version='1.0'?>", ""},
		{"meta beats xml", "<?xml encoding='big5'?><meta charset=gbk>", "gbk"},
		{"mark", "\xef\xbb\xbf<meta charset=gbk>", "utf-8"},
	}
	for _, test := range tests {
		if got := Declared([]byte(test.body)); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestPrescanIsBounded(t *testing.T) {
	t.Parallel()
	const meta = "<meta charset=gbk>"
	for _, test := range []struct {
		pad  int
		want string
	}{{prescanBytes - len(meta), "gbk"}, {prescanBytes - len(meta) + 1, ""}} {
		if got := Declared([]byte(strings.Repeat(" ", test.pad) + meta)); got != test.want {
			t.Errorf("behind %d bytes: %q, want %q", test.pad, got, test.want)
		}
	}
}

func TestSampleIsBounded(t *testing.T) {
	t.Parallel()
	good := strings.Repeat("\u00e9", shapeBytes/2)
	if s := measure([]byte(good + "\xff\xff\xff")); s.bad != 0 || s.end != len(good) {
		t.Errorf("it looks further: %+v", s)
	}
	if s := measure([]byte(good[2:] + "\xff\xff\xff")); s.bad != 2 {
		t.Errorf("it looks less far: %+v", s)
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, body, label, want string }{
		{"nothing", "", "utf-8", ""},
		{"utf-8", "é", "UTF-8", "é"},
		{"bad utf-8", "a\xffb", "utf-8", "a\ufffdb"},
		{"the mark wins, and goes", "\xef\xbb\xbfé", "gbk", "é"},
		{"utf-16, odd", "a\x00b", "utf-16le", "a\ufffd"},
		{"gbk is gb18030", "\x81\x30\x81\x34\x80", "gbk", "\u0084€"},
		{"latin-1 is windows-1252", "\x80", "iso-8859-1", "€"},
		{"ascii in a superset", "film", "big5", "film"},
		{"ascii bytes that are not ascii", "\x1b$BEE\x1b(B", "iso-2022-jp", "電"},
	}
	for _, test := range tests {
		got, err := Decode([]byte(test.body), test.label)
		if string(got) != test.want || err != nil {
			t.Errorf("%s: %q, %v; want %q", test.name, got, err, test.want)
		}
	}
	for _, label := range []string{"", "klingon", "replacement", "hz-gb-2312"} {
		if got, err := Decode([]byte("x"), label); err == nil || got != nil {
			t.Errorf("%q: %q", label, got)
		}
	}
}

func TestTextThatIsUTF8IsNotCopied(t *testing.T) {
	t.Parallel()
	for _, label := range []string{"utf-8", "windows-1252"} {
		body := []byte("<p>film")
		if got, _ := Decode(body, label); &got[0] != &body[0] {
			t.Errorf("%s: it is a copy", label)
		}
	}
}

func TestFastPathAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	body, header := []byte(page("", chinese)), []string{"text/html; charset=UTF-8"}
	if n := testing.AllocsPerRun(100, func() { Find(body, header) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzFind(f *testing.F) {
	f.Add("text/html; charset=gbk", []byte(page("<meta charset=big5>", in(f, "gbk", chinese))))
	f.Add("", []byte("<?xml encoding='koi8-r'?><meta content=\"text/html; charset=x\" http-equiv=content-type>"))
	f.Add("application/json", []byte("\x1b$B\x00a\x00b~{"))
	f.Add("", []byte("<script>\x81\x40</script><style>"))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		before := string(body)
		found := Find(body, []string{contentType})
		if Lookup(found.Name) != found.Name {
			t.Fatalf("%v has no decoder", found)
		}
		if again := Find(body, []string{contentType}); again != found {
			t.Fatalf("%v, then %v", found, again)
		}
		text, err := Decode(body, found.Name)
		if err != nil || !utf8.Valid(text) {
			t.Fatalf("%v: %v", found, err)
		}
		if string(body) != before {
			t.Fatal("the body was changed")
		}
	})
}

func BenchmarkFind(b *testing.B) {
	ascii := page("", strings.Repeat("<p>A film about a fisher.</p>\n", 700))
	many := page("", strings.Repeat(chinese, 200))
	for _, bench := range []struct{ name, contentType, body string }{
		{"ascii, utf-8 in the header", "text/html; charset=utf-8", ascii},
		{"chinese, utf-8 in the header", "text/html; charset=utf-8", many},
		{"gbk, declared", "text/html; charset=gbk", in(b, "gbk", many)},
		{"gbk, detected", "text/html", in(b, "gbk", many)},
	} {
		b.Run(fmt.Sprintf("%s, %d KB", bench.name, len(bench.body)/1000), func(b *testing.B) {
			b.ReportAllocs()
			body, header := []byte(bench.body), []string{bench.contentType}
			for b.Loop() {
				Find(body, header)
			}
		})
	}
}
