package h1

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"testing"

	"github.com/seine-go/seine/internal/memhttp"
)

// exchange is one generated request with the bytes that answer it.
type exchange struct {
	req     Request
	answer  string
	closes  bool // the server closes after the answer
	piece   int
	feature string // what is unusual about the answer
}

// result is what a client makes of an exchange.
type result struct {
	status   int
	header   http.Header
	trailer  http.Header
	length   int64
	body     string
	headErr  bool
	bodyErr  bool
	kept     bool   // the next exchange, if there is one, used the same connection
	received string // the request as the server has read it
}

// explained says of each unusual feature what may differ in net/http and why. Its names are those that the generator gives.
var explained = map[string]struct{ what, why string }{
	"length in a list":        {"error of the head", "net/http compares whole fields and refuses the list 5, 5, which RFC 9112 6.3 lets be read"},
	"length told twice":       {"header", "net/http hands out one of the equal fields"},
	"coding told twice":       {"error of the head", "net/http refuses it (golang/go#44591); browsers apply it once"},
	"identity coding":         {"error of the head; reuse", "net/http refuses it, or in a 1.0 response passes it over; browsers always do, and here the connection is not kept"},
	"length and chunked":      {"reuse", "net/http keeps the connection; RFC 9112 6.3 calls such a message a sign of smuggling"},
	"name that is no token":   {"error of the head", "net/http refuses the head; browsers read on"},
	"line that is no field":   {"error of the head", "net/http refuses the head; browsers skip the line"},
	"blank before the colon":  {"header", "net/http keeps the blank as part of the name; browsers drop it"},
	"leading blank line":      {"error of the head", "net/http refuses it; RFC 9112 2.2 and browsers skip it"},
	"odd status line":         {"error of the head", "net/http wants three digits and a blank or the end; browsers read on"},
	"blanks round chunk size": {"body", "net/http refuses blanks before a size"},
	"chunk lines end in lf":   {"body", "net/http refuses a bare LF in the chunked coding; browsers read it"},
	"crs before an lf":        {"error of the head", "net/http refuses a second CR; browsers drop it"},
	"cr in a value":           {"error of the head", "net/http refuses it; RFC 9112 2.2 lets it be read as a blank"},
	"control in a value":      {"error of the head", "net/http refuses it; browsers read on"},
	"empty length":            {"error of the head", "net/http refuses it; browsers take it as absent"},
}

func TestEqualsNetHTTP(t *testing.T) {
	const total = 10_000
	rnd := rand.New(rand.NewPCG(1, 2))
	differences := map[string]int{}
	for done := 0; done < total; {
		session := make([]exchange, 1+rnd.IntN(6))
		for i := range session {
			session[i] = generate(rnd)
		}
		session = session[:min(len(session), total-done)]
		ours, theirs := runOurs(t, session), runNetHTTP(t, session)
		for i, x := range session {
			diff := compare(ours[i], theirs[i])
			if diff == "" {
				continue
			}
			if x.feature == "" || !slices.Contains(strings.Split(explained[x.feature].what, "; "), diff) {
				t.Errorf("exchange %d: %s of %s %.400q (%s)\nours   %.500q\ntheirs %.500q", done+i, diff, x.req.Method, x.answer, x.feature, fmt.Sprint(ours[i]), fmt.Sprint(theirs[i]))
			}
			differences[x.feature]++
		}
		done += len(session)
	}
	count := 0
	for _, f := range slices.Sorted(maps.Keys(explained)) {
		t.Logf("%5d × %s (%s): %s", differences[f], f, explained[f].what, explained[f].why)
		count += differences[f]
		if differences[f] == 0 {
			t.Errorf("%q makes no difference and needs no explanation", f)
		}
	}
	if !t.Failed() {
		fmt.Printf("shown first-crawl.5: http/1.1 equals net/http on %d generated exchanges, %d explained differences\n", total, count)
	}
}

