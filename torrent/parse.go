package torrent

import (
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"slices"

	"github.com/seine-go/seine/torrent/bencode"
)

// Parse reads a .torrent file. The result keeps parts of b. Errors are of type *Error; of an input with several faults
// one that makes it unreadable as bencode is told first.
func Parse(b []byte, o Options) (*Metainfo, Warnings, error) {
	var p parser
	p.init(b, o)
	if p.begin() {
		p.outer()
	}
	return p.finish(o)
}

// ParseInfo reads an info dictionary alone, as peers give it (BEP 9). Offsets are those in info.
func ParseInfo(info []byte, o Options) (*Metainfo, Warnings, error) {
	var p parser
	p.init(info, o)
	if p.begin() {
		p.haveInfo = true
		p.infoDict(0)
	}
	return p.finish(o)
}

// parser reads a torrent in one pass over the tokens. The first fault stays; the rest of the input is then only checked
// to be bencode.
type parser struct {
	bencode.Scanner
	data     []byte
	limits   Limits
	m        *Metainfo
	err      *Error
	warnings Warnings

	sawInfo  bool
	haveInfo bool
	tiers    tiers

	linkBytes int               // of the targets of symbolic links
	safe      []byte            // scratch
	renamed   map[string]string // the new path of files that makeUnique renamed, by the old one
	layers    bencode.Token     // piece layers
	info      infoParts
}

// infoParts is what stands in the info dictionary, in any order; the first of a key counts.
type infoParts struct {
	offset                               int
	name, nameUTF8, pieceLength, pieces  bencode.Token
	files, length, metaVersion, fileTree bencode.Token
	attr                                 bencode.Token // of a single file (BEP 47)
	list, tree                           []File        // of version 1, with pad files, and of version 2
}

func (p *parser) init(b []byte, o Options) {
	p.data = b
	p.m = &Metainfo{}
	p.limits = Limits{
		Files:      limit(o.Limits.Files, DefaultMaxFiles),
		Pieces:     limit(o.Limits.Pieces, DefaultMaxPieces),
		Duplicates: limit(o.Limits.Duplicates, DefaultMaxDuplicates),
		PathBytes:  limit(o.Limits.PathBytes, DefaultMaxPathBytes),
	}
	p.Reset(b, o.encoding())
}

// fault keeps the first fault, and returns false.
func (p *parser) fault(kind ErrorKind, at int, key string) bool {
	if p.err == nil {
		p.err = &Error{Kind: kind, Offset: at, Key: key}
	}
	return false
}

func (p *parser) warn(kind ErrorKind, at int, key string) {
	n := 0
	for _, w := range p.warnings {
		if w.Kind == kind {
			n++
		}
	}
	if n < MaxWarnings {
		p.warnings = append(p.warnings, Warning{Kind: kind, Offset: at, Key: key})
	}
}

// begin enters the dictionary that the input must be.
func (p *parser) begin() bool {
	t := p.Next()
	if t.Kind != bencode.Dict && t.Kind != bencode.None {
		p.fault(ErrNotDict, 0, "")
	}
	return t.Kind == bencode.Dict
}

func (p *parser) finish(o Options) (*Metainfo, Warnings, error) {
	for p.Depth() > 0 && p.Err() == nil {
		p.Skip()
	}
	encoding := p.Scanner.Warnings()
	if len(encoding) > 0 {
		p.warnings = slices.Grow(p.warnings, len(encoding))
		for _, w := range encoding {
			p.warnings = append(p.warnings, Warning{Kind: w.Kind, Offset: w.Offset})
		}
	}
	if err := p.Err(); err != nil {
		return nil, p.warnings, p.unreadable(err)
	}
	if p.err == nil && !p.haveInfo {
		p.fault(ErrMissingInfo, 0, "info")
	}
	if p.err == nil {
		p.complete()
	}
	if p.err != nil {
		return nil, p.warnings, p.err
	}
	if o.Strict && len(encoding) > 0 {
		return nil, p.warnings, &Error{Kind: encoding[0].Kind, Offset: encoding[0].Offset, Err: encoding}
	}
	return p.m, p.warnings, nil
}

// unreadable makes an error of what the scanner says.
func (p *parser) unreadable(err error) error {
	var fault *bencode.Error
	if !errors.As(err, &fault) {
		return err
	}
	switch fault.Kind {
	case bencode.ErrDepth, bencode.ErrTokens, bencode.ErrBytes:
		return &Error{Kind: fault.Kind, Offset: fault.Offset, Err: err}
	}
	return &Error{Kind: ErrNotBencode, Offset: fault.Offset, Hint: hint(p.data, fault.Kind), Err: err}
}

