package memhttp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func hello(w http.ResponseWriter, r *http.Request) {
	if d, err := time.ParseDuration(r.URL.Query().Get("after")); err == nil {
		time.Sleep(d)
	}
	fmt.Fprintf(w, "hello from %s to %s", r.Host, r.RemoteAddr)
}

func TestServe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var network Network
		network.Serve(t, "films.example:80", http.HandlerFunc(hello))
		transport := &http.Transport{DialContext: network.DialContext}
		client := &http.Client{Transport: transport}
		start := time.Now()
		for range 3 {
			resp, err := client.Get("http://films.example/?after=1h")
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil || string(body) != "hello from films.example to 127.0.0.1:32768" {
				t.Errorf("%q, %v", body, err)
			}
		}
		if took := time.Since(start); took != 3*time.Hour {
			t.Errorf("took %v", took)
		}
		if network.Dialled() != 1 || network.Open() != 1 {
			t.Errorf("%d dialled, %d open", network.Dialled(), network.Open())
		}
		transport.CloseIdleConnections()
		synctest.Wait()
		if network.Open() != 0 {
			t.Errorf("%d open", network.Open())
		}
	})
}

func TestNames(t *testing.T) {
	t.Parallel()
	var network Network
	for _, addr := range []string{"a.example:80", "b.example:80", "a.example:81", "10.1.2.3:80", "[2001:db8::1]:80"} {
		l, err := network.Listen(addr)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
	for _, tt := range []struct{ dial, local, remote string }{
		{"a.example:80", "127.0.0.1", "198.18.0.1:80"},
		{"b.example:80", "127.0.0.1", "198.18.0.2:80"},
		{"a.example:81", "127.0.0.1", "198.18.0.1:81"},
		{"198.18.0.2:80", "127.0.0.1", "198.18.0.2:80"},
		{"10.1.2.3:80", "127.0.0.1", "10.1.2.3:80"},
		{"[2001:db8:0::1]:80", "::1", "[2001:db8::1]:80"},
	} {
		c, err := network.DialContext(t.Context(), "tcp", tt.dial)
		if err != nil {
			t.Errorf("%s: %v", tt.dial, err)
			continue
		}
		if local := c.LocalAddr().(*net.TCPAddr); local.IP.String() != tt.local || c.RemoteAddr().String() != tt.remote {
			t.Errorf("%s: from %v to %v", tt.dial, local, c.RemoteAddr())
		}
		_ = c.Close()
	}
	for _, addr := range []string{"c.example:80", "b.example:81", "198.18.0.2:81", "198.18.0.9:80", "10.1.2.4:80"} {
		if _, err := network.DialContext(t.Context(), "tcp", addr); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("%s: %v", addr, err)
		}
	}
	for _, addr := range []string{"a.example", "a.example:http", "a.example:65536", ""} {
		if _, err := network.DialContext(t.Context(), "tcp", addr); err == nil {
			t.Errorf("%q can be dialled", addr)
		}
		if _, err := network.Listen(addr); err == nil {
			t.Errorf("%q can be listened at", addr)
		}
	}
	if _, err := network.Listen("a.example:80"); !errors.Is(err, syscall.EADDRINUSE) {
		t.Error(err)
	}
	if got, err := network.LookupNetIP(t.Context(), "ip", "b.example"); err != nil || len(got) != 1 || got[0] != netip.MustParseAddr("198.18.0.2") {
		t.Error(got, err)
	}
	if _, err := network.LookupNetIP(t.Context(), "ip", "c.example"); !isNotFound(err) {
		t.Error(err)
	}
	if network.Open() != 0 || network.Dialled() != 6 {
		t.Errorf("%d open, %d dialled", network.Open(), network.Dialled())
	}
}

func isNotFound(err error) bool {
	e, ok := errors.AsType[*net.DNSError](err)
	return ok && e.IsNotFound
}

func TestListenerEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var network Network
		l, err := network.Listen("a.example:80")
		if err != nil {
			t.Fatal(err)
		}
		var waiting []net.Conn
		for range backlog {
			c, err := network.DialContext(t.Context(), "tcp", "a.example:80")
			if err != nil {
				t.Fatal(err)
			}
			waiting = append(waiting, c)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := network.DialContext(ctx, "tcp", "a.example:80"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a dial past the backlog: %v", err)
		}
		go func() {
			time.Sleep(time.Second)
			_ = l.Close()
		}()
		if _, err := network.DialContext(t.Context(), "tcp", "a.example:80"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("a dial when the listener closes: %v", err)
		}
		synctest.Wait()
		for _, c := range waiting {
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
				t.Fatalf("a connection that nobody accepted: %v", err)
			}
			_ = c.Close()
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
		if network.Open() != 0 {
			t.Errorf("%d open", network.Open())
		}
		if l, err = network.Listen("a.example:80"); err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
	})
}

func TestWriterRunsAhead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := Pipe()
		defer a.Close()
		defer b.Close()
		if n, err := a.Write(make([]byte, Window)); n != Window || err != nil {
			t.Fatal(n, err)
		}
		_ = a.SetWriteDeadline(time.Now().Add(time.Second))
		if n, err := a.Write([]byte{1}); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("one byte past the window: %d, %v", n, err)
		}
		_ = a.SetWriteDeadline(time.Time{})
		data := bytes.Repeat([]byte("0123456789"), Window/4)
		go func() {
			_, _ = a.Write(data)
			_ = a.CloseWrite()
		}()
		got, err := io.ReadAll(b)
		if err != nil || !bytes.Equal(got[Window:], data) {
			t.Error(len(got), err)
		}
	})
}

func TestEnds(t *testing.T) {
	t.Parallel()
	read := func(c *Conn) (string, error) {
		p := make([]byte, 3)
		n, err := c.Read(p)
		return string(p[:n]), err
	}
	t.Run("close", func(t *testing.T) {
		t.Parallel()
		a, b := Pipe()
		_, _ = io.WriteString(a, "hello")
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		if s, err := read(b); s != "hel" || err != nil || !b.Pending() {
			t.Error(s, err)
		}
		if s, err := read(b); s != "lo" || err != nil || !b.Pending() {
			t.Error(s, err)
		}
		if _, err := read(b); err != io.EOF {
			t.Error(err)
		}
		if _, err := b.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Error(err)
		}
		if _, err := read(a); !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
		if _, err := a.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
		if err := a.Close(); !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
	t.Run("half", func(t *testing.T) {
		t.Parallel()
		a, b := Pipe()
		_ = a.CloseWrite()
		if _, err := read(b); err != io.EOF {
			t.Error(err)
		}
		if a.Pending() {
			t.Error("something waits")
		}
		_, _ = io.WriteString(b, "yes")
		if s, err := read(a); s != "yes" || err != nil {
			t.Error(s, err)
		}
	})
	t.Run("reset", func(t *testing.T) {
		t.Parallel()
		a, b := Pipe()
		_, _ = io.WriteString(a, "hello")
		_ = a.Reset()
		if _, err := read(b); !errors.Is(err, syscall.ECONNRESET) {
			t.Error(err)
		}
	})
}

func TestDeadlines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := Pipe()
		defer a.Close()
		defer b.Close()
		start := time.Now()
		_ = a.SetReadDeadline(start.Add(time.Hour)) // replaced while a read waits
		go func() {
			time.Sleep(time.Second)
			_ = a.SetReadDeadline(start.Add(3 * time.Second))
		}()
		_, err := a.Read(make([]byte, 1))
		e, ok := errors.AsType[net.Error](err)
		if took := time.Since(start); took != 3*time.Second || !errors.Is(err, os.ErrDeadlineExceeded) || !ok || !e.Timeout() || !strings.HasPrefix(err.Error(), "read tcp ") {
			t.Errorf("%v after %v", err, took)
		}
		_, _ = b.Write([]byte("x"))
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("past the deadline: %v", err)
		}
		_ = a.SetDeadline(time.Time{})
		if n, err := a.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Error(n, err)
		}
		_ = a.SetDeadline(time.Now().Add(-1))
		if _, err := a.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
	})
}
