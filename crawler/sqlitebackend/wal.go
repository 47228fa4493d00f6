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

// unreplayed returns how many bytes of a log SQLite will not use: those after the last commit that is whole. Frames of an
// earlier use of the file do not count.
func unreplayed(path string) int64 {
	f, err := os.Open(path)
	if err != nil {
		return 0 // there is none
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	var head [walHeader]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return info.Size()
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
		return info.Size() - walHeader
	}
	return unreplayedFrames(f, info.Size(), page, [8]byte(head[16:24]), sum)
}

func unreplayedFrames(f *os.File, size, page int64, salt [8]byte, sum walSum) int64 {
	frame := make([]byte, walFrame+page)
	good, last := int64(walHeader), int64(walHeader) // ends of the last commit, and of the last frame of this use
	valid := true
	at := int64(walHeader)
	for ; at+walFrame+page <= size; at += walFrame + page {
		if _, err := f.ReadAt(frame, at); err != nil {
			return size - good
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
	return last - good
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
