package torrent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/seine-go/seine/torrent/bencode"
)

// Builder writes a .torrent file: from files, whose contents it hashes, or from facts, which are hashes that the
// caller has.
//
//	b := torrent.Builder{Trackers: [][]string{{"udp://tracker.example:1337/announce"}}}
//	err := b.AddFS(os.DirFS("/srv"), "films")
//	data, err := b.Build(ctx)
//
// It may be used again; it is not safe for concurrent use.
type Builder struct {
	Name    string  // of the file or the folder; required unless Info is set
	Version Version // V1, V2 or Hybrid; zero means V1
	// in bytes; zero means 16 KiB or more, such that there are about 2,000 pieces; a power of two, but for V1
	PieceLength int64
	// in the order of the torrent; V2 and Hybrid sort them. At most DefaultMaxFiles, with the pad files of a Hybrid
	Files   []BuildFile
	Private bool   // BEP 27
	Source  string // makes the info hash differ from that of the same files elsewhere; empty means none

	Pieces []byte // facts: the SHA-1 of each piece, in place of the contents of the Files; only with V1
	Info   []byte // facts: a whole info dictionary, as peers give it; then the fields above are not used

	Trackers     [][]string // tiers of http, https, udp, ws and wss URLs, each once; empty tiers are left out
	WebSeeds     []string   // each once
	HTTPSeeds    []string   // each once
	Nodes        []Node     // each with a host and a port
	Comment      string
	CreatedBy    string
	CreationDate int64 // in seconds since 1970; zero means none
}

// BuildFile is a file of a torrent to be built.
type BuildFile struct {
	Path   []string // elements below Builder.Name, each safe as File.Path is; none when the torrent is this file alone
	Length int64    // in bytes; zero with the attribute Symlink
	Attr   Attr
	// elements of the path of the file or folder that a symbolic link leads to; only with the attribute Symlink
	Link []string

	// Open gives the content, of Length bytes. It may be nil for an empty file, and when facts stand in for it: the
	// Pieces of the Builder in V1, PiecesRoot and PieceLayer in V2. A Hybrid needs the content.
	Open func() (io.ReadCloser, error)
	// Beside content in V2 and Hybrid they must agree with it.
	PiecesRoot HashV2 // not of an empty file
	PieceLayer []byte // only of a file longer than a piece
}

// AddFS adds a file, or all files in a folder, in the order of their names. Name becomes the last element of root if
// it is empty and root has one. What is neither a regular file nor a folder is an error; then nothing is added.
func (b *Builder) AddFS(fsys fs.FS, root string) error {
	var files []BuildFile
	err := fs.WalkDir(fsys, root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return &fs.PathError{Op: "add to torrent", Path: name, Err: errors.New("not a regular file")}
		}
		f := BuildFile{Length: info.Size(), Open: func() (io.ReadCloser, error) { return fsys.Open(name) }}
		if name != root {
			below := name
			if root != "." {
				below = strings.TrimPrefix(name, root+"/")
			}
			f.Path = strings.Split(below, "/")
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		return err
	}
	if b.Name == "" && root != "." {
		b.Name = path.Base(root)
	}
	b.Files = append(b.Files, files...)
	return nil
}

