package demosite

import (
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// The bounds and defaults of [Options].
const (
	DefaultFilms   = 48
	MaxFilms       = 10_000
	DefaultPerPage = 12
	MaxPerPage     = 1_000

	DefaultSlow       = 200 * time.Millisecond
	DefaultCrawlDelay = 100 * time.Millisecond
	MaxDelay          = time.Hour // of Slow, CrawlDelay, RetryAfter and Latency
)

// User and Password open the members' pages.
const (
	User     = "guest"
	Password = "popcorn"
)

// Host is one of the hosts of a Site.
type Host string

// The hosts.
const (
	Catalogue Host = "catalogue" // where a crawl starts
	People    Host = "people"
	API       Host = "api"
	Images    Host = "images"
	Mirror    Host = "mirror"
)

// Hosts lists the hosts, the catalogue first.
func Hosts() []Host { return []Host{Catalogue, People, API, Images, Mirror} }

// Options says what a Site holds and how it behaves. The zero value is a site of 48 films.
type Options struct {
	// Seed chooses the content. Film 7 of a seed is the same however many films there are.
	Seed uint64

	// Films is the number of films; zero means DefaultFilms, at most MaxFilms.
	Films int

	// PerPage is how many films or people a page of a list holds; zero means DefaultPerPage, at most MaxPerPage.
	PerPage int

	// Slow is how long the pages under /slow/ take; zero means DefaultSlow, negative no time.
	Slow time.Duration

	// Latency delays every answer; zero and negative mean not at all.
	Latency time.Duration

	// CrawlDelay is what the people host's robots.txt asks for; zero means DefaultCrawlDelay, negative that it does not ask.
	CrawlDelay time.Duration

	// RetryAfter is what the 429 and 503 answers tell, in whole seconds rounded up; zero means one second, negative "0".
	RetryAfter time.Duration

	// Trap links the endless calendar from the start page. A crawl without trap defence or page budget then does not end.
	Trap bool

	// Names gives hosts other names, "name" or "name:port", than the default (films.test, people.films.test,
	// api.films.test, images.films.test, mirror.test). Start replaces them all by the addresses it listens on.
	Names map[Host]string
}

// OptionError tells of an option out of its range.
type OptionError struct {
	Option string // the field's name
	Value  any
	Reason string
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("seine: demo site: option %s is %v: %s", e.Option, e.Value, e.Reason)
}

// Site is a demo site, made by New. Its methods may be called concurrently, but URLs change at Start: call that first.
type Site struct {
	opts Options
	err  error // what is wrong with the options

	films    []Film // without URLs, by ID-1
	people   []Person
	listings []listing          // of the catalogue
	byPath   map[string]listing // the same by path
	handlers map[Host]http.Handler

	mu       sync.Mutex // guards what follows
	names    map[Host]string
	hosts    map[string]Host // by name
	attempts map[string]int  // requests of the pages that get well
	started  bool
	closed   bool

	account account
	gzips   sync.Pool // of *gzip.Writer, which are large
	server  *http.Server
	done    chan struct{}  // closed by Close: slow answers end
	serving sync.WaitGroup // calls of Serve
	conns   sync.WaitGroup // connections, and handlers that took one over
}

// New makes a Site. Nothing runs before Start or Serve; options out of range are reported there, and by every answer of Handler.
func New(opts Options) *Site {
	s := &Site{opts: opts, done: make(chan struct{}), attempts: map[string]int{}}
	s.err = s.opts.fill()
	if s.err != nil {
		s.opts = Options{}
		_ = s.opts.fill() // the zero value is good
	}
	s.rename(s.opts.Names)
	s.films = makeFilms(s.opts.Seed, s.opts.Films)
	s.people = makePeople(s.opts.Seed, s.films)
	s.listings = makeListings(s.films)
	s.byPath = make(map[string]listing, len(s.listings))
	for _, l := range s.listings {
		s.byPath[l.path] = l
	}
	s.account.reset(maxTargets(len(s.films)))
	s.handlers = map[Host]http.Handler{
		Catalogue: s.catalogueHandler(), People: s.peopleHandler(), API: s.apiHandler(),
		Images: s.imagesHandler(), Mirror: s.mirrorHandler(),
	}
	s.server = s.newServer()
	return s
}

// fill puts the defaults in the place of zeros and refuses what is out of range.
func (o *Options) fill() error {
	counts := []struct {
		name          string
		value         *int
		standard, max int
	}{
		{"Films", &o.Films, DefaultFilms, MaxFilms},
		{"PerPage", &o.PerPage, DefaultPerPage, MaxPerPage},
	}
	for _, c := range counts {
		if *c.value < 0 || *c.value > c.max {
			return &OptionError{c.name, *c.value, fmt.Sprintf("not within 0 to %d", c.max)}
		}
		if *c.value == 0 {
			*c.value = c.standard
		}
	}
	times := []struct {
		name     string
		value    *time.Duration
		standard time.Duration
	}{
		{"Slow", &o.Slow, DefaultSlow},
		{"Latency", &o.Latency, 0},
		{"CrawlDelay", &o.CrawlDelay, DefaultCrawlDelay},
		{"RetryAfter", &o.RetryAfter, time.Second},
	}
	for _, t := range times {
		if *t.value > MaxDelay {
			return &OptionError{t.name, *t.value, fmt.Sprintf("more than %v", MaxDelay)}
		}
		if *t.value == 0 {
			*t.value = t.standard
		}
	}
	return o.fillNames()
}

// fillNames completes Names with the default names, in a map of our own.
func (o *Options) fillNames() error {
	names := map[Host]string{
		Catalogue: "films.test", People: "people.films.test", API: "api.films.test",
		Images: "images.films.test", Mirror: "mirror.test",
	}
	for h, name := range o.Names {
		if _, ok := names[h]; !ok {
			return &OptionError{"Names", string(h), "no such host"}
		}
		if !validName(name) {
			return &OptionError{"Names", name, "not a lower-case name or name:port"}
		}
		names[h] = name
	}
	seen := map[string]bool{}
	for _, h := range Hosts() {
		if seen[names[h]] {
			return &OptionError{"Names", names[h], "given to two hosts"}
		}
		seen[names[h]] = true
	}
	o.Names = names
	return nil
}

func validName(name string) bool {
	host := name
	if h, port, err := net.SplitHostPort(name); err == nil {
		if host = h; port == "" {
			return false
		}
		for _, c := range port {
			if c < '0' || c > '9' {
				return false
			}
		}
	}
	for _, c := range host {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '-' {
			return false
		}
	}
	return host != "" && len(host) <= 253
}

// rename gives the hosts their names.
func (s *Site) rename(names map[Host]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names, s.hosts = names, make(map[string]Host, len(names))
	for h, name := range names {
		s.hosts[name] = h
	}
}

// URL is the start page, the root of the catalogue.
func (s *Site) URL() string { return s.HostURL(Catalogue) }

// HostURL is the root of a host, "http://name/", or empty when there is no such host.
func (s *Site) HostURL(h Host) string {
	if name := s.Name(h); name != "" {
		return "http://" + name + "/"
	}
	return ""
}

// Name is what a host is called in URLs: name, or address and port.
func (s *Site) Name(h Host) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.names[h]
}

// at is the URL of a path, which begins with a slash, on a host.
func (s *Site) at(h Host, path string) string { return "http://" + s.Name(h) + path }
