package cookie

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"
)

// MaxLines is how many Set-Cookie lines of an answer count; further ones set nothing.
const MaxLines = 1000

// Defaults of Options.
const (
	DefaultMaxCookies   = 3300
	DefaultMaxPerDomain = 180 // as in RFC 6265bis 6.1 and Chromium
	DefaultMaxAge       = 400 * 24 * time.Hour

	young = 2 * time.Minute // how long a cookie without SameSite is sent with POSTs of other sites
)

// Options are the settings of a Jar. The zero value has the bounds of today's browsers.
type Options struct {
	Now func() time.Time // the clock; nil means time.Now

	MaxCookies   int           // in all; zero means 3300, negative no bound
	MaxPerDomain int           // of one registrable domain with all its hosts; zero means 180, negative no bound
	MaxAge       time.Duration // that a Set-Cookie line can give a cookie; zero means 400 days, negative no bound
}

// Jar holds the cookies of one session. The zero value is an empty jar without settings. It is safe for concurrent use.
//
// When there are too many cookies they go in the order of RFC 6265bis 5.7: those that have expired, then of a registrable domain
// with too many those that are not Secure, then others of it, then any; and of each kind first those that were not used for
// longest. So no site can end the cookies of others by setting many, under however many of its hosts.
type Jar struct {
	options Options

	mu sync.Mutex
	kept
	changes uint64
	left    *FormError // of the latest UnmarshalJSON
}

// entry is a cookie in its jar.
type entry struct {
	Cookie
	seq  uint64 // order of creation
	path string // Path in the form in which paths are compared

	used time.Time // Accessed when it was given its place in byUse
	at   int       // where that is
}

// New returns an empty jar.
func New(o Options) *Jar { return &Jar{options: o} }

func (j *Jar) now() time.Time {
	if j.options.Now != nil {
		return j.options.Now().Round(0)
	}
	return time.Now().Round(0)
}

func bound[T int | time.Duration](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}

// Set takes the Set-Cookie lines of an answer, in their order, and returns the cookies that they have set or, with an
// Expires that has passed, deleted. Lines that set nothing are passed over; Parse says why.
func (j *Jar) Set(x Exchange, lines ...string) []Cookie {
	if len(lines) == 0 {
		return nil
	}
	p, err := x.place()
	if err != nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	now := j.now()
	var set []Cookie
	for _, s := range lines[:min(len(lines), MaxLines)] {
		l, err := parseLine(s)
		if err != nil {
			continue
		}
		c, err := l.cookie(&p, now, bound(j.options.MaxAge, DefaultMaxAge))
		if err != nil || !c.Secure && !p.secure && j.hidesSecure(&c, now) {
			continue
		}
		j.put(c, now)
		set = append(set, c)
	}
	return set
}

// put keeps a cookie in place of an older one of the same name, domain and path; one that has expired only ends that.
func (j *Jar) put(c Cookie, now time.Time) {
	j.changes++
	c.Name, c.Value, c.Path = strings.Clone(c.Name), strings.Clone(c.Value), strings.Clone(c.Path) // not the whole head of an answer
	c.Domain, c.Partition = strings.Clone(c.Domain), strings.Clone(c.Partition)
	site := registrable(c.Domain)
	for _, e := range j.sites[site] {
		if !e.same(&c) {
			continue
		}
		if e.expired(now) || c.expired(now) {
			j.remove(e)
			break
		}
		c.Created = e.Created
		j.replace(e, c)
		return
	}
	if c.expired(now) {
		return
	}
	j.add(site, c)
	j.evict(site, now)
}

// hidesSecure reports whether a cookie from an insecure connection would take the place of a secure one (RFC 6265bis 5.7,
// "leave secure cookies alone").
func (j *Jar) hidesSecure(c *Cookie, now time.Time) bool {
	if j.secure == 0 {
		return false
	}
	own, path := place{host: c.Domain}, plainPath(c.Path)
	for _, e := range j.sites[registrable(c.Domain)] {
		if e.Secure && e.Name == c.Name && !e.expired(now) && pathMatch(path, e.path) {
			if other := (place{host: e.Domain}); own.domainMatch(e.Domain) || other.domainMatch(c.Domain) {
				return true
			}
		}
	}
	return false
}

