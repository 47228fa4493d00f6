package torrent

import (
	"encoding/hex"
	"testing"
)

// Each byte in each place of eight digits is taken and read as encoding/hex does it.
func TestDecodeHexEqualsTheStandardLibrary(t *testing.T) {
	t.Parallel()
	for at := range 8 {
		for c := range 256 {
			for _, digits := range []string{"00000000", "ffffffff", "9aAfF019"} {
				s := []byte(digits)
				s[at] = byte(c)
				var got [4]byte
				want, err := hex.DecodeString(string(s))
				ok, some := decodeHex(got[:], string(s))
				if ok != (err == nil) || ok && (string(want) != string(got[:]) || some != (got != [4]byte{})) {
					t.Errorf("%q: %v, %x, not %x", s, ok, got, want)
				}
			}
		}
	}
}
