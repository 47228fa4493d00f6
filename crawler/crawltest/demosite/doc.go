// Package demosite is a film catalogue to crawl: five small web hosts on loopback ports or on a listener in memory, the
// same for the same seed, with the truth about themselves at hand.
//
//	site := demosite.New(demosite.Options{})
//	if err := site.Start(); err != nil { … }
//	defer site.Close()
//	… // crawl site.URL()
//	faults := site.Check() // what a polite crawl would have done otherwise
//
// # Hosts
//
// [Catalogue] has the lists and details of films and, linked from /lab, what makes crawling hard: redirects, errors, slow
// pages, odd links and charsets. [People] asks for a crawl-delay. [API] is JSON. [Images] has the posters. [Mirror] shows each film under several URLs.
//
// # A film in HTML
//
// The same film has three layouts. /film/ID is rendered by the server:
//
//	article.film[data-id]    h1.title    .original-title    .year    .rating (and its data-votes)    .runtime[data-minutes]
//	.country    ul.genres > li > a.genre    a.director    ul.cast > li > a.actor, span.role    img.poster    p.plot
//
// /app/film/ID has an empty body, its state in script#__NEXT_DATA__ under props.pageProps.film (the object of the API) and
// a script that draws the elements above. /card/ID is a schema.org Movie twice, in JSON-LD and in microdata.
// A list is ul.films > li.film > a.title, span.year, with a[rel=next]. /torrents is table.torrents > tr.torrent with
// td.name, td.size[data-bytes], td.seeders, td.leechers, a.magnet.
//
// # A film in JSON
//
// /api/film/ID of the API host is one [Film]. /api/films?page=N is {"page","pages","total","next","films":[{"id","title","year","url","api"}]};
// next is the URL of the next page, null on the last.
//
// # Members
//
// /login has a form with the fields user, password and token (hidden, must be sent back). [User] and [Password] let one in;
// the session cookie then opens /members/ and its /members/notes/ID.
//
// Everything served is a function of Options and the path, but for the pages under /errors/ that get well after a number
// of requests. Nothing is read from or written to disk, and no address but loopback is listened on.
package demosite
