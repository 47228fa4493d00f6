package crawltest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// pageBehaviours are pages that are too much for who reads them.
var pageBehaviours = []behaviour{
	on("page-links", "is a page of 1,000,000 (n) links", func(r *reply) {
		if r.stream("text/html") {
			r.series(r.size(1_000_000), "<a href=\"/page-links/to/%?n=0\">%</a>\n")
		}
	}),
	on("page-nested", "is a page of 1,000,000 (n) nested elements", func(r *reply) {
		if r.stream("text/html") {
			r.fill("<div>", 5*r.size(1_000_000))
			r.send("deep")
		}
	}),
	on("page-formatting", "is a page of 1,000,000 (n) open formatting elements", func(r *reply) {
		if r.stream("text/html") {
			r.series(r.size(1_000_000), "<p><b i=%>")
		}
	}),
	on("page-attributes", "is an element of 1,000,000 (n) attributes", func(r *reply) {
		if r.stream("text/html") && r.send("<a ") {
			r.series(r.size(1_000_000), "a%=% ")
			r.send("href=/echo>x</a>")
		}
	}),
	on("page-attribute", "is a link of 64 MB (n bytes)", func(r *reply) {
		if r.stream("text/html") && r.send("<a href=\"/") {
			r.fill("x", r.size(64_000_000))
			r.send("\">x</a>")
		}
	}),
	on("page-comment", "is a comment that never ends, of 64 MB (n bytes)", func(r *reply) {
		if r.stream("text/html") && r.send("<!-- ") {
			r.fill("<a href=/echo>-", r.size(64_000_000))
		}
	}),
	on("page-urls", "is a page of odd links", func(r *reply) { r.html(oddLinks()) }),
	on("page-base", "is a page whose base leads elsewhere, twice", func(r *reply) {
		r.html("<base href=\"javascript:void(0)//\"><base href=\"http://10.0.0.1/\"><a href=x>x</a>")
	}),
	on("page-refresh", "is a page that refreshes to itself at once", func(r *reply) {
		r.html("<meta http-equiv=refresh content=\"0; url=" + r.url.Path + "\"><title>again</title>")
	}),
}

// oddLinks is a page of links that are odd or none.
func oddLinks() string {
	var b strings.Builder
	for _, ref := range []string{
		"http://under_score.example/", "http:///", "http://", "//", "http://bücher.example/", "http://xn--/", "http://a..example/", "http://.example/",
		"/" + strings.Repeat("x", 64_000), "/nul\x00byte", "/%00", "/%zz", "/\xff\xfe", "http://127.0.0.1:99999/", "http://127.0.0.1:0/", "http://user:secret@127.0.0.1/",
		"http://0x7f.1/", "http://[::1", "http://[::1%25lo]/", "mailto:a@films.example", "javascript:alert(1)", "data:text/html,x", "tel:123", "blob:x", "about:blank",
		"?", "#", "", " ", "\t/echo\n", "\\echo", "/a/../../../../echo", "/./%2e%2e/echo", "ftp://films.example/", "http:echo", "http:/echo", "ht!tp://x/", "/echo?a=b&amp;c=d&#38;e",
	} {
		fmt.Fprintf(&b, "<a href=\"%s\">odd</a>\n", ref)
	}
	return b.String()
}

// trapBehaviours are pages without end.
var trapBehaviours = []behaviour{
	on("trap-query", "links to itself with one more parameter", func(r *reply) {
		r.html(fmt.Sprintf("<a href=\"%s?%s&amp;q=\">more</a>", r.url.Path, strings.ReplaceAll(cutText(r.url.RawQuery), "\"", "")))
	}),
	on("trap-path", "links to a/ below any path", func(r *reply) {
		if !strings.HasSuffix(r.url.Path, "/") {
			r.html("<a href=\"/trap-path/\">in</a>")
			return
		}
		r.html("<a href=\"a/\">deeper</a>")
	}),
	on("trap-paths", "links to a/, b/ and c/ below any path", func(r *reply) {
		r.html(fmt.Sprintf("<a href=\"%[1]s/a\">a</a><a href=\"%[1]s/b\">b</a><a href=\"%[1]s/c\">c</a>", cutText(r.url.EscapedPath())))
	}),
	on("trap-calendar", "links to the months before and after", func(r *reply) {
		var year, month int
		if _, err := fmt.Sscanf(strings.TrimPrefix(r.url.Path, "/trap-calendar"), "/%d/%d", &year, &month); err != nil {
			year, month = 2026, 1
		}
		at := year*12 + month - 1
		r.html(fmt.Sprintf("<a href=\"/trap-calendar/%d/%d\">before</a><a href=\"/trap-calendar/%d/%d\">after</a>", (at-1)/12, (at-1)%12+1, (at+1)/12, (at+1)%12+1))
	}),
	on("trap-session", "links to itself with a new session in the path each time", func(r *reply) {
		r.html(fmt.Sprintf("<a href=\"/trap-session;jsessionid=%016X\">same page</a>", rand.Uint64()))
	}),
	on("trap-sid", "links to itself with a new session in the query each time", func(r *reply) {
		r.html(fmt.Sprintf("<a href=\"/trap-sid?PHPSESSID=%016x\">same page</a>", rand.Uint64()))
	}),
	on("trap-self", "puts its own URL into a link", func(r *reply) {
		r.html("<a href=\"/trap-self?from=" + strings.ReplaceAll(cutText(r.url.RequestURI()), "\"", "") + "\">back</a>")
	}),
	on("trap-sort", "links to itself sorted and filtered in every way", func(r *reply) {
		var b strings.Builder
		for _, q := range []string{"sort=name", "sort=date", "order=asc", "order=desc", "view=grid", "view=list", "page=2"} {
			fmt.Fprintf(&b, "<a href=\"%s?%s&amp;%s\">%s</a>", r.url.Path, strings.ReplaceAll(cutText(r.url.RawQuery), "\"", ""), q, q)
		}
		r.html(b.String())
	}),
}

// maxTrapText bounds what of a request is written into the page that answers it.
const maxTrapText = 64 << 10

func cutText(s string) string { return s[:min(len(s), maxTrapText)] }
