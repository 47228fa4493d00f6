//go:build unix

package fetch

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// benchServer in the environment makes the test binary a server, so that its CPU time does not count for the client's.
const benchServer = "SEINE_FETCH_BENCH_SERVER"

func TestMain(m *testing.M) {
	switch os.Getenv(benchServer) {
	case "h1":
		serveBench()
		return
	case "h2":
		serveBenchH2()
		return
	}
	os.Exit(m.Run())
}

// serveBench answers "/N" with N bytes until standard input ends.
func serveBench() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go answerBench(conn)
		}
	}()
	io.Copy(io.Discard, os.Stdin)
}

func answerBench(conn net.Conn) {
	r, answers := bufio.NewReader(conn), map[string][]byte{}
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		target := strings.Fields(line)[1]
		for line != "\r\n" {
			if line, err = r.ReadString('\n'); err != nil {
				return
			}
		}
		answer := answers[target]
		if answer == nil {
			size, _ := strconv.Atoi(target[1:])
			answer = fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Fri, 31 Dec 2027 23:58:00 GMT\r\nContent-Type: text/html; charset=utf-8\r\n"+
				"Content-Length: %d\r\nLast-Modified: Fri, 31 Dec 2027 23:58:00 GMT\r\nConnection: keep-alive\r\nETag: \"abc\"\r\nCache-Control: max-age=60\r\n\r\n", size)
			answer = append(answer, bytes.Repeat([]byte("x"), size)...)
			answers[target] = answer
		}
		conn.Write(answer)
	}
}

func startBenchServer(t testing.TB, proto string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), benchServer+"="+proto)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(addr)
}

// cpu returns the user and the system time of this process.
func cpu() (user, system time.Duration) {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())
}

type contender struct {
	name string
	get  func(b testing.TB, url string, size int)
}

// contenders are the Transport and the two ways in which net/http is used for pages.
func contenders(t testing.TB) []contender {
	ours := &Transport{AllowPrivate: true}
	theirs := &http.Transport{DisableCompression: true}
	t.Cleanup(func() {
		ours.Close()
		theirs.CloseIdleConnections()
	})
	ctx := t.Context()
	return []contender{
		{"seine", func(t testing.TB, url string, size int) {
			resp, err := ours.Fetch(ctx, &Request{URL: url})
			if err != nil || len(resp.Body) != size {
				t.Fatal(err, resp)
			}
		}},
		{"nethttp", func(t testing.TB, url string, size int) {
			req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("User-Agent", DefaultUserAgent)
			req.Header.Set("Accept", accept(0))
			req.Header.Set("Accept-Encoding", acceptEncoding)
			resp, err := theirs.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || len(body) != size {
				t.Fatal(err, len(body))
			}
		}},
	}
}

// BenchmarkExchange fetches a page over a kept connection from a server in another process.
func BenchmarkExchange(b *testing.B) {
	addr := startBenchServer(b, "h1")
	for _, size := range []int{2 << 10, 20 << 10} {
		for _, c := range contenders(b) {
			b.Run(fmt.Sprintf("%dKB/%s", size>>10, c.name), func(b *testing.B) {
				url := fmt.Sprintf("http://%s/%d", addr, size)
				c.get(b, url, size)
				b.ReportAllocs()
				user, system := cpu()
				b.ResetTimer()
				for b.Loop() {
					c.get(b, url, size)
				}
				user2, system2 := cpu()
				b.ReportMetric(float64(user2-user)/float64(b.N), "user-ns/op")
				b.ReportMetric(float64(user2-user+system2-system)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}
