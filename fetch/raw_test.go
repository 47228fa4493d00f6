package fetch

import (
	"bufio"
	"net"
	"strings"
	"sync"
	"testing"
)

// serveRaw runs handle on every connection to a loopback listener, closes the connection when it returns and waits for
// all of it at the end of the test. It returns the listener's address.
func serveRaw(t testing.TB, handle func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, l, handle)
	return l.Addr().String()
}

func serveOn(t testing.TB, l net.Listener, handle func(net.Conn)) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	conns := map[net.Conn]bool{}
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns[conn] = true
			mu.Unlock()
			wg.Go(func() {
				handle(conn)
				conn.Close()
				mu.Lock()
				delete(conns, conn)
				mu.Unlock()
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for conn := range conns {
			conn.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
}

// readTarget reads the head of a request without a body, byte by byte so that nothing behind it is lost, and returns its
// target.
func readTarget(conn net.Conn) (string, error) {
	head, err := readHead(conn)
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(head, "\r\n")
	_, target, _ := strings.Cut(line, " ")
	target, _, _ = strings.Cut(target, " HTTP/")
	return target, nil
}

func readHead(conn net.Conn) (string, error) {
	r := bufio.NewReaderSize(conn, 16) // of its own size: a request comes in one piece and is not pipelined
	var b strings.Builder
	for {
		line, err := r.ReadString('\n')
		b.WriteString(line)
		if err != nil || line == "\r\n" {
			return b.String(), err
		}
	}
}

// log collects what servers see.
type log[T any] struct {
	mu   sync.Mutex
	seen []T
}

func (l *log[T]) add(v T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = append(l.seen, v)
}

// take returns what was seen since the last call.
func (l *log[T]) take() []T {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := l.seen
	l.seen = nil
	return seen
}
