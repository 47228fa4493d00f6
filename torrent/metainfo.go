package torrent

import (
	"time"

	"github.com/seine-go/seine/torrent/bencode"
)

// Version says which versions of the protocol a torrent is of.
type Version uint8

// The versions.
const (
	V1     Version = 1       // BEP 3
	V2     Version = 2       // BEP 52
	Hybrid         = V1 | V2 // both, of the same files
)

// Metainfo is what a .torrent file says. Byte slices in it, raw paths too, are parts of the input: neither may be
// changed while the other is used. Strings do not share memory with the input.
type Metainfo struct {
	Version Version
	V1      HashV1 // info hash of version 1; zero when there is none
	V2      HashV2 // info hash of version 2; zero when there is none

	Info       []byte // the info dictionary as it stands in the input: what the hashes are of
	InfoOffset int    // where it stands

	Name        string // safe as the name of a file or folder, see File.Path
	RawName     []byte // name.utf-8 if there is one, else name
	PieceLength int64  // in bytes
	NumPieces   int    // of version 1 in V1 and Hybrid, of version 2 in V2
	Pieces      []byte // version 1: a SHA-1 of 20 bytes for each piece
	Files       []File // in the order of the torrent, without pad files; at least one
	Multi       bool   // the files are in a folder, Name, even if there is only one
	Length      int64  // of all Files in bytes; symbolic links count nothing
	PadFiles    int    // files that only fill up pieces (BEP 47)
	PadLength   int64  // of them, in bytes
	// peers from the trackers alone: BEP 27 writes a one; any number but zero counts, as clients have it
	Private bool
	// of the info dictionary, which some trackers use to make hashes differ; empty when there is none
	Source string

	// tiers (BEP 12) of http, https, udp, ws and wss URLs, or names without a scheme as they stand; each once
	Trackers     [][]string
	WebSeeds     []string // url-list (BEP 19), trimmed, without those that hold control characters, each once
	HTTPSeeds    []string // httpseeds (BEP 17), as WebSeeds
	Nodes        []Node   // nodes of the hash table (BEP 5)
	Comment      string   // as stored: it may hold any bytes
	CreatedBy    string   // as stored: it may hold any bytes
	CreationDate int64    // as stored, see Created; zero when there is none
}

// Node is the address of a node of the hash table.
type Node struct {
	Host string // a name, or an IP address without brackets
	Port uint16 // never zero
}

// File is a file of a torrent.
type File struct {
	// Path is the path of the file, elements separated by slashes, below Metainfo.Name when there are several files.
	// It is safe on Unix by construction: relative, valid UTF-8, without empty, "." and ".." elements, separators of
	// any system, control and bidirectional control characters; elements have at most 255 bytes, and no two files of
	// a torrent, nor a file and a folder, differ by case alone. Names reserved by Windows may occur.
	Path   string
	Length int64 // in bytes
	Offset int64 // of its first byte in the torrent, where pieces of PieceLength are counted
	Attr   Attr

	more *moreOfFile
	raw  []byte // the path as bencode: a list of strings, or one string
	at   int    // where the path stands: in version 1 the list, in version 2 the key at fault
}

// Attr are the attributes of a file (BEP 47).
type Attr uint8

// The attributes.
const (
	Executable Attr = 1 << iota
	Hidden
	Symlink
	padFile
)

// moreOfFile is what few files have.
type moreOfFile struct {
	root  HashV2
	layer []byte
	link  string

	linkAt int // where it stands
}

// RawPath returns the elements of the path as stored, below Metainfo.RawName when there are several files. They are
// hostile bytes.
func (f *File) RawPath() [][]byte {
	var elements [][]byte
	for body := range rawElements(f.raw) {
		elements = append(elements, body)
	}
	return elements
}

// PiecesRoot is the root of the hash tree of the file in version 2; zero when there is none.
func (f *File) PiecesRoot() HashV2 {
	if f.more == nil {
		return HashV2{}
	}
	return f.more.root
}