// Header returns the value of the Cookie field of a request, "" if there is none to send. The cookies that it names count
// as used now.
func (j *Jar) Header(x Exchange) string { return Join(j.Cookies(x)) }

// Join returns the value of a Cookie field that names the cookies, bytes as they are.
func Join(cookies []Cookie) string {
	var b strings.Builder
	for i := range cookies {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(cookies[i].Name + "=" + cookies[i].Value)
	}
	return b.String()
}

// Cookies returns the cookies that go with a request, in the order in which they are sent: longer paths first, then those
// that were created first. They count as used now.
func (j *Jar) Cookies(x Exchange) []Cookie {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.byUse) == 0 {
		return nil
	}
	p, err := x.place()
	if err != nil {
		return nil
	}
	found := j.find(&p, j.now())
	if len(found) == 0 {
		return nil
	}
	cookies := make([]Cookie, len(found))
	for i, e := range found {
		cookies[i] = e.Cookie
	}
	return cookies
}

// find returns what goes with a request in its order.
func (j *Jar) find(p *place, now time.Time) []*entry {
	var found []*entry
	partition := ""
	for _, e := range j.sites[registrable(p.host)] {
		if e.HostOnly && e.Domain != p.host || !p.domainMatch(e.Domain) || e.expired(now) || e.Secure && !p.secure ||
			!pathMatch(p.path, e.path) || !p.admits(e.SameSite, now.Sub(e.Created) < young) {
			continue
		}
		if e.Partition != "" {
			if partition == "" {
				partition = p.partition()
			}
			if e.Partition != partition {
				continue
			}
		}
		if now.After(e.Accessed) { // a clock may be set back
			e.Accessed = now
		}
		found = append(found, e)
	}
	slices.SortFunc(found, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(len(b.path), len(a.path)), cmp.Compare(a.seq, b.seq))
	})
	return found
}

// All returns the cookies that have not expired, in the order of their creation.
func (j *Jar) All() []Cookie {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.all(j.now())
}

func (j *Jar) all(now time.Time) []Cookie {
	var entries []*entry
	for _, e := range j.byUse {
		if !e.expired(now) {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b *entry) int { return cmp.Compare(a.seq, b.seq) })
	cookies := make([]Cookie, len(entries))
	for i, e := range entries {
		cookies[i] = e.Cookie
	}
	return cookies
}

// Add keeps cookies that come from elsewhere, in their order. The error, an *Error, names the first that cannot be one; then
// none is kept. Cookies that have expired end those of the same name, domain and path. Zero times mean now.
func (j *Jar) Add(cookies ...Cookie) error {
	for i := range cookies {
		if err := cookies[i].check(); err != nil {
			return &Error{cookies[i].Name, err}
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	now := j.now()
	for _, c := range cookies {
		if c.Created.IsZero() {
			c.Created = now
		}
		if c.Accessed.IsZero() {
			c.Accessed = now
		}
		j.put(c, now)
	}
	return nil
}

// Remove deletes the cookie with the name, domain, path and partition of c, and reports whether there was one.
func (j *Jar) Remove(c Cookie) bool {
	return j.removeIf(func(e *entry) bool { return e.same(&c) })
}

// EndSession deletes the cookies that end with the session, as a browser does when it is closed.
func (j *Jar) EndSession() { j.removeIf(func(e *entry) bool { return e.Expires.IsZero() }) }

// Clear deletes all cookies.
func (j *Jar) Clear() { j.removeIf(func(*entry) bool { return true }) }

func (j *Jar) removeIf(gone func(*entry) bool) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.sweep(gone) {
		return false
	}
	j.changes++
	return true
}
