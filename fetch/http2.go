package fetch

import (
	"fmt"

	"github.com/seine-go/seine/fetch/internal/h2"
)

// HTTP2 is how a Transport speaks HTTP/2: what a host sees of it beside its requests, and can tell clients apart by, and what
// is held for those who read. The order of header
// fields is that of each request (Request.HeaderOrder). The zero value is a client that looks like no browser.
type HTTP2 struct {
	// Settings are sent in this order, and what they say holds: INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE, HEADER_TABLE_SIZE bound
	// what is taken. Nil means no push, windows of 1 MiB and Transport.MaxHeader.
	Settings []HTTP2Setting
	// ConnWindow is how many bytes of bodies a host may have under way on a connection, over all streams, from 65,535 to
	// 2,147,483,647. Zero means 16 MiB.
	ConnWindow uint32
	// Held is how many bytes of bodies may wait on a connection for those who read them, over all streams, before the host is
	// given no more credit: then ConnWindow may come yet, and nothing more, nor does a request begin there, until somebody reads.
	// With Transport.MaxConnsPerHost it bounds what a host can have held. Zero means 64 MiB, negative no limit but those of streams.
	Held int
	// Tree is sent after the settings, as PRIORITY frames. The streams must not be those of requests.
	Tree []HTTP2Priority
	// FirstStream is the odd number of the first request's stream. Zero means 1, or the one after the highest of Tree.
	FirstStream uint32
	// Pseudo is the order of :method, :authority, :scheme and :path by their first letters. Empty means "masp".
	Pseudo string
	// Priority is that of a kind of requests, whose Stream is passed over; nil, or the zero value, sends none. It must be safe
	// for concurrent use.
	Priority func(Kind) HTTP2Priority
}

// HTTP2Setting is one parameter of a SETTINGS frame (RFC 9113 6.5).
type HTTP2Setting struct {
	ID    uint16
	Value uint32
}

// HTTP2Priority is the priority of a stream (RFC 7540 5.3), which RFC 9113 lets hosts pass over.
type HTTP2Priority struct {
	Stream    uint32
	Parent    uint32 // the stream that it depends on
	Exclusive bool
	Weight    uint8 // less one, as on the wire
}

// HTTP2Error names the part of HTTP2 that cannot be.
type HTTP2Error struct {
	Name   string // of the field
	Reason string
}

// Error returns "HTTP2.NAME: reason".
func (e *HTTP2Error) Error() string { return "HTTP2." + e.Name + ": " + e.Reason }

// maxHTTP2Tree bounds the PRIORITY frames that are sent first.
const maxHTTP2Tree = 100

// check returns an *HTTP2Error for what would break the rules of HTTP/2, so that no host has to.
func (p *HTTP2) check() error {
	bad := func(name, format string, args ...any) error { return &HTTP2Error{name, fmt.Sprintf(format, args...)} }
	for _, s := range p.Settings {
		switch {
		case s.ID == h2.EnablePush && s.Value != 0:
			return bad("Settings", "pushes are not taken")
		case s.ID == h2.InitialWindowSize && s.Value > 1<<31-1:
			return bad("Settings", "a window of %d bytes", s.Value)
		case s.ID == h2.MaxFrameSize && (s.Value < 1<<14 || s.Value > 1<<24-1):
			return bad("Settings", "frames of %d bytes", s.Value)
		}
	}
	if w := p.ConnWindow; w != 0 && (w < 1<<16-1 || w > 1<<31-1) {
		return bad("ConnWindow", "%d bytes", w)
	}
	if len(p.Tree) > maxHTTP2Tree {
		return bad("Tree", "more than %d streams", maxHTTP2Tree)
	}
	for _, t := range p.Tree {
		switch {
		case t.Stream == 0 || t.Stream%2 == 0 || t.Stream > 1<<30:
			return bad("Tree", "the stream %d", t.Stream)
		case t.Parent == t.Stream || t.Parent > 1<<31-1:
			return bad("Tree", "the parent %d of the stream %d", t.Parent, t.Stream)
		case p.FirstStream != 0 && t.Stream >= p.FirstStream:
			return bad("FirstStream", "%d is not above those of Tree", p.FirstStream)
		}
	}
	if n := p.FirstStream; n != 0 && (n%2 == 0 || n > 1<<30) {
		return bad("FirstStream", "%d", n)
	}
	if p.Pseudo != "" && !h2.ValidPseudo(p.Pseudo) {
		return bad("Pseudo", "%q does not name each of m, a, s and p once", p.Pseudo)
	}
	return nil
}

// params returns them as the connection takes them.
func (p *HTTP2) params() h2.Params {
	out := h2.Params{ConnWindow: p.ConnWindow, FirstStream: p.FirstStream, Pseudo: p.Pseudo}
	if p.Settings != nil {
		out.Settings = make([]h2.Setting, len(p.Settings))
		for i, s := range p.Settings {
			out.Settings[i] = h2.Setting(s)
		}
	}
	for _, t := range p.Tree {
		out.Tree = append(out.Tree, h2.StreamPriority{Stream: t.Stream, Priority: t.wire()})
	}
	return out
}

func (p HTTP2Priority) wire() h2.Priority {
	return h2.Priority{Parent: p.Parent, Exclusive: p.Exclusive, Weight: p.Weight}
}

// priority returns that of a request.
func (p *HTTP2) priority(k Kind) h2.Priority {
	if p == nil || p.Priority == nil {
		return h2.Priority{}
	}
	return p.Priority(k).wire()
}
