package crawler

import (
	"encoding/binary"
	"math"
	"strings"
	"time"

	"github.com/seine-go/seine/ratelimit"
)

func appendUints(dst []byte, all ...uint64) []byte {
	for _, n := range all {
		dst = binary.AppendUvarint(dst, n)
	}
	return dst
}

func appendInts[T ~int | ~int64](dst []byte, all ...T) []byte {
	for _, n := range all {
		dst = binary.AppendVarint(dst, int64(n))
	}
	return dst
}

// positive is how a duration is written down of which only what is above zero counts.
func positive(d time.Duration) uint64 { return uint64(max(d, 0)) }

// duration reads one that is not negative.
func (d *decoder) duration() time.Duration { return time.Duration(d.upTo64(math.MaxInt64)) }

// length reads the number of things of which each takes a byte or more.
func (d *decoder) length() int { return d.upTo(len(d.rest)) }

func (d *decoder) byte() byte {
	if len(d.rest) == 0 {
		d.fail()
		return 0
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

func (d *decoder) text() string { return string(d.bytes()) }

// appendRequest encodes a request as it was given.
func appendRequest(dst []byte, r *Request) []byte {
	dst = appendInts(dst, r.Priority)
	var room [256]byte
	return appendText(dst, appendEntry(room[:0], &entry{req: *r}, ""))
}

func (d *decoder) request() *Request {
	priority := int(d.varint())
	e, err := decodeEntry(d.bytes(), "", priority)
	if err != nil {
		d.fail()
		return nil
	}
	return &e.req
}

func appendReport(dst []byte, r *HostReport) []byte {
	dst = appendInts(dst, int64(r.Class), int64(r.Status), int64(r.Exchanges), r.Bytes)
	dst = appendInts(dst, r.Latency, r.Elapsed, r.Sent, r.Since, r.RetryAfter)
	return appendText(dst, r.Proxy)
}

func (d *decoder) report() (r HostReport) {
	r.Class, r.Status, r.Exchanges, r.Bytes = ratelimit.Class(d.varint()), int(d.varint()), int(d.varint()), d.varint()
	for _, to := range [...]*time.Duration{&r.Latency, &r.Elapsed, &r.Sent, &r.Since, &r.RetryAfter} {
		*to = time.Duration(d.varint())
	}
	r.Proxy = d.text()
	return r
}

func appendPolicy(dst []byte, p HostPolicy) []byte {
	return appendInts(dst, int64(p.Delay), int64(p.Spacing), int64(p.MaxInFlight), int64(p.InFlight), int64(p.Adapt), int64(p.Block))
}

func (d *decoder) policy() HostPolicy {
	return HostPolicy{
		Delay: time.Duration(d.varint()), Spacing: time.Duration(d.varint()), MaxInFlight: int(d.varint()), InFlight: int(d.varint()),
		Adapt: Switch(d.varint()), Block: time.Duration(d.varint()),
	}
}

// shortened cuts the reason of a failure to what is kept of it.
func shortened(reason string) string {
	const dots = "…"
	if len(reason) > MaxReasonBytes {
		return strings.ToValidUTF8(reason[:MaxReasonBytes-len(dots)], "") + dots
	}
	return strings.Clone(reason)
}