// outer reads the entries around the info dictionary.
func (p *parser) outer() {
	var announce, comment, commentUTF8, createdBy, created bencode.Token
	var seen [4]bool
	for key := p.Next(); key.Kind == bencode.Key && p.err == nil; key = p.Next() {
		switch name := p.Text(key); string(name) {
		case "info":
			p.once(&p.sawInfo, p.enterInfo)
		case "announce":
			p.first(&announce)
		case "announce-list":
			p.once(&seen[0], p.announceList)
		case "comment":
			p.first(&comment)
		case "comment.utf-8":
			p.first(&commentUTF8)
		case "created by":
			p.first(&createdBy)
		case "creation date":
			p.first(&created)
		case "url-list":
			p.once(&seen[1], func() { p.m.WebSeeds = p.texts("url-list") })
		case "httpseeds":
			p.once(&seen[2], func() { p.m.HTTPSeeds = p.texts("httpseeds") })
		case "nodes":
			p.once(&seen[3], p.nodes)
		case "piece layers":
			p.first(&p.layers)
		default:
			p.Value()
		}
	}
	p.trackers(announce)
	p.text(&p.m.Comment, comment, "comment")
	p.text(&p.m.Comment, commentUTF8, "comment.utf-8")
	p.text(&p.m.CreatedBy, createdBy, "created by")
	if p.optional(created, bencode.Integer, "creation date") {
		p.m.CreationDate = created.Int()
	}
}

func (p *parser) enterInfo() {
	t := p.Next()
	switch t.Kind {
	case bencode.Dict:
		p.haveInfo = true
		p.infoDict(t.Start)
		return
	case bencode.List:
		p.Skip()
	}
	p.fault(ErrMissingInfo, t.Start, "info")
}

// infoDict reads the info dictionary, which has been entered.
func (p *parser) infoDict(start int) {
	in := &p.info
	in.offset = start
	var private, source bencode.Token
	end := bencode.Token{}
	for end.Kind != bencode.End && p.err == nil {
		key := p.Next()
		if key.Kind != bencode.Key {
			end = key
			break
		}
		switch name := p.Text(key); string(name) {
		case "attr":
			p.first(&in.attr)
		case "files":
			p.fileList(&in.files)
		case "file tree":
			p.fileTree(&in.fileTree)
		case "length":
			p.first(&in.length)
		case "meta version":
			p.first(&in.metaVersion)
		case "name":
			p.first(&in.name)
		case "name.utf-8":
			p.first(&in.nameUTF8)
		case "piece length":
			p.first(&in.pieceLength)
		case "pieces":
			p.first(&in.pieces)
		case "private":
			p.first(&private)
		case "source":
			p.first(&source)
		default:
			p.Value()
		}
	}
	if end.Kind != bencode.End {
		return
	}
	p.m.Info = p.data[start:end.End:end.End]
	p.m.InfoOffset = start
	p.m.Private = p.optional(private, bencode.Integer, "private") && private.Int() != 0
	p.text(&p.m.Source, source, "source")
	p.version()
}

// version finds out of which versions the torrent is.
func (p *parser) version() {
	in := &p.info
	p.m.Version = V1
	if !p.optional(in.metaVersion, bencode.Integer, "meta version") || in.metaVersion.Int() <= 1 {
		return
	}
	if in.metaVersion.Int() != 2 {
		p.fault(ErrUnsupportedVersion, in.metaVersion.Start, "meta version")
		return
	}
	p.m.Version = V2
	if in.pieces.Kind != bencode.None {
		p.m.Version = Hybrid
	}
	canonical := bencode.Options{Strict: true, MaxDepth: -1, MaxTokens: -1, MaxBytes: -1}
	if _, w, err := canonical.Check(p.m.Info); err != nil {
		p.fault(ErrV2Noncanonical, in.offset+w[0].Offset, "info")
	}
}

// complete checks the parts against each other once all have been read.
func (p *parser) complete() {
	ok := p.name() && p.pieceLength() && p.filesV1() && p.filesV2() && p.pieces() && p.pieceLayers() && p.paths()
	if !ok {
		return
	}
	if p.m.Version&V1 != 0 {
		p.m.V1 = sha1.Sum(p.m.Info)
	}
	if p.m.Version&V2 != 0 {
		p.m.V2 = sha256.Sum256(p.m.Info)
	}
}

func (p *parser) pieceLength() bool {
	t := p.info.pieceLength
	n := t.Int()
	v2 := p.m.Version&V2 != 0
	switch {
	case t.Kind != bencode.Integer, n <= 0, n > maxPieceLength, v2 && (n < blockLength || n&(n-1) != 0):
		return p.fault(ErrMissingPieceLength, max(t.Start, p.info.offset), "piece length")
	}
	p.m.PieceLength = n
	return true
}

// pieces checks the hashes of version 1.
func (p *parser) pieces() bool {
	if p.m.Version&V1 == 0 {
		return true
	}
	t := p.info.pieces
	if t.Kind != bencode.String {
		return p.fault(ErrMissingPieces, max(t.Start, p.info.offset), "pieces")
	}
	hashes := p.Text(t)
	total := p.m.Length + p.m.PadLength
	want := (total + p.m.PieceLength - 1) / p.m.PieceLength
	if want > int64(p.limits.Pieces) {
		return p.fault(ErrTooManyPieces, t.Start, "pieces")
	}
	if len(hashes)%sha1.Size != 0 || int64(len(hashes)/sha1.Size) != want {
		return p.fault(ErrInvalidPieces, t.Start, "pieces")
	}
	p.m.Pieces = hashes
	p.m.NumPieces = int(want)
	return true
}
