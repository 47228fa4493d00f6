package torrent

import (
	"crypto/sha256"

	"github.com/seine-go/seine/torrent/bencode"
)

// pieceLayers checks the layers of the hash trees of version 2 against the roots, and gives them to the files. They
// stand outside of the info dictionary, and may be missing: peers do not give them with it.
func (p *parser) pieceLayers() bool {
	if p.m.Version&V2 == 0 || p.layers.Kind == bencode.None {
		return true
	}
	layers := map[HashV2]*layer{} // those that the files need
	for i := range p.m.Files {
		if f := &p.m.Files[i]; f.Length > p.m.PieceLength {
			layers[f.more.root] = nil
		}
	}
	ok := p.readLayers(layers)
	if !ok {
		return p.fault(ErrInvalidPieceLayers, p.layers.Start, "piece layers")
	}
	for i := range p.m.Files {
		f := &p.m.Files[i]
		if f.Length <= p.m.PieceLength {
			continue
		}
		l := layers[f.more.root]
		if l == nil {
			p.warn(ErrMissingLayer, p.layers.Start, "piece layers")
			continue
		}
		if l.pieces == 0 { // files of one content share a layer, which is checked once
			l.pieces = int64(len(l.hashes)) / sha256.Size
			if merkleRoot(l.hashes, p.m.PieceLength) != f.more.root {
				l.pieces = -1
			}
		}
		pieces := (f.Length + p.m.PieceLength - 1) / p.m.PieceLength
		if l.pieces < 0 && p.m.PieceLength == blockLength && int64(len(l.hashes)) == pieces*sha256.Size {
			// BEP 52 makes no such exception, and libtorrent came to refuse these too. But torrents of this kind are
			// about and count as valid: where pieces are blocks the layer says no more than what peers prove block by
			// block. It is not handed out.
			p.warn(ErrInvalidPieceLayers, p.layers.Start, "piece layers")
			continue
		}
		if l.pieces != pieces {
			return p.fault(ErrInvalidPieceLayers, p.layers.Start, "piece layers")
		}
		f.more.layer = l.hashes
	}
	return true
}

// layer is an entry of the piece layers.
type layer struct {
	hashes []byte
	pieces int64 // once checked; -1 when the hashes do not give the root
}

// readLayers fills in the layers that are asked for; of two the first counts. It is false when the entries are no
// layers.
func (p *parser) readLayers(layers map[HashV2]*layer) bool {
	if p.layers.Kind != bencode.Dict {
		return false
	}
	s := bencode.NewScanner(p.data[p.layers.Start:p.layers.End], bencode.Options{MaxDepth: -1, MaxTokens: -1, MaxBytes: -1})
	s.Next()
	for key := s.Next(); key.Kind == bencode.Key; key = s.Next() {
		root, value := s.Text(key), s.Value()
		if len(root) != sha256.Size || value.Kind != bencode.String || len(s.Text(value))%sha256.Size != 0 {
			return false
		}
		if l, needed := layers[HashV2(root)]; needed && l == nil {
			layers[HashV2(root)] = &layer{hashes: s.Text(value)}
		}
	}
	return true
}

// merkleRoot computes the root above a layer of piece hashes (BEP 52): the layer is filled up to a power of two with
// the roots of pieces that hold zero hashes alone.
func merkleRoot(hashes []byte, pieceLength int64) HashV2 {
	var pad HashV2
	for n := int64(blockLength); n < pieceLength; n *= 2 {
		pad = hashPair(pad, pad)
	}
	row := make([]HashV2, len(hashes)/sha256.Size)
	for i := range row {
		row[i] = HashV2(hashes[i*sha256.Size:])
	}
	return merkle(row, pad)
}

// merkle computes the root above a row, which it overwrites; pad fills the row up to a power of two.
func merkle(row []HashV2, pad HashV2) HashV2 {
	if len(row) == 0 {
		return HashV2{}
	}
	for len(row) > 1 {
		if len(row)%2 == 1 {
			row = append(row, pad)
		}
		for i := range len(row) / 2 {
			row[i] = hashPair(row[2*i], row[2*i+1])
		}
		row = row[:len(row)/2]
		pad = hashPair(pad, pad)
	}
	return row[0]
}

func hashPair(a, b HashV2) HashV2 {
	var both [2 * sha256.Size]byte
	copy(both[:], a[:])
	copy(both[sha256.Size:], b[:])
	return sha256.Sum256(both[:])
}
