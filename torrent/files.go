package torrent

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/seine-go/seine/torrent/bencode"
)

// fileList reads the files of version 1.
func (p *parser) fileList(dst *bencode.Token) {
	t := p.Next()
	if t.Kind != bencode.List || dst.Kind != bencode.None {
		if t.Kind == bencode.List || t.Kind == bencode.Dict {
			t.End = p.Skip()
		}
		if dst.Kind == bencode.None {
			*dst = t
		}
		return
	}
	*dst = t
	for {
		t = p.Next()
		switch t.Kind {
		case bencode.End, bencode.None:
			return
		case bencode.Dict:
			p.file(t.Start)
		default:
			p.fault(ErrInvalidPath, t.Start, "files")
		}
		if p.err != nil {
			return
		}
	}
}

// file reads a file of version 1, whose dictionary has been entered.
func (p *parser) file(start int) {
	if len(p.info.list) >= p.limits.Files {
		p.fault(ErrTooManyFiles, start, "files")
		return
	}
	var length, path, pathUTF8, attr, link bencode.Token
	var pad, padUTF8 bool // whether the path names a pad file
	for key := p.Next(); key.Kind == bencode.Key; key = p.Next() {
		switch name := p.Text(key); string(name) {
		case "length":
			p.first(&length)
		case "path":
			p.strings(&path, &pad)
		case "path.utf-8":
			p.strings(&pathUTF8, &padUTF8)
		case "attr":
			p.first(&attr)
		case "symlink path":
			p.strings(&link, new(bool))
		default:
			p.Value()
		}
	}
	if p.Err() != nil {
		return
	}
	switch {
	case !p.optional(pathUTF8, bencode.List, "path.utf-8"):
	case utf8.Valid(p.Raw(pathUTF8)):
		path, pad = pathUTF8, padUTF8
	default:
		p.warn(ErrNotUTF8, pathUTF8.Start, "path.utf-8")
	}
	if path.Kind != bencode.List {
		p.fault(ErrInvalidPath, max(path.Start, start), "path")
		return
	}
	f := File{raw: p.Raw(path), at: path.Start, Attr: p.attributes(attr)}
	if pad {
		f.Attr |= padFile
	}
	if f.Attr&Symlink != 0 {
		p.link(&f, link, start)
	} else if !p.length(&f, length, start) {
		return
	}
	p.info.list = push(p.info.list, f)
}

// push appends to a list that doubles: it may become long, and its members are large.
func push(list []File, f File) []File {
	if len(list) == cap(list) {
		list = slices.Grow(list, max(len(list), 4))
	}
	return append(list, f)
}

// strings reads a list of strings that is not empty, and keeps its span if it is the first of its key. What is no such
// list is kept with another kind. Pad becomes whether the last string names a pad file.
func (p *parser) strings(dst *bencode.Token, pad *bool) {
	if dst.Kind != bencode.None {
		p.Value()
		return
	}
	list := p.Next()
	if list.Kind != bencode.List {
		if list.Kind == bencode.Dict {
			list.End = p.Skip()
		}
	} else {
		good := true
		n := 0
		t := p.Value()
		for ; t.Kind != bencode.End && t.Kind != bencode.None; t = p.Value() {
			if t.Kind == bencode.String {
				*pad = bytes.HasPrefix(p.Text(t), []byte(padPrefix))
			} else {
				good = false
			}
			n++
		}
		list.End = t.End
		if !good || n == 0 {
			list.Kind = bencode.Dict
		}
	}
	*dst = list
}

// attributes reads the letters of BEP 47; unknown ones are passed over.
func (p *parser) attributes(t bencode.Token) Attr {
	if !p.optional(t, bencode.String, "attr") {
		return 0
	}
	var a Attr
	for _, c := range p.Text(t) {
		switch c {
		case 'x':
			a |= Executable
		case 'h':
			a |= Hidden
		case 'l':
			a |= Symlink
		case 'p':
			a |= padFile
		}
	}
	return a
}

// length reads the length of a file; start is where the file stands.
func (p *parser) length(f *File, t bencode.Token, start int) bool {
	if t.Kind != bencode.Integer || t.Int() < 0 || t.Int() > maxFileLength {
		p.fault(ErrInvalidLength, max(t.Start, start), "length")
		return false
	}
	f.Length = t.Int()
	return true
}

