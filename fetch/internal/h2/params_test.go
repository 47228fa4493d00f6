package h2

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"golang.org/x/net/http2"
)

// TestParamsOnTheWire: settings, windows, priorities and the order of all fields are as the caller says.
func TestParamsOnTheWire(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		params Params
		req    Request
		want   []string
	}{
		{
			"neutral",
			Params{},
			Request{Path: "/", Header: list("User-Agent", "x", "b", "1", "a", "2", "b", "3")},
			[]string{
				"SETTINGS 2=0 4=1048576 6=2097152", "WINDOW_UPDATE 0 16711681",
				"HEADERS 1 end :method=GET :authority=a.example :scheme=https :path=/ user-agent=x b=1 a=2 b=3",
			},
		},
		{
			"one browser",
			Params{Settings: []Setting{{1, 65536}, {2, 0}, {4, 6291456}, {6, 262144}}, ConnWindow: 15663105 + 65535, Pseudo: "masp"},
			Request{Path: "/p?q", Header: list("sec-ch-ua", "x"), Priority: Priority{Exclusive: true, Weight: 255}},
			[]string{
				"SETTINGS 1=65536 2=0 4=6291456 6=262144", "WINDOW_UPDATE 0 15663105",
				"HEADERS 1 end {0 true 255} :method=GET :authority=a.example :scheme=https :path=/p?q sec-ch-ua=x",
			},
		},
		{
			"another",
			Params{
				Settings: []Setting{{1, 65536}, {2, 0}, {4, 131072}, {5, 16384}}, ConnWindow: 12517377 + 65535, Pseudo: "mpas", FirstStream: 3,
			},
			Request{Method: "POST", Path: "/", Body: []byte("x"), Header: list("te", "trailers"), Priority: Priority{Weight: 41}},
			[]string{
				"SETTINGS 1=65536 2=0 4=131072 5=16384", "WINDOW_UPDATE 0 12517377",
				"HEADERS 3 {0 false 41} :method=POST :path=/ :authority=a.example :scheme=https te=trailers", "DATA 3 end x",
			},
		},
		{
			"with a tree",
			Params{Settings: []Setting{}, ConnWindow: 1, Tree: []StreamPriority{{3, Priority{Weight: 200}}, {5, Priority{Parent: 3, Weight: 1}}}, Pseudo: "wrong"},
			Request{Path: "/"},
			[]string{"SETTINGS", "PRIORITY 3 {0 false 200}", "PRIORITY 5 {3 false 1}", "HEADERS 7 end :method=GET :authority=a.example :scheme=https :path=/"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var got []string
				conn, _ := withPeer(t, Config{Params: c.params}, []http2.Setting{}, func(p *peer) {
					for id := uint32(0); len(got) < len(c.want); {
						f := p.next()
						if f == nil {
							return
						}
						got = append(got, describe(p, f))
						if id = f.Header().StreamID; len(got) == len(c.want) {
							p.ok(id, "")
						}
					}
				})
				r := c.req
				r.Scheme, r.Authority = "https", "a.example"
				if _, _, err := do(t.Context(), conn, &r); err != nil {
					t.Error(err)
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
				}
			})
		})
	}
}

func describe(p *peer, f http2.Frame) string {
	h := f.Header()
	s := fmt.Sprint(h.Type)
	if h.StreamID != 0 {
		s += fmt.Sprint(" ", h.StreamID)
	}
	if (h.Type == http2.FrameHeaders || h.Type == http2.FrameData) && h.Flags.Has(http2.FlagDataEndStream) {
		s += " end"
	}
	switch f := f.(type) {
	case *http2.SettingsFrame:
		_ = f.ForeachSetting(func(v http2.Setting) error { s += fmt.Sprintf(" %d=%d", v.ID, v.Val); return nil })
	case *http2.WindowUpdateFrame:
		s += fmt.Sprint(" 0 ", f.Increment)
	case *http2.PriorityFrame:
		s += fmt.Sprintf(" {%d %v %d}", f.StreamDep, f.Exclusive, f.Weight)
	case *http2.DataFrame:
		s += " " + string(f.Data())
	case *http2.HeadersFrame:
		if f.HasPriority() {
			s += fmt.Sprintf(" {%d %v %d}", f.Priority.StreamDep, f.Priority.Exclusive, f.Priority.Weight)
		}
		for _, field := range p.fields {
			s += " " + field.Name + "=" + field.Value
		}
	}
	return s
}

