package fetch

import (
	"errors"
	"math"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/text/encoding/simplifiedchinese"
)

const chineseText = "让子弹飞的电影介绍，姜文导演的作品。"

func TestCharset(t *testing.T) {
	t.Parallel()
	gbk, err := simplifiedchinese.GBK.NewEncoder().String(chineseText)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, contentType, request, body string
		want                             Charset
		text                             string
	}{
		{"header", "text/html; charset=gbk", "", gbk, Charset{"gbk", "header", 1}, chineseText},
		{"header against the bytes", "text/html; charset=gbk", "", chineseText, Charset{"utf-8", "detected", 1}, chineseText},
		{"meta", "text/html", "", `<meta charset=gb2312>` + gbk, Charset{"gbk", "meta", 1}, `<meta charset=gb2312>` + chineseText},
		{"mark", "text/html; charset=gbk", "big5", "\ufeff" + chineseText, Charset{"utf-8", "bom", 1}, chineseText},
		{"request", "text/html; charset=utf-8", " GB2312 ", gbk, Charset{"gbk", "caller", 1}, chineseText},
		{"request that nobody knows", "text/html; charset=gbk", "klingon", gbk, Charset{"gbk", "header", 1}, chineseText},
		{"nothing", "", "", "plain", Charset{"windows-1252", "default", 0}, "plain"},
		{"JSON", "application/json", "", "{}", Charset{"utf-8", "default", 0}, "{}"},
		{"empty", "text/html; charset=gbk", "", "", Charset{"gbk", "header", 1}, ""},
	} {
		r := &Response{Header: http.Header{"Content-Type": {c.contentType}}, Body: []byte(c.body), Request: &Request{Charset: c.request}}
		if got := r.Charset(); got.Name != c.want.Name || got.Source != c.want.Source || math.Abs(got.Confidence-c.want.Confidence) > 0.001 {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		if got := string(r.Text()); got != c.text {
			t.Errorf("%s: %q", c.name, got)
		}
	}
	if got := new(Response).Charset(); got.Name != "windows-1252" {
		t.Errorf("a response of nothing: %+v", got)
	}
}

func TestCharsetOfRequestIsChecked(t *testing.T) {
	t.Parallel()
	_, err := new(Transport).Fetch(t.Context(), &Request{URL: "http://films.example/", Charset: "klingon"})
	var bad *HeaderError
	if !errors.Is(err, ErrInvalid) || !errors.As(err, &bad) || bad.Name != "charset" || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}
