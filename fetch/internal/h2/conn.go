package h2

import (
	"bufio"
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/seine-go/seine/fetch/internal/h1"
)

// Conn is one connection to a server. Its methods may be called concurrently.
//
// One goroutine reads as long as the connection lives; writing is done by whoever has something to write, or, where that
// might have to wait, by a goroutine for as long as something is to be written. A Conn that can carry no more exchanges
// closes itself after the last one; Close is needed only to end it earlier. Between exchanges it holds a buffer of 16 KiB,
// the stack of the reading goroutine and the tables of the compression of fields, some 25 KiB beside the net.Conn.
type Conn struct {
	nc    net.Conn
	conf  Config
	group sync.WaitGroup // the goroutines

	// Of the reading goroutine.
	in     *bufio.Reader
	fields fieldReader
	block  headerBlock

	mu      sync.Mutex
	down    error // why no exchange may begin; nil while one may
	tell    bool  // Changed is to be called
	lost    bool  // all streams have ended with the connection
	closing bool  // to be closed when all is written
	closed  bool  // by Close

	socket   bool // what is written goes to a socket, which takes a little without a wait
	places   int  // reserved, those of open streams included
	streams  map[uint32]*Stream
	next     uint32 // stream to be opened
	lastGood uint32 // the highest stream that the server has not refused as it went away
	free     []*Stream
	woken    []*Stream // have something to see; told before the next wait for the server
	peer     peerSettings
	unacked  int  // settings that the server has not acknowledged
	useless  int  // frames since the last one that brought something
	replies  int  // bytes of replies since the last batch was written
	served   bool // a response has come

	framer   *http2.Framer // writes to out; its other half belongs to the reading goroutine
	encoder  *hpack.Encoder
	encoded  queue
	out      queue
	spare    []byte // for out, while a batch is written
	unsent   []opened
	batch    []opened // of the batch that is written
	flushing bool
	seen     int64     // of all bytes ever queued, how many the server has certainly read
	writing  time.Time // since when; zero: nothing is being written, or it may last for ever
	writeDue time.Time
	senders  []*Stream // with body to be sent, served in turn
	turn     int

	window   window    // what the server may send
	held     int64     // bytes of bodies that wait for their readers
	withheld int64     // of those, what the server has been given no credit for
	fed      time.Time // the server was last seen without credit because of that
	late     int64     // bytes that may still come on streams that the client has ended
	excused  int       // frames without a body that may
	send     int64     // what may be sent

	lastRead time.Time // something came
	pinged   time.Time // a PING was sent that nothing has come after
	health   *time.Timer
	watched  bool // health runs
}

// peerSettings are what the server has said of itself.
type peerSettings struct {
	said    bool
	streams int64
	window  int64 // of new streams
}

// opened is a stream whose head is to be written.
type opened struct {
	s  *Stream
	id uint32
}

var (
	errBusy       = errors.New("the server allows no more streams")
	errNumbers    = errors.New("the connection has no stream numbers left")
	errQueue      = errors.New("too much waits to be written")
	errIsDown     = errors.New("the connection can carry no other exchange")
	errSilence    = errors.New("the server does not answer a PING")
	errWrite      = errors.New("the server takes nothing")
	errStalled    = errors.New("the server takes nothing for now")
	errNoSettings = errors.New("the server says nothing")
	past          = time.Unix(1, 0)
)

// NewConn takes over a connection on which both sides know that HTTP/2 is spoken. What the client has to say first goes out
// with the first request. Close closes nc.
func NewConn(nc net.Conn, conf Config) *Conn {
	conf.Limits, conf.Timeouts = conf.Limits.resolved(), conf.Timeouts.resolved()
	conf.Params = conf.Params.resolved(conf.Limits.HeaderBytes)
	p := &conf.Params
	c := &Conn{
		nc: nc, conf: conf, streams: map[uint32]*Stream{}, next: p.FirstStream, lastGood: maxStream, send: initialWindow,
		peer: peerSettings{streams: unsaidStreams, window: initialWindow}, lastRead: time.Now(),
	}
	switch h1.Bottom(nc).(type) {
	case syscall.Conn, interface{ Pending() bool }: // the latter is a connection in memory
		c.socket = true
	}
	_ = nc.SetDeadline(time.Time{})
	c.in = bufio.NewReaderSize(source{c}, readSize)
	c.framer = http2.NewFramer(&c.out, c.in)
	c.framer.SetMaxReadFrameSize(min(max(p.setting(MaxFrameSize, frameSize), frameSize), 1<<24-1))
	c.encoder = hpack.NewEncoder(&c.encoded)
	c.fields.setup(min(p.setting(HeaderTableSize, 4096), maxPeerTable), conf.Limits)
	c.greet()
	c.group.Go(c.read)
	return c
}

