package h2

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http2"
)

func pick[T any](rnd *rand.Rand, from ...T) T { return from[rnd.IntN(len(from))] }

type generator struct {
	rnd *rand.Rand
	x   exchange
	odd bool
}

// generate makes an exchange. Four in five have nothing unusual about them.
func generate(rnd *rand.Rand) exchange {
	g := &generator{rnd: rnd, odd: rnd.IntN(5) == 0}
	g.request()
	for range max(0, rnd.IntN(8)-5) {
		g.noise()
		g.add(step{what: 'h', head: []string{":status", pick(rnd, "100", "102", "103"), "link", "</style.css>; rel=preload"}})
	}
	if g.feature("switching protocols") {
		g.add(step{what: 'h', head: []string{":status", "101"}})
	}
	g.answer()
	return g.x
}

// feature decides whether the answer has one of the unusual features, one at most.
func (g *generator) feature(name string) bool {
	if _, ok := explained[name]; !ok {
		panic(name)
	}
	if !g.odd || g.x.feature != "" || g.rnd.IntN(5) > 0 {
		return false
	}
	g.x.feature = name
	return true
}

func (g *generator) add(s step) { g.x.answer = append(g.x.answer, s) }

// noise adds frames that mean nothing to the exchange.
func (g *generator) noise() {
	if g.rnd.IntN(6) == 0 {
		g.add(step{what: pick[byte](g.rnd, 'p', 's', 'u')})
	}
}

func (g *generator) request() {
	method := pick(g.rnd, "GET", "GET", "GET", "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS")
	g.x.req = Request{Method: method, Header: list("user-agent", "test")}
	for i := range g.rnd.IntN(5) {
		g.x.req.Header = append(g.x.req.Header, list(pick(g.rnd, "accept", "x-one", "x-two"), pick(g.rnd, "a", "b=c", strings.Repeat("long", 1+100*i)))...)
	}
	if method == "POST" || method == "PUT" {
		g.x.req.Body = bytes.Repeat([]byte("body\n"), pick(g.rnd, 0, 1, 200, 20_000))
		g.x.req.Header = append(g.x.req.Header, list("content-length", strconv.Itoa(len(g.x.req.Body)))...)
	}
}

func (g *generator) answer() {
	status := strconv.Itoa(pick(g.rnd, 200, 200, 200, 200, 201, 203, 204, 206, 301, 304, 401, 404, 429, 500, 503, 599, 999))
	if g.feature("odd status") {
		status = pick(g.rnd, "2000", "20", "0200")
	}
	head := []string{":status", status}
	for range g.rnd.IntN(12) {
		head = append(head, pick(g.rnd, "content-type", "x-one", "set-cookie", "etag", "vary", "x_under", "link", "date", "x-!#$%&'*+.^`|~9", "connection"),
			pick(g.rnd, "", "text/html; charset=utf-8", "a=1; Path=/", "\"tag\"", "caf\xe9", "电影", strings.Repeat("long ", 500)+"end"))
	}
	switch {
	case g.feature("blanks round a value"):
		head = append(head, "x-blank", pick(g.rnd, " a", "a\t", "  "))
	case g.feature("control in a value"):
		head = append(head, "x-control", "a\x01b")
	}
	body := []byte(strings.Repeat("0123456789abcdef", 4000)[:pick(g.rnd, 0, 1, 5, 100, 1000, 2000, 5000, 9000, 40_000)])
	none := g.x.req.Method == "HEAD" || status == "204" || status == "304"
	head = g.length(head, len(body), none)
	bad := ""
	if g.rnd.IntN(12) == 0 {
		bad = pick(g.rnd, "reset", "reset", "cut", "no status", "upper", "pseudo", "data first")
	}
	g.frames(head, body, none, bad)
}

// length adds Content-Length fields.
func (g *generator) length(head []string, n int, none bool) []string {
	text := strconv.Itoa(n)
	switch {
	case g.feature("lengths that differ"):
		return append(head, "content-length", text, "content-length", text+"0")
	case n > 0 && g.feature("length told twice"):
		return append(head, "content-length", text, "content-length", text)
	case n > 0 && g.feature("length in a list"):
		return append(head, "content-length", text+", "+text)
	case g.feature("no number as length"):
		return append(head, "content-length", "many")
	case (head[1] == "304" || head[1] == "204") && g.x.req.Method != "HEAD":
		if g.feature("length of a 304") {
			return append(head, "content-length", "5")
		}
		return head
	case none && g.rnd.IntN(2) == 0, g.rnd.IntN(3) > 0 && !(n == 0 && none):
		return append(head, "content-length", text)
	}
	return head
}

func (g *generator) frames(head []string, body []byte, none bool, bad string) {
	trailer := []string(nil)
	if !none && g.rnd.IntN(6) == 0 {
		trailer = []string{"x-sum", "1", "x-late", "2"}
		if g.rnd.IntN(2) == 0 {
			head = append(head, "trailer", "X-Sum, X-Absent")
		}
	}
	if bad == "reset" && g.x.req.Method == "HEAD" && g.x.feature != "" {
		bad = ""
	}
	pieces := pick(g.rnd, 1, 1, 2, 7)
	switch bad {
	case "no status", "upper", "pseudo":
		pieces = 1 // net/http is done with a connection where more follows
	}
	switch bad {
	case "no status":
		head = head[2:]
	case "upper":
		head = append(head, "X-Upper", "x")
	case "pseudo":
		head = append(head, ":status", "200")
	case "data first":
		g.add(step{what: 'd', data: []byte("early")})
	}
	whole := none || len(body) == 0 && trailer == nil && g.rnd.IntN(2) == 0
	g.noise()
	g.add(step{what: 'h', head: head, cut: pieces, pad: pick(g.rnd, 0, 0, 0, 9), end: whole && bad != "reset"})
	if none && g.x.feature == "" && (bad == "" && g.odd || bad == "reset") {
		last := &g.x.answer[len(g.x.answer)-1]
		last.end, g.x.feature = false, "no body and no end"
		if bad == "" {
			g.add(step{what: 'd', data: []byte("surprise"), end: true})
			return
		}
	}
	if !whole && bad == "" && g.feature("second head") {
		g.add(step{what: 'h', head: []string{":status", "200"}})
	}
	if bad == "reset" {
		code := pick(g.rnd, http2.ErrCodeInternal, http2.ErrCodeCancel, http2.ErrCodeNo)
		if g.feature("reset for a breach") {
			code = http2.ErrCodeProtocol
		}
		g.add(step{what: 'r', reset: code})
		return
	}
	if whole {
		return
	}
	if bad == "cut" && len(body) > 0 && slices.Contains(head, "content-length") {
		body = body[:g.rnd.IntN(len(body))]
	}
	for first := true; first || len(body) > 0; first = false {
		n := 0
		if len(body) > 0 {
			n = 1 + g.rnd.IntN(min(len(body), 16_000))
		}
		g.noise()
		g.add(step{what: 'd', data: body[:n], pad: pick(g.rnd, 0, 0, 0, 200), end: n == len(body) && trailer == nil && g.rnd.IntN(3) > 0})
		body = body[n:]
	}
	if last := &g.x.answer[len(g.x.answer)-1]; !last.end {
		if trailer != nil {
			g.add(step{what: 'h', head: trailer, end: true})
		} else {
			g.add(step{what: 'd', end: true})
		}
	}
	if g.rnd.IntN(20) == 0 {
		g.add(step{what: 'd', data: []byte("surplus"), end: true})
	}
}
