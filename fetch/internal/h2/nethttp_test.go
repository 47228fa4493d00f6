package h2

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/seine-go/seine/internal/memhttp"
)

// exchange is one generated request with what answers it.
type exchange struct {
	req     Request
	answer  []step
	feature string // what is unusual about the answer
}

// step is one frame of an answer, or a head in several.
type step struct {
	head  []string // names and values
	cut   int      // pieces of the head
	data  []byte
	pad   int
	end   bool
	reset http2.ErrCode
	what  byte // 'h'ead, 'd'ata, 'r'eset, 'p'ing, 's'ettings, 'u'nknown
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
	kept     bool   // the next exchange used the same connection
	received string // the request as the server has read it
}

// explained says of each unusual feature what differs in net/http and why. Its names are those that the generator gives.
var explained = map[string]struct{ what, why string }{
	"blanks round a value": {"header", "net/http keeps them; RFC 9110 5.5 has them left out"},
	"control in a value":   {"error of the head; reuse", "net/http refuses it; RFC 9113 8.2.1 forbids CR, LF and NUL alone, as browsers do"},
	"lengths that differ":  {"error of the head; length", "net/http takes it as no length; RFC 9110 8.6 has it refused"},
	"length told twice":    {"length", "net/http takes it as no length"},
	"length in a list":     {"length", "net/http takes it as no length; RFC 9110 8.6 lets it be read"},
	"switching protocols":  {"error of the head", "net/http skips it; RFC 9113 8.6 knows no 101"},
	"odd status":           {"error of the head", "net/http takes any number; RFC 9110 15 has three digits"},
	"no number as length":  {"length", "net/http forgets that nothing follows"},
	"length of a 304":      {"body", "net/http misses a body, which neither a 304 nor a 204 ever has"},
	"no body and no end":   {"body", "net/http hands out what comes behind a 204 or 304, and waits for the end"},
	"second head":          {"reuse", "net/http ends the connection; RFC 9113 8.1 has the stream ended"},
	"reset for a breach":   {"reuse", "net/http does not use the connection again when the server says PROTOCOL_ERROR of one stream"},
}

func TestEqualsNetHTTP(t *testing.T) {
	const total, session = 10_000, 40
	log.SetOutput(io.Discard) // net/http speaks of frames that it does not know
	defer log.SetOutput(os.Stderr)
	rnd := rand.New(rand.NewPCG(1, 2))
	differences := map[string]int{}
	for done := 0; done < total; done += session {
		all := make([]exchange, session)
		for i := range all {
			all[i] = generate(rnd)
		}
		ours, theirs := runOurs(t, all), runNetHTTP(t, all)
		for i, x := range all {
			diff := compare(ours[i], theirs[i])
			if diff == "" {
				continue
			}
			if x.feature == "" || !slices.Contains(strings.Split(explained[x.feature].what, "; "), diff) {
				t.Errorf("exchange %d: %s of %s (%s)\nours   %.400v\ntheirs %.400v\n%.600v", done+i, diff, x.req.Method, x.feature, short(ours[i]), short(theirs[i]), steps(x))
			}
			differences[x.feature]++
		}
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
		fmt.Printf("shown fetch.2: http/2 equals net/http on %d generated exchanges, %d explained differences\n", total, count)
	}
}

// compare names what differs.
func compare(a, b result) string {
	same := func(a, b http.Header) bool { return maps.EqualFunc(a, b, slices.Equal) }
	switch {
	case a.received != b.received:
		return "request"
	case a.headErr != b.headErr:
		return "error of the head"
	case a.headErr:
	case a.status != b.status:
		return "status"
	case !same(a.header, b.header):
		return "header"
	case a.length != b.length:
		return "length"
	case a.bodyErr != b.bodyErr, a.body != b.body && !a.bodyErr:
		return "body"
	case !same(a.trailer, b.trailer) && !a.bodyErr:
		return "trailer"
	}
	if a.kept != b.kept {
		return "reuse"
	}
	return ""
}

// server answers the exchanges of a session by the numbers in their paths.
type server struct {
	session []exchange
	group   sync.WaitGroup

	mu       sync.Mutex
	received []string
	conn     []int // on which each was received
	conns    int
	clients  []net.Conn
}

func (s *server) dial() net.Conn {
	client, conn := memhttp.Pipe()
	s.conns++
	s.clients = append(s.clients, client)
	n := s.conns
	s.group.Go(func() { s.serve(conn, n) })
	return client
}

func (s *server) serve(conn net.Conn, number int) {
	defer conn.Close()
	if _, err := io.ReadFull(conn, make([]byte, len(preface))); err != nil {
		return
	}
	p := &peer{Framer: http2.NewFramer(conn, conn), conn: conn}
	p.AllowIllegalWrites = true
	p.enc = hpack.NewEncoder(&p.buf)
	p.dec = hpack.NewDecoder(4096, func(f hpack.HeaderField) { p.fields = append(p.fields, f) })
	_ = p.WriteSettings()
	open := map[uint32]*strings.Builder{}
	for {
		f := p.next()
		if f == nil {
			return
		}
		id, ended := f.Header().StreamID, false
		switch f := f.(type) {
		case *http2.HeadersFrame:
			_ = p.dec.Close()
			open[id] = new(strings.Builder)
			slices.SortStableFunc(p.fields, func(a, b hpack.HeaderField) int { return strings.Compare(a.Name, b.Name) })
			for _, field := range p.fields {
				fmt.Fprintf(open[id], "%s=%s|", field.Name, field.Value)
			}
			ended = f.StreamEnded()
		case *http2.DataFrame:
			if n := uint32(len(f.Data())); n > 0 {
				_ = p.WriteWindowUpdate(0, n)
				_ = p.WriteWindowUpdate(id, n)
			}
			open[id].Write(f.Data())
			ended = f.StreamEnded()
		}
		if ended {
			s.answer(p, id, open[id].String(), number)
			delete(open, id)
		}
	}
}

