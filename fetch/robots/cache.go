package robots

import (
	"container/list"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/internal/weburl"
)

// The defaults of a Cache.
const (
	DefaultMaxAge     = 24 * time.Hour // also the most (RFC 9309 2.4)
	DefaultMinAge     = time.Minute
	DefaultRetryMin   = time.Minute
	DefaultRetryMax   = time.Hour
	DefaultOutage     = 30 * 24 * time.Hour
	DefaultTimeout    = 5 * time.Minute
	DefaultMaxOrigins = 10_000
	DefaultMaxBytes   = 64 << 20
)

// ErrNoFetcher says that a Cache has no Fetcher.
var ErrNoFetcher = errors.New("seine: robots: cache without a fetcher")

// Store keeps what a Cache has learned beyond its memory and its life. Get returns an error that is fs.ErrNotExist for a
// key that is not there. It is safe for concurrent use. Values are at most a third larger than MaxSize, and some bytes.
type Store interface {
	Get(ctx context.Context, key string) ([]byte, error)
	Put(ctx context.Context, key string, value []byte) error
	Delete(ctx context.Context, key string) error
}

// Cache asks each origin (scheme, host and port) for its robots.txt when it is first needed, once however many wait, and
// keeps the answer. It is safe for concurrent use; its fields must not be changed after first use, and it must not be
// copied. All fields but Fetcher have a good default.
//
// What follows from an answer (RFC 9309 2.3.1): 2xx gives rules; 4xx allows everything, as does a redirect that leads
// nowhere or further than five hops; 5xx, a body that breaks off and no answer at all disallow everything for now, unless
// there are rules from before, which then go on. The origin is asked again after RetryMin, and later and later up to
// RetryMax, or when its Retry-After says. 429 allows too, but only for as long as that.
//
// A request for robots.txt goes through the Fetcher like any other; its context has the values of the first context
// that waits for it and is one that IsRobots knows. It is given up when nobody waits any more, or after Timeout.
type Cache struct {
	Fetcher fetch.Fetcher
	Agent   string       // product token, see ValidAgent; "" means DefaultAgent
	Store   Store        // nil: answers are kept in memory only
	Log     *slog.Logger // told of a Store that fails, which does not fail a Check; nil: nobody is

	// MaxAge is how long an answer holds. Zero, negative or more than 24 hours mean 24 hours. A shorter max-age of the
	// answer wins, but not below MinAge: zero means one minute, negative no bound.
	MaxAge, MinAge time.Duration
	// RetryMin is the pause before an origin that could not be reached is asked again; it doubles each time up to
	// RetryMax. Zero and negative mean one minute, and one hour.
	RetryMin, RetryMax time.Duration
	// Outage is after how long without an answer an origin without rules from before is taken for one without
	// robots.txt. Zero means 30 days, negative never.
	Outage time.Duration
	// Timeout bounds one fetch, redirects included. Zero means five minutes, negative no bound but the Fetcher's.
	Timeout time.Duration

	// MaxOrigins bounds how many origins are remembered, and MaxBytes about how much memory their rules take; those that
	// were asked about longest ago are forgotten first. Origins that are being fetched are beside the bounds. Zero means
	// 10,000 and 64 MiB, negative no bound.
	MaxOrigins int
	MaxBytes   int64

	once      sync.Once
	set       settings
	configErr error

	mu      sync.Mutex
	origins map[string]*entry
	idle    list.List // of *entry, those without a flight; asked about last in front
	bytes   int64     // that the entries of idle take
}

// settings are the fields of a Cache with their defaults filled in.
type settings struct {
	agent              string
	maxAge, minAge     time.Duration
	retryMin, retryMax time.Duration
	outage, timeout    time.Duration
	maxOrigins         int
	maxBytes           int64
}

// entry is what a Cache has of one origin: a state, a flight, or both.
type entry struct {
	origin string
	state  *state        // nil until there was an answer
	flight *flight       // nil when nobody asks the origin
	place  *list.Element // in idle, nil while there is a flight
}