// compare names what differs.
func compare(a, b result) string {
	switch {
	case a.received != b.received:
		return "request"
	case a.headErr != b.headErr:
		return "error of the head"
	case a.headErr:
	case a.status != b.status:
		return "status"
	case !sameHeader(a.header, b.header):
		return "header"
	case a.length != b.length:
		return "length"
	case a.body != b.body:
		return "body"
	case a.bodyErr != b.bodyErr:
		return "body"
	case !sameHeader(a.trailer, b.trailer):
		return "trailer"
	}
	if a.kept != b.kept && !a.headErr && !b.headErr {
		return "reuse"
	}
	return ""
}

// server answers the exchanges of a session in their order, on whatever connections come.
type server struct {
	session  []exchange
	next     int
	received []string
	fresh    []bool
}

func (s *server) serve(c *memhttp.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	for first := true; ; first = false {
		got, err := readRequest(r)
		if err != nil {
			return
		}
		x := s.session[s.next]
		s.next++
		s.received, s.fresh = append(s.received, got), append(s.fresh, first)
		for answer := x.answer; answer != ""; {
			n := min(x.piece, len(answer))
			if _, err := io.WriteString(c, answer[:n]); err != nil {
				return
			}
			answer = answer[n:]
		}
		if x.closes {
			return
		}
	}
}

func (s *server) fill(t *testing.T, results []result) []result {
	if len(s.received) != len(results) {
		t.Fatalf("the server has read %d of %d requests: %.1000q", len(s.received), len(results), fmt.Sprint(results))
	}
	for i := range results {
		results[i].received = s.received[i]
		results[i].kept = i+1 < len(results) && !s.fresh[i+1]
	}
	return results
}

func runOurs(t *testing.T, session []exchange) (results []result) {
	s := &server{session: session}
	var c *Conn
	ended := make(chan struct{})
	for _, x := range session {
		if c == nil || !c.Reusable() {
			if c != nil {
				_ = c.Close()
				<-ended
			}
			client, srv := memhttp.Pipe()
			c, ended = NewConn(client, Limits{}, Timeouts{}), make(chan struct{})
			go func(ended chan struct{}) { defer close(ended); s.serve(srv) }(ended)
		}
		o := do(t, c, &x.req, 16<<10)
		r := result{status: o.resp.Status, header: o.resp.Header, trailer: o.resp.Trailer, length: o.resp.ContentLength, body: o.body, headErr: o.headErr, bodyErr: o.err != nil && !o.headErr}
		r.header = asNetHTTP(o.resp.Header, x.req.Method, o.resp.Status, o.resp.Minor)
		results = append(results, r)
	}
	_ = c.Close()
	<-ended
	return s.fill(t, results)
}

// asNetHTTP leaves out of a header what net/http tells elsewhere.
func asNetHTTP(header http.Header, method string, status, minor int) http.Header {
	h := maps.Clone(header)
	chunked := minor == 1 && anyToken(h["Transfer-Encoding"], "chunked")
	if chunked && method != "HEAD" && status != 204 && status != 304 {
		delete(h, "Content-Length")
	}
	delete(h, "Transfer-Encoding")
	delete(h, "Trailer")
	if minor == 1 && anyToken(h["Connection"], "close") {
		delete(h, "Connection")
	}
	return h
}