// greet queues what a client says first.
func (c *Conn) greet() {
	p := &c.conf.Params
	c.out.b = append(c.out.b, preface...)
	c.out.total += int64(len(preface))
	settings := make([]http2.Setting, len(p.Settings))
	for i, s := range p.Settings {
		settings[i] = http2.Setting{ID: http2.SettingID(s.ID), Val: s.Value}
	}
	_ = c.framer.WriteSettings(settings...)
	c.unacked++
	c.window = newWindow(initialWindow, int64(p.ConnWindow))
	if more := p.ConnWindow - initialWindow; more > 0 {
		_ = c.framer.WriteWindowUpdate(0, more)
		c.window.granted(int64(more))
	}
	for _, t := range p.Tree {
		_ = c.framer.WritePriority(t.Stream, t.param())
	}
}

// Reserve takes a place for one exchange, which the next Do uses. It returns false when no more can be had now, or ever.
func (c *Conn) Reserve() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down != nil || c.withheld > 0 || len(c.out.b) > maxQueued || int64(c.places) >= min(c.peer.streams, int64(c.conf.Limits.Streams)) {
		return false
	}
	c.places++
	return true
}

// Said reports whether the server has said how many exchanges at a time it allows. Until then there are 100 places, which
// may be too many.
func (c *Conn) Said() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.peer.said
}

// Usable reports whether another exchange may ever begin.
func (c *Conn) Usable() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.down == nil
}

// Do has an exchange up to the head of the response. It uses a place that Reserve has given, which Close of the stream
// gives back; without a stream it is given back at once. The end of ctx ends the exchange, up to the end of the body, and
// does nothing to the connection. Every error is an *[Error].
func (c *Conn) Do(ctx context.Context, r *Request) (*Stream, error) {
	s, err := c.open(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := s.awaitHead(); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends the connection with all exchanges on it, and returns when its goroutines have ended.
func (c *Conn) Close() error {
	c.mu.Lock()
	c.closed = true
	rude := c.flushing || len(c.streams) > 0
	c.lose(Cancelled, net.ErrClosed)
	c.closing = false
	c.stopHealth()
	c.unlock()
	err := c.hangUp(rude)
	c.group.Wait()
	return err
}

// hangUp closes the connection, rudely without a farewell, as of TLS, which would wait for a server that takes nothing.
func (c *Conn) hangUp(rude bool) error {
	if rude {
		_ = h1.Bottom(c.nc).Close()
	}
	return c.nc.Close()
}

// Retire lets no more exchange begin; those under way go on.
func (c *Conn) Retire() {
	c.mu.Lock()
	c.shut(errIsDown)
	c.kick(false)
	c.unlock()
}

// shut lets no more exchange begin. c.mu is held, and to be given back by unlock.
func (c *Conn) shut(why error) {
	if c.down == nil {
		c.down, c.tell = why, true
	}
	c.leave()
}

// leave closes the connection when nothing more is to come of it.
func (c *Conn) leave() {
	if c.down != nil && len(c.streams) == 0 {
		c.closing = true
		c.stopHealth()
	}
}

// unlock gives back c.mu after what may have changed who can be served.
func (c *Conn) unlock() {
	tell := c.tell && c.conf.Changed != nil
	c.tell = false
	c.mu.Unlock()
	if tell {
		c.conf.Changed()
	}
}

// lose ends all streams.
func (c *Conn) lose(kind Kind, why error) {
	if c.lost {
		return
	}
	c.lost = true
	for _, s := range c.streams {
		s.fail(kind, why)
	}
	clear(c.streams)
	c.senders, c.unsent = nil, nil
	for _, s := range c.free {
		s.stopTimer()
	}
	c.free = nil
	c.out.b = c.out.b[:0]
	c.shut(why)
	c.wakeAll()
	c.writeDue = past
	_ = c.nc.SetWriteDeadline(past)
}

// breakWith ends the connection because the server has broken its rules, and tells it so.
func (c *Conn) breakWith(b *breach) {
	if c.lost {
		return
	}
	kind := b.kind
	if kind == 0 {
		kind = Protocol
	}
	c.lose(kind, b)
	_ = c.framer.WriteGoAway(0, b.code, nil)
	c.writeDue = time.Now().Add(farewell)
	_ = c.nc.SetWriteDeadline(c.writeDue)
}
