package fetch

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/seine-go/seine/fetch/cookie"
	"github.com/seine-go/seine/fetch/internal/h1"
	"github.com/seine-go/seine/fetch/internal/h2"
)

// Defaults of Transport.
const (
	DefaultMaxBody      = 32 << 20 // decoded bytes
	DefaultMaxRedirects = 10
	DefaultUserAgent    = "seine/0.1 (+https://github.com/seine-go/seine)"

	defaultDNSTTL         = time.Minute
	defaultDNSTimeout     = 10 * time.Second
	defaultDialTimeout    = 10 * time.Second
	defaultTLSTimeout     = 10 * time.Second
	defaultHeaderTimeout  = 30 * time.Second
	defaultTotal          = 10 * time.Minute
	defaultMaxHeader      = 2 << 20
	defaultMaxIdle        = 1024
	defaultMaxIdlePerHost = 256
	defaultMaxConnsH1     = 256
	defaultMaxConnsH2     = 16
	defaultIdleTimeout    = time.Minute
	defaultMinRate        = 64
)

// Transport is the Fetcher that talks to the network: HTTP/1.1 and HTTP/2, over TLS and without, directly or through
// proxies. The zero value is ready. It is safe for concurrent use; its fields must not be changed, nor the Transport be
// copied, after the first use.
//
// Every limit and timeout has a default that zero stands for; a negative value means none.
type Transport struct {
	// TLS shakes hands with hosts. Nil means crypto/tls.
	TLS Handshaker
	// Dial opens connections. network is "tcp", addr is IP:port and has passed the Guard, unless it is a proxy's. Nil
	// means a net.Dialer.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Resolver resolves names. Nil means that of the system, which is not asked for localhost.
	Resolver Resolver
	// DNSTTL is how long an answer of the Resolver is used, and that a name does not exist. Zero means 1 minute,
	// negative that it is asked for every connection.
	DNSTTL time.Duration

	// Guard is asked about every address before it is dialled, whatever name led to it; an error refuses it. Nil means
	// PublicAddr. The addresses of proxies are the caller's choice and not asked about; behind a proxy only hosts that
	// are addresses are.
	Guard func(netip.Addr) error
	// AllowPrivate lets a nil Guard allow every address.
	AllowPrivate bool

	// Gate is asked before every exchange. Nil waits for nothing.
	Gate Gate
	// CheckHop is asked before every redirect is followed; an error refuses it. first is the request as it was given, hops are the
	// redirects so far, of which the last leads to where the Transport would go; it must not change them. Nil follows all.
	CheckHop func(ctx context.Context, first *Request, hops []Hop) error
	// SecretHeaders names header fields that are kept from other origins when a redirect leads there, beside
	// Authorization, Cookie and Proxy-Authorization.
	SecretHeaders []string

	// Cookies opens the jar of a session (Route.Session) for each request; the method Open of a cookie.Jars is one. What any
	// answer sets is kept there, redirects and errors included, and sent with what follows. Cookies that the request gives in
	// its header come before those of the jar of the same name, until a redirect on the way sets them anew; a Cookie field
	// without values sends none. What is known of
	// where a request comes from, for SameSite, is its Kind and its Initiator. Nil keeps no cookies but those that redirects set,
	// and these for the length of one Fetch; so does a nil jar.
	Cookies func(ctx context.Context, session string) (*cookie.Jar, error)

	// UserAgent is sent by requests that have none. Empty means DefaultUserAgent.
	UserAgent string
	// DisableHTTP2 offers hosts HTTP/1.1 alone.
	DisableHTTP2 bool
	// HTTP2 is what hosts see of the Transport over HTTP/2. Nil means the zero value.
	HTTP2 *HTTP2

	MaxBody      int64 // decoded bytes of a body; zero means 32 MiB
	MaxHeader    int   // bytes of the head of an answer, 1xx and trailers included; zero means 2 MiB
	MaxRedirects int   // hops that are followed; zero means 10, negative that none is

	DNSTimeout      time.Duration // for a name to be resolved; zero means 10 s
	DialTimeout     time.Duration // for a host to be reached, all its addresses and the proxies on the way together; zero means 10 s
	TLSTimeout      time.Duration // for a handshake; zero means 10 s
	HeaderTimeout   time.Duration // from the request written to the end of the answer's head; zero means 30 s
	IdleReadTimeout time.Duration // without a byte of a body; zero means 30 s
	MinRate         int           // bytes of a body per second, averaged over 30 s; zero means 64
	Total           time.Duration // of one exchange from its connection to its last byte, without what a Sink takes; zero means 10 minutes

	// MaxConnsPerHost bounds the connections per route and host, those that are being opened and those that are to be closed after
	// their last exchange among them. Further requests wait, in the order in which they came, as long as their context allows; a
	// Sink that asks the same host for more waits for itself where it has the last one. Zero means 256 over HTTP/1.1, or
	// MaxIdlePerHost where that is more, and 16 over HTTP/2, of which one takes as many requests as the host allows.
	MaxConnsPerHost int

	MaxIdle        int           // connections that are kept for later; zero means 1024
	MaxIdlePerHost int           // of those, per route and host; zero means 256
	IdleTimeout    time.Duration // after which a kept connection is closed; zero means 1 minute

	once sync.Once
	conf config
	dns  dnsCache
	pool pool
}

