package torrent

import (
	"encoding/hex"
	"strconv"
)

// String returns the link in canonical form: hashes first, in lower case, then the other parameters in a fixed order,
// everything escaped that is not a letter, digit or one of "-._~". ParseMagnet reads what it has returned once back
// to an equal Magnet, as long as the link is not longer than MaxMagnetBytes. Without a hash it is no valid link.
func (m Magnet) String() string { return string(m.append(nil)) }

// MarshalText is String for encoding packages. A Magnet without any hash, or whose link is longer than
// MaxMagnetBytes, is a *MagnetError, as it is when it is read.
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
	w := linkWriter{append(b, magnetScheme...), '?'}
	if !m.V1.IsZero() {
		w.key("xt")
		w.link = hex.AppendEncode(append(w.link, urnV1...), m.V1[:])
	}
	if !m.V2.IsZero() {
		w.key("xt")
		w.link = hex.AppendEncode(append(w.link, urnV2+sha256Prefix...), m.V2[:])
	}
	if m.Name != "" {
		w.key("dn")
		w.link = escape(w.link, m.Name, "")
	}
	if m.Length > 0 {
		w.key("xl")
		w.link = strconv.AppendInt(w.link, m.Length, 10)
	}
	w.each("tr", m.Trackers, "")
	w.each("ws", m.WebSeeds, "")
	w.each("as", m.Fallback, "")
	w.each("xs", m.Sources, "")
	for i, word := range m.Keywords {
		w.item("kt", i, '+')
		w.link = escape(w.link, word, "")
	}
	w.each("x.pe", m.Peers, ":[]")
	w.each("dht", m.Nodes, ":[]")
	for i, r := range m.Select {
		w.item("so", i, ',')
		w.link = strconv.AppendInt(w.link, int64(r.First), 10)
		if r.Last > r.First {
			w.link = strconv.AppendInt(append(w.link, '-'), int64(r.Last), 10)
		}
	}
	return w.link
}

// linkWriter writes the parameters of a link.
type linkWriter struct {
	link []byte
	sep  byte // before the next parameter
}

// key begins a parameter.
func (w *linkWriter) key(k string) {
	w.link = append(w.link, w.sep)
	w.link = append(w.link, k...)
	w.link = append(w.link, '=')
	w.sep = '&'
}

// item begins a member of a list that one parameter holds.
func (w *linkWriter) item(k string, i int, sep byte) {
	if i == 0 {
		w.key(k)
	} else {
		w.link = append(w.link, sep)
	}
}

// each writes a parameter for each member of a list.
func (w *linkWriter) each(k string, list []string, safe string) {
	for _, s := range list {
		w.key(k)
		w.link = escape(w.link, s, safe)
	}
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
