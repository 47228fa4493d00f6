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
		if b.phase == chunkData {
			m, err := b.take(p[n:])
			n += m
			if b.left == 0 {
				b.phase = chunkEnd
			}
			if err != nil {
				return n, err
			}
		} else if b.phase == trailers {
			return n, b.readTrailers(n == 0)
		} else {
			line, ok := b.line()
			if !ok {
				if n > 0 {
					return n, nil
				}
				if err := b.moreLine(); err != nil {
					return 0, err
				}
				continue
			}
			if err := b.takeLine(line); err != nil {
				return n, err
			}
		}
		if n == len(p) || n > 0 && b.c.r == b.c.w {
			return n, nil
		}
	}
}

// line returns the line at the beginning of the buffer, without its end, when it is there.
func (b *Body) line() ([]byte, bool) {
	c := b.c
	i := bytes.IndexByte(c.buf[c.r:c.w], '\n')
	if i < 0 {
		return nil, false
	}
	line := c.buf[c.r : c.r+i]
	if i <= maxChunkLine {
		c.r += i + 1
	}
	return line, true
}

// moreLine reads more of a line.
func (b *Body) moreLine() error {
	if b.c.w-b.c.r > maxChunkLine {
		return errChunkLine
	}
	return b.c.more(b.fill)
}

// takeLine takes a line that tells a chunk's size, or ends a chunk.
func (b *Body) takeLine(line []byte) error {
	if len(line) > maxChunkLine {
		return errChunkLine
	}
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
