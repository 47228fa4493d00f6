package torrent

import (
	"errors"
	"fmt"

	"github.com/seine-go/seine/torrent/bencode"
)

// Bounds of the piece length that a Builder chooses, and the number of pieces it aims at.
const (
	maxChosenPiece = 16 << 20 // bytes
	aimedPieces    = 2000
)

func choosePieceLength(files []BuildFile) int64 {
	total := int64(0)
	for _, f := range files {
		total += f.Length
	}
	n := int64(blockLength)
	for n < maxChosenPiece && total/n > aimedPieces {
		n *= 2
	}
	return n
}

// checkBounds finds out, before any content is read, what would be past the bounds of a torrent file.
func (b *Builder) checkBounds(version Version, pieceLength int64) error {
	var v1, v2, files, layers int64 // bytes of version 1, pieces of version 2, files with pad files, pieces in layers
	for i, f := range b.Files {
		n := (f.Length + pieceLength - 1) / pieceLength
		v1 += f.Length
		files++
		if pad := n*pieceLength - f.Length; version == Hybrid && pad > 0 && i+1 < len(b.Files) {
			v1 += pad
			files++
		}
		v2 += n
		if n > 1 {
			layers += n
		}
		if max(v1, v2*pieceLength) > maxLength {
			return refused(ErrInvalidLength, "Files", nil)
		}
	}
	pieces, hashes := (v1+pieceLength-1)/pieceLength, int64(0)
	if version == V2 {
		pieces = v2
	} else {
		hashes = pieces * int64(len(HashV1{}))
	}
	if version&V2 != 0 {
		hashes += layers * int64(len(HashV2{}))
	}
	switch {
	case files > DefaultMaxFiles:
		return refused(ErrTooManyFiles, "Files", errors.New("with pad files"))
	case v1 == 0:
		return refused(ErrInvalidLength, "Files", errors.New("all are empty"))
	case b.Pieces != nil && int64(len(b.Pieces)) != hashes:
		return refused(ErrInvalidPieces, "Pieces", fmt.Errorf("%d bytes for %d pieces", len(b.Pieces), pieces))
	case pieces > DefaultMaxPieces:
		return refused(ErrTooManyPieces, "PieceLength", fmt.Errorf("%d pieces", pieces))
	}
	if field, size := b.largest(hashes); size > bencode.DefaultMaxBytes {
		return refused(ErrTooManyBytes, field, nil)
	}
	return nil
}

// largest estimates the size of the torrent file, never above what it is, and names the field that takes most of it;
// hashes is what those of pieces take.
func (b *Builder) largest(hashes int64) (field string, total int64) {
	most := int64(-1)
	part := func(name string, size int64) {
		if total += size; size > most {
			field, most = name, size
		}
	}
	texts := func(list []string) (size int64) {
		for _, s := range list {
			size += int64(len(s))
		}
		return size
	}
	trackers := int64(0)
	for _, tier := range b.Trackers {
		trackers += texts(tier)
	}
	part("Trackers", trackers)
	part("WebSeeds", texts(b.WebSeeds))
	part("HTTPSeeds", texts(b.HTTPSeeds))
	part("Comment", int64(len(b.Comment)))
	part("CreatedBy", int64(len(b.CreatedBy)))
	if b.Info != nil {
		part("Info", int64(len(b.Info)))
		return field, total
	}
	files := int64(0)
	for i := range b.Files {
		files += texts(b.Files[i].Path) + texts(b.Files[i].Link)
	}
	part("Files", files)
	part("Name", int64(len(b.Name)))
	part("Source", int64(len(b.Source)))
	part("PieceLength", hashes)
	return field, total
}

// fault makes the error of one that Parse has found in what was written; layers is the size of the piece layers.
func (b *Builder) fault(found *Error, layers int) error {
	switch kind := found.Kind; {
	case kind == ErrTooManyBytes:
		field, _ := b.largest(int64(len(b.Pieces) + layers))
		return refused(kind, field, nil)
	case b.Info != nil:
		return refused(kind, "Info", errors.New(found.Key))
	case kind == ErrDepthExceeded, kind == ErrTooManyTokens, kind == ErrPathsTooLong:
		return refused(kind, "Files", nil)
	}
	return refused(found.Kind, found.Key, nil)
}
