package torrent

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seine-go/seine/torrent/bencode"
)

// ErrorKind names a kind of fault. It is an error itself: errors.Is(err, torrent.ErrNoFiles) finds it. The kinds of
// package bencode are of the same type and are found in the same way.
type ErrorKind = bencode.ErrorKind

// What makes a torrent file unusable.
const (
	ErrNotBencode        ErrorKind = "not_bencode"         // Error.Hint says what it looks like
	ErrNotDict           ErrorKind = "not_dict"            // bencode, but no dictionary
	ErrDepthExceeded               = bencode.ErrDepth      // Limits.Depth
	ErrTooManyTokens               = bencode.ErrTokens     // Limits.Tokens
	ErrTooManyBytes                = bencode.ErrBytes      // Limits.Bytes
	ErrTooManyFiles      ErrorKind = "too_many_files"      // Limits.Files
	ErrTooManyPieces     ErrorKind = "too_many_pieces"     // Limits.Pieces
	ErrTooManyDuplicates ErrorKind = "too_many_duplicates" // Limits.Duplicates
	ErrPathsTooLong      ErrorKind = "paths_too_long"      // Limits.PathBytes
	ErrMissingInfo       ErrorKind = "missing_info"        // no info, or not a dictionary
	// no name, or one that is empty, "..", or control characters alone
	ErrMissingName        ErrorKind = "missing_name"
	ErrMissingPieceLength ErrorKind = "missing_piece_length" // missing, or out of range
	// of a file or of all: missing, negative, too large, or nothing at all
	ErrInvalidLength ErrorKind = "invalid_length"
	ErrMissingPieces ErrorKind = "missing_pieces" // no hashes of pieces
	ErrInvalidPieces ErrorKind = "invalid_pieces" // not as many hashes as pieces
	ErrNoFiles       ErrorKind = "no_files"       // nothing to download
	// the path of a file is no list of strings, or an empty one
	ErrInvalidPath        ErrorKind = "invalid_path"
	ErrUnsupportedVersion ErrorKind = "unsupported_version"  // a meta version above 2; one below 1 is read as 1
	ErrFileTree           ErrorKind = "file_tree"            // the file tree is no tree of files (BEP 52)
	ErrInvalidPadFile     ErrorKind = "invalid_pad_file"     // a pad file in a file tree
	ErrMissingPiecesRoot  ErrorKind = "missing_pieces_root"  // a file of version 2 without a root hash
	ErrInvalidPieceLayers ErrorKind = "invalid_piece_layers" // they do not fit the files, or do not hash to the root
	ErrInconsistentHybrid ErrorKind = "inconsistent_hybrid"  // version 1 and version 2 tell of different files
	// the info dictionary of version 2 is not canonical bencode
	ErrV2Noncanonical ErrorKind = "v2_noncanonical"
)

// What makes a magnet link unusable.
const (
	ErrNotMagnet       ErrorKind = "not_magnet"        // no magnet link
	ErrMissingInfoHash ErrorKind = "missing_info_hash" // no hash of a torrent
	// no hash is of the right length, alphabet and kind, or it is all zero
	ErrInvalidInfoHash ErrorKind = "invalid_info_hash"
	ErrTooLong         ErrorKind = "too_long" // longer than MaxMagnetBytes
)

// What is only told as a [Warning], beside the warnings of package bencode.
const (
	ErrWrongType              = bencode.ErrWrongType  // an optional key of the wrong type was passed over
	ErrUnusable     ErrorKind = "unusable"            // the address of a tracker, a web seed or a node was dropped
	ErrMissingLayer ErrorKind = "missing_piece_layer" // piece layers are there, but not for every file
	ErrNotUTF8      ErrorKind = "not_utf8"            // a name; its safe form replaces the bytes
	ErrUnsafePath   ErrorKind = "unsafe_path"         // a path that was changed to be safe or unique
	// a symbolic link without a target, or to what the torrent does not hold
	ErrBadSymlink ErrorKind = "bad_symlink"
)

// An Error is a fault of a torrent file, with its place, or of what a Builder was given.
type Error struct {
	Kind   ErrorKind
	Offset int    // in bytes from the start of the input; -1 when a Builder has no input
	Key    string // of the dictionary entry at fault, or the field of a Builder, such as Files[2].Path; may be empty
	Hint   string // what an input that is no torrent file looks like; may be empty
	Err    error  // the fault of the encoding, or of a file, below it; may be nil
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("seine: torrent: ")
	b.WriteString(string(e.Kind))
	if e.Key != "" {
		fmt.Fprintf(&b, " in %q", e.Key)
	}
	var below *bencode.Error
	switch {
	case e.Offset < 0 && e.Err != nil:
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	case e.Offset >= 0:
		fmt.Fprintf(&b, " at byte %d", e.Offset)
		if errors.As(e.Err, &below) && below.Kind != e.Kind {
			b.WriteString(": ")
			b.WriteString(string(below.Kind))
		}
	}
	if e.Hint != "" {
		b.WriteString(": the input ")
		b.WriteString(e.Hint)
	}
	return b.String()
}

// Unwrap gives the kind and the fault below to errors.Is and errors.As.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// A Warning is a fault that was forgiven.
type Warning struct {
	Kind   ErrorKind
	Offset int    // in bytes from the start of the input
	Key    string // of the dictionary entry; may be empty
}

// MaxWarnings is how many warnings of one kind are kept.
const MaxWarnings = bencode.MaxWarnings

// Warnings are what was forgiven: at most [MaxWarnings] of a kind.
type Warnings []Warning

// Kinds lists each kind once, in the order of the first of it.
func (w Warnings) Kinds() []ErrorKind {
	all := make(bencode.Warnings, len(w))
	for i, x := range w {
		all[i].Kind = x.Kind
	}
	return all.Kinds()
}

// hint says what bytes that are no bencode look like, as far as that helps whoever fetched them; fault is what is
// wrong with them as bencode.
func hint(b []byte, fault ErrorKind) string {
	head := b[:min(len(b), 512)]
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n\f")
	lower := bytes.ToLower(text)
	switch {
	case len(b) == 0:
		return "is empty"
	case len(text) == 0:
		return "is blank"
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return "looks like gzip"
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return "looks like a zip archive"
	case bytes.HasPrefix(head, []byte{0, 5, 0x16, 7}), bytes.HasPrefix(head, []byte{0, 5, 0x16, 0}):
		return "looks like an AppleDouble side file (._name)"
	case bytes.HasPrefix(lower, []byte("magnet:")):
		return "looks like a magnet link"
	case bytes.HasPrefix(lower, []byte("<?xml")), bytes.HasPrefix(lower, []byte("<rss")):
		return "looks like xml"
	case text[0] == '<':
		return "looks like html"
	case text[0] == '{' || text[0] == '[':
		return "looks like json"
	case text[0] == 'd' && len(text) > 1 && '0' <= text[1] && text[1] <= '9':
		if len(text) != len(head) {
			return "has bytes before the torrent"
		}
		if fault == bencode.ErrUnexpectedEnd {
			return "is cut off"
		}
		return "is damaged"
	case utf8.Valid(trimRune(head)):
		return "looks like text"
	}
	return ""
}

// trimRune takes away a rune that was cut at the end.
func trimRune(b []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax, len(b)); i++ {
		if utf8.RuneStart(b[len(b)-i]) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}
