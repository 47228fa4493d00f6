// Package bencode reads and writes bencode, the encoding of BitTorrent (BEP 3).
//
// A [Scanner] walks over bytes and gives tokens as spans of them: it allocates nothing for what it reads, does not
// recurse, and stops at bounds of depth, tokens and bytes. [Unmarshal] and [Marshal] map values to Go types by struct
// tags, and a [Writer] writes canonical bencode by hand:
//
//	var peer struct {
//		Version string `bencode:"v"`
//		Port    uint16 `bencode:"p"`
//	}
//	err := bencode.Unmarshal(data, &peer)
//
// Reading is lenient unless [Options] say otherwise: keys out of order, a repeated key (the first one counts), a
// leading zero, a negative zero and bytes after the value are told as warnings; strict reading makes an error of
// them. Integers are those of an int64; a larger one is an error.
package bencode
