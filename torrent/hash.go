package torrent

import (
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
)

// HashV1 is an info hash of version 1: SHA-1. The zero value stands for none.
type HashV1 [20]byte

// HashV2 is an info hash of version 2, or a root of a file: SHA-256. The zero value stands for none.
type HashV2 [32]byte

// String returns 40 hexadecimal digits in lower case.
func (h HashV1) String() string { return hex.EncodeToString(h[:]) }

// String returns 64 hexadecimal digits in lower case.
func (h HashV2) String() string { return hex.EncodeToString(h[:]) }

// IsZero tells whether there is no hash.
func (h HashV1) IsZero() bool { return h == HashV1{} }

// IsZero tells whether there is no hash.
func (h HashV2) IsZero() bool { return h == HashV2{} }

// Short returns the first 20 bytes, which stand for the hash where trackers, the hash table and handshakes want 20
// (BEP 52).
func (h HashV2) Short() HashV1 { return HashV1(h[:len(HashV1{})]) }

// MarshalText writes the hexadecimal form, and nothing for no hash.
func (h HashV1) MarshalText() ([]byte, error) { return hexText(h[:], h.IsZero()), nil }

// MarshalText writes the hexadecimal form, and nothing for no hash.
func (h HashV2) MarshalText() ([]byte, error) { return hexText(h[:], h.IsZero()), nil }

// UnmarshalText reads 40 hexadecimal digits or 32 of base32, of either case; nothing is no hash.
func (h *HashV1) UnmarshalText(b []byte) error {
	*h = HashV1{}
	if len(b) == 0 || decodeHashV1(h, string(b)) {
		return nil
	}
	return &MagnetError{Kind: ErrInvalidInfoHash, Value: shortened(string(b))}
}

// UnmarshalText reads 64 hexadecimal digits of either case; nothing is no hash.
func (h *HashV2) UnmarshalText(b []byte) error {
	*h = HashV2{}
	if len(b) == 0 || decodeHashV2(h, string(b)) {
		return nil
	}
	return &MagnetError{Kind: ErrInvalidInfoHash, Value: shortened(string(b))}
}

func hexText(b []byte, zero bool) []byte {
	if zero {
		return []byte{}
	}
	return hex.AppendEncode(nil, b)
}

// decodeHashV1 reads just 40 hexadecimal or 32 base32 digits. The all-zero hash is none, which is what it leaves of
// others.
func decodeHashV1(h *HashV1, s string) (ok bool) {
	some := true
	switch len(s) {
	case hex.EncodedLen(len(h)):
		ok, some = decodeHex(h[:], s)
	case base32.StdEncoding.EncodedLen(len(h)):
		ok = decodeBase32(h[:], s) && !h.IsZero()
	}
	if !ok || !some {
		*h = HashV1{}
		return false
	}
	return true
}

// decodeHashV2 reads just 64 hexadecimal digits, as decodeHashV1 does.
func decodeHashV2(h *HashV2, s string) bool {
	if len(s) == hex.EncodedLen(len(h)) {
		if ok, some := decodeHex(h[:], s); ok && some {
			return true
		}
	}
	*h = HashV2{}
	return false
}

// decodeHex fills dst, of a multiple of four bytes, from twice as many digits, eight at a time. What is wrong is
// gathered and looked at in the end, so that no step waits for the one before it. Some tells whether any digit is not
// zero.
func decodeHex(dst []byte, s string) (ok, some bool) {
	var wrong, all uint64
	for i := 0; i+4 <= len(dst) && 2*i+8 <= len(s); i += 4 {
		const low, sixes, zeros = eachByte * 0x0f, eachByte * 6, eachByte * '0'
		word := load8(s[2*i:])
		letter := word >> 6 & eachByte
		digit := word&low + 9*letter
		atLeastTen := (digit + sixes) >> 4 & eachByte
		wrong |= digit&^low | ((digit + zeros + ('a'-'0'-10)*atLeastTen) ^ (word | letter<<5))
		all |= digit
		digit = (digit<<4 | digit>>8) & 0x00ff_00ff_00ff_00ff
		digit = (digit | digit>>8) & 0x0000_ffff_0000_ffff
		binary.LittleEndian.PutUint32(dst[i:], uint32(digit|digit>>16))
	}
	return wrong == 0, all != 0
}

// decodeBase32 fills 5n bytes from 8n digits of RFC 4648, of either case.
func decodeBase32(dst []byte, s string) bool {
	for len(dst) > 0 {
		var group uint64
		for i := range 8 {
			c := s[i]
			switch {
			case 'A' <= c && c <= 'Z':
				c -= 'A'
			case 'a' <= c && c <= 'z':
				c -= 'a'
			case '2' <= c && c <= '7':
				c -= '2' - 26
			default:
				return false
			}
			group = group<<5 | uint64(c)
		}
		for i := range 5 {
			dst[i] = byte(group >> (32 - 8*i))
		}
		dst, s = dst[5:], s[8:]
	}
	return true
}

// hexDigit is the value of each hexadecimal digit, and 255 for other bytes.
var hexDigit = func() (t [256]byte) {
	for i := range t {
		t[i] = 255
	}
	for i, c := range "0123456789abcdef" {
		t[c] = byte(i)
	}
	for i, c := range "ABCDEF" {
		t[c] = byte(10 + i)
	}
	return t
}()
