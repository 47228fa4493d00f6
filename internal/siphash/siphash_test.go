package siphash

import (
	"encoding/binary"
	"testing"
)

// The vector of the paper's appendix A, and neighbours of the reference implementation's list.
func TestVectors(t *testing.T) {
	t.Parallel()
	var raw [16]byte
	for i := range raw {
		raw[i] = byte(i)
	}
	k := Key{binary.LittleEndian.Uint64(raw[:8]), binary.LittleEndian.Uint64(raw[8:])}
	for n, want := range map[int]uint64{0: 0x726fdb47dd0e0e31, 1: 0x74f839c593dc67fd, 15: 0xa129ca6149be45e5} {
		msg := make([]byte, n)
		for i := range msg {
			msg[i] = byte(i)
		}
		if got := Sum64Bytes(k, msg); got != want {
			t.Errorf("%d bytes: %#x, want %#x", n, got, want)
		}
		if got := Sum64(k, string(msg)); got != want {
			t.Errorf("string of %d bytes: %#x, want %#x", n, got, want)
		}
	}
}

func BenchmarkSum64(b *testing.B) {
	b.ReportAllocs()
	k := Key{1, 2}
	for b.Loop() {
		Sum64(k, "http://127.0.0.1:8399/page/17")
	}
}
