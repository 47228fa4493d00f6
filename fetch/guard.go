package fetch

import (
	"errors"
	"fmt"
	"net/netip"
)

var errScheme = errors.New("only http and https are fetched")

// PublicAddr refuses addresses that are not meant for the public internet: private, loopback, link-local with the
// metadata services of clouds, shared (CGNAT), multicast, reserved and those for documentation and benchmarks (the
// special-purpose registries of RFC 6890). IPv6 addresses that carry one of IPv4 are judged by it when they are mapped
// (::ffff:0:0/96) or translated (64:ff9b::/96, RFC 6052), and refused when they are tunnels (6to4, Teredo) or
// translated by a local prefix.
func PublicAddr(addr netip.Addr) error {
	if !isPublic(addr) {
		return fmt.Errorf("%v is not a public address", addr)
	}
	return nil
}

var (
	special4 = prefixes("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
		"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
		"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		"168.63.129.16/32") // in a public range, but the host of every machine in one cloud
	special6 = prefixes("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")

	global6    = netip.MustParsePrefix("2000::/3") // all that has been handed out
	translated = netip.MustParsePrefix("64:ff9b::/96")
)

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParsePrefix(text)
	}
	return list
}

func isPublic(addr netip.Addr) bool {
	if !addr.IsValid() || addr.Zone() != "" {
		return false
	}
	addr = addr.Unmap()
	special := special4
	if addr.Is6() {
		if translated.Contains(addr) {
			b := addr.As16()
			return isPublic(netip.AddrFrom4([4]byte(b[12:])))
		}
		if !global6.Contains(addr) {
			return false
		}
		special = special6
	}
	for _, p := range special {
		if p.Contains(addr) {
			return false
		}
	}
	return true
}
