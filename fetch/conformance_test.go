package fetch

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/internal/conformance"
	"github.com/seine-go/seine/internal/weburl"
)

type edgeCase struct {
	Request   string
	RawBase64 string             `json:"raw_base64"`
	RawRepeat conformance.Repeat `json:"raw_repeat"`
	Expect    *edgeExpect
	AnyOf     []edgeExpect `json:"any_of"`
}

type edgeExpect struct {
	Status        *int
	Body          *string
	Truncated     bool
	Error         bool
	Follow        *string
	FinalFragment *string `json:"final_fragment"`
}

func TestConformanceHTTPEdge(t *testing.T) {
	cases := conformance.Load[edgeCase](t, "http-edge/responses.json")
	conformance.Show(t, "first-crawl.4", "http-edge", cases, func(c edgeCase) error { return runEdge(t, c) })
}

func runEdge(t *testing.T, c edgeCase) error {
	raw := c.RawRepeat.Bytes()
	if raw == nil {
		var err error
		if raw, err = conformance.Base64(c.RawBase64); err != nil {
			return err
		}
	}
	targets := make(chan string, 4)
	addr := serveEdge(t, raw, targets)
	tr := &Transport{AllowPrivate: true}
	defer tr.Close()
	request := c.Request
	if request == "" {
		request = "/"
	}
	resp, err := tr.Fetch(t.Context(), &Request{URL: "http://" + addr + request})
	<-targets
	followed := ""
	select {
	case followed = <-targets:
	default:
	}
	expects := c.AnyOf
	if c.Expect != nil {
		expects = append(expects, *c.Expect)
	}
	if len(expects) == 0 {
		return errors.New("nothing is expected")
	}
	var faults []error
	for _, want := range expects {
		fault := want.check(resp, err, followed)
		if fault == nil {
			return nil
		}
		faults = append(faults, fault)
	}
	return errors.Join(faults...)
}

// TestEdgeCaseWithoutExpectation: a case that expects nothing is none that can pass.
func TestEdgeCaseWithoutExpectation(t *testing.T) {
	t.Parallel()
	raw := base64.StdEncoding.EncodeToString([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"))
	if err := runEdge(t, edgeCase{RawBase64: raw}); err == nil {
		t.Error("it passes")
	}
	status := 200
	if err := runEdge(t, edgeCase{RawBase64: raw, AnyOf: []edgeExpect{{Status: &status}}}); err != nil {
		t.Error(err)
	}
}

func (want *edgeExpect) check(resp *Response, err error, followed string) error {
	if want.Error {
		if err == nil {
			return fmt.Errorf("a response came: %d %.60q", resp.Status, resp.Body)
		}
		return nil
	}
	switch {
	case err != nil:
		return err
	case want.Follow != nil && (followed != *want.Follow || string(resp.Body) != "followed:"+followed):
		return fmt.Errorf("followed to %q, body %.60q", followed, resp.Body)
	case want.Status != nil && resp.Status != *want.Status:
		return fmt.Errorf("status %d", resp.Status)
	case want.Body != nil && string(resp.Body) != *want.Body:
		return fmt.Errorf("body %.80q", resp.Body)
	case resp.Truncated != want.Truncated:
		return fmt.Errorf("truncated %v: %v", resp.Truncated, resp.BodyErr())
	case resp.Truncated != (resp.BodyErr() != nil):
		return errors.New("Truncated and BodyErr disagree")
	}
	if want.FinalFragment != nil {
		u, err := weburl.Parse(resp.URL)
		if err != nil || u.Fragment() != *want.FinalFragment {
			return fmt.Errorf("final URL %q: %v", resp.URL, err)
		}
	}
	return nil
}

// serveEdge answers the first request with raw and closes the connection 30 ms later; every further one is answered with
// its target.
func serveEdge(t *testing.T, raw []byte, targets chan<- string) string {
	first := make(chan struct{}, 1)
	first <- struct{}{}
	return serveRaw(t, func(conn net.Conn) {
		for {
			target, err := readTarget(conn)
			if err != nil {
				return
			}
			targets <- target
			select {
			case <-first:
				conn.Write(raw)
				wait := time.NewTimer(30 * time.Millisecond)
				<-wait.C
				return
			default:
			}
			body := "followed:" + target
			fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		}
	})
}

type retryAfterCase struct {
	Statuses  []int
	Headers   [][2]string
	Now       time.Time
	MaxDelayS float64 `json:"max_delay_s"`
	Expect    *struct {
		DelayS *float64 `json:"delay_s"`
	}
	AnyOf []struct {
		DelayS *float64 `json:"delay_s"`
	} `json:"any_of"`
}

func TestConformanceRetryAfter(t *testing.T) {
	cases := conformance.Load[retryAfterCase](t, "http-edge/retry-after.json")
	conformance.Show(t, "first-crawl.4", "retry-after", cases, func(c retryAfterCase) error {
		var expected []*float64
		if c.Expect != nil {
			expected = append(expected, c.Expect.DelayS)
		}
		for _, e := range c.AnyOf {
			expected = append(expected, e.DelayS)
		}
		if len(expected) == 0 {
			return errors.New("nothing is expected")
		}
		for _, status := range c.Statuses {
			h, err := headerOverTheWire(t, status, c.Headers)
			if err != nil {
				return err
			}
			got, ok := RetryAfter(h, status, c.Now, time.Duration(c.MaxDelayS*float64(time.Second)))
			met := false
			for _, want := range expected {
				met = met || ok == (want != nil) && (want == nil || got.Seconds() == *want)
			}
			if !met {
				return fmt.Errorf("status %d: %v %v", status, got, ok)
			}
		}
		return nil
	})
}

// headerOverTheWire returns the fields of an answer as the Transport hands them out.
func headerOverTheWire(t *testing.T, status int, fields [][2]string) (http.Header, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d X\r\n", status)
	for _, f := range fields {
		fmt.Fprintf(&b, "%s: %s\r\n", f[0], f[1])
	}
	b.WriteString("Content-Length: 0\r\n\r\n")
	addr := serveRaw(t, func(conn net.Conn) {
		if _, err := readTarget(conn); err == nil {
			io.WriteString(conn, b.String())
		}
	})
	tr := &Transport{AllowPrivate: true}
	defer tr.Close()
	resp, err := tr.Fetch(t.Context(), &Request{URL: "http://" + addr + "/"})
	if err != nil {
		return nil, err
	}
	if resp.Status != status {
		return nil, fmt.Errorf("status %d", resp.Status)
	}
	return resp.Header, nil
}