// TestSizeThatTheServerTakesIsAdvice: a head that is larger than the server says it takes is the server's to refuse.
func TestSizeThatTheServerTakesIsAdvice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, _ := withPeer(t, Config{}, []http2.Setting{{ID: http2.SettingMaxHeaderListSize, Val: 100}}, func(p *peer) {
			p.ok(p.request(), "good")
			p.head(p.request(), true, ":status", "431")
		})
		if _, body, err := do(t.Context(), conn, &Request{Path: "/"}); err != nil || string(body) != "good" {
			t.Fatalf("%v, %q", err, body)
		}
		resp, _, err := do(t.Context(), conn, &Request{Path: "/", Header: list("a", strings.Repeat("x", 5000))})
		if err != nil || resp.Status != 431 {
			t.Errorf("%v, %d", err, resp.Status)
		}
	})
}

func TestBadRequestsAreRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, _ := withPeer(t, Config{}, []http2.Setting{}, func(p *peer) {
			for id := p.request(); id != 0; id = p.request() {
				p.ok(id, "good")
			}
		})
		if _, _, err := do(t.Context(), conn, &Request{Path: "/"}); err != nil {
			t.Fatal(err)
		}
		for name, r := range map[string]Request{
			"method":        {Method: "G ET", Path: "/"},
			"path":          {},
			"path, blank":   {Path: "/a b"},
			"path, control": {Path: "/\x7f"},
			"authority":     {Scheme: "https", Path: "/"},
			"scheme":        {Scheme: "ht tp", Authority: "a", Path: "/"},
			"name":          {Path: "/", Header: list("a b", "x")},
			"pseudo":        {Path: "/", Header: list(":path", "/x")},
			"cr":            {Path: "/", Header: list("a", "x\r")},
			"lf":            {Path: "/", Header: list("a", "x\ny: z")},
			"nul":           {Path: "/", Header: list("a", "\x00")},
			"connection":    {Path: "/", Header: list("Connection", "close")},
			"host":          {Path: "/", Header: list("Host", "a")},
			"te":            {Path: "/", Header: list("TE", "gzip")},
			"upgrade":       {Path: "/", Header: list("Upgrade", "h2c")},
			"coding":        {Path: "/", Header: list("Transfer-Encoding", "chunked")},
			"length":        {Path: "/", Header: list("Content-Length", "5"), Body: []byte("four")},
			"two lengths":   {Path: "/", Header: list("Content-Length", "4", "content-length", "4"), Body: []byte("four")},
			"too much":      {Path: "/", Header: list("a", strings.Repeat("x", maxRequestHead))},
		} {
			if _, _, err := do(t.Context(), conn, &r); KindOf(err) != BadRequest {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, r := range []Request{
			{Path: "/", Header: list("te", "trailers", "Content-Length", "4"), Body: []byte("four"), Method: "POST"},
			{Path: "*", Method: "OPTIONS"},
			{Path: "/" + strings.Repeat("~", 200)},
			{Path: "/" + strings.Repeat("a", 127)},
			{Path: "/" + strings.Repeat("é", 1000)},
		} {
			if _, body, err := do(t.Context(), conn, &r); err != nil || string(body) != "good" {
				t.Errorf("%.20s: %v", r.Path, err)
			}
		}
		if conn.places != 0 {
			t.Errorf("%d places", conn.places)
		}
	})
}

// TestLargeHeads: a head that needs CONTINUATION frames, and a table of the server's of any size.
func TestLargeHeads(t *testing.T) {
	t.Parallel()
	for _, table := range []uint32{0, 100, 4096, 1 << 20} {
		synctest.Test(t, func(t *testing.T) {
			conn, _ := withPeer(t, Config{}, []http2.Setting{{ID: http2.SettingHeaderTableSize, Val: table}}, func(p *peer) {
				p.dec.SetAllowedMaxDynamicTableSize(max(table, 4096))
				for id := p.request(); id != 0; id = p.request() {
					sum := 0
					for _, f := range p.fields {
						sum += len(f.Value)
					}
					p.ok(id, fmt.Sprint(sum, " ", p.fields[len(p.fields)-1].Value))
				}
			})
			var fields []Field
			want := len("GET") + len("films.example") + len("https") + len("/path/to/a/page")
			for i := range 101 {
				fields = append(fields, Field{Name: fmt.Sprint("X-", i), Value: strings.Repeat("~", i*10)})
				want += i * 10
			}
			for i := range 3 {
				_, body, err := do(t.Context(), conn, &Request{Path: "/path/to/a/page", Header: fields})
				if err != nil || !strings.HasPrefix(string(body), fmt.Sprint(want, " ")) {
					t.Errorf("table %d, %d: %v, %.40q, want %d", table, i, err, body, want)
				}
			}
		})
	}
}
