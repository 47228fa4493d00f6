package sqlitebackend

import (
	"encoding/binary"
	"io"
	"os"
)

// The write-ahead log of SQLite (https://sqlite.org/fileformat2.html#walformat).
const (
	walHeader  = 32
	walFrame   = 24
	walMagic   = 0x377f0682 // the last bit: checksums of big-endian words
	minWALPage = 512
	maxWALPage = 65536
)

// logFile is what is known of a log before SQLite sees it.
type logFile struct {
	there      bool  // it holds more than a head
	unreplayed int64 // bytes that SQLite will not use: those after the last commit that is whole
}

// examine looks at the log of a file, and at what processes share of it unless this one does. Frames of an earlier use of the
// log do not count.
func examine(path string, shared bool) (l logFile) {
	f, err := os.Open(path + "-wal")
	if err != nil {
		return l // there is none
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return l
	}
	l.there = info.Size() > walHeader
	var head [walHeader]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		l.unreplayed = info.Size()
		return l
	}
	var order binary.ByteOrder = binary.LittleEndian
	magic := binary.BigEndian.Uint32(head[:])
	if magic&1 != 0 {
		order = binary.BigEndian
	}
	page := int64(binary.BigEndian.Uint32(head[8:]))
	sum := walSum{order: order}
	sum.add(head[:24])
	if magic&^1 != walMagic || page < minWALPage || page > maxWALPage || !sum.is(head[24:]) {
		l.unreplayed = info.Size() - walHeader
		return l
	}
	salt := [8]byte(head[16:24])
	good, last := frames(f, info.Size(), page, salt, sum)
	if !shared {
		last = max(last, walHeader+committed(path+"-shm", salt)*(walFrame+page))
	}
	l.unreplayed = last - good
	return l
}

// frames returns where the last whole commit of a log ends, and where the last frame of this use does.
func frames(f *os.File, size, page int64, salt [8]byte, sum walSum) (good, last int64) {
	frame := make([]byte, walFrame+page)
	good, last = walHeader, walHeader
	valid := true
	at := int64(walHeader)
	for ; at+walFrame+page <= size; at += walFrame + page {
		if _, err := f.ReadAt(frame, at); err != nil {
			return good, size
		}
		own := [8]byte(frame[8:16]) == salt
		if own {
			last = at + walFrame + page
		}
		if valid = valid && own; !valid {
			continue
		}
		sum.add(frame[:8])
		sum.add(frame[walFrame:])
		if valid = sum.is(frame[16:24]); valid && binary.BigEndian.Uint32(frame[4:]) != 0 {
			good = last
		}
	}
	if at < size && last == at { // the last frame was cut
		last = size
	}
	return good, last
}

// The index of the log that processes share (https://sqlite.org/walformat.html#the_wal_index_file_format). It is what says how
// long a log was that has been cut.
const (
	indexHead   = 48 // bytes, twice
	indexFrames = 16 // where the number of frames that are committed stands
	indexSalt   = 32
)

// committed returns how many frames of a log were committed as its index has it; 0 if there is no index of this log.
func committed(path string, salt [8]byte) int64 {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	var head [2 * indexHead]byte
	if _, err := io.ReadFull(f, head[:]); err != nil || [indexHead]byte(head[:]) != [indexHead]byte(head[indexHead:]) || [8]byte(head[indexSalt:]) != salt {
		return 0
	}
	return int64(binary.NativeEndian.Uint32(head[indexFrames:]))
}

// walSum is the checksum of the log.
type walSum struct {
	order  binary.ByteOrder
	s0, s1 uint32
}

func (w *walSum) add(p []byte) {
	for ; len(p) >= 8; p = p[8:] {
		w.s0 += w.order.Uint32(p) + w.s1
		w.s1 += w.order.Uint32(p[4:]) + w.s0
	}
}

func (w *walSum) is(p []byte) bool {
	return binary.BigEndian.Uint32(p) == w.s0 && binary.BigEndian.Uint32(p[4:]) == w.s1
}