func (p *parser) link(f *File, t bencode.Token, start int) {
	if t.Kind != bencode.List {
		p.warn(ErrBadSymlink, max(t.Start, start), "symlink path")
		return
	}
	safe, same := appendSafePath(p.safe[:0], p.Raw(t))
	p.safe = safe
	if !same {
		p.warn(ErrUnsafePath, t.Start, "symlink path")
	}
	if p.linkBytes += len(safe); p.linkBytes > p.limits.PathBytes {
		p.fault(ErrPathsTooLong, t.Start, "symlink path")
	}
	f.more = &moreOfFile{link: string(safe), linkAt: t.Start}
}

// filesV1 takes over the files of version 1: those of the list, or the one that the info dictionary is.
func (p *parser) filesV1() bool {
	if p.m.Version&V1 == 0 {
		return true
	}
	in := &p.info
	list := in.list
	switch {
	case in.files.Kind == bencode.List:
		p.m.Multi = true
		if len(list) == 0 {
			return p.fault(ErrNoFiles, in.files.Start, "files")
		}
	case in.length.Kind == bencode.None:
		if in.files.Kind == bencode.None {
			return p.fault(ErrNoFiles, in.offset, "info")
		}
		return p.fault(ErrNoFiles, in.files.Start, "files")
	default:
		p.optional(in.files, bencode.List, "files")
		list = []File{{raw: p.Raw(in.name)}}
		if !p.length(&list[0], in.length, in.offset) {
			return false
		}
		list[0].Attr = p.attributes(in.attr) & (Executable | Hidden)
	}
	offset := int64(0)
	keep := list[:0]
	for _, f := range list {
		f.Offset = offset
		if offset += f.Length; offset > maxLength {
			return p.fault(ErrInvalidLength, in.files.Start, "files")
		}
		if f.Attr&padFile != 0 {
			p.m.PadFiles++
			p.m.PadLength += f.Length
			continue
		}
		p.m.Length += f.Length
		keep = append(keep, f)
	}
	if !p.m.Multi {
		return p.take(keep, in.length.Start, "length")
	}
	return p.take(keep, in.files.Start, "files")
}

// take makes files those of the torrent; at and key are where they stand.
func (p *parser) take(files []File, at int, key string) bool {
	switch {
	case len(files) == 0:
		return p.fault(ErrNoFiles, at, key)
	case p.m.Length == 0:
		return p.fault(ErrInvalidLength, at, key)
	}
	p.m.Files = files
	return true
}

// treeLevel is a folder of the file tree that is being read, or a file: the folder that holds the empty name.
type treeLevel struct {
	prefix   int // bytes of the path up to here
	key      int // offset of the first unsafe element of the path, or of the last when all are safe
	unsafe   bool
	children int
	file     bool
}

// fileTree reads the files of version 2 (BEP 52). Its own stack stands in for recursion.
func (p *parser) fileTree(dst *bencode.Token) {
	t := p.Next()
	if dst.Kind != bencode.None || t.Kind != bencode.Dict {
		if t.Kind == bencode.List || t.Kind == bencode.Dict {
			t.End = p.Skip()
		}
		if dst.Kind == bencode.None {
			*dst = t
		}
		return
	}
	*dst = t
	path := []byte{'l'}
	levels := []treeLevel{{prefix: 1}}
	pathBytes := 0
	for p.err == nil {
		top := &levels[len(levels)-1]
		key := p.Next()
		if key.Kind == bencode.End {
			if levels = levels[:len(levels)-1]; len(levels) == 0 {
				return
			}
			continue
		}
		if key.Kind != bencode.Key {
			return
		}
		top.children++
		element := p.Text(key)
		value := p.Next()
		if value.Kind != bencode.Dict || top.file || len(element) == 0 && (len(levels) == 1 || top.children > 1) {
			p.fault(ErrFileTree, key.Start, "file tree")
			return
		}
		path = path[:top.prefix]
		if len(element) > 0 {
			path = bencode.AppendString(path, element)
			level := treeLevel{prefix: len(path), key: key.Start, unsafe: !isSafe(element)}
			if top.unsafe {
				level.key, level.unsafe = top.key, true
			}
			levels = append(levels, level)
			continue
		}
		top.file = true
		if pathBytes += len(path) + 1; pathBytes > p.limits.PathBytes {
			p.fault(ErrPathsTooLong, key.Start, "file tree")
			return
		}
		p.leaf(value.Start, append(bytes.Clone(path), 'e'), top.key)
	}
}

