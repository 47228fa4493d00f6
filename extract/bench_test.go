package extract

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// catalogPage makes a page of a film catalogue: 20.8 KB, 38 anchors in five spellings, 12 rows of a table, paragraphs.
func catalogPage() []byte {
	words := strings.Fields("silent river golden hour last train winter paper moon harbour glass garden northern line")
	var b strings.Builder
	b.WriteString("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n  <meta charset=\"utf-8\">\n  <title>Golden Hour (1954)</title>\n" +
		"  <link rel=\"stylesheet\" href=\"//static.test/site.css\">\n  <meta property=\"og:type\" content=\"video.movie\">\n" +
		"  <script type=\"application/ld+json\">{\"@context\":\"https://schema.org\",\"@type\":\"Movie\",\"name\":\"Golden Hour\"," +
		"\"aggregateRating\":{\"@type\":\"AggregateRating\",\"ratingValue\":4.4,\"ratingCount\":123}}</script>\n</head>\n<body>\n" +
		"  <nav><a href=\"#top\">Top</a> <a href=\"mailto:desk@film.test\">Contact</a> <a href=\"javascript:void(0)\">Menu</a> " +
		"<a href=\"https://other.test/title/7\">Elsewhere</a></nav>\n  <main id=\"top\">\n    <h1 class=\"title\">Golden Hour</h1>\n" +
		"    <span class=\"year\">1954</span> <span class=\"rating\">4.4</span>\n    <ul class=\"genres\"><li>Drama</li><li>Crime</li></ul>\n" +
		"    <img class=\"poster\" src=\"//static.test/poster/7.jpg\" alt=\"poster\">\n    <table class=\"cast\">\n" +
		"      <tr><th>Actor</th><th>Role</th></tr>\n")
	for i := range 12 {
		fmt.Fprintf(&b, "      <tr><td>Ana Ruiz</td><td class=\"role\">%s</td></tr>\n", words[i])
	}
	b.WriteString("    </table>\n    <ul class=\"related\">\n")
	for i := range 34 {
		form := []string{"http://127.0.0.1:8399/page/%d", "/page/%d", "%d", "../page/%d", "./%d"}[i%5]
		if i%8 == 0 {
			form += "#reviews"
		}
		fmt.Fprintf(&b, "      <li><a class=\"film\" href=\""+form+"\">%s</a></li>\n", 1000+i*317, words[i%len(words)])
	}
	b.WriteString("    </ul>\n    <section class=\"reviews\" id=\"reviews\">\n")
	for i := 0; b.Len() < 20_600; i++ {
		b.WriteString(`      <p class="synopsis">`)
		for k := range 62 {
			b.WriteString(words[(i*7+k)%len(words)])
			switch k % 12 {
			case 5:
				b.WriteString(" &amp; ")
			case 11:
				b.WriteString(". <em>river</em> ")
			default:
				b.WriteByte(' ')
			}
		}
		b.WriteString("</p>\n")
	}
	b.WriteString("    </section>\n  </main>\n  <footer>Synthetic catalogue</footer>\n</body>\n</html>\n")
	return []byte(b.String())
}

func scanBench(b *testing.B, page []byte) {
	b.ReportAllocs()
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		if _, err := Scan(page, ScanOptions{URL: "http://127.0.0.1:8399/page/7"}); err != nil {
			b.Fatal(err)
		}
	}
}

// tokenize goes through the tags and attributes of a page with the tokenizer of x/net/html.
func tokenize(page []byte) {
	z := html.NewTokenizer(bytes.NewReader(page))
	for tt := z.Next(); tt != html.ErrorToken; tt = z.Next() {
		if tt != html.StartTagToken {
			continue
		}
		for _, more := z.TagName(); more; {
			_, _, more = z.TagAttr()
		}
	}
}

func BenchmarkTokenizer(b *testing.B) {
	page := catalogPage()
	b.ReportAllocs()
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		tokenize(page)
	}
}

func BenchmarkScan(b *testing.B) { scanBench(b, catalogPage()) }

func BenchmarkParse(b *testing.B) {
	page := catalogPage()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parseTree(page); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkScanBuilder scans a page that needs the stack of open elements.
func BenchmarkScanBuilder(b *testing.B) {
	scanBench(b, append([]byte("<svg></p>"), catalogPage()...))
}

func BenchmarkDocumentTree(b *testing.B) {
	page := catalogPage()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewDocument(page, DocumentOptions{}).Tree(); err != nil {
			b.Fatal(err)
		}
	}
}

// fastest gives the least time of one call: what a machine with other work takes away does not count.
func fastest(f func()) time.Duration {
	const rounds, calls = 1500, 4
	least := time.Duration(1<<63 - 1)
	for range rounds {
		start := time.Now()
		for range calls {
			f()
		}
		least = min(least, time.Since(start)/calls)
	}
	return least
}

func TestLinkPassIsFasterThanATokenizer(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("times are for the long form, without the race detector")
	}
	page := catalogPage()
	o := ScanOptions{URL: "http://127.0.0.1:8399/page/7"}
	h, err := Scan(page, o)
	if err != nil || len(h.Links) != 36 || len(page) < 20_600 || len(page) > 21_200 {
		t.Fatalf("%d bytes, %d links, %v", len(page), len(h.Links), err)
	}
	scan := func() { _, _ = Scan(page, o) }
	allocs := testing.AllocsPerRun(200, scan)
	scanTime, tokenizerTime := fastest(scan), fastest(func() { tokenize(page) })
	if allocs > 5 || scanTime > tokenizerTime/4 {
		t.Errorf("link pass %v, tokenizer %v, %.0f allocs", scanTime, tokenizerTime, allocs)
		return
	}
	fmt.Printf("shown first-crawl.3: link pass %.1f µs, tokenizer %.1f µs, %.0f allocs\n",
		float64(scanTime.Nanoseconds())/1000, float64(tokenizerTime.Nanoseconds())/1000, allocs)
}
