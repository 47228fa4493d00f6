package h2

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
)

// windows are small, odd, and those of browsers.
var windows = []struct {
	name string
	p    Params
}{
	{"default", Params{}},
	{"none", Params{Settings: []Setting{{InitialWindowSize, 0}}, ConnWindow: initialWindow}},
	{"1 byte", Params{Settings: []Setting{{InitialWindowSize, 1}}, ConnWindow: initialWindow}},
	{"1,000 bytes", Params{Settings: []Setting{{EnablePush, 0}, {InitialWindowSize, 1000}}, ConnWindow: initialWindow}},
	{"128 KiB and 12 MiB", Params{Settings: []Setting{{HeaderTableSize, 65536}, {EnablePush, 0}, {InitialWindowSize, 131072}, {MaxFrameSize, 16384}}, ConnWindow: 12517377 + initialWindow}},
	{"6 MiB and 15 MiB", Params{Settings: []Setting{{HeaderTableSize, 65536}, {EnablePush, 0}, {InitialWindowSize, 6291456}, {MaxHeaderListSize, 262144}}, ConnWindow: 15663105 + initialWindow}},
	{"largest", Params{Settings: []Setting{{InitialWindowSize, maxWindow}, {MaxFrameSize, 1<<24 - 1}}, ConnWindow: maxWindow}},
}

// pattern is a body of which each part is known.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i ^ i>>8 ^ i>>16)
	}
	return b
}

// TestLargeBodyAndPausingReader: a body of 40 MB comes whole, whatever the windows are and wherever its reader pauses, and
// no more of it is held than the window.
func TestLargeBodyAndPausingReader(t *testing.T) {
	t.Parallel()
	const size = 40_000_000
	body := pattern(size)
	want := sha256.Sum256(body)
	t.Cleanup(func() {
		if !t.Failed() {
			fmt.Printf("shown fetch.2: %d MB over HTTP/2 to a reader that pauses for 20 minutes in all, under windows from 128 KiB to 2 GiB: whole, and never more held than the window; 20 KB under one of 1 byte\n", size/1_000_000)
		}
	})
	for _, w := range windows {
		t.Run(w.name, func(t *testing.T) {
			n := size
			if w.p.setting(InitialWindowSize, initialWindow) < 1<<16 {
				n = 20_000 // with a window of a byte each byte is a frame
			}
			synctest.Test(t, func(t *testing.T) {
				c := serve(t, Config{Params: w.p}, func(rw http.ResponseWriter, r *http.Request) { _, _ = rw.Write(body[:n]) })
				c.Reserve()
				s, err := c.Do(t.Context(), &Request{Scheme: "https", Authority: "a", Path: "/"})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				hash, got, most := sha256.New(), 0, 0
				buf := make([]byte, 50_000)
				for pause := 0; ; {
					m, err := s.Read(buf)
					hash.Write(buf[:m])
					if got += m; got >= pause {
						pause += n / 20
						<-time.After(time.Minute)
						c.mu.Lock()
						most = max(most, s.chunks.n)
						c.mu.Unlock()
					}
					if err == io.EOF {
						break
					}
					if err != nil {
						t.Fatalf("after %d bytes: %v", got, err)
					}
				}
				if sum := [32]byte(hash.Sum(nil)); got != n || n == size && sum != want {
					t.Errorf("%d bytes of %d", got, n)
				}
				limit := max(int(w.p.setting(InitialWindowSize, initialWindow)), initialWindow)
				if w.p.Settings == nil {
					limit = defaultWindow
				}
				if most > limit {
					t.Errorf("%d bytes held, the window is %d", most, limit)
				}
			})
		})
	}
}

// TestPausingReaderStopsNobody: others go on while a reader pauses on the same connection.
func TestPausingReaderStopsNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		body := pattern(2 << 20)
		c := serve(t, Config{}, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(body) })
		c.Reserve()
		slow, err := c.Do(t.Context(), &Request{Scheme: "https", Authority: "a", Path: "/"})
		if err != nil {
			t.Fatal(err)
		}
		defer slow.Close()
		for range 10 {
			if _, got, err := do(t.Context(), c, &Request{Path: "/"}); err != nil || !bytes.Equal(got, body) {
				t.Fatalf("%v, %d bytes", err, len(got))
			}
		}
		if got, err := io.ReadAll(slow); err != nil || !bytes.Equal(got, body) {
			t.Errorf("%v, %d bytes", err, len(got))
		}
	})
}

// TestUnreadBodiesGiveTheWindowBack: what nobody reads does not use the window of the connection up.
func TestUnreadBodiesGiveTheWindowBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		body := pattern(1 << 20)
		c := serve(t, Config{Params: Params{ConnWindow: 100_000}}, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(body) })
		for range 50 {
			c.Reserve()
			s, err := c.Do(t.Context(), &Request{Scheme: "https", Authority: "a", Path: "/"})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			_ = s.Close()
			synctest.Wait()
		}
		if _, got, err := do(t.Context(), c, &Request{Path: "/"}); err != nil || !bytes.Equal(got, body) {
			t.Errorf("%v, %d bytes", err, len(got))
		}
	})
}

