package crawler

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"math"
	"reflect"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/seine-go/seine/dedupe"
	"github.com/seine-go/seine/extract"
	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/fetch/cookie"
	"github.com/seine-go/seine/fetch/robots"
	"github.com/seine-go/seine/ratelimit"
)

// The identity of a crawler that has not said who it is.
const (
	DefaultAgent     = "seine"
	DefaultUserAgent = "seine/0.1 (+https://github.com/seine-go/seine)"
)

// Config says what to crawl and how. The zero value of every field is a good default; a negative number means no limit
// where the field does not say otherwise. An engine keeps its own copy.
type Config struct {
	// Name names the crawl. Zero means "seine". A frontier that is a CrawlKeeper holds one crawl.
	Name string
	// Owner names the engine among those that share a frontier, each of which has another. Zero means Name.
	Owner string
	// Handler works on the pages. A Site serves as one, and brings its seeds and hosts. Nil is allowed for Pages only.
	Handler Handler

	// Frontier and Store keep what is to be done and what came of it. Zero means memory. Who opens them closes them.
	Frontier Frontier
	Store    Store
	// Resume says what a run does with a crawl that is finished already. Zero means that it takes what is new.
	Resume Resume

	// Fetcher is the innermost part of the chain. Zero means a fetch.Transport with the settings below. A
	// *fetch.Transport must have no Gate and no CheckHop, since those of the engine are asked; it is not changed, and
	// several engines may have the same. Redirects of any other Fetcher become requests of their own.
	Fetcher fetch.Fetcher
	// Middleware stands round the Fetcher, outermost first. With fetch.Referer, or another whose Fetcher has a method
	// WantsInitiator() bool that says so, the requests of pages keep the URL of their page in the header, as Referer: hosts are told
	// of it what the policy allows, and cookies with SameSite go by it. What a middleware asks of a host beside the page, as
	// fetch.Login does, keeps that host's pace and waits for a place there, up to some minutes.
	Middleware []fetch.Middleware

	// Agent is the product token that robots.txt is asked for. Zero means "seine". It is required with UserAgent.
	Agent string
	// UserAgent is the header. Zero means DefaultUserAgent, behind the Agent if there is one.
	UserAgent string
	// RobotsPatience is how long the pages of a host wait for a robots.txt that cannot be had: because of a server error,
	// or no answer. Meanwhile nothing of the host is fetched (RFC 9309 2.3.1.4), and robots.txt is asked for again, a few
	// times with growing pauses, the last time when it is over; then the pages fail with a *RobotsError. A Retry-After beyond
	// it is not waited for. The log says when it begins and ends. Zero means 2 minutes, negative for ever.
	RobotsPatience time.Duration
	// IgnoreRobots neither asks for robots.txt nor obeys it.
	IgnoreRobots bool
	// IgnoreNoFollow follows links that carry rel=nofollow, and the links of pages whose robots meta or X-Robots-Tag
	// forbids it.
	IgnoreNoFollow bool
	// Cookies opens the jar of a session for each request, as fetch.Transport.Cookies does; Request.Session names the session, ""
	// where there is none. Nil gives each session that is named a jar in memory, up to 4096 of them, and keeps no cookies of other
	// requests beyond their redirects. A fetch.Transport that has Cookies of its own opens the jars itself.
	Cookies func(ctx context.Context, session string) (*cookie.Jar, error)
	// AllowPrivate lets the engine's own Transport connect to loopback, private and link-local addresses.
	AllowPrivate bool

	// Scope bounds what links and redirects may lead to. Zero means the hosts of the seeds, or of the Site.
	Scope Scope
	// Traps keep the crawl out of what never ends. Zero means the default rules.
	Traps Traps
	// Canonical makes keys of URLs: what has the same key is fetched once. Nil means dedupe.Strict.
	Canonical *dedupe.Canonicalizer

	// Spacing is the time from the start of an exchange with a host to the start of the next. Zero means 500 ms,
	// negative none.
	Spacing time.Duration
	// Delay is the time from the end of an exchange with a host to the start of the next, with one in flight. Zero means
	// none; it must not be negative. The greater of it and the host's crawl-delay counts.
	Delay time.Duration
	// PerHost is how many requests a host may have in flight. Zero means 1 at first, and up to DefaultMaxPerHost where
	// the host bears them; negative means that only Concurrency counts.
	PerHost int
	// FixedPace visits hosts at the pace above whatever they answer, but for Retry-After. Zero means that the pace adapts
	// within it: a host that throttles, fails or becomes slow is asked less, until it bears more again.
	FixedPace bool
	// Limiter bounds requests, and bytes if it is a ratelimit.ByteBooker, of the whole crawl; its key is the Name.
	// HostLimiter does the same for hosts; its key is the host, with the port where that is not the default. They are asked
	// before every exchange, robots.txt and redirects included, after the pace above; the bytes of an answer are booked when
	// it has come. What would have to wait long goes back to the frontier. Nil means no limit. Rules are replaced while the
	// crawl runs by the limiter's own method, such as ratelimit.TokenBucket.SetRules.
	Limiter     ratelimit.Limiter
	HostLimiter ratelimit.Limiter
	// Address is the pace of an address, for all the hosts that share it, beside that of each. Zero fields mean no limit:
	// an address of a hosting service may serve thousands of hosts. It does not adapt, and is known where no proxy
	// resolves the name.
	Address HostPolicy
	// Concurrency is how many requests may be in flight in all. Zero means that the engine finds it: as many as hosts,
	// CPU and memory allow. It must not be negative.
	Concurrency int

	// MaxPages, MaxBytes and MaxTime are the budget of a run. When one is spent no page is asked for any more, what is in
	// the middle goes on to its end, everything else stays in the frontier for the next run, and Stats.Spent names the
	// field. Zero means no limit. A page counts once, however often it is tried and redirected; what robots.txt, scope or
	// depth refuse does not count. MaxBytes counts all bodies as they come over the wire, and holds as far as they are
	// known before a page is asked for.
	MaxPages int64
	MaxBytes int64
	MaxTime  time.Duration
	// HostBudget is what a run may spend on each host. The zero value means no limit.
	HostBudget Budget

	MaxDepth int   // links from a seed. Zero means no limit; to fetch the seeds alone, follow nothing
	MaxLinks int   // links that are taken from one page, in whatever way. Zero means extract.DefaultMaxLinks
	MaxBody  int64 // bytes of a decoded body, for the engine's own Transport. Zero means its default
	MaxHops  int   // redirects from a request to its page. Zero means 10; negative follows none

	// MaxAttempts is how often a page is tried. Zero means 3, negative 1.
	MaxAttempts int
	// Retry says what is done about tries that failed. The zero value is the good default.
	Retry RetryPolicy
	// AllStatuses gives pages of every status to the handler. Zero means 2xx only; any other fails, and 429 and 5xx are
	// tried again before.
	AllStatuses bool
	// HandlerTimeout is how long a handler may work on a page; then its context ends, and the page is tried again like
	// after any error of a handler. One that goes on for Grace more is left behind: its page is settled, and Stats.Abandoned
	// counts it. It is looked at about ten times within the time, and every 10 s at least. Zero means an hour, negative for
	// ever. The loop over Pages may take its time.
	HandlerTimeout time.Duration
	// Grace is how long Run waits, when its context has ended, for what goes on all the same: handlers, and calls of the
	// Frontier, the Store and the others; and at any end for the Seeds of a Site. What does not end is left behind, and named
	// in an *AbandonedError. The body of a loop over Pages is always waited for. Zero means 5 s, negative for ever.
	Grace time.Duration

	// Logger gets what happens: pages at Debug, failures at Warn. Nil means nothing is logged.
	Logger *slog.Logger
	Hooks  Hooks
}

