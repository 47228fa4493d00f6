package h2

import (
	"math"
	"time"
)

// Config is how a connection behaves. The zero value is a good default.
type Config struct {
	Params   Params
	Limits   Limits
	Timeouts Timeouts
	// Changed is called when there may be more places for exchanges than before, other than by an exchange that ends: the
	// server has said how many it allows, or readers have made room. And once when no exchange may begin any more. It may
	// call all methods of the connection but Close. Nil is fine.
	Changed func()
}

// Limits bound what a server may make the client hold. Zero means the default, a negative value no limit. The body of each
// exchange is bounded by the window of streams in Params: what is not read is not sent.
type Limits struct {
	HeaderBytes   int // names and values of one response, 32 bytes more for each field, all 1xx and trailers included; zero means 2 MiB
	Fields        int // header fields of one head, and of the trailers; zero means 10,000
	Informational int // 1xx responses before a response; zero means 100
	Streams       int // exchanges at a time, if the server allows as many; zero means 1,000

	// Held is how many bytes of bodies may wait for their readers, over all exchanges, before the server is given no more
	// credit: then the window of the connection may come yet, and nothing more on any stream until somebody reads. Zero
	// means 64 MiB.
	Held int
}

// Timeouts bound each phase of an exchange by itself. Zero means the default, a negative value none.
type Timeouts struct {
	Write      time.Duration // for the server to take some more of what is to be written; half of it may do; after a tenth no exchange begins; zero means 30 s
	Header     time.Duration // from the end of the request to the end of the response's head, 1xx included; zero means 30 s
	IdleRead   time.Duration // without a byte of the body while one is waited for; zero means 30 s
	MinRate    int           // bytes of body a second, averaged over RateWindow of waiting, from the first one on; zero means 64
	RateWindow time.Duration // zero means 30 s; negative: MinRate is not asked for

	PingAfter time.Duration // without a byte on the connection while a stream is open, after which a PING is sent; zero means 30 s
	PingReply time.Duration // for anything to come after that; zero means 15 s
}

// Defaults of Config, and the bounds that are not to be set.
const (
	defaultWindow     = 1 << 20
	defaultConnWindow = 16 << 20
	initialWindow     = 1<<16 - 1 // of every window before anything is said (RFC 9113 6.9.2)
	maxWindow         = 1<<31 - 1

	defaultHeaderBytes   = 2 << 20
	defaultFields        = 10_000
	defaultInformational = 100
	defaultStreams       = 1000
	defaultHeld          = 64 << 20

	defaultPhase     = 30 * time.Second // Write, Header, IdleRead, RateWindow, PingAfter
	defaultPingReply = 15 * time.Second
	defaultMinRate   = 64

	unsaidStreams  = 100              // exchanges at a time before the server has said how many it allows
	maxStream      = 1<<31 - 1        // number of a stream
	frameSize      = 16 << 10         // bytes of the frames that are written; every server takes as many
	readSize       = 16 << 10         // of the buffer that frames are read into
	chunkSize      = 16 << 10         // of the pieces of memory that hold bodies
	maxRequestHead = 1 << 20          // bytes of head that a request may have
	maxQueued      = 4 << 20          // bytes to be written beyond which no exchange begins
	maxDataQueued  = 64 << 10         // bytes to be written beyond which no body is added
	stallShare     = 10               // part of Timeouts.Write after which a write has stalled
	frameHead      = 9                // bytes of every frame (RFC 9113 4.1)
	maxReplies     = 64 << 10         // bytes to be written beyond which what asks for a reply is too much
	maxUseless     = 10_000           // frames in a row that bring nothing
	usefulBytes    = 32               // of a body that is sent make up for a frame that opened a window
	lateFrames     = 4                // without a body that a server may send on a stream that the client has ended: head, trailers, window, reset
	blockSlack     = 16 << 10         // that a header block may be longer than the fields that it may hold
	perFragment    = 1 << 10          // bytes of header block that each CONTINUATION frame is expected to bring
	fewFragments   = 64               // CONTINUATION frames of any size
	maxDebug       = 256              // bytes of what a server says as it goes away
	inlineBytes    = 8 << 10          // that a socket takes without a wait when what went before has been read
	keptFields     = 128              // that there is room for between heads
	freeStreams    = 64               // kept for further exchanges
	probeAfter     = 10 * time.Second // of silence, after which a kept connection is asked whether it lives
	farewell       = time.Second      // for the last words on a connection
	maxHeaderTable = 64 << 10         // bytes of the table by which fields of requests are shortened
	maxPeerTable   = 1 << 20          // bytes of the table by which fields of responses are shortened
	statusSwitch   = 101              // does not exist in HTTP/2 (RFC 9113 8.6)
	fieldOverhead  = 32               // bytes that a field counts beside its name and value (RFC 9113 6.5.2)
	preface        = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
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
		Streams:       orDefault(l.Streams, defaultStreams),
		Held:          orDefault(l.Held, defaultHeld),
	}
}

// resolved fills in the defaults; what is negative stays so.
func (t Timeouts) resolved() Timeouts {
	for _, d := range []*time.Duration{&t.Write, &t.Header, &t.IdleRead, &t.RateWindow, &t.PingAfter} {
		if *d == 0 {
			*d = defaultPhase
		}
	}
	if t.PingReply == 0 {
		t.PingReply = defaultPingReply
	}
	if t.MinRate == 0 {
		t.MinRate = defaultMinRate
	}
	return t
}

// stall is how long a write may last before nobody is to wait for it who need not. It is at most 0 for no limit.
func (t *Timeouts) stall() time.Duration { return t.Write / stallShare }

// after returns the end of a phase that began at start; zero when it has none.
func after(start time.Time, d time.Duration) time.Time {
	if d < 0 {
		return time.Time{}
	}
	return start.Add(d)
}
