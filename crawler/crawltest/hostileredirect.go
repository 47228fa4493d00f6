package crawltest

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// redirect answers with a redirect.
func (r *reply) redirect(location string) {
	r.whole("302 Found", "Location: "+location+"\r\n", "text/plain", "elsewhere\n")
}

// redirectBehaviours lead in circles, or where a crawler must not go.
var redirectBehaviours = []behaviour{
	on("redirect-self", "leads to itself for ever", func(r *reply) { r.redirect(r.url.Path) }),
	on("redirect-loop", "leads to another page that leads back", func(r *reply) {
		if strings.HasSuffix(r.url.Path, "/other") {
			r.redirect("/redirect-loop")
			return
		}
		r.redirect("/redirect-loop/other")
	}),
	on("redirect-cookie", "leads to itself with a cookie, and answers when the cookie comes", func(r *reply) {
		if strings.Contains(r.field("Cookie"), "seen=1") {
			r.html("<title>let in</title>")
			return
		}
		r.whole("302 Found", "Location: "+r.url.Path+"\r\nSet-Cookie: seen=1; Path=/\r\n", "text/plain", "")
	}),
	on("redirect-wait", "leads to itself once and then answers, with no cookie", func(r *reply) {
		if r.visit%2 == 1 {
			r.html("<title>now</title>")
			return
		}
		r.redirect(r.url.Path)
	}),
	on("redirect-endless", "leads to a new URL for ever", func(r *reply) {
		r.redirect("/redirect-endless/" + strconv.FormatUint(rand.Uint64(), 36))
	}),
	on("redirect-grow", "leads to a URL that is twice as long, for ever", func(r *reply) {
		rest := strings.TrimPrefix(r.url.Path, "/redirect-grow")
		r.redirect("/redirect-grow" + rest + rest + "/x")
	}),
	on("redirect-file", "leads to a file", func(r *reply) { r.redirect("file:///etc/passwd") }),
	on("redirect-gopher", "leads to gopher", func(r *reply) { r.redirect("gopher://127.0.0.1:70/1") }),
	on("redirect-script", "leads to a script", func(r *reply) { r.redirect("javascript:alert(1)") }),
	on("redirect-data", "leads to a data URL", func(r *reply) { r.redirect("data:text/html,<title>x</title>") }),
	on("redirect-private", "leads to a private address", func(r *reply) { r.redirect("http://10.0.0.1/") }),
	on("redirect-metadata", "leads to the metadata service of clouds", func(r *reply) { r.redirect("http://169.254.169.254/latest/meta-data/") }),
	on("redirect-mapped", "leads to a private address that is written as IPv6", func(r *reply) { r.redirect("http://[::ffff:10.0.0.1]/") }),
	on("redirect-number", "leads to a private address that is written as one number", func(r *reply) { r.redirect("http://167772161/") }),
	on("redirect-origin", "leads to /echo of another origin, which shows the header that it got", func(r *reply) { r.redirect(r.h.elsewhere() + "/echo") }),
	on("redirect-nowhere", "redirects without saying where", func(r *reply) { r.whole("302 Found", "", "text/plain", "nowhere\n") }),
	on("redirect-empty", "redirects to an empty Location", func(r *reply) { r.redirect("") }),
	on("redirect-odd", "leads to a URL that is none", func(r *reply) { r.redirect("http://[/") }),
	on("redirect-bytes", "leads to a page whose URL has bytes of ISO-8859-1 and blanks", func(r *reply) { r.redirect("/echo?q=caf\xe9 \xfc x") }),
	on("redirect-long", "leads to a URL of 64 KB (n bytes)", func(r *reply) {
		r.redirect("/echo?" + strings.Repeat("x", int(min(r.size(64_000), 1<<20))))
	}),
}

// elsewhere is another origin.
func (h *Hostile) elsewhere() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.TrimSuffix(h.o.Elsewhere, "/")
}

