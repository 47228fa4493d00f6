package fetch

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// TestCharsetIsFoundOnce asks for the encoding of a page whose label is wrong, which takes a look at all of its bytes.
func TestCharsetIsFoundOnce(t *testing.T) {
	t.Parallel()
	latin, err := charmap.Windows1252.NewEncoder().String(strings.Repeat("<p class=x>Les films récents à découvrir cet été</p>\n", 2000))
	if err != nil {
		t.Fatal(err)
	}
	gbk, err := simplifiedchinese.GBK.NewEncoder().String(chineseText)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write([]byte(latin))
	}))
	t.Cleanup(srv.Close)
	rt := &http.Transport{}
	t.Cleanup(rt.CloseIdleConnections)
	for name, f := range map[string]Fetcher{"transport": newTransport(t, &Transport{}), "bridge": FromRoundTripper(rt)} {
		resp, err := f.Fetch(t.Context(), &Request{URL: srv.URL})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		want := resp.Charset()
		first := time.Since(start)
		start = time.Now()
		var w sync.WaitGroup
		for range 10 {
			w.Go(func() {
				for range 100 {
					if got := resp.CutBody(&Error{}).Charset(); got != want || want.Name != "windows-1252" {
						t.Errorf("%s: %+v and then %+v", name, want, got)
					}
				}
			})
		}
		w.Wait()
		if again := time.Since(start); again > 100*first {
			t.Errorf("%s: once %v, and a thousand times more %v", name, first, again)
		}
		// Another body, another type, another answer of the caller's.
		resp.Body = []byte(chineseText)
		if got := resp.Charset(); got.Name != "utf-8" {
			t.Errorf("%s: another body: %+v", name, got)
		}
		resp.Body = []byte(gbk)
		resp.Header.Set("Content-Type", "text/html; charset=gbk")
		if got := resp.Charset(); got.Name != "gbk" || string(resp.Text()) != chineseText {
			t.Errorf("%s: another type: %+v", name, got)
		}
		resp.Request = &Request{Charset: "big5"}
		if got := resp.Charset(); got.Name != "big5" {
			t.Errorf("%s: said by the request: %+v", name, got)
		}
		if resp.Body = nil; len(resp.Text()) > 0 {
			t.Errorf("%s: no body", name)
		}
	}
}
