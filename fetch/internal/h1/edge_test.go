package h1

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/internal/conformance"
)

type edgeExpect struct {
	Status        *int
	Body          *string
	Truncated     bool
	Error         bool
	Follow        string
	FinalFragment string `json:"final_fragment"`
}

type edgeCase struct {
	Request   string
	RawBase64 string             `json:"raw_base64"`
	RawRepeat conformance.Repeat `json:"raw_repeat"`
	Expect    edgeExpect
	AnyOf     []edgeExpect `json:"any_of"`
}

// TestHTTPEdge carries the suite of odd responses through the wire, with as much of a client around it as the cases need:
// content codings and redirects. The count that is printed for the suite is that of the fetch package.
func TestHTTPEdge(t *testing.T) {
	t.Parallel()
	for _, c := range conformance.Load[edgeCase](t, "http-edge/responses.json") {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			if c.Except != "" {
				t.Skip(c.Except)
			}
			if err := runEdge(t, c.Data); err != nil {
				t.Error(err)
			}
		})
	}
}

func runEdge(t *testing.T, c edgeCase) error {
	raw := c.RawRepeat.Bytes()
	if c.RawBase64 != "" {
		var err error
		if raw, err = conformance.Base64(c.RawBase64); err != nil {
			return err
		}
	}
	addr := edgeServer(t, raw)
	if c.Request == "" {
		c.Request = "/"
	}
	at, err := url.Parse("http://" + addr + c.Request)
	if err != nil {
		return err
	}
	o := edgeGet(t, at)
	followed := ""
	if location := o.resp.Header.Get("Location"); o.err == nil && o.resp.Status/100 == 3 && location != "" {
		if next, err := at.Parse(location); err == nil {
			if next.Fragment == "" {
				next.Fragment = at.Fragment
			}
			at = next
			followed = at.RequestURI()
			o = edgeGet(t, at)
		}
	}
	body, cut := edgeDecode(o.body, o.resp.Header.Get("Content-Encoding"))
	expects := c.AnyOf
	if expects == nil {
		expects = []edgeExpect{c.Expect}
	}
	var wrong error
	for _, e := range expects {
		switch {
		case e.Error != o.headErr,
			!o.headErr && e.Truncated != (o.err != nil || cut),
			e.Status != nil && *e.Status != o.resp.Status,
			e.Body != nil && *e.Body != body,
			e.Follow != "" && (e.Follow != followed || body != "followed:"+e.Follow),
			e.FinalFragment != "" && e.FinalFragment != at.Fragment:
			wrong = fmt.Errorf("status %d, body %.80q, error %v, cut %v, followed %q, #%s", o.resp.Status, body, o.err, cut, followed, at.Fragment)
		default:
			return nil
		}
	}
	return wrong
}

// edgeServer answers the first request with raw and closes a moment later, and every further one with its target.
func edgeServer(t *testing.T, raw []byte) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for first := true; ; first = false {
			c, err := l.Accept()
			if err != nil {
				return
			}
			got := make([]byte, 64<<10)
			n, _ := c.Read(got)
			answer := raw
			if !first {
				target := strings.Fields(string(got[:n]) + " ? ?")[1]
				answer = fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\nfollowed:%s", len("followed:")+len(target), target)
			}
			_, _ = c.Write(answer)
			time.AfterFunc(30*time.Millisecond, func() { _ = c.Close() })
		}
	}()
	return l.Addr().String()
}

func edgeGet(t *testing.T, at *url.URL) outcome {
	nc, err := net.Dial("tcp", at.Host)
	if err != nil {
		t.Fatal(err)
	}
	c := NewConn(nc, Limits{}, Timeouts{})
	defer c.Close()
	return do(t, c, &Request{Target: at.RequestURI(), Host: at.Host}, 16<<10)
}

// edgeDecode undoes content codings, by the look of the bytes more than by their name.
func edgeDecode(body, codings string) (string, bool) {
	for strings.HasPrefix(body, "\x1f\x8b") {
		var out bytes.Buffer
		in := strings.NewReader(body)
		r, err := gzip.NewReader(in)
		if err != nil {
			return body, true
		}
		for r.Multistream(false); ; r.Multistream(false) {
			if _, err := io.Copy(&out, r); err != nil {
				return out.String(), true
			}
			if err := r.Reset(in); err != nil {
				break // nothing more, or what is no member
			}
		}
		body = out.String()
	}
	if codings != "deflate" {
		return body, false
	}
	var r io.Reader = flate.NewReader(strings.NewReader(body))
	if z, err := zlib.NewReader(strings.NewReader(body)); err == nil {
		r = z
	}
	out, err := io.ReadAll(r)
	if errors.Is(err, io.ErrUnexpectedEOF) && len(out) > 0 {
		err = nil // the cases' streams have no final block
	}
	return string(out), err != nil
}