// PieceLayer holds a SHA-256 of 32 bytes for each piece of the file in version 2. It has been checked against the root.
// It is nil when the torrent has none, and for files that fit a piece.
func (f *File) PieceLayer() []byte {
	if f.more == nil {
		return nil
	}
	return f.more.layer
}

// LinkTarget is the path that a symbolic link leads to, below Metainfo.Name and safe as Path is; empty when there is
// none. A link that leads to no file and no folder of the torrent has a warning.
func (f *File) LinkTarget() string {
	if f.more == nil {
		return ""
	}
	return f.more.link
}

// Created is the time of CreationDate, which some programs write in milliseconds; the zero time when there is none.
func (m *Metainfo) Created() time.Time {
	switch {
	case m.CreationDate <= 0:
		return time.Time{}
	case m.CreationDate > milliseconds:
		return time.UnixMilli(m.CreationDate).UTC()
	}
	return time.Unix(m.CreationDate, 0).UTC()
}

// milliseconds is above every count of seconds up to the year 5138, and below every count of milliseconds since 1973.
const milliseconds = 100_000_000_000

// Magnet returns a link to the torrent.
func (m *Metainfo) Magnet() Magnet {
	magnet := Magnet{V1: m.V1, V2: m.V2, Name: trim(m.Name), Length: m.Length}
	seen := uniq{}
	for _, tier := range m.Trackers {
		for _, t := range tier {
			if trackerScheme(t) {
				seen.add(&magnet.Trackers, t)
			}
		}
	}
	magnet.WebSeeds = append(magnet.WebSeeds, m.WebSeeds...)
	return magnet
}

// Options say how a torrent file is read. The zero value is lenient within the default bounds.
type Options struct {
	Strict bool // what package bencode warns of is an error; other warnings stay warnings
	Limits Limits
}

// Limits are bounds of a torrent file. Of each, zero means the default and negative no limit.
type Limits struct {
	Depth      int // of nested values; default bencode.DefaultMaxDepth
	Tokens     int // values and keys; default bencode.DefaultMaxTokens
	Bytes      int // of the input; default bencode.DefaultMaxBytes
	Files      int // pad files too; default DefaultMaxFiles
	Pieces     int // default DefaultMaxPieces
	Duplicates int // files whose path had to be made unique; default DefaultMaxDuplicates
	// of all paths together, raw or safe, and of the targets of links; default DefaultMaxPathBytes. They have at most
	// 4,194,304 elements
	PathBytes int
}

// Defaults of [Limits].
const (
	DefaultMaxFiles = 200_000
	// of version 2 bencode.DefaultMaxBytes leaves room for a few less, and 1.3 million of a Hybrid
	DefaultMaxPieces     = 1 << 21
	DefaultMaxDuplicates = 10_000
	DefaultMaxPathBytes  = 64 << 20
)

// Bounds of single values.
const (
	maxPieceLength = 1<<31 - 1 // bytes
	maxFileLength  = 1 << 48   // bytes
	maxLength      = 1 << 61   // bytes of all files with what fills up pieces
	maxElement     = 255       // bytes of a path element, as file systems have it
	maxPath        = 4095      // bytes of a path, as Linux has it
	maxElements    = 4 << 20   // of all paths together
	blockLength    = 16 << 10  // bytes that a leaf of a hash tree covers, and the least piece (BEP 52)
)

// limit returns n, the default for zero, and the largest int for no limit.
func limit(n, zero int) int {
	switch {
	case n == 0:
		return zero
	case n < 0:
		return int(^uint(0) >> 1)
	}
	return n
}

func (o Options) encoding() bencode.Options {
	return bencode.Options{MaxDepth: o.Limits.Depth, MaxTokens: o.Limits.Tokens, MaxBytes: o.Limits.Bytes}
}