// Build writes the torrent file. Parse takes it back strictly, with no warning and with the same facts; what could
// not come back so is an *Error that names the field and has no offset; an error of a content names its path. Only an
// Info that is given is taken as it stands, and needs no more than to be readable. When ctx ends, so does the
// hashing, with the error of ctx.
//
// A torrent file has at most DefaultMaxPieces pieces and bencode.DefaultMaxBytes bytes, which is the closer bound
// where version 2 has about two million hashes of 32 bytes, or a Hybrid 1.3 million of both. No content is read of
// one that would be past these bounds.
func (b *Builder) Build(ctx context.Context) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := b.checkOuter(); err != nil {
		return nil, err
	}
	info, layers := b.Info, []byte(nil)
	if info == nil {
		var err error
		if info, layers, err = b.info(ctx); err != nil {
			return nil, err
		}
	} else if n, _, err := (bencode.Options{}).Check(info); err != nil || n != len(info) {
		return nil, refused(ErrNotBencode, "Info", err)
	}
	var w bencode.Writer
	b.outer(&w, info, layers)
	out, err := w.Bytes()
	if err != nil {
		return nil, refused(ErrNotBencode, "", err)
	}
	_, warnings, err := Parse(out, Options{Strict: b.Info == nil})
	var fault *Error
	switch {
	case errors.As(err, &fault):
		return nil, b.fault(fault, len(layers))
	case b.Info == nil && len(warnings) > 0:
		return nil, refused(warnings[0].Kind, warnings[0].Key, nil)
	}
	return out, err
}

func (b *Builder) outer(w *bencode.Writer, info, layers []byte) {
	text := func(key, value string) {
		if value != "" {
			w.Key(key)
			w.String(value)
		}
	}
	list := func(key string, values []string) {
		if len(values) > 0 {
			w.Key(key)
			stringList(w, values)
		}
	}
	tiers := slices.DeleteFunc(slices.Clone(b.Trackers), func(tier []string) bool { return len(tier) == 0 })
	w.Dict()
	if len(tiers) > 0 {
		text("announce", tiers[0][0])
	}
	if len(tiers) > 1 || len(tiers) == 1 && len(tiers[0]) > 1 {
		w.Key("announce-list")
		w.List()
		for _, tier := range tiers {
			stringList(w, tier)
		}
		w.End()
	}
	text("comment", b.Comment)
	text("created by", b.CreatedBy)
	if b.CreationDate != 0 {
		w.Key("creation date")
		w.Int(b.CreationDate)
	}
	list("httpseeds", b.HTTPSeeds)
	w.Key("info")
	w.Raw(info)
	if len(b.Nodes) > 0 {
		w.Key("nodes")
		w.List()
		for _, n := range b.Nodes {
			w.List()
			w.String(n.Host)
			w.Int(int64(n.Port))
			w.End()
		}
		w.End()
	}
	if layers != nil {
		w.Key("piece layers")
		w.Raw(layers)
	}
	list("url-list", b.WebSeeds)
	w.End()
}

func stringList(w *bencode.Writer, values []string) {
	w.List()
	for _, v := range values {
		w.String(v)
	}
	w.End()
}

// info hashes the files and writes the info dictionary and, for version 2, the piece layers.
func (b *Builder) info(ctx context.Context) (info, layers []byte, err error) {
	version := b.Version
	if version == 0 {
		version = V1
	}
	pieceLength := b.PieceLength
	if pieceLength == 0 {
		pieceLength = choosePieceLength(b.Files)
	}
	if err := b.checkInfo(version, pieceLength); err != nil {
		return nil, nil, err
	}
	if err := b.checkBounds(version, pieceLength); err != nil {
		return nil, nil, err
	}
	files := slices.Clone(b.Files)
	if version&V2 != 0 {
		slices.SortStableFunc(files, func(x, y BuildFile) int { return slices.Compare(x.Path, y.Path) })
	}
	h := pieceHasher{version: version, pieceLength: pieceLength}
	if b.Pieces != nil {
		h.pieces = b.Pieces
	} else if err := h.files(ctx, b.Name, files); err != nil {
		return nil, nil, err
	}
	var w bencode.Writer
	b.infoDict(&w, version, files, h)
	if info, err = w.Bytes(); err != nil {
		return nil, nil, err
	}
	if version&V2 != 0 {
		layers, err = pieceLayers(files, pieceLength)
	}
	return info, layers, err
}

// alone tells whether the torrent is one file without a folder.
func alone(files []BuildFile) bool { return len(files) == 1 && len(files[0].Path) == 0 }

