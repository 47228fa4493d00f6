// Package extract finds what a crawler needs in a page.
//
// [Scan] is the link pass: one run over the bytes of an HTML page that finds its links and hints without building a
// tree. [ScanReader] is the same for a page that is not held in memory. [Document] is a page that is decoded and parsed
// when, and only when, somebody asks for it.
//
//	hints, err := extract.Scan(body, extract.ScanOptions{URL: "https://films.example/list"})
//	if err != nil {
//		return err // the URL of the page is bad; a page never is
//	}
//	for _, link := range hints.Links {
//		fmt.Println(link.Kind, link.URL)
//	}
//
// [From] fills a Go type from a page by what the tags of its fields say; [Schema] has the grammar, and reports where each
// field came from:
//
//	type Film struct {
//		Title string `extract:"ld=Movie.name || css=h1.title || og=title ; required"`
//		Year  int    `extract:"css=.year ; min=1880"`
//	}
//	film, err := extract.From[Film](doc)
//
// The link pass tokenizes as the HTML standard says (WHATWG HTML 13.2.5) and gives exactly the links of the tree that
// golang.org/x/net/html builds with scripting off; what differs, and why, is listed at [Scan]. It does not guess encodings, run scripts or fetch anything.
package extract