func (s *server) answer(p *peer, id uint32, request string, conn int) {
	_, path, _ := strings.Cut(request, ":path=/")
	path, _, _ = strings.Cut(path, "|")
	i, _ := strconv.Atoi(path)
	s.mu.Lock()
	s.received[i], s.conn[i] = request, conn
	s.mu.Unlock()
	for _, st := range s.session[i].answer {
		switch st.what {
		case 'h':
			block := p.block(st.head...)
			size := max(1, len(block)/max(st.cut, 1))
			first := block[:min(size, len(block))]
			block = block[len(first):]
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: first, EndStream: st.end, EndHeaders: len(block) == 0, PadLength: uint8(st.pad)})
			for len(block) > 0 {
				n := min(size, len(block))
				_ = p.WriteContinuation(id, n == len(block), block[:n])
				block = block[n:]
			}
		case 'd':
			var pad []byte
			if st.pad > 0 {
				pad = make([]byte, st.pad)
			}
			_ = p.WriteDataPadded(id, st.end, st.data, pad)
		case 'r':
			_ = p.WriteRSTStream(id, st.reset)
		case 'p':
			_ = p.WritePing(false, [8]byte{1, 2, 3})
		case 's':
			_ = p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 70_000})
		case 'u':
			_ = p.WriteRawFrame(0xee, 0xff, id, []byte("unknown"))
		}
	}
}

func (s *server) fill(results []result) []result {
	for _, c := range s.clients { // net/http keeps one on which a response to HEAD has not ended
		_ = c.Close()
	}
	s.group.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range results {
		results[i].received = s.received[i]
		results[i].kept = i+1 < len(results) && s.conn[i+1] == s.conn[i]
	}
	return results
}

func newServer(session []exchange) *server {
	return &server{session: session, received: make([]string, len(session)), conn: make([]int, len(session))}
}

func runOurs(t *testing.T, session []exchange) (results []result) {
	s := newServer(session)
	var c *Conn
	for i := range session {
		for c == nil || !c.Reserve() {
			if c != nil {
				_ = c.Close()
			}
			c = NewConn(s.dial(), Config{})
		}
		r := session[i].req
		r.Scheme, r.Authority, r.Path = "http", "a.example", fmt.Sprint("/", i)
		stream, err := c.Do(t.Context(), &r)
		if err != nil {
			results = append(results, result{headErr: true})
			continue
		}
		body, err := io.ReadAll(stream)
		head := &stream.Response
		delete(head.Header, "Trailer") // net/http tells it elsewhere
		results = append(results, result{status: head.Status, header: head.Header, trailer: head.Trailer, length: head.ContentLength, body: string(body), bodyErr: err != nil})
		_ = stream.Close()
	}
	_ = c.Close()
	return s.fill(results)
}

func runNetHTTP(t *testing.T, session []exchange) (results []result) {
	s := newServer(session)
	transport := &http.Transport{DisableCompression: true, Protocols: new(http.Protocols), DialContext: func(context.Context, string, string) (net.Conn, error) {
		return s.dial(), nil
	}}
	transport.Protocols.SetUnencryptedHTTP2(true)
	for i := range session {
		r := &session[i].req
		req, err := http.NewRequestWithContext(t.Context(), r.Method, fmt.Sprint("http://a.example/", i), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Header {
			if f.Name != "content-length" {
				req.Header.Add(f.Name, f.Value)
			}
		}
		if len(r.Body) > 0 {
			req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(r.Body)), int64(len(r.Body))
		}
		resp, err := transport.RoundTrip(req)
		if err != nil {
			results = append(results, result{headErr: true})
			continue
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		maps.DeleteFunc(resp.Trailer, func(_ string, v []string) bool { return v == nil }) // told and not sent
		results = append(results, result{status: resp.StatusCode, header: resp.Header, trailer: resp.Trailer, length: resp.ContentLength, body: string(body), bodyErr: err != nil})
	}
	transport.CloseIdleConnections()
	return s.fill(results)
}

// short shows a result without its bodies.
func short(r result) string {
	return fmt.Sprintf("%d, %d of %d bytes, errors %v %v, kept %v, trailer %v, header %.100v", r.status, len(r.body), r.length, r.headErr, r.bodyErr, r.kept, r.trailer, r.header)
}

// steps shows an answer.
func steps(x exchange) string {
	var b strings.Builder
	for _, s := range x.answer {
		fmt.Fprintf(&b, "%c %d bytes end=%v; ", s.what, len(s.data), s.end)
		for i := 0; i < len(s.head); i += 2 {
			if s.head[i][0] == ':' || s.head[i] == "content-length" {
				b.WriteString(s.head[i] + "=" + s.head[i+1] + " ")
			}
		}
	}
	return b.String()
}