// config holds the fields of a Transport with the defaults filled in.
type config struct {
	terms
	tls          Handshaker
	dial         func(ctx context.Context, network, addr string) (net.Conn, error)
	guard        func(netip.Addr) error
	alpn         []string
	maxBody      int64
	maxRedirects int
	limits       h1.Limits
	timeouts     h1.Timeouts
	h2           h2.Config
	bad          error // why nothing can be sent

	dialTimeout, tlsTimeout, total time.Duration // 0: none
}

func orDefault[T int | int64 | time.Duration](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}

// orNone is orDefault with 0 for none.
func orNone(v, def time.Duration) time.Duration { return max(orDefault(v, def), 0) }

func (t *Transport) setup() {
	c := &t.conf
	if c.tls = t.TLS; c.tls == nil {
		c.tls = newStdTLS()
	}
	if c.dial = t.Dial; c.dial == nil {
		c.dial = new(net.Dialer).DialContext
	}
	if c.guard = t.Guard; c.guard == nil && !t.AllowPrivate {
		c.guard = PublicAddr
	}
	c.terms = Terms{Gate: t.Gate, CheckHop: t.CheckHop, UserAgent: t.UserAgent, Cookies: t.Cookies}.compiled()
	c.alpn = []string{"h2", "http/1.1"}
	if t.DisableHTTP2 {
		c.alpn = c.alpn[1:]
	}
	c.maxBody = orDefault(t.MaxBody, DefaultMaxBody)
	c.maxRedirects = orDefault(t.MaxRedirects, DefaultMaxRedirects)
	c.limits = h1.Limits{HeaderBytes: orDefault(t.MaxHeader, defaultMaxHeader)}
	c.timeouts = h1.Timeouts{
		Header:   orDefault(t.HeaderTimeout, defaultHeaderTimeout),
		IdleRead: orDefault(t.IdleReadTimeout, idleReadTimeout),
		MinRate:  orDefault(t.MinRate, defaultMinRate), RateWindow: rateWindow,
	}
	c.dialTimeout = orNone(t.DialTimeout, defaultDialTimeout)
	c.tlsTimeout = orNone(t.TLSTimeout, defaultTLSTimeout)
	c.total = orNone(t.Total, defaultTotal)

	t.dns.setup(t.Resolver, orDefault(t.DNSTTL, defaultDNSTTL), orNone(t.DNSTimeout, defaultDNSTimeout))
	t.pool.setup(t)
	t.setupH2()
}

// Close closes the kept connections and refuses further requests. Those under way come to their end; their connections
// are closed then.
func (t *Transport) Close() error {
	t.once.Do(t.setup)
	t.pool.closeIdle(true)
	return nil
}

// Fetch gets the answer to a request and follows its redirects.
func (t *Transport) Fetch(ctx context.Context, req *Request) (*Response, error) {
	t.once.Do(t.setup)
	return t.fetch(ctx, req, &t.conf.terms)
}

func (t *Transport) fetch(ctx context.Context, req *Request, terms *terms) (*Response, error) {
	f := flight{t: t, ctx: ctx, req: req, terms: *terms}
	resp, err := f.run()
	if err != nil {
		return nil, err
	}
	return resp, nil
}

var _ Fetcher = (*Transport)(nil)
