package crawler

import (
	"encoding/json"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/seine-go/seine/fetch"
)

func TestEntryRoundTrip(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]entry{
		"plain":      {req: Request{URL: "https://films.example/title/1"}},
		"plain http": {req: Request{URL: "http://films.example/title/1", Depth: -3, Priority: 1 << 30}},
		"other host": {req: Request{URL: "https://series.example/title/1"}},
		"other case": {req: Request{URL: "HTTPS://Films.example/title/1"}},
		"no URL":     {},
		"aged":       {due: 90 * time.Second, req: Request{URL: "https://films.example/title/1", Label: "l"}},
		"all parts": {attempt: 2, crashes: 1, due: time.Millisecond, req: Request{
			URL: "https://films.example/search", Method: "POST", Header: http.Header{"Accept": {"a", "b"}, "X": {""}}, Body: []byte("q=1"),
			Kind: fetch.Kind(3), Key: "k", Label: "detail", Data: json.RawMessage(`{"id":1}`), Session: "s", Priority: -5, Depth: 3, Hops: 2,
		}},
		"empty body": {req: Request{URL: "http://a/", Body: []byte{}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, host := range []string{"films.example", "films.example:8080", ""} {
				record := appendEntry(nil, &e, host)
				got, err := decodeEntry(record, host, e.req.Priority)
				if err != nil || !reflect.DeepEqual(*got, e) || dueOf(record) != e.due {
					t.Fatalf("got %+v, %v\nwant %+v", got, err, e)
				}
			}
		})
	}
}

func FuzzDecodeEntry(f *testing.F) {
	f.Add(appendEntry(nil, &entry{req: Request{URL: "https://films.example/"}}, "films.example"), "films.example")
	f.Add(appendEntry(nil, &entry{
		attempt: 1, due: time.Hour, req: Request{URL: "u", Method: "PUT", Header: http.Header{"A": {"b"}}, Body: []byte{1}, Data: []byte("1")},
	}, ""), "")
	f.Add([]byte("\x060\xa5\xa5\xa5\xa5\xa5\xa50"), "0") // a due time beyond what can be counted
	f.Fuzz(func(t *testing.T, p []byte, host string) {
		e, err := decodeEntry(p, host, 7)
		if err != nil {
			return
		}
		if dueOf(p) != e.due {
			t.Fatalf("%v, not %v", dueOf(p), e.due)
		}
		again, err := decodeEntry(appendEntry(nil, e, host), host, 7)
		if err != nil || !reflect.DeepEqual(e, again) {
			t.Fatalf("%+v became %+v, %v", e, again, err)
		}
	})
}
