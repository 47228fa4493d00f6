// Package crawltest helps to test crawlers and site adapters without the network: pages come from files ([Offline]), results
// are compared with files ([Golden]), an [Auditor] tells whether a crawl was polite, a [Hostile] server does to it all that
// servers may do, [Faults] make exchanges fail as a seed or a rule says, and package demosite is a whole site to crawl on
// loopback.
//
//	transport := crawltest.Offline(os.DirFS("testdata/site")) // https://films.example/film/7 is films.example/film/7.html there
//	… // crawl with it, or any http.Client
//	crawltest.Golden(t, "testdata/films.golden", got)
package crawltest