// retryAfterForms are what hosts write into Retry-After, sensible and not.
func retryAfterForms() []string {
	now := time.Now().UTC()
	return []string{
		"1", "120", "0", now.Add(2 * time.Second).Format(http.TimeFormat), now.Add(-time.Hour).Format(http.TimeFormat),
		now.Add(1000 * time.Hour).Format(http.TimeFormat), now.Add(2 * time.Second).Format(time.RFC850), now.Add(2 * time.Second).Format(time.ANSIC),
		"-5", "1.5", "1e3", "soon", "", "99999999999999999999999", "3600, 7200", "Thu, 99 Foo 2026 25:61:61 GMT", "0x10", "\xff",
	}
}

// busyBehaviours say that they are asked too often.
var busyBehaviours = []behaviour{
	on("busy-429", "answers 429 always", func(r *reply) { r.whole("429 Too Many Requests", "", "text/plain", "slow down\n") }),
	on("busy-retry", "answers 429 always with the n-th form of Retry-After, without n with one after the other", func(r *reply) {
		forms := retryAfterForms()
		form := forms[int(r.size(r.visit)%int64(len(forms)))]
		r.whole("429 Too Many Requests", "Retry-After: "+form+"\r\n", "text/plain", "slow down\n")
	}),
	on("busy-once", "answers 503 with Retry-After: 1 every other time", func(r *reply) {
		if r.visit%2 == 0 {
			r.whole("503 Service Unavailable", "Retry-After: 1\r\n", "text/plain", "once more\n")
			return
		}
		r.html("<title>here</title>")
	}),
	on("busy-two", "answers 429 with two fields Retry-After", func(r *reply) {
		r.whole("429 Too Many Requests", "Retry-After: 1\r\nRetry-After: 10\r\n", "text/plain", "slow down\n")
	}),
	on("busy-503", "answers 503 always", func(r *reply) { r.whole("503 Service Unavailable", "", "text/plain", "down\n") }),
	on("busy-500", "answers 500 always", func(r *reply) { r.whole("500 Internal Server Error", "", "text/plain", "broken\n") }),
}

// robotsBehaviours are for HostileOptions.Robots; others do as well.
var robotsBehaviours = []behaviour{
	on("robots-html", "is a page of HTML instead of robots.txt", func(r *reply) { r.html("<title>Home</title><p>Disallow: /\n<p>User-agent: *\n") }),
	on("robots-huge", "is a robots.txt of 1 GB (n bytes), whose last rule forbids all", func(r *reply) {
		if r.stream("text/plain") && r.fill("# filler\n", r.size(1_000_000_000)) {
			r.send("\nUser-agent: *\nDisallow: /\n")
		}
	}),
	on("robots-line", "is a robots.txt with a line of 1 MB (n bytes)", func(r *reply) {
		if r.stream("text/plain") && r.send("User-agent: *\nDisallow: /") && r.fill("x", r.size(1_000_000)) {
			r.send("\nDisallow: /private/\n")
		}
	}),
	on("robots-delay", "asks for a crawl-delay of 1e9 seconds", func(r *reply) { r.page("text/plain", "User-agent: *\nCrawl-delay: 1000000000\n") }),
	on("robots-delays", "has crawl-delays that are no numbers", func(r *reply) {
		r.page("text/plain", "User-agent: *\nCrawl-delay: -1\nCrawl-delay: NaN\nCrawl-delay: Inf\nCrawl-delay: 1e400\nCrawl-delay: 0x7f\n")
	}),
	on("robots-stars", "has a pattern of stars that takes backtracking for ever", func(r *reply) {
		r.page("text/plain", "User-agent: *\nDisallow: /"+strings.Repeat("*a", 1000)+"$\n")
	}),
	on("robots-groups", "has 100,000 (n) groups", func(r *reply) {
		if r.stream("text/plain") {
			r.series(r.size(100_000), "User-agent: bot%\nDisallow: /\n\n")
		}
	}),
}
