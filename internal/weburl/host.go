package weburl

import (
	"encoding/binary"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// maxIDNA bounds the bytes of a host name that goes through IDNA, whose cost grows with the square of a label. Names of
// plain ASCII are bounded by MaxLength alone; the DNS knows no name above 253 bytes.
const maxIDNA = 4 << 10

// domainProfile maps and checks names as https://url.spec.whatwg.org/#concept-domain-to-ascii with beStrict false.
var domainProfile = idna.New(
	idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false), idna.CheckHyphens(false),
	idna.VerifyDNSLength(false), idna.BidiRule(), idna.CheckJoiners(true),
)

const (
	forbiddenHost   = "\x00\t\n\r #/:<>?@[\\]^|"
	forbiddenDomain = forbiddenHost + "\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e\x0f" +
		"\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f%\x7f"
)

// appendHost is the host parser (https://url.spec.whatwg.org/#host-parsing) and serialiser.
func appendHost(dst []byte, host string, special bool) ([]byte, Reason) {
	if strings.HasPrefix(host, "[") {
		return appendIPv6(dst, host)
	}
	if !special {
		if strings.ContainsAny(host, forbiddenHost) {
			return dst, HostInvalid
		}
		return appendEncoded(dst, host, controlSet), 0
	}
	domain := host
	if strings.IndexByte(host, '%') >= 0 {
		domain = percentDecode(host)
	}
	domain, reason := domainToASCII(domain)
	switch {
	case reason != 0:
		return dst, reason
	case domain == "":
		return dst, HostMissing
	case strings.ContainsAny(domain, forbiddenDomain):
		return dst, HostInvalid
	case endsInNumber(domain):
		return appendIPv4(dst, domain)
	}
	return append(dst, domain...), 0
}

// ToASCII maps a domain name to its ASCII form in lower case, as Parse does with the hosts of http URLs, but neither reads
// it as an IPv4 address nor decodes escapes. It reports false for names that cannot be mapped, or only to characters that
// no host may have; those of a name that is plain ASCII already it does not check.
func ToASCII(domain string) (string, bool) {
	mapped, reason := domainToASCII(domain)
	return mapped, reason == 0 && (isASCII(domain) || !strings.ContainsAny(mapped, forbiddenDomain))
}

// domainToASCII maps a name to its ASCII form. Names of plain ASCII are only set in lower case. Where one of them has
// labels in Punycode that are not written as IDNA would write them, the name is taken as it stands too, unless they stand
// for characters that no name may have: browsers let such names through, and it is for the DNS to know them.
func domainToASCII(domain string) (string, Reason) {
	ascii := isASCII(domain)
	if ascii {
		domain = strings.ToLower(domain)
		if !hasPunycode(domain) {
			return domain, 0
		}
	}
	if len(domain) > maxIDNA {
		return "", TooLong
	}
	if !utf8.ValidString(domain) {
		return "", IDNAInvalid
	}
	mapped, err := domainProfile.ToASCII(domain)
	if ascii {
		mapped = domain
		if err != nil {
			_, err = domainProfile.ToASCII(decodeLabels(domain))
		}
	}
	if err != nil {
		return "", IDNAInvalid
	}
	return mapped, 0
}

// decodeLabels replaces labels in Punycode by what they stand for. Those that stand for nothing, or cannot be decoded,
// become an innocent one.
func decodeLabels(domain string) string {
	labels := strings.Split(domain, ".")
	for i, label := range labels {
		if !strings.HasPrefix(label, "xn--") {
			continue
		}
		decoded, err := idna.Punycode.ToUnicode(label)
		if err != nil || decoded == "" {
			decoded = "x"
		}
		labels[i] = decoded
	}
	return strings.Join(labels, ".")
}

// hasPunycode reports whether a label starts with "xn--".
func hasPunycode(domain string) bool {
	for domain != "" {
		if strings.HasPrefix(domain, "xn--") {
			return true
		}
		_, domain, _ = strings.Cut(domain, ".")
	}
	return false
}

// endsInNumber is the ends in a number checker: such a host is an IPv4 address or nothing.
func endsInNumber(host string) bool {
	host = strings.TrimSuffix(host, ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" {
		return false
	}
	_, err := ipv4Number(last)
	return err == nil || isDigits(last)
}

func isDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// ipv4Number reads a decimal, octal (0…) or hexadecimal (0x…) number. Numbers above 64 bits are errors.
func ipv4Number(s string) (uint64, error) {
	base := 10
	switch {
	case strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X"):
		base, s = 16, s[2:]
	case len(s) > 1 && s[0] == '0':
		base, s = 8, s[1:]
	case s == "":
		return 0, strconv.ErrSyntax
	}
	if s == "" {
		return 0, nil
	}
	for i := range len(s) {
		if !isHex(s[i]) { // ParseUint would take a sign
			return 0, strconv.ErrSyntax
		}
	}
	n, err := strconv.ParseUint(s, base, 64)
	if err != nil && base == 16 {
		return 1 << 63, nil // a number, too great for any address
	}
	return n, err
}

func appendIPv4(dst []byte, host string) ([]byte, Reason) {
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	if len(parts) > 4 {
		return dst, IPv4Invalid
	}
	var address uint64
	for i, part := range parts {
		n, err := ipv4Number(part)
		if err != nil {
			return dst, IPv4Invalid
		}
		if i < len(parts)-1 {
			if n > 255 {
				return dst, IPv4Invalid
			}
			address |= n << (8 * (3 - i))
			continue
		}
		if n >= 1<<(8*(5-len(parts))) {
			return dst, IPv4Invalid
		}
		address |= n
	}
	var bytes [4]byte
	binary.BigEndian.PutUint32(bytes[:], uint32(address))
	return netip.AddrFrom4(bytes).AppendTo(dst), 0
}

// appendIPv6 parses "[address]" and writes it compressed (https://url.spec.whatwg.org/#concept-ipv6-serializer): the
// longest run of two or more zero pieces as "::", and never a dotted part, which is why netip does not write it.
func appendIPv6(dst []byte, host string) ([]byte, Reason) {
	text, ok := strings.CutSuffix(host[1:], "]")
	address, err := netip.ParseAddr(text)
	if !ok || err != nil || !address.Is6() || address.Zone() != "" {
		return dst, IPv6Invalid
	}
	bytes := address.As16()
	var pieces [8]uint16
	for i := range pieces {
		pieces[i] = binary.BigEndian.Uint16(bytes[2*i:])
	}
	start, length := longestZeros(pieces)
	dst = append(dst, '[')
	for i := 0; i < len(pieces); i++ {
		if i == start {
			dst = append(dst, "::"...)
			i += length - 1
			continue
		}
		if i > 0 && i != start+length {
			dst = append(dst, ':')
		}
		dst = strconv.AppendUint(dst, uint64(pieces[i]), 16)
	}
	return append(dst, ']'), 0
}

// longestZeros returns the first longest run of zero pieces; start is −1 when it is shorter than two.
func longestZeros(pieces [8]uint16) (start, length int) {
	start, length = -1, 1
	for i := 0; i < len(pieces); i++ {
		run := i
		for run < len(pieces) && pieces[run] == 0 {
			run++
		}
		if run-i > length {
			start, length = i, run-i
		}
		if run > i {
			i = run
		}
	}
	return start, length
}
