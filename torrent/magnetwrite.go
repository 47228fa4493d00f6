package torrent

import (
	"encoding/hex"
	"strconv"
)

// String returns the link in canonical form: hashes first, in lower case, then the other parameters in a fixed order,
// everything escaped that is not a letter, digit or one of "-._~". ParseMagnet reads what it has returned once back to an equal
// Magnet, as long as the link is not longer than MaxMagnetBytes. Without a hash it is no valid link.
func (m Magnet) String() string { return string(m.append(nil)) }

// MarshalText is String for encoding packages. A Magnet without any hash, or whose link is longer than MaxMagnetBytes, is
// a *MagnetError, as it is when it is read.
func (m Magnet) MarshalText() ([]byte, error) {
	if m.Version() == 0 {
		return nil, &MagnetError{Kind: ErrMissingInfoHash}
	}
	link := m.append(nil)
	if len(link) > MaxMagnetBytes {
		return nil, &MagnetError{Kind: ErrTooLong}
	}
	return link, nil
}

// UnmarshalText is ParseMagnet.
func (m *Magnet) UnmarshalText(b []byte) (err error) {
	*m, err = ParseMagnet(string(b))
	return err
}

func (m *Magnet) append(b []byte) []byte {
	b = append(b, magnetScheme...)
	sep := byte('?')
	key := func(k string) {
		b = append(b, sep)
		b = append(b, k...)
		b = append(b, '=')
		sep = '&'
	}
	each := func(k string, list []string, safe string) {
		for _, s := range list {
			key(k)
			b = escape(b, s, safe)
		}
	}
	if !m.V1.IsZero() {
		key("xt")
		b = append(b, urnV1...)
		b = hex.AppendEncode(b, m.V1[:])
	}
	if !m.V2.IsZero() {
		key("xt")
		b = append(b, urnV2+sha256Prefix...)
		b = hex.AppendEncode(b, m.V2[:])
	}
	if m.Name != "" {
		key("dn")
		b = escape(b, m.Name, "")
	}
	if m.Length > 0 {
		key("xl")
		b = strconv.AppendInt(b, m.Length, 10)
	}
	each("tr", m.Trackers, "")
	each("ws", m.WebSeeds, "")
	each("as", m.Fallback, "")
	each("xs", m.Sources, "")
	for i, word := range m.Keywords {
		if i == 0 {
			key("kt")
		} else {
			b = append(b, '+')
		}
		b = escape(b, word, "")
	}
	each("x.pe", m.Peers, ":[]")
	each("dht", m.Nodes, ":[]")
	for i, r := range m.Select {
		if i == 0 {
			key("so")
		} else {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(r.First), 10)
		if r.Last > r.First {
			b = append(b, '-')
			b = strconv.AppendInt(b, int64(r.Last), 10)
		}
	}
	return b
}

// escape appends s with all bytes escaped but the unreserved ones (RFC 3986, 2.3) and those in safe.
func escape(b []byte, s, safe string) []byte {
	const digits = "0123456789ABCDEF"
	for i := range len(s) {
		c := s[i]
		if unreserved(c) || containsByte(safe, c) {
			b = append(b, c)
		} else {
			b = append(b, '%', digits[c>>4], digits[c&15])
		}
	}
	return b
}

func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

func containsByte(s string, c byte) bool {
	for i := range len(s) {
		if s[i] == c {
			return true
		}
	}
	return false
}
