package cookie

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Defaults of Options.
const (
	DefaultMaxCookies   = 3300
	DefaultMaxPerDomain = 180
	DefaultMaxAge       = 400 * 24 * time.Hour

	young = 2 * time.Minute // how long a cookie without SameSite is sent with POSTs of other sites
)

// Options are the settings of a Jar. The zero value has the bounds of today's browsers.
type Options struct {
	Now func() time.Time // the clock; nil means time.Now

	MaxCookies   int           // in all; zero means 3300, negative no bound
	MaxPerDomain int           // of one value of Domain; zero means 180, negative no bound
	MaxAge       time.Duration // that a Set-Cookie line can give a cookie; zero means 400 days, negative no bound
}

// Jar holds the cookies of one session. The zero value is an empty jar without settings. It is safe for concurrent use.
//
// When there are too many cookies they go in the order of RFC 6265bis 5.7: those that have expired, then in a domain with
// too many those that are not Secure, then others of it, then any; and of each kind first those that were not used for
// longest.
type Jar struct {
	options Options

	mu      sync.Mutex
	domains map[string][]*entry
	count   int
	secure  int    // cookies with Secure
	last    uint64 // seq of the newest
	changes uint64
	left    *FormError // of the latest UnmarshalJSON
}

// entry is a cookie in its jar.
type entry struct {
	Cookie
	seq  uint64 // order of creation
	path string // Path in the form in which paths are compared
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
	for _, s := range lines {
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
	list := j.domains[c.Domain]
	i := slices.IndexFunc(list, func(e *entry) bool { return e.same(&c) })
	if i >= 0 && !list[i].expired(now) && !c.expired(now) {
		c.Created = list[i].Created
		j.countSecure(&list[i].Cookie, -1)
		j.countSecure(&c, 1)
		list[i].Cookie = c
		return
	}
	if i >= 0 {
		j.remove(c.Domain, i)
	}
	if c.expired(now) {
		return
	}
	if j.domains == nil {
		j.domains = map[string][]*entry{}
	}
	j.last++
	j.domains[c.Domain] = append(j.domains[c.Domain], &entry{Cookie: c, seq: j.last, path: plainPath(c.Path)})
	j.count++
	j.countSecure(&c, 1)
	j.evict(c.Domain, now)
}

func (j *Jar) countSecure(c *Cookie, n int) {
	if c.Secure {
		j.secure += n
	}
}

// remove takes out the cookie with an index in its domain.
func (j *Jar) remove(domain string, i int) {
	list := j.domains[domain]
	j.countSecure(&list[i].Cookie, -1)
	j.count--
	if list = slices.Delete(list, i, i+1); len(list) == 0 {
		delete(j.domains, domain)
		return
	}
	j.domains[domain] = list
}

// hidesSecure reports whether a cookie from an insecure connection would take the place of a secure one (RFC 6265bis 5.7,
// "leave secure cookies alone").
func (j *Jar) hidesSecure(c *Cookie, now time.Time) bool {
	if j.secure == 0 {
		return false
	}
	own, path := place{host: c.Domain}, plainPath(c.Path)
	for domain, list := range j.domains {
		other := place{host: domain}
		if !own.domainMatch(domain) && !other.domainMatch(c.Domain) {
			continue
		}
		for _, e := range list {
			if e.Secure && e.Name == c.Name && pathMatch(path, e.path) && !e.expired(now) {
				return true
			}
		}
	}
	return false
}

// evict brings the jar back within its bounds after a cookie has come to a domain.
func (j *Jar) evict(domain string, now time.Time) {
	perDomain, all := bound(j.options.MaxPerDomain, DefaultMaxPerDomain), bound(j.options.MaxCookies, DefaultMaxCookies)
	crowded := perDomain >= 0 && len(j.domains[domain]) > perDomain
	if !crowded && (all < 0 || j.count <= all) {
		return
	}
	j.sweep(func(e *entry) bool { return e.expired(now) })
	for perDomain >= 0 && len(j.domains[domain]) > perDomain {
		list := j.domains[domain]
		victim := oldest(list, func(e *entry) bool { return !e.Secure })
		if victim < 0 {
			victim = oldest(list, func(*entry) bool { return true })
		}
		j.remove(domain, victim)
	}
	for all >= 0 && j.count > all {
		var from string
		var first *entry
		for domain, list := range j.domains {
			if e := list[oldest(list, func(*entry) bool { return true })]; first == nil || older(e, first) {
				from, first = domain, e
			}
		}
		j.remove(from, slices.Index(j.domains[from], first))
	}
}

// oldest returns the index of the cookie that was not used for longest among some; -1 if there is none.
func oldest(list []*entry, among func(*entry) bool) int {
	found := -1
	for i, e := range list {
		if among(e) && (found < 0 || older(e, list[found])) {
			found = i
		}
	}
	return found
}

func older(a, b *entry) bool {
	if c := a.Accessed.Compare(b.Accessed); c != 0 {
		return c < 0
	}
	return a.seq < b.seq
}

// sweep removes cookies.
func (j *Jar) sweep(gone func(*entry) bool) {
	for domain, list := range j.domains {
		kept := list[:0]
		for _, e := range list {
			if !gone(e) {
				kept = append(kept, e)
				continue
			}
			j.countSecure(&e.Cookie, -1)
			j.count--
		}
		if clear(list[len(kept):]); len(kept) == 0 {
			delete(j.domains, domain)
			continue
		}
		j.domains[domain] = kept
	}
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
	if j.count == 0 {
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
	partition, ip := "", isIP(p.host)
	for domain := p.host; domain != ""; {
		for _, e := range j.domains[domain] {
			if e.expired(now) || e.HostOnly && domain != p.host || e.Secure && !p.secure || !pathMatch(p.path, e.path) ||
				!p.admits(e.SameSite, now.Sub(e.Created) < young) {
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
			e.Accessed = now
			found = append(found, e)
		}
		if _, domain, _ = strings.Cut(domain, "."); ip {
			break
		}
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
	for _, list := range j.domains {
		for _, e := range list {
			if !e.expired(now) {
				entries = append(entries, e)
			}
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
	before := j.count
	j.sweep(gone)
	if j.count == before {
		return false
	}
	j.changes++
	return true
}
