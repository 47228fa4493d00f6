// Package seine is the overview of a library for building crawlers inside Go programs; the code is in the packages
// below it.
//
// A crawl is a loop over pages:
//
//	for page, err := range crawler.Crawl(ctx, "https://films.example/") {
//		if err != nil {
//			log.Print(err)
//			continue
//		}
//		fmt.Println(page.URL, page.Text("h1"))
//		page.Follow("a[href]")
//	}
//
// From the wire upwards:
//
//   - fetch gets resources over HTTP, with limits, deadlines and an address guard on every hop; fetch/robots reads
//     robots.txt, proxy names the way out, ratelimit what an exchange told.
//   - extract finds links, hints and elements in what came; dedupe makes keys of URLs.
//   - crawler puts them together: engine, frontier, store, handlers. crawler/crawltest is for the tests of those who use
//     it, and crawler/crawltest/demosite a site to crawl without leaving the machine.
//   - torrent reads and writes torrent files, magnet links and release names.
//
// Every package can be used alone. None of them installs a signal handler, reads an environment variable, keeps a
// global registry or writes to standard output.
package seine
