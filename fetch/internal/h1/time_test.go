package h1

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/internal/memhttp"
)

// step is something that a server sends after a pause.
type step struct {
	pause time.Duration
	send  string
}

// play sends the steps, then reads what comes until the client closes. The test waits for its end.
func play(t *testing.T, server *memhttp.Conn, steps ...step) {
	done := make(chan struct{})
	t.Cleanup(func() { <-done })
	go func() {
		defer close(done)
		defer server.Close()
		send(server, steps)
		_, _ = io.Copy(io.Discard, server)
	}()
}

func send(server *memhttp.Conn, steps []step) {
	for _, s := range steps {
		time.Sleep(s.pause)
		if _, err := io.WriteString(server, s.send); err != nil {
			return
		}
	}
}

// bubble runs one GET in a bubble against steps and returns its outcome and how long it took.
func bubble(t *testing.T, timeouts Timeouts, steps []step, check func(t *testing.T, o outcome, took time.Duration)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		client, server := memhttp.Pipe()
		play(t, server, steps...)
		c := NewConn(client, Limits{}, timeouts)
		start := time.Now()
		o := do(t, c, &Request{Target: "/"}, 8<<10)
		check(t, o, time.Since(start))
		_ = c.Close()
	})
}

func drip(n int, every time.Duration, piece string) []step {
	steps := make([]step, n)
	for i := range steps {
		steps[i] = step{every, piece}
	}
	return steps
}

const okHead = "HTTP/1.1 200 OK\r\n"

