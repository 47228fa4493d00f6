package cookie

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// kept is what a jar holds: the cookies by their registrable domains, which the bounds go by, and all in the order of their use.
type kept struct {
	sites   map[string][]*entry
	byUse   byUse
	secure  int       // cookies with Secure
	last    uint64    // seq of the newest
	soonest time.Time // no cookie expires before; zero: none does
}

// add keeps a new cookie of a registrable domain.
func (k *kept) add(site string, c Cookie) {
	if k.sites == nil {
		k.sites = map[string][]*entry{}
	}
	k.last++
	e := &entry{Cookie: c, seq: k.last, path: plainPath(c.Path), used: c.Accessed}
	k.sites[site] = append(k.sites[site], e)
	heap.Push(&k.byUse, e)
	k.note(&c)
}

// replace gives an entry another cookie of the same name, domain and path.
func (k *kept) replace(e *entry, c Cookie) {
	if e.Secure {
		k.secure--
	}
	e.Cookie, e.used = c, c.Accessed
	heap.Fix(&k.byUse, e.at)
	k.note(&c)
}

func (k *kept) note(c *Cookie) {
	if c.Secure {
		k.secure++
	}
	if !c.Expires.IsZero() && (k.soonest.IsZero() || c.Expires.Before(k.soonest)) {
		k.soonest = c.Expires
	}
}

func (k *kept) remove(e *entry) {
	site := registrable(e.Domain)
	list := k.sites[site]
	i := slices.Index(list, e)
	if list = slices.Delete(list, i, i+1); len(list) == 0 {
		delete(k.sites, site)
	} else {
		k.sites[site] = list
	}
	k.forget(e)
}

// forget takes an entry out of everything but its site.
func (k *kept) forget(e *entry) {
	heap.Remove(&k.byUse, e.at)
	if e.Secure {
		k.secure--
	}
}

// sweep removes cookies, and reports whether there were any.
func (k *kept) sweep(gone func(*entry) bool) bool {
	before := len(k.byUse)
	for site, list := range k.sites {
		left := slices.DeleteFunc(list, func(e *entry) bool {
			if !gone(e) {
				return false
			}
			k.forget(e)
			return true
		})
		if len(left) == 0 {
			delete(k.sites, site)
			continue
		}
		k.sites[site] = left
	}
	return len(k.byUse) < before
}

// expire removes what has expired. It looks at all cookies only when one may have.
func (k *kept) expire(now time.Time) {
	if k.soonest.IsZero() || now.Before(k.soonest) {
		return
	}
	k.sweep(func(e *entry) bool { return e.expired(now) })
	k.soonest = time.Time{}
	for _, e := range k.byUse {
		if !e.Expires.IsZero() && (k.soonest.IsZero() || e.Expires.Before(k.soonest)) {
			k.soonest = e.Expires
		}
	}
}

// evict brings the jar back within its bounds after a cookie has come to a registrable domain. Its work does not grow with the jar,
// so that no answer holds the jar for long.
func (j *Jar) evict(site string, now time.Time) {
	perDomain, all := bound(j.options.MaxPerDomain, DefaultMaxPerDomain), bound(j.options.MaxCookies, DefaultMaxCookies)
	crowded := func() bool { return perDomain >= 0 && len(j.sites[site]) > perDomain }
	full := func() bool { return all >= 0 && len(j.byUse) > all }
	if crowded() || full() {
		j.expire(now)
	}
	for crowded() {
		j.remove(slices.MinFunc(j.sites[site], func(a, b *entry) int {
			switch {
			case b.Secure && !a.Secure:
				return -1
			case a.Secure && !b.Secure:
				return 1
			}
			return cmp.Or(a.Accessed.Compare(b.Accessed), cmp.Compare(a.seq, b.seq))
		}))
	}
	for full() {
		j.remove(j.byUse.oldest())
	}
}

// byUse is a heap of entries, first that which was not used for longest when it was given its place. Uses move nothing: they only
// make entries younger, which is looked at when one of them comes first.
type byUse []*entry

// oldest returns the entry that was not used for longest. There must be one.
func (h *byUse) oldest() *entry {
	for {
		e := (*h)[0]
		if e.used.Equal(e.Accessed) {
			return e
		}
		e.used = e.Accessed
		heap.Fix(h, 0)
	}
}

// Len, Less, Swap, Push and Pop are those of heap.Interface.
func (h byUse) Len() int { return len(h) }

func (h byUse) Less(i, k int) bool {
	return cmp.Or(h[i].used.Compare(h[k].used), cmp.Compare(h[i].seq, h[k].seq)) < 0
}

func (h byUse) Swap(i, k int) {
	h[i], h[k] = h[k], h[i]
	h[i].at, h[k].at = i, k
}

func (h *byUse) Push(x any) {
	e := x.(*entry)
	e.at = len(*h)
	*h = append(*h, e)
}

func (h *byUse) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return e
}
