package torrent

import (
	"fmt"
	"iter"
	"strings"
)

// Magnet is a magnet link to a torrent (BEP 9, 53). Lists hold each entry once, in the order of the link; entries of
// numbered keys come first, in the order of their numbers. At least one of the hashes is set in a valid link.
//
// It reads itself from text, so that a field of this type in JSON, or of a type that is extracted from a page, just
// works.
type Magnet struct {
	V1       HashV1   // xt=urn:btih
	V2       HashV2   // xt=urn:btmh
	Name     string   // dn: valid UTF-8, not made safe as a file name; empty when there is none
	Length   int64    // xl, in bytes; zero when there is none
	Select   []Range  // so: the files that are wanted, see Files; rising and apart
	Peers    []string // x.pe: host:port, where host is a name, an IPv4 address or a bracketed IPv6 address
	Nodes    []string // dht: nodes of the hash table, as Peers
	Keywords []string // kt

	Trackers []string // tr: http, https, udp, ws and wss URLs; each is a tier of its own
	WebSeeds []string // ws; as in the other lists of addresses, those that hold control characters are left out
	Sources  []string // xs: where the torrent file, or another link to it, is
	Fallback []string // as: where the content is
}

// Range is a run of indices of files, from First to Last (so; BEP 53).
type Range struct{ First, Last int }

// Bounds of magnet links.
const (
	MaxMagnetBytes = 256 << 10   // of a link, which bounds all lists in it
	MaxSelect      = 1<<20 - 1   // the largest index of a file that is read from so
	magnetScheme   = "magnet:"   // compared without case
	urnV1          = "urn:btih:" // compared without case
	urnV2          = "urn:btmh:" // compared without case
	sha256Prefix   = "1220"      // of a multihash: SHA2-256 of 32 bytes
)

// MagnetError is the fault of a magnet link.
type MagnetError struct {
	Kind  ErrorKind // ErrNotMagnet, ErrMissingInfoHash, ErrInvalidInfoHash, ErrTooLong
	Value string    // the hash at fault, shortened; may be empty
}

func (e *MagnetError) Error() string {
	if e.Value == "" {
		return "seine: magnet: " + string(e.Kind)
	}
	return fmt.Sprintf("seine: magnet: %s: %q", string(e.Kind), e.Value)
}

// Unwrap gives the kind to errors.Is.
func (e *MagnetError) Unwrap() error { return e.Kind }

// shortened is a copy of the head of a text, for an error.
func shortened(s string) string {
	return strings.ToValidUTF8(strings.Clone(s[:min(len(s), 80)]), "\uFFFD")
}

// Files gives the indices of the files that Select selects, in order; those above MaxSelect are left out.
func (m *Magnet) Files() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, r := range m.Select {
			for i := max(r.First, 0); i <= min(r.Last, MaxSelect); i++ {
				if !yield(i) {
					return
				}
			}
		}
	}
}

// Version tells which hashes the link has.
func (m *Magnet) Version() Version {
	var v Version
	if !m.V1.IsZero() {
		v |= V1
	}
	if !m.V2.IsZero() {
		v |= V2
	}
	return v
}
