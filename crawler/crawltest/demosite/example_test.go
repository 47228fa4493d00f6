package demosite_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/crawler/crawltest/demosite"
	"github.com/seine-go/seine/torrent"
	"github.com/seine-go/seine/torrent/release"
)

// A site on loopback ports, asked for one film.
func Example() {
	site := demosite.New(demosite.Options{Seed: 1})
	if err := site.Start(); err != nil {
		fmt.Println(err)
		return
	}
	defer site.Close()

	resp, err := http.Get(site.HostURL(demosite.API) + "api/film/7")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	var film demosite.Film
	if err := json.NewDecoder(resp.Body).Decode(&film); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s (%d), by %s: %.1f\n", film.Title, film.Year, film.Director.Name, film.Rating)
	// Output:
	// Tidal Café (1997), by Nadia Quispe: 6.5
}

// A site in another server, or without one.
func ExampleSite_Handler() {
	site := demosite.New(demosite.Options{})
	w := httptest.NewRecorder()
	site.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, site.HostURL(demosite.People)+"robots.txt", nil))
	fmt.Print(w.Body)
	// Output:
	// User-agent: *
	// Disallow: /private/
	// Crawl-delay: 0.1
}

// What a crawl of the start page alone has left out.
func ExampleSite_Check() {
	site := demosite.New(demosite.Options{Films: 1})
	for _, path := range []string{"", "films", "private/", "no-such-page"} {
		site.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, site.URL()+path, nil))
	}
	missing := 0
	for _, fault := range site.Check() {
		if fault.Requests == 0 {
			missing++
			continue
		}
		fmt.Println(fault)
	}
	fmt.Println(missing, "pages were not fetched")
	// Output:
	// http://films.test/private/: robots.txt disallows /private/ (1 requests)
	// http://films.test/no-such-page: not a page that is linked (1 requests)
	// 78 pages were not fetched
}

// The magnet links of the torrent list, as a crawl finds them.
func ExampleSite_torrents() {
	site := demosite.New(demosite.Options{Seed: 1, Films: 30})
	if err := site.Start(); err != nil {
		fmt.Println(err)
		return
	}
	defer site.Close()
	eng, err := crawler.New(crawler.Config{AllowPrivate: true, Spacing: -1})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer eng.Close()
	for page, err := range eng.Pages(context.Background(), site.URL()+"torrents") {
		if err != nil {
			fmt.Println(err)
			continue
		}
		var links []torrent.Magnet
		text, _ := json.Marshal(page.Hints().Magnets)
		if err := json.Unmarshal(text, &links); err != nil { // a Magnet reads itself
			fmt.Println(err)
			continue
		}
		for _, link := range links[:2] {
			fmt.Println(release.Parse(link.Name).Title, link.V1, link.Length>>20, "MiB,", len(link.Trackers), "trackers")
		}
	}
	// Output:
	// The Brave Voyage Other Lies fa5a8e1aa70d725f551498b4acc467088e76971a 18453 MiB, 1 trackers
	// The Brave Voyage Other Lies bb039e8286ab88902b1367f61d9e3f3da5ad0857 1843 MiB, 1 trackers
}