func TestTimeouts(t *testing.T) {
	t.Parallel()
	const s = time.Second
	withLength := okHead + "Content-Length: 100\r\n\r\n"
	tests := []struct {
		name     string
		timeouts Timeouts
		steps    []step
		kind     Kind
		took     time.Duration
		body     string
	}{
		{"no answer", Timeouts{}, nil, HeaderTimeout, 30 * s, ""},
		{"no answer, own time", Timeouts{Header: 7 * s}, nil, HeaderTimeout, 7 * s, ""},
		{"no answer, longer than a write may take", Timeouts{Header: 90 * s, Write: s}, nil, HeaderTimeout, 90 * s, ""},
		{"answer just in time", Timeouts{Header: 7 * s}, []step{{7*s - 1, okHead + "Content-Length: 0\r\n\r\n"}}, 0, 7*s - 1, ""},
		{"head in drips", Timeouts{}, append([]step{{0, okHead + "X: "}}, drip(1000, s, "x")...), HeaderTimeout, 30 * s, ""},
		{"1xx in drips", Timeouts{}, drip(90, s, "HTTP/1.1 103 x\r\n\r\n"), HeaderTimeout, 30 * s, ""},
		{"blank lines in drips", Timeouts{}, drip(90, s, "\r\n"), HeaderTimeout, 30 * s, ""},
		{"no body", Timeouts{}, []step{{0, withLength}}, IdleTimeout, 30 * s, ""},
		{"no body after a late head", Timeouts{}, []step{{20 * s, withLength}}, IdleTimeout, 50 * s, ""},
		{"no body, own time", Timeouts{IdleRead: 3 * s}, []step{{20 * s, withLength}}, IdleTimeout, 23 * s, ""},
		{"a body that stops", Timeouts{IdleRead: 3 * s}, []step{{0, withLength + "ab"}, {2 * s, "cd"}, {2 * s, "ef"}}, IdleTimeout, 7 * s, "abcdef"},
		{"chunks that stop", Timeouts{IdleRead: 3 * s}, []step{{0, okHead + "Transfer-Encoding: chunked\r\n\r\n2\r\nab"}, {2 * s, "\r\n1"}}, IdleTimeout, 5 * s, "ab"},
		{"a chunk's line in drips", Timeouts{}, append([]step{{0, okHead + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n1"}}, drip(90, s, " ")...), TooSlow, 30 * s, "a"},
		{"trailers in drips", Timeouts{}, append([]step{{0, okHead + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: "}}, drip(90, s, "x")...), TooSlow, 30 * s, "a"},
		{"no timeouts", Timeouts{Write: -1, Header: -1, IdleRead: -1, RateWindow: -1}, []step{{time.Hour, withLength}, {time.Hour, "a"}, {time.Hour, strings.Repeat("b", 99)}}, 0, 3 * time.Hour, "a" + strings.Repeat("b", 99)},
		{"no minimum rate", Timeouts{MinRate: -1}, []step{{0, withLength + strings.Repeat("a", 97)}, {29 * s, "b"}, {29 * s, "b"}, {29 * s, "b"}}, 0, 87 * s, strings.Repeat("a", 97) + "bbb"},
		{"a rate in a window of its own", Timeouts{MinRate: 10, RateWindow: 2 * s}, []step{{0, okHead + "\r\na"}, {s, strings.Repeat("b", 20)}, {9 * s, "c"}}, TooSlow, 4 * s, "a" + strings.Repeat("b", 20)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, tt.timeouts, tt.steps, func(t *testing.T, o outcome, took time.Duration) {
				if KindOf(o.err) != tt.kind || took != tt.took || o.body != tt.body {
					t.Errorf("%v after %v, body %q; want kind %q after %v, %q", o.err, took, o.body, tt.kind, tt.took, tt.body)
				}
				if e, ok := errors.AsType[*Error](o.err); ok && !e.Timeout() {
					t.Errorf("%v is no timeout", e)
				}
			})
		})
	}
}

// TestMinRate: at the rate a body goes on for ever, below it it ends with the first window.
func TestMinRate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		perSec int
		kind   Kind
		took   time.Duration
	}{{"at", 64, 0, 200 * time.Second}, {"past", 63, TooSlow, 30 * time.Second}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			// The pieces come in the middle of each second, so that none comes at the very end of a window.
			steps := append([]step{{0, okHead + "Content-Length: " + itoa(tt.perSec*200+1) + "\r\n\r\n."}, {time.Second / 2, strings.Repeat("x", tt.perSec)}},
				drip(199, time.Second, strings.Repeat("x", tt.perSec))...)
			bubble(t, Timeouts{}, steps, func(t *testing.T, o outcome, took time.Duration) {
				if KindOf(o.err) != tt.kind || took > tt.took || took < tt.took-time.Second {
					t.Errorf("%v after %v, want kind %q after %v", o.err, took, tt.kind, tt.took)
				}
			})
		})
	}
}

// TestSlowReaderIsNotThePeersFault: time in which nobody reads counts for neither timeout.
func TestSlowReaderIsNotThePeersFault(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, server := memhttp.Pipe()
		const size = 300 << 10
		play(t, server, step{0, okHead + "Content-Length: " + itoa(size) + "\r\n\r\n" + strings.Repeat("x", size)})
		c := NewConn(client, Limits{}, Timeouts{})
		defer c.Close()
		var resp Response
		if err := c.Do(t.Context(), &Request{Target: "/"}, &resp); err != nil {
			t.Fatal(err)
		}
		p, got := make([]byte, 8<<10), 0
		for {
			time.Sleep(45 * time.Second)
			n, err := c.Body().Read(p)
			got += n
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if got != size || !c.Reusable() {
			t.Errorf("%d bytes, reusable %v", got, c.Reusable())
		}
	})
}

// TestWriteTimeout: each piece of a request has its time, and a server that has answered is heard.
func TestWriteTimeout(t *testing.T) {
	t.Parallel()
	body := make([]byte, 1<<20)
	t.Run("nobody reads", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			client, server := memhttp.Pipe()
			defer server.Close()
			c := NewConn(client, Limits{}, Timeouts{Write: 5 * time.Second})
			defer c.Close()
			start := time.Now()
			var resp Response
			e := wantKind(t, c.Do(t.Context(), &Request{Method: "POST", Target: "/", Body: body}, &resp), WriteTimeout)
			if took := time.Since(start); took != 5*time.Second+earlyAnswer || !e.Written || e.Answered || !e.Timeout() {
				t.Errorf("%+v after %v", e, took)
			}
		})
	})
	t.Run("somebody reads slowly", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			client, server := memhttp.Pipe()
			go func() {
				defer server.Close()
				p := make([]byte, 32<<10)
				for got := 0; got < len(body); {
					time.Sleep(2 * time.Second)
					n, err := server.Read(p)
					if got += n; err != nil {
						return
					}
				}
				_, _ = io.WriteString(server, okHead+"Content-Length: 2\r\n\r\nok")
			}()
			c := NewConn(client, Limits{}, Timeouts{Write: 5 * time.Second})
			defer c.Close()
			if o := do(t, c, &Request{Method: "POST", Target: "/", Body: body}, 100); o.err != nil || o.body != "ok" {
				t.Errorf("%+v", o)
			}
		})
	})
	t.Run("an early answer and nobody reads", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			client, server := memhttp.Pipe()
			play(t, server, step{0, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno"}) // reads after that
			c := NewConn(client, Limits{}, Timeouts{Write: 5 * time.Second})
			defer c.Close()
			if o := do(t, c, &Request{Method: "POST", Target: "/", Body: body}, 100); o.err != nil || o.resp.Status != 413 || o.body != "no" {
				t.Errorf("%+v", o)
			}
		})
	})
	t.Run("an early answer and the end", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			client, server := memhttp.Pipe()
			_, _ = io.WriteString(server, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
			go func() {
				_, _ = io.ReadFull(server, make([]byte, 1000))
				_ = server.Close()
			}()
			c := NewConn(client, Limits{}, Timeouts{})
			defer c.Close()
			if o := do(t, c, &Request{Method: "POST", Target: "/", Body: body}, 100); o.err != nil || o.resp.Status != 413 || o.body != "no" || o.reusable {
				t.Errorf("%+v", o)
			}
		})
	})
}

