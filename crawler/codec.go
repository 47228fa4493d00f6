package crawler

import (
	"encoding/binary"
	"errors"
	"net/http"
	"slices"

	"github.com/seine-go/seine/fetch"
)

// entry is a queued request with what the frontier keeps beside it.
type entry struct {
	req     Request
	hash    uint64
	attempt int // tries that count so far
	crashes int // deaths of holders that had nothing else
}

var errEntry = errors.New("seine: frontier: damaged entry")

// Which of the rare parts an encoded entry has.
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

// appendEntry encodes an entry: the hash, a set of parts, depth, priority, URL, then the parts. The URL is most of it.
func appendEntry(dst []byte, e *entry) []byte {
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
	dst = binary.LittleEndian.AppendUint64(dst, e.hash)
	dst = binary.AppendUvarint(dst, parts)
	dst = binary.AppendVarint(dst, int64(r.Depth))
	dst = binary.AppendVarint(dst, int64(r.Priority))
	dst = appendText(dst, r.URL)
	if parts == 0 {
		return dst
	}
	return appendParts(dst, e, parts)
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
		names := make([]string, 0, len(r.Header))
		for name := range r.Header {
			names = append(names, name)
		}
		slices.Sort(names)
		dst = binary.AppendUvarint(dst, uint64(len(names)))
		for _, name := range names {
			dst = appendText(dst, name)
			dst = binary.AppendUvarint(dst, uint64(len(r.Header[name])))
			for _, v := range r.Header[name] {
				dst = appendText(dst, v)
			}
		}
	}
	return dst
}

func appendText[T ~string | ~[]byte](dst []byte, s T) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// decodeEntry is the inverse of appendEntry. The entry shares no memory with p.
func decodeEntry(p []byte) (*entry, error) {
	d := decoder{rest: p}
	e := new(entry)
	r := &e.req
	if len(p) < 8 {
		return nil, errEntry
	}
	e.hash, d.rest = binary.LittleEndian.Uint64(p), p[8:]
	parts := d.uvarint()
	r.Depth, r.Priority = int(d.varint()), int(d.varint())
	r.URL = d.text()
	if parts&hasCounts != 0 {
		r.Kind, r.Hops = fetch.Kind(d.uvarint()), int(d.uvarint())
		e.attempt, e.crashes = int(d.uvarint()), int(d.uvarint())
	}
	for _, f := range [...]struct {
		bit uint64
		to  *string
	}{{hasMethod, &r.Method}, {hasKey, &r.Key}, {hasLabel, &r.Label}, {hasSession, &r.Session}} {
		if parts&f.bit != 0 {
			*f.to = d.text()
		}
	}
	if parts&hasBody != 0 {
		r.Body = slices.Clone(d.bytes())
		if r.Body == nil {
			r.Body = []byte{}
		}
	}
	if parts&hasData != 0 {
		r.Data = slices.Clone(d.bytes())
	}
	if parts&hasHeader != 0 {
		r.Header = d.header()
	}
	if d.bad || len(d.rest) > 0 {
		return nil, errEntry
	}
	return e, nil
}

// decoder reads an encoded entry. After a fault it returns zero values and bad is set.
type decoder struct {
	rest []byte
	bad  bool
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

func (d *decoder) text() string { return string(d.bytes()) }

func (d *decoder) header() http.Header {
	n := d.uvarint()
	if n > uint64(len(d.rest)) {
		d.fail()
		return nil
	}
	h := make(http.Header, n)
	for range n {
		name := d.text()
		values := d.uvarint()
		if values > uint64(len(d.rest)) {
			d.fail()
			return nil
		}
		for range values {
			h[name] = append(h[name], d.text())
		}
	}
	return h
}