func (b *Builder) infoDict(w *bencode.Writer, version Version, files []BuildFile, h pieceHasher) {
	w.Dict()
	if version&V1 != 0 && alone(files) {
		attributes(w, files[0].Attr)
	}
	if version&V2 != 0 {
		w.Key("file tree")
		b.tree(w, files)
	}
	if version&V1 != 0 {
		if alone(files) {
			w.Key("length")
			w.Int(files[0].Length)
		} else {
			w.Key("files")
			w.List()
			for i, f := range files {
				listed(w, f)
				if pad := h.pad(f.Length); version&V2 != 0 && pad > 0 && i+1 < len(files) {
					listed(w, BuildFile{Path: []string{".pad", fmt.Sprint(pad)}, Length: pad, Attr: padFile})
				}
			}
			w.End()
		}
	}
	if version&V2 != 0 {
		w.Key("meta version")
		w.Int(2)
	}
	w.Key("name")
	w.String(b.Name)
	w.Key("piece length")
	w.Int(h.pieceLength)
	if version&V1 != 0 {
		w.Key("pieces")
		w.Text(h.pieces)
	}
	if b.Private {
		w.Key("private")
		w.Int(1)
	}
	if b.Source != "" {
		w.Key("source")
		w.String(b.Source)
	}
	w.End()
}

// listed writes a file of version 1.
func listed(w *bencode.Writer, f BuildFile) {
	w.Dict()
	attributes(w, f.Attr)
	w.Key("length")
	w.Int(f.Length)
	w.Key("path")
	stringList(w, f.Path)
	linkPath(w, f)
	w.End()
}

func attributes(w *bencode.Writer, a Attr) {
	letters := ""
	for i, letter := range []string{"x", "h", "l", "p"} {
		if a&(1<<i) != 0 {
			letters += letter
		}
	}
	if letters != "" {
		w.Key("attr")
		w.String(letters)
	}
}

func linkPath(w *bencode.Writer, f BuildFile) {
	if f.Attr&Symlink != 0 {
		w.Key("symlink path")
		stringList(w, f.Link)
	}
}

// tree writes the file tree of version 2; the files are sorted.
func (b *Builder) tree(w *bencode.Writer, files []BuildFile) {
	var open []string // folders that are being written
	w.Dict()
	for _, f := range files {
		elements := f.Path
		if alone(files) {
			elements = []string{b.Name}
		}
		folder := elements[:len(elements)-1]
		common := 0
		for common < min(len(open), len(folder)) && open[common] == folder[common] {
			common++
		}
		for range open[common:] {
			w.End()
		}
		for _, name := range folder[common:] {
			w.Key(name)
			w.Dict()
		}
		open = folder
		w.Key(elements[len(elements)-1])
		w.Dict()
		w.Key("")
		w.Dict()
		attributes(w, f.Attr)
		if f.Attr&Symlink == 0 {
			w.Key("length")
			w.Int(f.Length)
		}
		if f.Length > 0 {
			w.Key("pieces root")
			w.Text(f.PiecesRoot[:])
		}
		linkPath(w, f)
		w.End()
		w.End()
	}
	for range open {
		w.End()
	}
	w.End()
}

// pieceLayers writes the layers of the files that are longer than a piece; files of one content share one.
func pieceLayers(files []BuildFile, pieceLength int64) ([]byte, error) {
	long := slices.Clone(files)
	long = slices.DeleteFunc(long, func(f BuildFile) bool { return f.Length <= pieceLength || f.PieceLayer == nil })
	slices.SortStableFunc(long, func(x, y BuildFile) int { return bytes.Compare(x.PiecesRoot[:], y.PiecesRoot[:]) })
	long = slices.CompactFunc(long, func(x, y BuildFile) bool { return x.PiecesRoot == y.PiecesRoot })
	var w bencode.Writer
	w.Dict()
	for _, f := range long {
		w.Key(string(f.PiecesRoot[:]))
		w.Text(f.PieceLayer)
	}
	w.End()
	return w.Bytes()
}
