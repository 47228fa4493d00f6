package demosite

import (
	"fmt"
	"net/http"
	"time"
)

const (
	slowTitle = "Slow pages"
	// drops is in how many pieces a slow header or body comes.
	drops = 10
)

// slowPages are the slow pages by path.
var slowPages = []struct{ path, title string }{
	{"/slow/answer", "A slow answer"},
	{"/slow/header", "A slow header"},
	{"/slow/body", "A slow body"},
}

func (s *Site) routeSlow(mux *http.ServeMux) {
	handlers := []func(http.ResponseWriter, *http.Request, []byte){s.slowAnswer, s.slowHeader, s.slowBody}
	var paths []string
	for i, p := range slowPages {
		paths = append(paths, p.path)
		mux.HandleFunc("GET "+p.path, func(w http.ResponseWriter, r *http.Request) {
			handlers[i](w, r, s.render("text", view{Title: p.title, Data: fmt.Sprintf("This took %v.", max(0, s.opts.Slow))}))
		})
	}
	mux.HandleFunc("GET /slow", func(w http.ResponseWriter, r *http.Request) {
		s.html(w, r, "paths", view{Title: slowTitle, Data: paths})
	})
}

// pause waits for a part of the slow time, or gives the answer up when the client or the site has gone.
func (s *Site) pause(r *http.Request, d time.Duration) {
	if d > 0 && !s.wait(r.Context(), d) {
		panic(http.ErrAbortHandler)
	}
}

// slowAnswer is silent first.
func (s *Site) slowAnswer(w http.ResponseWriter, r *http.Request, body []byte) {
	s.pause(r, s.opts.Slow)
	s.content(w, r, "text/html; charset=utf-8", changed(s.opts.Seed, 0), body)
}

// slowBody sends the body in drops.
func (s *Site) slowBody(w http.ResponseWriter, r *http.Request, body []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	flusher := http.NewResponseController(w)
	_ = flusher.Flush() // where the writer cannot, all comes at once, later
	for i := range drops {
		s.pause(r, s.opts.Slow/drops)
		_, _ = w.Write(body[len(body)*i/drops : len(body)*(i+1)/drops])
		_ = flusher.Flush()
	}
}

// slowHeader sends the header in drops, on the bare connection, which it closes. Where the server does not give its
// connections away, the answer is slow as a whole.
func (s *Site) slowHeader(w http.ResponseWriter, r *http.Request, body []byte) {
	s.conns.Add(1) // this handler is one that Close waits for, even when the server has let go of the connection
	defer s.conns.Done()
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		s.slowAnswer(w, r, body)
		return
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Time{})
	head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n"+
		"X-Slowly: yes\r\nContent-Length: %d\r\n\r\n", len(body))
	for i := range drops {
		s.pause(r, s.opts.Slow/drops)
		if _, err := conn.Write([]byte(head[len(head)*i/drops : len(head)*(i+1)/drops])); err != nil {
			panic(http.ErrAbortHandler)
		}
	}
	if r.Method != http.MethodHead {
		_, _ = conn.Write(body)
	}
}