// leaf reads a file of version 2, whose dictionary has been entered; at is where its path is blamed.
func (p *parser) leaf(start int, raw []byte, at int) {
	if len(p.info.tree) >= p.limits.Files {
		p.fault(ErrTooManyFiles, start, "file tree")
		return
	}
	var length, root, attr, link bencode.Token
	for key := p.Next(); key.Kind == bencode.Key; key = p.Next() {
		switch name := p.Text(key); string(name) {
		case "length":
			p.first(&length)
		case "pieces root":
			p.first(&root)
		case "attr":
			p.first(&attr)
		case "symlink path":
			p.strings(&link, new(bool))
		default:
			p.Value()
		}
	}
	if p.Err() != nil {
		return
	}
	f := File{raw: raw, at: at, Attr: p.attributes(attr)}
	if f.Attr&padFile != 0 {
		p.fault(ErrInvalidPadFile, start, "attr")
		return
	}
	if f.Attr&Symlink != 0 {
		p.link(&f, link, start)
	} else if !p.length(&f, length, start) {
		return
	}
	if f.Length > 0 {
		f.more = &moreOfFile{}
		if root.Kind == bencode.String && len(p.Text(root)) == len(f.more.root) {
			f.more.root = HashV2(p.Text(root))
		}
		if f.more.root.IsZero() {
			p.fault(ErrMissingPiecesRoot, max(root.Start, start), "pieces root")
			return
		}
	}
	p.info.tree = push(p.info.tree, f)
}

// filesV2 takes over the files of version 2, or compares them with those of version 1.
func (p *parser) filesV2() bool {
	if p.m.Version&V2 == 0 {
		return true
	}
	in := &p.info
	at := max(in.fileTree.Start, in.offset)
	if in.fileTree.Kind != bencode.Dict {
		return p.fault(ErrFileTree, at, "file tree")
	}
	if p.m.Version == Hybrid {
		return p.compare(at)
	}
	tree := in.tree
	p.m.Multi = len(tree) != 1 || !sameRaw(p.Raw(in.name), tree[0].raw)
	offset, pieces := int64(0), int64(0)
	for i := range tree {
		f := &tree[i]
		f.Offset = offset
		n := (f.Length + p.m.PieceLength - 1) / p.m.PieceLength
		p.m.Length += f.Length
		if pieces += n; pieces > int64(p.limits.Pieces) {
			return p.fault(ErrTooManyPieces, at, "file tree")
		}
		if offset += n * p.m.PieceLength; offset > maxLength {
			return p.fault(ErrInvalidLength, at, "file tree")
		}
	}
	p.m.NumPieces = int(pieces)
	return p.take(tree, at, "file tree")
}

// sameLink reports whether two symlinks lead to one place.
func sameLink(a, b *File) bool {
	return a.more == nil || b.more == nil || a.more.link == b.more.link
}

// compare holds the files of a hybrid against each other: the same in the same order, each at the start of a piece.
func (p *parser) compare(at int) bool {
	tree := p.info.tree
	if len(tree) != len(p.m.Files) {
		return p.fault(ErrInconsistentHybrid, at, "file tree")
	}
	for i := range tree {
		a, b := &p.m.Files[i], &tree[i]
		if a.Length != b.Length || a.Attr&Symlink != b.Attr&Symlink || a.Attr&Symlink != 0 && !sameLink(a, b) || !sameRaw(a.raw, b.raw) ||
			a.Length > 0 && a.Offset%p.m.PieceLength != 0 {
			return p.fault(ErrInconsistentHybrid, at, "file tree")
		}
		if b.more != nil && a.more == nil {
			a.more = b.more
		}
	}
	return true
}
