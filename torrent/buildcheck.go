package torrent

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seine-go/seine/torrent/bencode"
)

// refused makes the error of a field that a Builder cannot write such that Parse gives it back.
func refused(kind ErrorKind, field string, err error) error {
	return &Error{Kind: kind, Key: field, Offset: -1, Err: err}
}

// checkOuter checks what stands around the info dictionary.
func (b *Builder) checkOuter() error {
	var all []string
	var seen uniq
	for i, tier := range b.Trackers {
		for j, url := range tier {
			n := len(all)
			seen.add(&all, url)
			if len(all) == n || n == maxURLs || !trackerScheme(url) || !isUsable(url) {
				return refused(ErrUnusable, fmt.Sprintf("Trackers[%d][%d]", i, j), fmt.Errorf("%.100q", url))
			}
		}
	}
	if err := checkURLs("WebSeeds", b.WebSeeds); err != nil {
		return err
	}
	if err := checkURLs("HTTPSeeds", b.HTTPSeeds); err != nil {
		return err
	}
	for i, n := range b.Nodes {
		if host, ok := nodeHost(n.Host); !ok || host != n.Host || n.Port == 0 || i == maxNodes {
			return refused(ErrUnusable, fmt.Sprintf("Nodes[%d]", i), fmt.Errorf("%.100q, port %d", n.Host, n.Port))
		}
	}
	return nil
}

func isUsable(url string) bool { return url != "" && url == trim(url) && isClean(url) }

func checkURLs(field string, list []string) error {
	var all []string
	var seen uniq
	for i, url := range list {
		if seen.add(&all, url); len(all) == i || i == maxURLs || !isUsable(url) {
			return refused(ErrUnusable, fmt.Sprintf("%s[%d]", field, i), fmt.Errorf("%.100q", url))
		}
	}
	return nil
}

// checkInfo checks what the info dictionary is made of.
func (b *Builder) checkInfo(version Version, pieceLength int64) error {
	switch {
	case version > Hybrid:
		return refused(ErrUnsupportedVersion, "Version", nil)
	case pieceLength <= 0, pieceLength > maxPieceLength, version&V2 != 0 && (pieceLength < blockLength || pieceLength&(pieceLength-1) != 0):
		return refused(ErrMissingPieceLength, "PieceLength", nil)
	case !isSafe([]byte(b.Name)):
		return refused(ErrMissingName, "Name", fmt.Errorf("%.100q", b.Name))
	case b.Pieces != nil && version != V1:
		return refused(ErrInvalidPieces, "Pieces", nil)
	case len(b.Files) == 0:
		return refused(ErrNoFiles, "Files", nil)
	case len(b.Files) > DefaultMaxFiles:
		return refused(ErrTooManyFiles, "Files", nil)
	}
	for i := range b.Files {
		f := &b.Files[i]
		kind, field := f.check(version, len(b.Files) == 1)
		if kind == "" && version != V2 && f.Open == nil && f.Length > 0 && b.Pieces == nil {
			kind, field = ErrMissingPieces, "Open"
		}
		if kind == "" && version == V2 && f.Open == nil {
			kind, field = f.checkHashes(pieceLength)
		}
		if kind != "" {
			return refused(kind, fmt.Sprintf("Files[%d].%s", i, field), fmt.Errorf("%.100q", append([]string{b.Name}, f.Path...)))
		}
	}
	if alone(b.Files) {
		return nil
	}
	return b.checkPaths(version)
}

// check finds the field at fault of a file by itself.
func (f *BuildFile) check(version Version, single bool) (kind ErrorKind, field string) {
	link := f.Attr&Symlink != 0
	switch n := len(f.Path); {
	case f.Length < 0, f.Length > maxFileLength, link && f.Length > 0:
		return ErrInvalidLength, "Length"
	case f.Attr&^(Executable|Hidden|Symlink) != 0:
		return ErrInvalidPadFile, "Attr"
	case link != (len(f.Link) > 0), link && !isSafePath(f.Link):
		return ErrBadSymlink, "Link"
	case version == V1 && !f.PiecesRoot.IsZero(), f.Length == 0 && !f.PiecesRoot.IsZero():
		return ErrInvalidPieceLayers, "PiecesRoot"
	case version == V1 && f.PieceLayer != nil:
		return ErrInvalidPieceLayers, "PieceLayer"
	case n == 0 && !single, n > 0 && !isSafePath(f.Path), n > 0 && version&V1 != 0 && strings.HasPrefix(f.Path[n-1], padPrefix):
		return ErrInvalidPath, "Path"
	}
	return "", ""
}

// checkHashes checks the facts of a file of version 2.
func (f *BuildFile) checkHashes(pieceLength int64) (kind ErrorKind, field string) {
	pieces := (f.Length + pieceLength - 1) / pieceLength
	if pieces <= 1 {
		pieces = 0
	}
	switch {
	case f.Length > 0 && f.PiecesRoot.IsZero():
		return ErrMissingPiecesRoot, "PiecesRoot"
	case int64(len(f.PieceLayer)) != pieces*int64(len(HashV2{})), pieces > 0 && merkleRoot(f.PieceLayer, pieceLength) != f.PiecesRoot:
		return ErrInvalidPieceLayers, "PieceLayer"
	}
	return "", ""
}

// isSafePath tells whether a path is its own safe form.
func isSafePath(elements []string) bool {
	raw := []byte{'l'}
	for _, e := range elements {
		raw = bencode.AppendString(raw, e)
	}
	_, same := appendSafePath(nil, append(raw, 'e'))
	return same
}

// checkPaths checks that paths are unique as Parse has it, that no file is a folder, and that links lead to something.
func (b *Builder) checkPaths(version Version) error {
	if version == V2 && len(b.Files) == 1 && len(b.Files[0].Path) == 1 && b.Files[0].Path[0] == b.Name {
		return refused(ErrInvalidPath, "Files[0].Path", errors.New("in version 2 a file alone in a folder of its name reads as one without a folder"))
	}
	set := newPathSet(len(b.Files))
	join := func(elements []string) string { return b.Name + "/" + strings.Join(elements, "/") }
	for _, f := range b.Files {
		folder, _ := cutName(join(f.Path))
		set.enter(folder, true)
	}
	for i, f := range b.Files {
		folder, name := cutName(join(f.Path))
		if !set.add(set.child(set.enter(folder, false), name)) {
			return refused(ErrInvalidPath, fmt.Sprintf("Files[%d].Path", i), fmt.Errorf("%.100q is also that of another file or folder", f.Path))
		}
	}
	return b.checkLinks(join)
}

// checkLinks checks that symbolic links lead to a file or a folder; join makes a path of elements.
func (b *Builder) checkLinks(join func([]string) string) error {
	if !slices.ContainsFunc(b.Files, func(f BuildFile) bool { return len(f.Link) > 0 }) {
		return nil
	}
	graph := newLinkGraph(len(b.Files))
	for _, f := range b.Files {
		graph.add(join(f.Path))
		if len(f.Link) > 0 {
			graph.link(join(f.Path), join(f.Link))
		}
	}
	for i, f := range b.Files {
		if len(f.Link) > 0 && !graph.leads(join(f.Link)) {
			return refused(ErrBadSymlink, fmt.Sprintf("Files[%d].Link", i),
				fmt.Errorf("%.100q leads to no file or folder of the torrent", f.Link))
		}
	}
	return nil
}