// checkNil refuses nil pointers and functions behind interfaces, which would panic at their first use.
func (c *Config) checkNil() error {
	for _, f := range [...]struct {
		field string
		value any
	}{{"Handler", c.Handler}, {"Frontier", c.Frontier}, {"Store", c.Store}, {"Fetcher", c.Fetcher}, {"Limiter", c.Limiter}, {"HostLimiter", c.HostLimiter}} {
		if isNil(f.value) {
			return &ConfigError{Field: f.field, Reason: fmt.Sprintf("is a nil %T", f.value)}
		}
	}
	return nil
}

// checkSite refuses a handler that has seeds and is no Site for want of another method, since its seeds would be passed over.
func (c *Config) checkSite() error {
	_, seeds := c.Handler.(interface {
		Seeds(context.Context) iter.Seq2[*Request, error]
	})
	if _, site := c.Handler.(Site); seeds && !site {
		return &ConfigError{Field: "Handler", Reason: fmt.Sprintf("%T has Seeds and is no Site: that has Name and Hosts too", c.Handler)}
	}
	return nil
}

// isNil reports whether an interface that is not nil holds a nil pointer or function.
func isNil(v any) bool {
	r := reflect.ValueOf(v)
	return (r.Kind() == reflect.Pointer || r.Kind() == reflect.Func) && r.IsNil()
}

