// Package siphash is the keyed hash SipHash-2-4 with 64 bits of output (Aumasson and Bernstein, 2012). Unlike the
// seeds of hash/maphash its keys can be stored.
//
//	h := siphash.Sum64(key, "https://films.example/")
package siphash

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Key is a secret of 128 bits.
type Key [2]uint64

// Sum64 hashes a string. It does not allocate and is safe for concurrent use.
func Sum64(k Key, s string) uint64 { return Sum64Bytes(k, unsafe.Slice(unsafe.StringData(s), len(s))) }

// Sum64Bytes hashes bytes.
func Sum64Bytes(k Key, p []byte) uint64 {
	v0 := k[0] ^ 0x736f6d6570736575
	v1 := k[1] ^ 0x646f72616e646f6d
	v2 := k[0] ^ 0x6c7967656e657261
	v3 := k[1] ^ 0x7465646279746573
	last := uint64(len(p))<<56 | rest(p)
	for ; len(p) >= 8; p = p[8:] {
		m := binary.LittleEndian.Uint64(p)
		v3 ^= m
		v0, v1, v2, v3 = round(v0, v1, v2, v3)
		v0, v1, v2, v3 = round(v0, v1, v2, v3)
		v0 ^= m
	}
	v3 ^= last
	v0, v1, v2, v3 = round(v0, v1, v2, v3)
	v0, v1, v2, v3 = round(v0, v1, v2, v3)
	v0 ^= last
	v2 ^= 0xff
	for range 4 {
		v0, v1, v2, v3 = round(v0, v1, v2, v3)
	}
	return v0 ^ v1 ^ v2 ^ v3
}

// rest returns the last len(p) % 8 bytes, with one read where there are eight to read.
func rest(p []byte) (last uint64) {
	n := len(p) % 8
	if len(p) >= 8 {
		return binary.LittleEndian.Uint64(p[len(p)-8:]) >> uint(64-8*n) // 0 if there are none
	}
	for i, c := range p {
		last |= uint64(c) << (8 * i)
	}
	return last
}

func round(v0, v1, v2, v3 uint64) (uint64, uint64, uint64, uint64) {
	v0 += v1
	v1 = bits.RotateLeft64(v1, 13) ^ v0
	v0 = bits.RotateLeft64(v0, 32)
	v2 += v3
	v3 = bits.RotateLeft64(v3, 16) ^ v2
	v0 += v3
	v3 = bits.RotateLeft64(v3, 21) ^ v0
	v2 += v1
	v1 = bits.RotateLeft64(v1, 17) ^ v2
	v2 = bits.RotateLeft64(v2, 32)
	return v0, v1, v2, v3
}
