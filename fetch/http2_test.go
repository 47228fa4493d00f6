package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"golang.org/x/net/http2"

	"github.com/seine-go/seine/fetch/identity"
)

// TestHTTP2IsTheCallers: settings, windows, priorities and the order of fields go out as the caller says, and what the windows
// say holds.
func TestHTTP2IsTheCallers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		weights := map[Kind]uint8{identity.Navigate: 255, identity.Image: 182}
		tr, _, route := rawH2(t, &Transport{UserAgent: "ua", HTTP2: &HTTP2{
			Settings:    []HTTP2Setting{{1, 65536}, {2, 0}, {4, 6291456}, {6, 262144}},
			ConnWindow:  15663105 + 65535,
			Tree:        []HTTP2Priority{{Stream: 3, Weight: 200}, {Stream: 5, Parent: 3, Weight: 100}},
			FirstStream: 15,
			Pseudo:      "mpas",
			Priority:    func(k Kind) HTTP2Priority { return HTTP2Priority{Exclusive: true, Weight: weights[k]} },
		}}, nil, func(f *frames) {
			for requests := 0; requests < 2; {
				frame, err := f.ReadFrame()
				if err != nil {
					return
				}
				switch frame := frame.(type) {
				case *http2.SettingsFrame:
					if !frame.IsAck() {
						_ = frame.ForeachSetting(func(s http2.Setting) error {
							seen = append(seen, fmt.Sprintf("%d:%d", s.ID, s.Val))
							return nil
						})
					}
				case *http2.WindowUpdateFrame:
					seen = append(seen, fmt.Sprintf("window %d %d", frame.StreamID, frame.Increment))
				case *http2.PriorityFrame:
					seen = append(seen, fmt.Sprintf("priority %d %d %d", frame.StreamID, frame.StreamDep, frame.Weight))
				case *http2.HeadersFrame:
					requests++
					f.fields = nil
					_, _ = f.dec.Write(frame.HeaderBlockFragment())
					names := ""
					for _, field := range f.fields {
						names += field.Name + " "
					}
					p := frame.Priority
					seen = append(seen, fmt.Sprintf("head %d %d %v %d %s", frame.StreamID, p.StreamDep, p.Exclusive, p.Weight, names))
					f.ok(frame.StreamID, strings.Repeat("x", 10_000))
				}
			}
		})
		for _, kind := range []Kind{identity.Navigate, identity.Image} {
			resp, err := tr.Fetch(t.Context(), &Request{URL: "https://films.example/", Kind: kind, Route: route, HeaderOrder: []string{"accept", "user-agent"}})
			if err != nil || len(resp.Body) != 10_000 {
				t.Fatal(err)
			}
		}
		const fields = ":method :path :authority :scheme accept user-agent accept-encoding "
		want := "1:65536|2:0|4:6291456|6:262144|window 0 15663105|priority 3 0 200|priority 5 3 100|head 15 0 true 255 " + fields + "|head 17 0 true 182 " + fields
		if got := strings.Join(seen, "|"); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	})
}

// TestHTTP2HeldIsBounded: what waits for a Sink that takes nothing is bounded as the caller says, by a window more.
func TestHTTP2HeldIsBounded(t *testing.T) {
	t.Parallel()
	const window, streams, slack = 1 << 16, 40, 16 << 10 // the last is what the host has in hand for each stream
	for _, c := range []struct{ held, least, most int64 }{
		{200_000, 200_000, 200_000 + 2*window + 8*slack},
		{1 << 20, 1 << 20, 1<<20 + 2*window + 20*slack},
		{-1, streams * window, streams * (window + slack)},
	} {
		synctest.Test(t, func(t *testing.T) {
			var sent atomic.Int64
			tr, _, route := h2Client(t, &Transport{MaxConnsPerHost: 1, HTTP2: &HTTP2{
				Settings: []HTTP2Setting{{4, window}}, ConnWindow: window, Held: int(c.held),
			}}, func(w http.ResponseWriter, r *http.Request) {
				for {
					n, err := w.Write(make([]byte, 4096))
					if err != nil {
						return
					}
					sent.Add(int64(n))
				}
			})
			ctx, cancel := context.WithCancel(t.Context())
			var all sync.WaitGroup
			for range streams {
				all.Go(func() {
					_, err := tr.Fetch(ctx, &Request{URL: "https://films.example/", Route: route, Sink: func(*Response) (io.Writer, error) {
						<-ctx.Done()
						return nil, ctx.Err()
					}})
					if !errors.Is(err, ErrCanceled) {
						t.Errorf("%v", err)
					}
				})
				synctest.Wait()
			}
			if n := sent.Load(); n < c.least || n > c.most {
				t.Errorf("with %d held %d bytes were sent, want %d to %d", c.held, n, c.least, c.most)
			}
			cancel()
			all.Wait()
		})
	}
}

// TestHTTP2IsChecked: what cannot be is named, and nothing is sent.
func TestHTTP2IsChecked(t *testing.T) {
	t.Parallel()
	many := func(n int) (tree []HTTP2Priority) {
		for i := range n {
			tree = append(tree, HTTP2Priority{Stream: uint32(2*i + 1)})
		}
		return tree
	}
	for _, c := range []struct {
		p    HTTP2
		name string // of what is wrong; empty: nothing
	}{
		{HTTP2{}, ""},
		{HTTP2{Settings: []HTTP2Setting{{2, 1}}}, "Settings"},
		{HTTP2{Settings: []HTTP2Setting{{4, 1<<31 - 1}}}, ""},
		{HTTP2{Settings: []HTTP2Setting{{4, 1 << 31}}}, "Settings"},
		{HTTP2{Settings: []HTTP2Setting{{5, 1<<14 - 1}}}, "Settings"},
		{HTTP2{Settings: []HTTP2Setting{{5, 1 << 24}}}, "Settings"},
		{HTTP2{Settings: []HTTP2Setting{{5, 1<<24 - 1}, {9999, 1}}}, ""},
		{HTTP2{ConnWindow: 65534}, "ConnWindow"},
		{HTTP2{ConnWindow: 65535}, ""},
		{HTTP2{ConnWindow: 1 << 31}, "ConnWindow"},
		{HTTP2{Tree: many(maxHTTP2Tree)}, ""},
		{HTTP2{Tree: many(maxHTTP2Tree + 1)}, "Tree"},
		{HTTP2{Tree: []HTTP2Priority{{Stream: 2}}}, "Tree"},
		{HTTP2{Tree: []HTTP2Priority{{Stream: 3, Parent: 3}}}, "Tree"},
		{HTTP2{Tree: []HTTP2Priority{{Stream: 3}}, FirstStream: 3}, "FirstStream"},
		{HTTP2{Tree: []HTTP2Priority{{Stream: 3}}, FirstStream: 5}, ""},
		{HTTP2{FirstStream: 2}, "FirstStream"},
		{HTTP2{Pseudo: "masm"}, "Pseudo"},
		{HTTP2{Pseudo: "mpas"}, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			tr, n, route := h2Client(t, &Transport{HTTP2: &c.p}, okHandler)
			_, err := tr.Fetch(t.Context(), &Request{URL: "https://films.example/", Route: route})
			var bad *HTTP2Error
			switch errors.As(err, &bad); {
			case c.name == "" && err != nil, c.name != "" && (bad == nil || bad.Name != c.name || !errors.Is(err, ErrInvalid) || n.Dialled() > 0):
				t.Errorf("%+v: %v", c.p, err)
			}
		})
	}
}
