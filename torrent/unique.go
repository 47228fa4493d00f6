package torrent

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pathSet holds paths, compared without case unless it is exact, by a keyed hash of 64 bits alone: that two paths
// share one by chance is so rare that it does not matter, and it would only give a file another name. An input cannot
// aim at it, as the key is drawn anew each time.
type pathSet struct {
	seed    maphash.Seed
	exact   bool     // whether case counts
	slots   []uint64 // the hashes; zero is free. A power of two, of which at most half are taken
	taken   int
	numbers map[uint64]uint32 // the last number that was given to a duplicate
	fold    []byte            // scratch

	folder string // the folder that was hashed last
	hash   uint64
}

func newPathSet(n int) *pathSet {
	size := 16
	for size < 2*n {
		size *= 2
	}
	return &pathSet{seed: maphash.MakeSeed(), slots: make([]uint64, size), fold: make([]byte, 0, 64)}
}

// slot finds the place of a hash, which is free when the set does not hold it.
func (s *pathSet) slot(hash uint64) *uint64 {
	mask := uint64(len(s.slots) - 1)
	i := hash & mask
	for s.slots[i] != 0 && s.slots[i] != hash {
		i = (i + 1) & mask
	}
	return &s.slots[i]
}

func (s *pathSet) has(hash uint64) bool { return *s.slot(hash) != 0 }

// add puts a hash into the set and tells whether it is new.
func (s *pathSet) add(hash uint64) bool {
	slot := s.slot(hash)
	if *slot != 0 {
		return false
	}
	*slot = hash
	if s.taken++; 2*s.taken > len(s.slots) {
		s.grow()
	}
	return true
}

func (s *pathSet) grow() {
	old := s.slots
	s.slots, s.taken = make([]uint64, 2*len(old)), 0
	for _, hash := range old {
		if hash != 0 {
			s.add(hash)
		}
	}
}

// child hashes a path from the hash of its folder and its last element, so that a deep path costs no more than its
// length.
func (s *pathSet) child(folder uint64, element string) uint64 {
	s.fold = binary.LittleEndian.AppendUint64(s.fold[:0], folder)
	if s.exact {
		return max(maphash.Bytes(s.seed, append(s.fold, element...)), 1)
	}
	for i := 0; i < len(element); i++ {
		c := element[i]
		if c >= utf8.RuneSelf {
			for _, r := range element[i:] {
				s.fold = utf8.AppendRune(s.fold, unicode.ToLower(unicode.ToUpper(r)))
			}
			break
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		s.fold = append(s.fold, c)
	}
	return max(maphash.Bytes(s.seed, s.fold), 1)
}

// enter hashes a folder; each folder on the way is put into the set if add says so.
func (s *pathSet) enter(folder string, add bool) uint64 {
	if folder == s.folder {
		return s.hash
	}
	s.folder, s.hash = folder, 0
	for more := true; more; {
		var element string
		element, folder, more = strings.Cut(folder, "/")
		s.hash = s.child(s.hash, element)
		if add {
			s.add(s.hash)
		}
	}
	return s.hash
}

// cutName cuts a path before its last element.
func cutName(path string) (folder, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:i], path[i+1:]
}

// makeUnique renames files whose path is that of a folder or of a file before it, compared without case: a number goes
// before the extension.
func (p *parser) makeUnique(files []File) bool {
	if fewAndUnique(files) {
		return true
	}
	set := newPathSet(len(files))
	for i := range files {
		folder, _ := cutName(files[i].Path)
		set.enter(folder, true)
	}
	duplicates, tries := 0, 0
	for i := range files {
		folder, name := cutName(files[i].Path)
		inside := set.enter(folder, false)
		hash := set.child(inside, name)
		if set.add(hash) {
			continue
		}
		if set.numbers == nil {
			set.numbers = map[uint64]uint32{}
		}
		duplicates++
		for added := false; !added; {
			if tries++; duplicates > p.limits.Duplicates || tries/triesPerDuplicate > p.limits.Duplicates {
				return p.fault(ErrTooManyDuplicates, files[i].at, "path")
			}
			set.numbers[hash]++
			other := numbered(name, set.numbers[hash])
			if added = set.add(set.child(inside, other)); added {
				p.rename(&files[i], folder+"/"+other)
			}
		}
		p.warnPath(&files[i])
	}
	return true
}

// rename gives a file another path, under which links that lead to it find it.
func (p *parser) rename(f *File, path string) {
	if p.renamed == nil {
		p.renamed = map[string]string{}
	}
	if _, ok := p.renamed[f.Path]; !ok {
		p.renamed[f.Path] = path
	}
	f.Path = path
}

// fewAndUnique tells, for a few files with names of ASCII, that no two are in each other's way. It is the short way
// for the usual torrent.
func fewAndUnique(files []File) bool {
	const few = 16
	if len(files) > few {
		return false
	}
	for i := range files {
		if !isASCII(files[i].Path) {
			return false
		}
		for j := range i {
			if meets(files[i].Path, files[j].Path) {
				return false
			}
		}
	}
	return true
}

// meets tells whether two paths of ASCII are equal but for case, or one is a folder of the other.
func meets(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return (len(a) == len(b) || b[len(a)] == '/') && strings.EqualFold(a, b[:len(a)])
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// triesPerDuplicate bounds the work on names that are made to meet each other.
const triesPerDuplicate = 8

// numbered returns a name with a number before its extension.
func numbered(name string, n uint32) string {
	stem, ext := splitExt([]byte(name))
	tail := append(strconv.AppendUint([]byte{'.'}, uint64(n), 10), ext...)
	stem = stem[:min(len(stem), maxElement-len(tail))]
	for len(stem) > 0 && !utf8.Valid(stem) {
		stem = stem[:len(stem)-1]
	}
	return string(append(bytes.Clone(stem), tail...))
}