// check refuses what cannot be and fills in the defaults.
func (c *Config) check() error {
	if c.UserAgent != "" && c.Agent == "" {
		return &ConfigError{Field: "Agent", Reason: "is required with UserAgent: the product token that robots.txt is asked for"}
	}
	if c.Name == "" {
		c.Name = "seine"
	}
	if c.Owner == "" {
		c.Owner = c.Name
	}
	switch {
	case c.Agent == "":
		c.Agent, c.UserAgent = DefaultAgent, DefaultUserAgent
	case c.UserAgent == "":
		c.UserAgent = c.Agent + " " + DefaultUserAgent
	}
	if err := robots.ValidAgent(c.Agent); err != nil {
		return &ConfigError{Field: "Agent", Reason: err.Error()}
	}
	if !httpguts.ValidHeaderFieldValue(c.UserAgent) {
		return &ConfigError{Field: "UserAgent", Reason: "has a control character"}
	}
	if strings.TrimSpace(c.UserAgent) == "" {
		return &ConfigError{Field: "UserAgent", Reason: "is blank"}
	}
	if c.Delay < 0 {
		return &ConfigError{Field: "Delay", Reason: "is negative"}
	}
	if c.Concurrency < 0 || c.Concurrency > 1<<20 {
		return &ConfigError{Field: "Concurrency", Reason: "is not of 0 to 1,048,576"}
	}
	if len(c.Name) > MaxLabelBytes {
		return &ConfigError{Field: "Name", Reason: "is longer than 256 bytes"}
	}
	if len(c.Owner) > MaxLabelBytes {
		return &ConfigError{Field: "Owner", Reason: "is longer than 256 bytes"}
	}
	if c.Resume > ResumeRefuse {
		return &ConfigError{Field: "Resume", Reason: "is none of the modes"}
	}
	if a := c.Address; a.Block != 0 || a.InFlight != 0 || a.Adapt != SwitchUnset {
		return &ConfigError{Field: "Address", Reason: "has only Delay, Spacing and MaxInFlight"}
	}
	if err := first(c.checkNil(), c.checkSite(), c.Scope.check("Scope"), c.Retry.check()); err != nil {
		return err
	}
	if m, ok := c.Handler.(interface{ Check() error }); ok {
		if err := m.Check(); err != nil {
			return &ConfigError{Field: "Handler", Reason: err.Error()}
		}
	}
	if _, ok := c.Frontier.(Restarter); !ok && c.Frontier != nil && c.Resume == ResumeAgain {
		return &ConfigError{Field: "Resume", Reason: "the Frontier cannot begin anew: it is no Restarter"}
	}
	c.fill()
	return nil
}

// fill puts the defaults in the place of what is zero.
func (c *Config) fill() {
	c.Spacing = orDefault(c.Spacing, DefaultSpacing, -1)
	c.MaxDepth = orDefault(c.MaxDepth, math.MaxInt, math.MaxInt)
	c.MaxPages = orDefault(c.MaxPages, math.MaxInt64, math.MaxInt64)
	c.MaxBytes = orDefault(c.MaxBytes, math.MaxInt64, math.MaxInt64)
	c.MaxTime = orDefault(c.MaxTime, math.MaxInt64, math.MaxInt64)
	c.HostBudget = c.HostBudget.withDefaults()
	c.MaxLinks = orDefault(c.MaxLinks, extract.DefaultMaxLinks, math.MaxInt)
	c.MaxHops = orDefault(c.MaxHops, 10, 0)
	c.MaxAttempts = orDefault(c.MaxAttempts, 3, 1)
	c.Retry = c.Retry.withDefaults()
	c.Traps = c.Traps.withDefaults()
	c.HandlerTimeout = orDefault(c.HandlerTimeout, DefaultHandlerTimeout, math.MaxInt64)
	c.Grace = orDefault(c.Grace, 5*time.Second, math.MaxInt64)
	c.RobotsPatience = orDefault(c.RobotsPatience, DefaultRobotsPatience, math.MaxInt64)
	if c.Frontier == nil {
		c.Frontier = NewMemory(MemoryOptions{})
	}
	if c.Store == nil {
		c.Store = &MemoryStore{}
	}
	if c.Canonical == nil {
		c.Canonical = new(dedupe.Canonicalizer)
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
}
