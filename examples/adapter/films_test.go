package adapter

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/crawler/crawltest"
	"github.com/seine-go/seine/fetch"
)

var _ = flag.Bool(crawltest.UpdateFlag, false, "write the golden files")

// The adapter reads pages that were saved as files; nothing goes over the network.
func TestFilms(t *testing.T) {
	store := &crawler.MemoryStore{}
	eng, err := crawler.New(crawler.Config{
		Handler: New("films.example"), Store: store, Spacing: -1,
		Fetcher: fetch.FromRoundTripper(crawltest.Offline(os.DirFS("testdata/site"))),
	})
	if err != nil {
		t.Fatal(err)
	}
	stats, err := eng.Run(t.Context())
	if err != nil || stats.Pages != 4 {
		t.Fatalf("%v, %v", stats, err)
	}
	var got bytes.Buffer
	for e, err := range store.Scan(t.Context(), "film/") {
		if err != nil {
			t.Fatal(err)
		}
		got.WriteString(e.Key + " " + string(e.Value) + "\n")
	}
	crawltest.Golden(t, "testdata/films.golden", got.Bytes())
}
