package h1

import (
	"io"
	"strings"
	"testing"

	"github.com/seine-go/seine/internal/memhttp"
)

// What Buffered shows is the body alone, and passing over all of it is as good as reading it.
func TestBuffered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer, shown string
		left          string // what Read gives behind it
	}{
		"length":      {"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nTampopo", "Tampopo", ""},
		"more behind": {"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nTampopo", "Tamp", ""},
		"nothing":     {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "", ""},
		"chunked":     {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\nTampopo\r\n0\r\n\r\n", "", "Tampopo"},
		"to close":    {"HTTP/1.0 200 OK\r\n\r\nTampopo", "", "Tampopo"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, server := memhttp.Pipe()
			go script{answers: []string{c.answer}}.run(server)
			h := NewConn(conn, Limits{}, Timeouts{})
			defer h.Close()
			var resp Response
			if h.Body().Buffered() != nil {
				t.Error("bytes before an answer")
			}
			if err := h.Do(t.Context(), &Request{Target: "/", Host: "films.example"}, &resp); err != nil {
				t.Fatal(err)
			}
			shown := string(h.Body().Buffered())
			h.Body().Discard(len(shown))
			left, err := io.ReadAll(h.Body())
			if shown != c.shown || string(left) != c.left || err != nil {
				t.Errorf("shown %q, left %q, %v", shown, left, err)
			}
			if h.Body().Buffered() != nil {
				t.Error("bytes behind the end")
			}
			if keeps := strings.Contains(name, "length") || name == "nothing" || name == "chunked"; h.Reusable() != keeps {
				t.Errorf("reusable: %v", h.Reusable())
			}
		})
	}
}
