package fetch

import (
	"fmt"
	"net/http"
	"testing"
)

func TestContentRange(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"bytes 0-9/10":                   "0 10 10 true",
		"bytes 0-9/9":                    "0 0 9 false",
		"BYTES  5-9/*":                   "5 10 -1 true",
		"bytes */10":                     "0 0 10 false",
		"bytes 9-5/10":                   "0 0 10 false",
		"bytes -5/10":                    "0 0 10 false",
		"bytes 1-2":                      "0 0 -1 false",
		"bytes 1-2/x":                    "0 0 -1 false",
		"items 1-2/3":                    "0 0 -1 false",
		"":                               "0 0 -1 false",
		"bytes 0-9/99999999999999999999": "0 0 -1 false",
	} {
		first, until, total, ok := contentRange(http.Header{"Content-Range": {value}})
		if got := fmt.Sprint(first, until, total, ok); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
	if _, _, _, ok := contentRange(http.Header{"Content-Range": {"bytes 0-9/10", "bytes 0-8/10"}}); ok {
		t.Error("one of two is believed")
	}
}

func FuzzContentRange(f *testing.F) {
	f.Add("bytes 0-9/10")
	f.Add("bytes */1")
	f.Fuzz(func(t *testing.T, s string) {
		first, until, total, ok := contentRange(http.Header{"Content-Range": {s}})
		if ok && (first < 0 || until <= first || total >= 0 && until > total) || total < -1 {
			t.Fatalf("%d %d %d", first, until, total)
		}
	})
}

// TestStrongValidators has the rules of RFC 9110 8.8.1 to 8.8.3 and 13.1.5 for what an If-Range may hold.
func TestStrongValidators(t *testing.T) {
	t.Parallel()
	const modified, later, same = "Sat, 01 May 1999 00:00:00 GMT", "Sat, 01 May 1999 00:00:01 GMT", "Sat, 01 May 1999 00:00:00 GMT"
	for _, c := range []struct {
		name   string
		status int
		header http.Header
		want   string
	}{
		{"tag", 200, http.Header{"Etag": {`"v1"`}, "Last-Modified": {modified}, "Date": {later}}, `"v1"`},
		{"empty tag", 200, http.Header{"Etag": {`""`}}, `""`},
		{"weak tag, and a date that is not to be used beside it", 200, http.Header{"Etag": {`W/"v1"`}, "Last-Modified": {modified}, "Date": {later}}, ""},
		{"no tag", 200, http.Header{"Etag": {"v1"}}, ""},
		{"tag with a quotation mark", 200, http.Header{"Etag": {`"v"1"`}}, ""},
		{"tag with a blank", 200, http.Header{"Etag": {`"v 1"`}}, ""},
		{"two tags", 200, http.Header{"Etag": {`"v1"`, `"v2"`}}, ""},
		{"date", 200, http.Header{"Last-Modified": {modified}, "Date": {later}}, modified},
		{"date of the same second", 200, http.Header{"Last-Modified": {modified}, "Date": {same}}, ""},
		{"date by no clock", 200, http.Header{"Last-Modified": {modified}}, ""},
		{"no date", 200, http.Header{"Last-Modified": {"yesterday"}, "Date": {later}}, ""},
		{"no ranges", 200, http.Header{"Etag": {`"v1"`}, "Accept-Ranges": {"None"}}, ""},
		{"coded", 200, http.Header{"Etag": {`"v1"`}, "Content-Encoding": {"gzip"}}, ""},
		{"coded as itself", 200, http.Header{"Etag": {`"v1"`}, "Content-Encoding": {"identity"}}, `"v1"`},
		{"changed by a proxy", 203, http.Header{"Etag": {`"v1"`}}, ""},
		{"nothing", 200, nil, ""},
	} {
		if got := versionOf(&Response{Status: c.status, Header: c.header}, -1).Validator; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