func runNetHTTP(t *testing.T, session []exchange) (results []result) {
	s := &server{session: session}
	var ends []chan struct{}
	transport := &http.Transport{DisableCompression: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
		client, srv := memhttp.Pipe()
		ended := make(chan struct{})
		ends = append(ends, ended)
		go func() { defer close(ended); s.serve(srv) }()
		return client, nil
	}}
	for _, x := range session {
		req, err := http.NewRequestWithContext(t.Context(), x.req.Method, "http://a.example"+x.req.Target, bytes.NewReader(x.req.Body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header["User-Agent"] = []string{"test"}
		resp, err := transport.RoundTrip(req)
		if err != nil {
			results = append(results, result{headErr: true})
			// A head that is refused costs the connection, but its goroutines end a moment later.
			transport.CloseIdleConnections()
			continue
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		r := result{status: resp.StatusCode, header: resp.Header, trailer: resp.Trailer, length: resp.ContentLength, body: string(body), bodyErr: err != nil}
		maps.DeleteFunc(r.trailer, func(_ string, v []string) bool { return v == nil }) // told and not sent
		results = append(results, r)
	}
	transport.CloseIdleConnections()
	for _, ended := range ends {
		<-ended
	}
	return s.fill(t, results)
}

// generate makes an exchange. Four in five have nothing unusual about them.
func generate(rnd *rand.Rand) exchange {
	g := &generator{rnd: rnd}
	g.odd = rnd.IntN(5) == 0
	g.request()
	g.crlf = pick(rnd, "\r\n", "\r\n", "\r\n", "\n")
	if g.feature("leading blank line") {
		g.write("\r\n")
	}
	for range max(0, rnd.IntN(8)-5) {
		g.write(pick(rnd, "HTTP/1.1 100 Continue", "HTTP/1.1 103 Early Hints", "HTTP/1.1 102 Processing") + g.crlf)
		if rnd.IntN(2) == 0 {
			g.write("Link: </style.css>; rel=preload" + g.crlf)
		}
		g.write(g.crlf)
	}
	g.statusLine()
	g.fields()
	g.framing()
	g.x.answer = g.b.String()
	g.x.piece = max(len(g.x.answer)/50, pick(rnd, 1<<20, 1<<20, 1000, 100, 7))
	return g.x
}

type generator struct {
	rnd    *rand.Rand
	x      exchange
	odd    bool
	crlf   string
	b      strings.Builder
	status int
	minor  int
}

func pick[T any](rnd *rand.Rand, from ...T) T { return from[rnd.IntN(len(from))] }

func (g *generator) write(s string) { g.b.WriteString(s) }

// feature decides whether the answer has one of the unusual features, one at most.
func (g *generator) feature(name string) bool {
	if _, ok := explained[name]; !ok {
		panic(name)
	}
	if !g.odd || g.x.feature != "" || g.rnd.IntN(6) > 0 {
		return false
	}
	g.x.feature = name
	return true
}

func (g *generator) request() {
	method := pick(g.rnd, "GET", "GET", "GET", "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS")
	g.x.req = Request{Method: method, Target: pick(g.rnd, "/", "/a/b?c=d", "/%E7%94%B5", "/x;y=1?q"), Host: "a.example", Header: []Field{{"User-Agent", "test"}}}
	if method == "POST" || method == "PUT" {
		g.x.req.Body = bytes.Repeat([]byte("body\n"), pick(g.rnd, 0, 1, 200, 20_000))
		g.x.req.Header = append(g.x.req.Header, Field{"Content-Length", ""})
	}
}

func (g *generator) statusLine() {
	g.status = pick(g.rnd, 200, 200, 200, 200, 201, 203, 204, 206, 301, 304, 401, 404, 429, 500, 503, 599, 999)
	g.minor = pick(g.rnd, 1, 1, 1, 1, 0)
	line := fmt.Sprintf("HTTP/1.%d %d", g.minor, g.status)
	if g.feature("odd status line") {
		line = pick(g.rnd, line+"Fine", "HTTP/1."+itoa(g.minor), "http/1."+itoa(g.minor)+" 200 OK")
		if !strings.Contains(line, itoa(g.status)) {
			g.status = 200
		}
	} else {
		line += pick(g.rnd, " OK", " Not Found", "", " ", " Не найдено", " caf\xe9 au lait")
	}
	g.write(line + g.crlf)
}

func (g *generator) fields() {
	for range g.rnd.IntN(12) {
		name := pick(g.rnd, "Content-Type", "content-type", "X-One", "x-ONE", "Set-Cookie", "ETag", "Vary", "X_Under", "Link", "Date", "x-!#$%&'*+.^`|~9")
		value := pick(g.rnd, "", "text/html; charset=utf-8", "a=1; Path=/", "\"tag\"", "caf\xe9", "电影", " padded\t ", strings.Repeat("long ", 500))
		g.write(name + ":" + pick(g.rnd, " ", "", "\t", "  ") + value)
		if value != "" && g.rnd.IntN(12) == 0 {
			g.write(g.crlf + pick(g.rnd, " ", "\t", "   ") + "folded")
		}
		g.write(g.crlf)
	}
	switch {
	case g.feature("name that is no token"):
		g.write(pick(g.rnd, "\xc3\xa9: x", "“X”: y", "X(1): z") + g.crlf)
	case g.feature("line that is no field"):
		g.write(pick(g.rnd, "no colon", ": no name") + g.crlf)
	case g.feature("blank before the colon"):
		g.write("X-Blank : x" + g.crlf)
	case g.feature("crs before an lf"):
		g.write("X-Crs: x\r\r\n")
	case g.feature("cr in a value"):
		g.write("X-Cr: a\rb" + g.crlf)
	case g.feature("control in a value"):
		g.write("X-Control: a\x01b" + g.crlf)
	}
}

// framing writes the end of the head and the body.
func (g *generator) framing() {
	body := strings.Repeat("0123456789abcdef", 4000)[:pick(g.rnd, 0, 1, 5, 100, 1000, 2000, 5000, 9000, 40_000)]
	none := g.x.req.Method == "HEAD" || g.status == 204 || g.status == 304
	if g.rnd.IntN(10) == 0 {
		g.write("Connection: close" + g.crlf)
	} else if g.rnd.IntN(5) == 0 {
		g.write(pick(g.rnd, "Connection: keep-alive", "Connection: Keep-Alive, x") + g.crlf)
	}
	cut := !none && g.rnd.IntN(20) == 0
	switch kind := g.rnd.IntN(10); {
	case g.minor == 1 && kind < 4:
		g.chunked(body, none, cut)
	case kind < 9:
		g.sized(body, none, cut)
	default:
		g.write(g.crlf)
		if !none {
			g.write(body)
			g.x.closes = true
		}
	}
}

func (g *generator) sized(body string, none, cut bool) {
	n := itoa(len(body))
	switch {
	case g.feature("length in a list"):
		g.write("Content-Length: " + n + ", " + n + g.crlf)
	case g.feature("length told twice"):
		g.write("Content-Length: " + n + g.crlf + "Content-Length: " + n + g.crlf)
	case g.feature("identity coding"):
		g.write("Transfer-Encoding: identity" + g.crlf + "Content-Length: " + n + g.crlf)
	case g.feature("empty length"):
		g.write("Content-Length: " + g.crlf)
		g.x.closes = !none
	default:
		g.write(pick(g.rnd, "Content-Length: ", "content-length:") + n + g.crlf)
	}
	g.write(g.crlf)
	if none {
		return
	}
	if cut && body != "" {
		body, g.x.closes = body[:g.rnd.IntN(len(body))], true
	}
	g.write(body)
}

func (g *generator) chunked(body string, none, cut bool) {
	announce := g.rnd.IntN(4) == 0
	if announce {
		g.write("Trailer: X-Sum, X-Absent" + g.crlf)
	}
	switch {
	case g.feature("coding told twice"):
		g.write("Transfer-Encoding: chunked" + g.crlf + "Transfer-Encoding: chunked" + g.crlf)
	case !none && g.feature("length and chunked"):
		g.write("Content-Length: 3" + g.crlf + "Transfer-Encoding: chunked" + g.crlf)
	default:
		g.write(pick(g.rnd, "Transfer-Encoding: chunked", "transfer-encoding: Chunked") + g.crlf)
	}
	g.write(g.crlf)
	if none {
		return
	}
	var b strings.Builder
	blanks := g.feature("blanks round chunk size")
	crlf := "\r\n"
	if !blanks && g.feature("chunk lines end in lf") {
		crlf = "\n"
	}
	for body != "" {
		n := 1 + g.rnd.IntN(min(len(body), 9000))
		size := fmt.Sprintf(pick(g.rnd, "%x", "%X", "%05x"), n) + pick(g.rnd, "", "", ";ext", ";a=\"b\"", "  ")
		if blanks {
			size = " " + size
		}
		b.WriteString(size + crlf + body[:n] + crlf)
		body = body[n:]
	}
	b.WriteString(pick(g.rnd, "0", "0", "000") + crlf)
	if announce || g.rnd.IntN(6) == 0 {
		b.WriteString("X-Sum: 1" + crlf + textproto.CanonicalMIMEHeaderKey("x-late") + ": 2" + crlf)
	}
	b.WriteString(crlf)
	coded := b.String()
	if cut {
		coded, g.x.closes = coded[:g.rnd.IntN(len(coded)-1)], true
	}
	g.write(coded)
}