// TestWindowsAreKept: a server may fill a window to its last byte, and not a byte more.
func TestWindowsAreKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		p      Params
		held   int // Limits.Held
		more   int // bytes beyond the window
		stream uint32
		told   string
	}{
		{"stream, full", Params{}, 0, 0, 1, ""},
		{"stream, beyond", Params{}, 0, 1, 1, "RST FLOW_CONTROL_ERROR"},
		{"stream, smaller than the server knows, full", Params{Settings: []Setting{{InitialWindowSize, 10}}}, 0, initialWindow - 10, 1, ""},
		{"stream, smaller than the server knows, beyond", Params{Settings: []Setting{{InitialWindowSize, 10}}}, 0, initialWindow - 9, 1, "RST FLOW_CONTROL_ERROR"},
		{"connection, full", Params{ConnWindow: 100_000}, 1, 100_000 - 1<<20, 1, ""},
		{"connection, beyond", Params{ConnWindow: 100_000}, 1, 100_001 - 1<<20, 1, "GOAWAY FLOW_CONTROL_ERROR"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				size := int(c.p.setting(InitialWindowSize, defaultWindow)) + c.more
				conn, p := withPeer(t, Config{Params: c.p, Limits: Limits{Held: c.held}}, []http2.Setting{}, func(p *peer) {
					id := p.request()
					p.head(id, false, ":status", "200")
					for n := size; n > 0; n -= 16 << 10 {
						_ = p.WriteData(id, false, make([]byte, min(n, 16<<10)))
					}
				})
				conn.Reserve()
				s, err := conn.Do(t.Context(), &Request{Scheme: "https", Authority: "a", Path: "/"})
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if p.said() != c.told {
					t.Errorf("told %q, want %q", p.said(), c.told)
				}
				if c.told == "" && s.chunks.n != size {
					t.Errorf("%d bytes of %d", s.chunks.n, size)
				}
				_ = s.Close()
			})
		})
	}
}

// TestRequestBodiesKeepToTheWindows: a body is sent as far as the server's windows allow, whatever their changes.
func TestRequestBodiesKeepToTheWindows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		body := pattern(300_000)
		var got []byte
		read := func(p *peer, n int) {
			for n > 0 {
				if f, ok := p.next().(*http2.DataFrame); ok {
					got = append(got, f.Data()...)
					n -= len(f.Data())
				}
			}
			if n < 0 {
				t.Errorf("%d bytes beyond the window", -n)
			}
		}
		conn, _ := withPeer(t, Config{}, []http2.Setting{{ID: http2.SettingInitialWindowSize, Val: 100}}, func(p *peer) {
			id := p.request()
			// The client cannot know of the settings before it begins.
			_ = p.WriteWindowUpdate(0, 1<<20)
			read(p, initialWindow)
			_ = p.WriteWindowUpdate(id, initialWindow-100+1) // the window is below nothing
			read(p, 1)
			_ = p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 50_100})
			read(p, 50_000)
			_ = p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
			_ = p.WriteWindowUpdate(id, 50_100)
			_ = p.WriteWindowUpdate(id, 1<<20)
			read(p, 300_000-len(got))
			p.ok(id, "thanks")
		})
		_, answer, err := do(t.Context(), conn, &Request{Method: "POST", Path: "/", Body: body})
		if err != nil || string(answer) != "thanks" || !bytes.Equal(got, body) {
			t.Errorf("%v, %q, %d bytes came", err, answer, len(got))
		}
	})
}

func TestChunksKeepBytesInOrder(t *testing.T) {
	t.Parallel()
	var q chunks
	body := pattern(200_000)
	var got []byte
	in := body
	for i := 1; len(got) < len(body); i++ {
		n := min(i*37%40_000, len(in))
		q.write(in[:n])
		in = in[n:]
		buf := make([]byte, i*53%30_000)
		m := q.read(buf)
		got = append(got, buf[:m]...)
	}
	if !bytes.Equal(got, body) || q.n != 0 || q.first != nil {
		t.Errorf("%d bytes, %d left", len(got), q.n)
	}
	q.write(body)
	if n := q.free(); n != len(body) || q.n != 0 || q.first != nil || q.last != nil {
		t.Errorf("%d freed", n)
	}
	pieces := 0
	for range 100 {
		q.write([]byte("x"))
	}
	for c := q.first; c != nil; c = c.next {
		pieces++
	}
	if pieces != 1 {
		t.Errorf("%d pieces for 100 bytes", pieces)
	}
}
