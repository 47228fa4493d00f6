package h1

import (
	"math"
	"time"
)

// Defaults of Limits and Timeouts, and the bounds that are not to be set.
const (
	defaultHeaderBytes   = 2 << 20
	defaultFields        = 10_000
	defaultInformational = 100

	defaultPhase   = 30 * time.Second // Write, Header, IdleRead and RateWindow
	defaultMinRate = 64

	maxRequestHead = 1 << 20               // bytes of head that a request may have
	maxChunkLine   = 16 << 10              // bytes of a line that tells the size of a chunk
	bufferSize     = 32 << 10              // of the buffer that a connection has during an exchange
	writePiece     = 64 << 10              // bytes of a request given to one write
	directRead     = 4 << 10               // the least room in a caller's slice that is read into without the buffer
	maxJunk        = 4                     // bytes that may stand before the status line, as in Chromium
	maxEmptyReads  = 100                   // reads in a row that bring neither bytes nor an error
	earlyAnswer    = time.Second           // to look for an answer from a server that has stopped reading the request
	staleRead      = 50 * time.Millisecond // to read through a layer (TLS) below which something waits to be read
	maxLayers      = 8                     // of connections wrapped in connections
)

// orDefault resolves a limit: zero is the default, negative is none.
func orDefault(v, def int) int {
	switch {
	case v == 0:
		return def
	case v < 0:
		return math.MaxInt
	}
	return v
}

func (l Limits) resolved() Limits {
	return Limits{
		HeaderBytes:   orDefault(l.HeaderBytes, defaultHeaderBytes),
		Fields:        orDefault(l.Fields, defaultFields),
		Informational: orDefault(l.Informational, defaultInformational),
	}
}

// resolved fills in the defaults; what is negative stays so.
func (t Timeouts) resolved() Timeouts {
	for _, d := range []*time.Duration{&t.Write, &t.Header, &t.IdleRead, &t.RateWindow} {
		if *d == 0 {
			*d = defaultPhase
		}
	}
	if t.MinRate == 0 {
		t.MinRate = defaultMinRate
	}
	return t
}

// after returns the end of a phase that began at start; zero when it has none.
func after(start time.Time, d time.Duration) time.Time {
	if d < 0 {
		return time.Time{}
	}
	return start.Add(d)
}
