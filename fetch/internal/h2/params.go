package h2

import (
	"slices"

	"golang.org/x/net/http2"
)

// Params are what a server sees of a client beside its requests. The zero value is a client that looks like no browser.
type Params struct {
	// Settings are sent in this order, and what they say holds: INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE and
	// HEADER_TABLE_SIZE bound what the connection takes. Nil means no push, windows of 1 MiB, and Limits.HeaderBytes.
	Settings []Setting
	// ConnWindow is how many bytes of bodies the server may send ahead of the readers, over all streams. Zero means 16
	// MiB; the least is 65,535.
	ConnWindow uint32
	// Tree is sent after the settings, as PRIORITY frames.
	Tree []StreamPriority
	// FirstStream is the number of the first stream. Zero means 1, or the one after the highest of Tree.
	FirstStream uint32
	// Pseudo is the order of the pseudo-header fields, by their first letters. Empty means "masp".
	Pseudo string
}

// Setting is one parameter of a SETTINGS frame (RFC 9113 6.5).
type Setting struct {
	ID    uint16
	Value uint32
}

// Priority is the priority of a stream (RFC 7540 5.3), which RFC 9113 lets servers pass over.
type Priority struct {
	Parent    uint32 // the stream that it depends on
	Exclusive bool
	Weight    uint8 // less one, as on the wire
}

// StreamPriority is the content of a PRIORITY frame.
type StreamPriority struct {
	Stream uint32
	Priority
}

// Settings of RFC 9113 6.5.2.
const (
	HeaderTableSize      = uint16(http2.SettingHeaderTableSize)
	EnablePush           = uint16(http2.SettingEnablePush)
	MaxConcurrentStreams = uint16(http2.SettingMaxConcurrentStreams)
	InitialWindowSize    = uint16(http2.SettingInitialWindowSize)
	MaxFrameSize         = uint16(http2.SettingMaxFrameSize)
	MaxHeaderListSize    = uint16(http2.SettingMaxHeaderListSize)
)

// resolved fills in the defaults.
func (p Params) resolved(headerBytes int) Params {
	if p.Settings == nil {
		p.Settings = []Setting{{EnablePush, 0}, {InitialWindowSize, defaultWindow}}
		if headerBytes <= maxWindow {
			p.Settings = append(p.Settings, Setting{MaxHeaderListSize, uint32(headerBytes)})
		}
	}
	if p.ConnWindow == 0 {
		p.ConnWindow = defaultConnWindow
	}
	p.ConnWindow = min(max(p.ConnWindow, initialWindow), maxWindow)
	if p.FirstStream == 0 {
		p.FirstStream = 1
		for _, t := range p.Tree {
			p.FirstStream = max(p.FirstStream, t.Stream+2)
		}
	}
	p.FirstStream |= 1
	if !ValidPseudo(p.Pseudo) {
		p.Pseudo = "masp"
	}
	return p
}

// ValidPseudo reports whether an order names each of the four fields once.
func ValidPseudo(order string) bool {
	letters := []byte(order)
	slices.Sort(letters)
	return string(letters) == "amps"
}

// setting returns what the settings say of one of them.
func (p *Params) setting(id uint16, otherwise uint32) uint32 {
	for _, s := range p.Settings {
		if s.ID == id {
			otherwise = s.Value
		}
	}
	return otherwise
}

func (p Priority) param() http2.PriorityParam {
	return http2.PriorityParam{StreamDep: p.Parent, Exclusive: p.Exclusive, Weight: p.Weight}
}