// Check reports whether a URL may be fetched. It asks the origin when it must, and waits for that until ctx ends.
//
// An error means that nothing is known, and is a *fetch.Error: the URL is none for http, ctx has ended, or the Fetcher
// panicked (*PanicError). A Cache without Fetcher or with a bad Agent gives ErrNoFetcher and *AgentError. A host that
// cannot be reached is no error, but a Decision with Err and RetryIn.
func (c *Cache) Check(ctx context.Context, url string) (Decision, error) {
	u, s, err := c.lookup(ctx, url)
	if err != nil {
		return Decision{}, err
	}
	return s.decide(u.RequestTarget(), time.Now()), nil
}

// Sitemaps returns the sitemap lines of the robots.txt of a URL's origin. Errors are those of Check.
func (c *Cache) Sitemaps(ctx context.Context, url string) ([]string, error) {
	_, s, err := c.lookup(ctx, url)
	if err != nil {
		return nil, err
	}
	return append([]string(nil), s.sitemaps...), nil
}

// Peek is Check without asking anybody: it answers from what is in memory, though it may be too old to be obeyed, and
// reports false when there is nothing.
func (c *Cache) Peek(url string) (Decision, bool) {
	u, err := weburl.Parse(url)
	if err != nil || !u.IsHTTP() {
		return Decision{}, false
	}
	c.mu.Lock()
	e := c.origins[u.Origin()]
	var s *state
	if e != nil {
		s = e.state
	}
	c.mu.Unlock()
	if s == nil {
		return Decision{}, false
	}
	return s.decide(u.RequestTarget(), time.Now()), true
}

// lookup returns what is known of a URL's origin.
func (c *Cache) lookup(ctx context.Context, url string) (weburl.URL, *state, error) {
	c.once.Do(c.configure)
	if c.configErr != nil {
		return weburl.URL{}, nil, c.configErr
	}
	u, err := weburl.Parse(url)
	if err == nil && !u.IsHTTP() {
		err = errors.New("neither http nor https")
	}
	if err != nil {
		return u, nil, &fetch.Error{Op: op, URL: url, Kind: fetch.ErrInvalid, Err: err}
	}
	s, err := c.state(ctx, u.Origin())
	return u, s, err
}

// configure fills in the defaults.
func (c *Cache) configure() {
	c.origins = map[string]*entry{}
	c.set = settings{
		agent:    c.Agent,
		maxAge:   c.MaxAge,
		minAge:   orDefault(c.MinAge, DefaultMinAge),
		retryMin: max(c.RetryMin, 0),
		retryMax: max(c.RetryMax, 0),
		outage:   orDefault(c.Outage, DefaultOutage),
		timeout:  orDefault(c.Timeout, DefaultTimeout),

		maxOrigins: orDefault(c.MaxOrigins, DefaultMaxOrigins),
		maxBytes:   orDefault(c.MaxBytes, DefaultMaxBytes),
	}
	s := &c.set
	s.retryMin, s.retryMax = orDefault(s.retryMin, DefaultRetryMin), orDefault(s.retryMax, DefaultRetryMax)
	s.retryMax = max(s.retryMax, s.retryMin)
	if s.maxAge <= 0 || s.maxAge > DefaultMaxAge {
		s.maxAge = DefaultMaxAge
	}
	if s.agent == "" {
		s.agent = DefaultAgent
	}
	c.configErr = ValidAgent(s.agent)
	if c.Fetcher == nil {
		c.configErr = ErrNoFetcher
	}
}

func orDefault[T int | int64 | time.Duration](value, standard T) T {
	if value == 0 {
		return standard
	}
	return value
}

// keep puts an entry that has lost its flight among the idle ones, or forgets it if nothing came of the flight. The
// caller holds mu.
func (c *Cache) keep(e *entry) {
	if e.state == nil {
		delete(c.origins, e.origin)
		return
	}
	e.place = c.idle.PushFront(e)
	c.bytes += e.state.bytes
	for c.idle.Len() > 1 && c.tooMany() {
		oldest := c.idle.Back().Value.(*entry)
		c.takeOut(oldest)
		delete(c.origins, oldest.origin)
	}
}

func (c *Cache) tooMany() bool {
	return c.set.maxOrigins > 0 && c.idle.Len() > c.set.maxOrigins || c.set.maxBytes > 0 && c.bytes > c.set.maxBytes
}

// takeOut takes an entry from the idle ones. The caller holds mu.
func (c *Cache) takeOut(e *entry) {
	if e.place != nil {
		c.idle.Remove(e.place)
		c.bytes -= e.state.bytes
		e.place = nil
	}
}
