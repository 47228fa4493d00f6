package crawler

import (
	"encoding/binary"
	"errors"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/seine-go/seine/fetch"
)

// entry is a queued request with what the frontier keeps beside it.
type entry struct {
	req     Request
	attempt int           // tries that count so far
	crashes int           // deaths of holders that had nothing else
	due     time.Duration // since when it is ready, in milliseconds and only where requests age
}

var errEntry = errors.New("seine: frontier: damaged entry")

// The first byte of a record: how the URL begins, and what follows.
const (
	wholeURL = iota
	httpsHost
	httpHost
	schemes = 3

	hasDue   = 4
	hasParts = 8
)

// Which of the rare parts a record has.
const (
	hasMethod = 1 << iota
	hasHeader
	hasBody
	hasKey
	hasLabel
	hasData
	hasSession
	hasCounts // kind, hops, attempt, crashes
)

// appendEntry encodes an entry of a host without its priority, which is kept beside the record. The URL without scheme and
// host is most of it, and stands last.
func appendEntry(dst []byte, e *entry, host string) []byte {
	r := &e.req
	parts := uint64(0)
	for bit, there := range [...]bool{
		r.Method != "", len(r.Header) > 0, r.Body != nil, r.Key != "", r.Label != "", len(r.Data) > 0, r.Session != "",
		r.Kind != 0 || r.Hops != 0 || e.attempt != 0 || e.crashes != 0,
	} {
		if there {
			parts |= 1 << bit
		}
	}
	first, rest := shorten(r.URL, host)
	if parts != 0 {
		first |= hasParts
	}
	if e.due > 0 {
		first |= hasDue
	}
	dst = append(dst, first)
	dst = binary.AppendVarint(dst, int64(r.Depth))
	if e.due > 0 {
		dst = binary.AppendUvarint(dst, uint64(e.due/time.Millisecond))
	}
	if parts != 0 {
		dst = binary.AppendUvarint(dst, parts)
		dst = appendParts(dst, e, parts)
	}
	return append(dst, rest...)
}

// shorten cuts scheme and host off a URL, if it begins with them.
func shorten(url, host string) (first byte, rest string) {
	if rest, ok := strings.CutPrefix(url, "https://"); ok && strings.HasPrefix(rest, host) {
		return httpsHost, rest[len(host):]
	}
	if rest, ok := strings.CutPrefix(url, "http://"); ok && strings.HasPrefix(rest, host) {
		return httpHost, rest[len(host):]
	}
	return wholeURL, url
}

func lengthen(first byte, host string, rest []byte) string {
	switch first & schemes {
	case httpsHost:
		return "https://" + host + string(rest)
	case httpHost:
		return "http://" + host + string(rest)
	}
	return string(rest)
}

func appendParts(dst []byte, e *entry, parts uint64) []byte {
	r := &e.req
	if parts&hasCounts != 0 {
		for _, n := range [...]int{int(r.Kind), r.Hops, e.attempt, e.crashes} {
			dst = binary.AppendUvarint(dst, uint64(max(n, 0)))
		}
	}
	for _, p := range [...]struct {
		bit  uint64
		text string
	}{{hasMethod, r.Method}, {hasKey, r.Key}, {hasLabel, r.Label}, {hasSession, r.Session}} {
		if parts&p.bit != 0 {
			dst = appendText(dst, p.text)
		}
	}
	if parts&hasBody != 0 {
		dst = appendText(dst, r.Body)
	}
	if parts&hasData != 0 {
		dst = appendText(dst, r.Data)
	}
	if parts&hasHeader != 0 {
		dst = appendHeader(dst, r.Header)
	}
	return dst
}

func appendHeader(dst []byte, h http.Header) []byte {
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	dst = binary.AppendUvarint(dst, uint64(len(names)))
	for _, name := range names {
		dst = appendText(dst, name)
		dst = binary.AppendUvarint(dst, uint64(len(h[name])))
		for _, v := range h[name] {
			dst = appendText(dst, v)
		}
	}
	return dst
}

func appendText[T ~string | ~[]byte](dst []byte, s T) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// dueOf reads of a record since when it is ready.
func dueOf(p []byte) time.Duration {
	if len(p) == 0 || p[0]&hasDue == 0 {
		return 0
	}
	_, n := binary.Varint(p[1:])
	if n <= 0 {
		return 0
	}
	ms, _ := binary.Uvarint(p[1+n:])
	return time.Duration(ms) * time.Millisecond
}

// decodeEntry is the inverse of appendEntry. The entry shares no memory with p.
func decodeEntry(p []byte, host string, priority int) (*entry, error) {
	if len(p) == 0 || p[0] > httpHost|hasDue|hasParts || p[0]&schemes == schemes {
		return nil, errEntry
	}
	first := p[0]
	d := decoder{rest: p[1:]}
	e := new(entry)
	e.req.Priority = priority
	e.req.Depth = int(d.varint())
	if first&hasDue != 0 {
		e.due = time.Duration(d.upTo64(uint64(math.MaxInt64/time.Millisecond))) * time.Millisecond
	}
	if first&hasParts != 0 {
		d.parts(e)
	}
	if d.bad {
		return nil, errEntry
	}
	e.req.URL = lengthen(first, host, d.rest)
	return e, nil
}

// decoder reads a record. After a fault it returns zero values and bad is set.
type decoder struct {
	rest []byte
	bad  bool
}

// parts reads what appendParts wrote.
func (d *decoder) parts(e *entry) {
	r := &e.req
	parts := d.uvarint()
	if parts&hasCounts != 0 {
		r.Kind, r.Hops = fetch.Kind(d.upTo(math.MaxUint8)), d.upTo(math.MaxInt)
		e.attempt, e.crashes = d.upTo(math.MaxInt), d.upTo(math.MaxInt)
	}
	for _, f := range [...]struct {
		bit uint64
		to  *string
	}{{hasMethod, &r.Method}, {hasKey, &r.Key}, {hasLabel, &r.Label}, {hasSession, &r.Session}} {
		if parts&f.bit != 0 {
			*f.to = string(d.bytes())
		}
	}
	if parts&hasBody != 0 {
		r.Body = append([]byte{}, d.bytes()...)
	}
	if parts&hasData != 0 {
		r.Data = append(r.Data, d.bytes()...)
	}
	if parts&hasHeader != 0 {
		r.Header = d.header()
	}
}

func (d *decoder) fail() { d.rest, d.bad = nil, true }

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// upTo reads a number that has a bound.
func (d *decoder) upTo(most int) int { return int(d.upTo64(uint64(most))) }

func (d *decoder) upTo64(most uint64) uint64 {
	v := d.uvarint()
	if v > most {
		d.fail()
		return 0
	}
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) bytes() []byte {
	n := d.uvarint()
	if n > uint64(len(d.rest)) {
		d.fail()
		return nil
	}
	p := d.rest[:n]
	d.rest = d.rest[n:]
	return p
}

func (d *decoder) header() http.Header {
	n := d.uvarint()
	if n > uint64(len(d.rest)) {
		d.fail()
	}
	if n == 0 || d.bad {
		return nil
	}
	h := make(http.Header, n)
	for range n {
		name := string(d.bytes())
		values := d.uvarint()
		if values > uint64(len(d.rest)) {
			d.fail()
			return nil
		}
		h[name] = make([]string, 0, values)
		for range values {
			h[name] = append(h[name], string(d.bytes()))
		}
	}
	return h
}