// TestContextEndsTheExchange: in every phase, at once, with its cause.
func TestContextEndsTheExchange(t *testing.T) {
	t.Parallel()
	myCause := errors.New("enough")
	withLength := okHead + "Content-Length: 100\r\n\r\n"
	phases := map[string]struct {
		steps []step
		body  []byte
		read  string
	}{
		"write":  {nil, make([]byte, 1<<20), ""},
		"head":   {[]step{{0, okHead}}, nil, ""},
		"body":   {[]step{{0, withLength + "ab"}}, nil, "ab"},
		"drips":  {append([]step{{0, withLength}}, drip(99, time.Second, "x")...), nil, strings.Repeat("x", 10)},
		"chunks": {[]step{{0, okHead + "Transfer-Encoding: chunked\r\n\r\n2\r\nab"}}, nil, "ab"},
	}
	for name, phase := range phases {
		for _, way := range []string{"deadline", "cancel", "cause", "abort"} {
			t.Run(name+"/"+way, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					client, server := memhttp.Pipe()
					if phase.body == nil {
						play(t, server, phase.steps...)
					} else {
						defer server.Close()
					}
					c := NewConn(client, Limits{}, Timeouts{MinRate: -1})
					defer c.Close()
					const after = 10*time.Second + time.Millisecond
					ctx, want := t.Context(), error(nil)
					switch way {
					case "deadline":
						var cancel context.CancelFunc
						ctx, cancel = context.WithTimeout(ctx, after)
						defer cancel()
						want = context.DeadlineExceeded
					case "cancel":
						var cancel context.CancelFunc
						ctx, cancel = context.WithCancel(ctx)
						time.AfterFunc(after, cancel)
						want = context.Canceled
					case "cause":
						var cancel context.CancelCauseFunc
						ctx, cancel = context.WithCancelCause(ctx)
						time.AfterFunc(after, func() { cancel(myCause) })
						want = myCause
					case "abort":
						time.AfterFunc(after, func() { _ = c.Abort() })
						want = net.ErrClosed
					}
					start := time.Now()
					var resp Response
					var got []byte
					err := c.Do(ctx, &Request{Method: "POST", Target: "/", Body: phase.body}, &resp)
					if err == nil {
						got, err = io.ReadAll(c.Body())
					}
					e := wantKind(t, err, Cancelled)
					if took := time.Since(start); took != after || !errors.Is(err, want) || string(got) != phase.read || !e.Written {
						t.Errorf("%v after %v, body %q", err, took, got)
					}
					if way == "cause" && !errors.Is(err, context.Canceled) {
						t.Errorf("%v does not say that the context was cancelled", err)
					}
					if e.Timeout() != (way == "deadline") {
						t.Errorf("Timeout is %v", e.Timeout())
					}
					if c.Reusable() {
						t.Error("the connection is reusable")
					}
				})
			})
		}
	}
}

// TestContextThatHasEnded: nothing is written.
func TestContextThatHasEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c, done := script{answers: []string{"HTTP/1.1 204 x\r\n\r\n"}}.dial(t, Limits{}, Timeouts{})
	var resp Response
	if e := wantKind(t, c.Do(ctx, &Request{Target: "/"}, &resp), Cancelled); e.Written || !errors.Is(e, context.Canceled) {
		t.Errorf("%+v", e)
	}
	_ = c.Close()
	if got := <-done; len(got) != 0 {
		t.Errorf("the server has read %q", got)
	}
}

// TestContextOfTheLastExchange: it has no power over the next one.
func TestContextOfTheLastExchange(t *testing.T) {
	t.Parallel()
	answer := "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"
	c, _ := script{answers: []string{answer, answer, answer}}.dial(t, Limits{}, Timeouts{})
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		var resp Response
		if err := c.Do(ctx, &Request{Target: "/"}, &resp); err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(c.Body()); err != nil || string(body) != "x" || !c.Reusable() {
			t.Fatal(body, err, c.Reusable())
		}
		cancel()
	}
}
