package fetch

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// Resolver finds the addresses of a host. network is "ip". A name that does not exist is a *net.DNSError with IsNotFound
// set. net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// maxNames bounds the names whose addresses are remembered.
const maxNames = 16 << 10

var errNoAddress = errors.New("the name has no address")

// dnsCache remembers the addresses of names, and which names do not exist. A name is asked for once however many wait.
type dnsCache struct {
	resolver Resolver
	system   bool // resolver is the default one
	ttl      time.Duration
	timeout  time.Duration // of a lookup

	mu    sync.Mutex
	names map[string]*dnsName
	lru   list[*dnsName] // that are known, least recently used first
}

type dnsName struct {
	name    string
	addrs   []netip.Addr
	err     error
	expires time.Time
	asking  chan struct{} // closed when the lookup under way ends; nil without one
	node    node[*dnsName]
}

func (d *dnsCache) setup(r Resolver, ttl, timeout time.Duration) {
	d.resolver, d.ttl, d.timeout, d.names = r, ttl, timeout, map[string]*dnsName{}
	if r == nil {
		d.resolver, d.system = net.DefaultResolver, true
	}
}

// lookup returns the addresses of a name, unmapped; they must not be changed. The lookup is made by one of those who
// wait; when its context ends, another takes over.
func (d *dnsCache) lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	if d.system && isLocalhost(name) {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	for {
		d.mu.Lock()
		n := d.names[name]
		switch {
		case n == nil:
			n = &dnsName{name: name}
			n.node.value = n
			d.names[name] = n
		case n.asking != nil:
			wait := n.asking
			d.mu.Unlock()
			select {
			case <-wait:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
			d.mu.Lock()
			addrs, err := n.addrs, n.err
			d.mu.Unlock()
			if addrs != nil || err != nil {
				return addrs, err
			}
			continue
		case time.Now().Before(n.expires):
			d.lru.moveToBack(&n.node)
			addrs, err := n.addrs, n.err
			d.mu.Unlock()
			return addrs, err
		}
		n.asking, n.addrs, n.err = make(chan struct{}), nil, nil
		d.mu.Unlock()
		return d.ask(ctx, n)
	}
}

// ask resolves a name and tells those who wait, unless it failed because ctx ended.
func (d *dnsCache) ask(ctx context.Context, n *dnsName) ([]netip.Addr, error) {
	limited, cancel := withTimeout(ctx, d.timeout)
	defer cancel()
	answered := false
	defer func() {
		if !answered { // the resolver panicked: whoever waits asks again
			d.mu.Lock()
			defer d.mu.Unlock()
			close(n.asking)
			n.asking = nil
			d.lru.remove(&n.node)
			delete(d.names, n.name)
		}
	}()
	addrs, err := d.resolver.LookupNetIP(limited, "ip", n.name)
	answered = true
	if err == nil && len(addrs) == 0 {
		err = errNoAddress
	}
	addrs = interleave(addrs)
	d.mu.Lock()
	defer d.mu.Unlock()
	close(n.asking)
	n.asking = nil
	d.lru.remove(&n.node)
	if err == nil {
		n.addrs = addrs
	} else if ctx.Err() == nil {
		n.err = err
	}
	if d.ttl <= 0 || err != nil && !isNotFound(err) {
		delete(d.names, n.name)
		return addrs, err
	}
	n.expires = time.Now().Add(d.ttl)
	d.lru.pushBack(&n.node)
	if d.lru.len > maxNames {
		oldest := d.lru.front()
		d.lru.remove(&oldest.node)
		if oldest.asking == nil {
			delete(d.names, oldest.name)
		}
	}
	return addrs, err
}

// withTimeout is context.WithTimeout, of which 0 is no timeout.
func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d)
}

func isNotFound(err error) bool {
	var e *net.DNSError
	return errors.As(err, &e) && e.IsNotFound
}

// isLocalhost reports whether a name is the machine's own whatever a resolver says (RFC 6761 6.3).
func isLocalhost(name string) bool {
	name = strings.TrimSuffix(name, ".")
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// interleave orders addresses so that the families take turns, beginning with that of the first (RFC 8305 section 4),
// and unmaps them.
func interleave(addrs []netip.Addr) []netip.Addr {
	if len(addrs) == 0 {
		return nil
	}
	var families [2][]netip.Addr
	for _, a := range addrs {
		a = a.Unmap()
		i := 0
		if a.Is4() != addrs[0].Unmap().Is4() {
			i = 1
		}
		families[i] = append(families[i], a)
	}
	out := make([]netip.Addr, 0, len(addrs))
	for i := 0; len(out) < len(addrs); i++ {
		for _, family := range families {
			if i < len(family) {
				out = append(out, family[i])
			}
		}
	}
	return out
}
