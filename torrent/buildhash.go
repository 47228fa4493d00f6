package torrent

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"path"
)

// pieceHasher hashes the contents of files, each read once, for one version or both.
type pieceHasher struct {
	version     Version
	pieceLength int64

	pieces []byte // of version 1
	sum    hash.Hash
	filled int64 // bytes of the piece that is being hashed
}

// pad is how many bytes follow a file of a hybrid up to the next piece.
func (h *pieceHasher) pad(length int64) int64 {
	if n := length % h.pieceLength; n > 0 {
		return h.pieceLength - n
	}
	return 0
}

// files hashes all files, and fills their hashes of version 2.
func (h *pieceHasher) files(ctx context.Context, name string, files []BuildFile) error {
	h.sum = sha1.New()
	for i := range files {
		f := &files[i]
		if f.Attr&Symlink != 0 || f.Open == nil && (h.version == V2 || f.Length == 0) {
			continue // no content, or facts of it
		}
		if err := h.file(ctx, f); err != nil {
			return fmt.Errorf("seine: torrent: %q: %w", path.Join(append([]string{name}, f.Path...)...), err)
		}
		if h.version == Hybrid && i+1 < len(files) {
			if err := h.zeros(ctx, h.pad(f.Length)); err != nil {
				return err
			}
		}
	}
	if h.filled > 0 {
		h.pieces = h.sum.Sum(h.pieces)
	}
	return nil
}

// zeros hashes the content of a pad file.
func (h *pieceHasher) zeros(ctx context.Context, n int64) error {
	var block [blockLength]byte
	for n > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := min(n, blockLength)
		h.write(block[:part])
		n -= part
	}
	return nil
}

// write adds content to the pieces of version 1.
func (h *pieceHasher) write(b []byte) {
	for len(b) > 0 {
		n := min(int64(len(b)), h.pieceLength-h.filled)
		h.sum.Write(b[:n])
		b = b[n:]
		if h.filled += n; h.filled == h.pieceLength {
			h.pieces = h.sum.Sum(h.pieces)
			h.sum.Reset()
			h.filled = 0
		}
	}
}

// file hashes a file.
func (h *pieceHasher) file(ctx context.Context, f *BuildFile) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	r, err := f.Open()
	if err != nil {
		return err
	}
	if r == nil {
		return errors.New("open gave no content")
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	buffered := bufio.NewReaderSize(r, 16*blockLength)
	tree := fileTree{blocks: h.pieceLength / blockLength}
	var block [blockLength]byte
	for left := f.Length; left > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(left, blockLength)
		if _, err := io.ReadFull(buffered, block[:n]); err != nil {
			return fmt.Errorf("%w: %w", ErrInvalidLength, err)
		}
		left -= n
		if h.version&V1 != 0 {
			h.write(block[:n])
		}
		if h.version&V2 != 0 {
			tree.add(sha256.Sum256(block[:n]))
		}
	}
	if _, err := buffered.ReadByte(); err != io.EOF {
		return fmt.Errorf("%w: the content is longer", ErrInvalidLength)
	}
	if h.version&V2 != 0 {
		root, layer := tree.finish(h.pieceLength)
		if !f.PiecesRoot.IsZero() && f.PiecesRoot != root || f.PieceLayer != nil && !bytes.Equal(f.PieceLayer, layer) {
			return fmt.Errorf("%w: the hashes are of another content", ErrInvalidPieceLayers)
		}
		f.PiecesRoot, f.PieceLayer = root, layer
	}
	return nil
}

// fileTree is the hash tree of a file (BEP 52) that grows block by block.
type fileTree struct {
	blocks int64    // in a piece
	leaves []HashV2 // of the piece that is being read
	layer  []byte   // the hashes of whole pieces
}

func (t *fileTree) add(leaf HashV2) {
	if int64(len(t.leaves)) == t.blocks {
		t.endPiece()
	}
	t.leaves = append(t.leaves, leaf)
}

func (t *fileTree) endPiece() {
	piece := merkle(t.leaves, HashV2{})
	t.layer = append(t.layer, piece[:]...)
	t.leaves = t.leaves[:0]
}

// finish returns the root and, for a file longer than a piece, the layer of its pieces.
func (t *fileTree) finish(pieceLength int64) (root HashV2, layer []byte) {
	if t.layer == nil {
		return merkle(t.leaves, HashV2{}), nil
	}
	for int64(len(t.leaves)) < t.blocks {
		t.leaves = append(t.leaves, HashV2{})
	}
	t.endPiece()
	return merkleRoot(t.layer, pieceLength), t.layer
}
