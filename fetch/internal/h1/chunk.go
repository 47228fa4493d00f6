package h1

import (
	"bytes"
	"errors"
)

// The chunked coding (RFC 9112 7.1), read as browsers read it: lines may end in a bare LF, a size may have blanks around,
// zeros before and extensions behind it. A size must be there and hexadecimal, and a chunk must end where its size says.

var (
	errChunkSize = errors.New("a chunk's size is no hexadecimal number")
	errChunkLine = errors.New("the line with a chunk's size is too long")
	errChunkEnd  = errors.New("a chunk is longer than its size")
)

type phase uint8

const (
	chunkSize phase = iota
	chunkData
	chunkEnd
	trailers
)

// readChunks hands out what the buffer holds of one chunk after another; it waits for the connection only while it has
// nothing to hand out.
func (b *Body) readChunks(p []byte) (n int, err error) {
	for {
		switch b.phase {
		case trailers:
			return n, b.readTrailers(n == 0)
		case chunkData:
			m, err := b.take(p[n:])
			n += m
			if b.left == 0 {
				b.phase = chunkEnd
			}
			if err != nil {
				return n, err
			}
		default:
			if ok, err := b.readLine(n == 0); !ok {
				return n, err
			}
		}
		if n == len(p) || n > 0 && b.c.r == b.c.w {
			return n, nil
		}
	}
}

// readLine reads a line of the coding. Unless it may wait, it does nothing before the line is there whole.
func (b *Body) readLine(wait bool) (ok bool, err error) {
	c := b.c
	for {
		held := c.buf[c.r:c.w]
		i := bytes.IndexByte(held, '\n')
		switch {
		case i > maxChunkLine, i < 0 && len(held) > maxChunkLine:
			return false, errChunkLine
		case i >= 0:
			c.r += i + 1
			err = b.takeLine(held[:i])
			return err == nil, err
		case !wait:
			return false, nil
		}
		if err := c.more(b.fill); err != nil {
			return false, err
		}
	}
}

// takeLine takes a line that tells a chunk's size, or ends a chunk.
func (b *Body) takeLine(line []byte) error {
	if b.phase == chunkEnd {
		if len(bytes.TrimRight(line, " \t\r")) > 0 {
			return errChunkEnd
		}
		b.phase = chunkSize
		return nil
	}
	size, extra, ok := parseChunkSize(line)
	if !ok {
		return errChunkSize
	}
	if b.c.headLeft -= extra; b.c.headLeft < 0 {
		return errHeadBytes
	}
	b.left, b.phase = size, chunkData
	if size == 0 {
		b.phase = trailers
		b.c.headLeft += len("\r\n") // the empty line, which is there without trailers too
	}
	return nil
}

// parseChunkSize reads a line that tells the size of a chunk. extra is how many bytes of it are of no use.
func parseChunkSize(line []byte) (size int64, extra int, ok bool) {
	number, _, _ := bytes.Cut(line, []byte{';'})
	number = bytes.Trim(number, " \t\r")
	for _, c := range number {
		d, ok := hexDigit(c)
		if !ok || size > (1<<63-1)>>4 {
			return 0, 0, false
		}
		size = size<<4 | d
	}
	return size, max(0, len(line)-len("7fffffffffffffff\r")), len(number) > 0
}

func hexDigit(c byte) (int64, bool) {
	switch {
	case c >= '0' && c <= '9':
		return int64(c - '0'), true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int64(c|0x20-'a') + 10, true
	}
	return 0, false
}

// readTrailers reads the fields after the last chunk, and is the end of the body. Unless it may wait, it does nothing
// before they are all there.
func (b *Body) readTrailers(wait bool) error {
	c := b.c
	var scan headScan
	for {
		end := scan.end(c.buf[c.r:c.w])
		if end > 0 && end <= c.headLeft {
			return b.endTrailers(end)
		}
		if c.w-c.r >= c.headLeft {
			return errHeadBytes
		}
		if !wait {
			return nil
		}
		if err := c.more(b.fill); err != nil {
			return err
		}
	}
}

func (b *Body) endTrailers(end int) error {
	c := b.c
	if end > len("\r\n") {
		trailer, ok := parseFields(string(c.buf[c.r:c.r+end]), c.limits.Fields)
		if !ok {
			return errFields
		}
		if len(trailer) > 0 {
			c.resp.Trailer = trailer
		}
	}
	c.r += end
	b.finish()
	return nil
}
