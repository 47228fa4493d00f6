package fetch_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/ratelimit"
)

// Several downloads of at most 10 MB a second together; what breaks off goes on where it was, also in another process.
func ExampleDownloader() {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		http.ServeContent(w, r, "trailer.mp4", time.Time{}, bytes.NewReader(make([]byte, 100_000)))
	}))
	defer srv.Close()
	limit, err := ratelimit.NewTokenBucket(ratelimit.BucketConfig{Rules: []ratelimit.Rule{
		{Match: "*", Rate: ratelimit.PerSecond(10 << 20), Burst: 1 << 20, MaxWait: -1, Shared: true},
	}})
	if err != nil {
		panic(err)
	}
	tr := &fetch.Transport{AllowPrivate: true}
	defer tr.Close()
	dir, err := os.MkdirTemp("", "downloads")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	d := &fetch.Downloader{Fetcher: tr, Bytes: limit}
	got, err := d.File(context.Background(), &fetch.Request{URL: srv.URL + "/trailer.mp4", MaxBody: 1 << 30}, filepath.Join(dir, "trailer.mp4"))
	if err != nil {
		panic(err)
	}
	fmt.Println(got.Size, got.Response.Status, got.Exchanges)
	// Output: 100000 200 1
}
