package siphash

import (
	"encoding/binary"
	"testing"
)

// The vector of the paper's appendix A, and those of the reference implementation for shorter messages.
func TestVectors(t *testing.T) {
	t.Parallel()
	var raw [16]byte
	for i := range raw {
		raw[i] = byte(i)
	}
	k := Key{binary.LittleEndian.Uint64(raw[:8]), binary.LittleEndian.Uint64(raw[8:])}
	for n, want := range []uint64{
		0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a, 0x85676696d7fb7e2d, 0xcf2794e0277187b7, 0x18765564cd99a68d, 0xcbc9466e58fee3ce, 0xab0200f58b01d137,
		0x93f5f5799a932462, 0x9e0082df0ba9e4b0, 0x7a5dbbc594ddb9f3, 0xf4b32f46226bada7, 0x751e8fbc860ee5fb, 0x14ea5627c0843d90, 0xf723ca908e7af2ee, 0xa129ca6149be45e5,
	} {
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
