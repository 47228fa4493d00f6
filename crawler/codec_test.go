package crawler

import (
	"encoding/json"
	"net/http"
	"reflect"
	"testing"

	"github.com/seine-go/seine/fetch"
)

func TestEntryRoundTrip(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]entry{
		"plain": {hash: 7, req: Request{URL: "https://films.example/title/1"}},
		"all parts": {hash: 1 << 63, attempt: 2, crashes: 1, req: Request{
			URL: "https://films.example/search", Method: "POST", Header: http.Header{"Accept": {"a", "b"}, "X": {""}}, Body: []byte("q=1"),
			Kind: fetch.Kind(3), Key: "k", Label: "detail", Data: json.RawMessage(`{"id":1}`), Session: "s", Priority: -5, Depth: 3, Hops: 2,
		}},
		"empty body": {hash: 2, req: Request{URL: "http://a/", Body: []byte{}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := decodeEntry(appendEntry(nil, &e))
			if err != nil || !reflect.DeepEqual(*got, e) {
				t.Fatalf("got %+v, %v\nwant %+v", got, err, e)
			}
		})
	}
}

func FuzzDecodeEntry(f *testing.F) {
	f.Add(appendEntry(nil, &entry{hash: 7, req: Request{URL: "https://films.example/"}}))
	f.Add(appendEntry(nil, &entry{hash: 9, attempt: 1, req: Request{URL: "u", Method: "PUT", Header: http.Header{"A": {"b"}}, Body: []byte{1}, Data: []byte("1")}}))
	f.Fuzz(func(t *testing.T, p []byte) {
		e, err := decodeEntry(p)
		if err != nil {
			return
		}
		again, err := decodeEntry(appendEntry(nil, e))
		if err != nil || !reflect.DeepEqual(e, again) {
			t.Fatalf("%+v became %+v, %v", e, again, err)
		}
	})
}
