package fetch

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// Bounds of decoding.
const (
	maxCodings    = 5       // stacked on one body
	maxZstdWindow = 8 << 20 // RFC 9659: what a decoder of the web supports
	sniffLen      = 3
	probeLen      = 512 // bytes that are decoded to see whether they are coded at all
)

// decoders stacks the decoders of a body, the outermost coding first.
func (b *bodyReader) decoders(src *bufio.Reader, list []coding, limit int64) io.Reader {
	var out io.Reader = src
	for i, c := range list {
		if i > 0 {
			src = b.source(b.layer(out, limit))
		}
		out = b.decoder(src, c)
	}
	return out
}

// layer bounds what one decoder hands to the next.
func (b *bodyReader) layer(r io.Reader, limit int64) io.Reader {
	for i := range b.layers {
		if b.layers[i].r == nil {
			b.layers[i] = meter{r: r, bound: rawBound(limit)}
			return &b.layers[i]
		}
	}
	return &meter{r: r, bound: rawBound(limit)}
}

// decoder returns a reader that takes the coding away, or src where the bytes say that it was never there. Magic bytes
// beat the name; where a coding has none the beginning is tried.
func (b *bodyReader) decoder(src *bufio.Reader, c coding) io.Reader {
	head, err := src.Peek(probeLen)
	whole := err != nil
	switch {
	case len(head) == 0:
		return src
	case isGzip(head):
		c = codingGzip
	case isZstd(head):
		c = codingZstd
	case c == codingGzip || c == codingZstd:
		if !whole || len(head) >= 4 || !beginsLike(head, c) {
			return src
		}
	}
	s := stage{coding: c}
	if c == codingDeflate && isZlib(head) {
		s.zlib = true
	}
	s.open(src)
	if c == codingBrotli || c == codingDeflate {
		if !plausible(s, head, whole) {
			s.free()
			return src
		}
		s.open(src)
	}
	b.stages = append(b.stages, s)
	return s.reader
}

// beginsLike reports whether a body cut within its magic bytes may have been of the coding.
func beginsLike(head []byte, c coding) bool {
	if c == codingGzip {
		return head[0] == 0x1f
	}
	return head[0] == 0x28
}

// plausible reports whether the beginning of a body can be decoded: a decoder that fails before it has given a byte is no
// decoder for it.
func plausible(s stage, head []byte, whole bool) bool {
	s.open(bufio.NewReader(bytes.NewReader(head)))
	var out [1]byte
	n, err := readAtLeast(s.reader, out[:], 1)
	if n > 0 || err == io.EOF {
		return true
	}
	return errors.Is(err, io.ErrUnexpectedEOF)
}

// stage is a buffer or a decoder under way, taken from a pool.
type stage struct {
	source *bufio.Reader
	coding coding
	zlib   bool // deflate with the zlib wrapper
	reader io.Reader
}

// The pools. Their decoders keep no reference to what they read.
var (
	gzipPool   = sync.Pool{New: func() any { return new(gzipReader) }}
	zlibPool   = sync.Pool{New: func() any { return new(zlibReader) }}
	flatePool  = sync.Pool{New: func() any { return flate.NewReader(empty{}) }}
	brotliPool = sync.Pool{New: func() any { return &brotliReader{r: brotli.NewReader(empty{})} }}
)

// empty is a source without bytes.
type empty struct{}

func (empty) Read([]byte) (int, error) { return 0, io.EOF }
func (empty) ReadByte() (byte, error)  { return 0, io.EOF }

// open makes the stage read src from the beginning.
func (s *stage) open(src *bufio.Reader) {
	switch {
	case s.coding == codingGzip:
		if s.reader == nil {
			s.reader = gzipPool.Get().(*gzipReader)
		}
		s.reader.(*gzipReader).reset(src)
	case s.coding == codingDeflate && s.zlib:
		if s.reader == nil {
			s.reader = zlibPool.Get().(*zlibReader)
		}
		s.reader.(*zlibReader).reset(src)
	case s.coding == codingDeflate:
		if s.reader == nil {
			s.reader = flatePool.Get().(io.Reader)
		}
		_ = s.reader.(flate.Resetter).Reset(src, nil)
	case s.coding == codingBrotli:
		if s.reader == nil {
			s.reader = brotliPool.Get().(*brotliReader)
		}
		_ = s.reader.(*brotliReader).r.Reset(src)
	case s.coding == codingZstd:
		if s.reader == nil {
			s.reader = newZstd()
		}
		s.reader.(*zstdReader).reset(src)
	}
}

// free gives the stage's part back to its pool.
func (s *stage) free() {
	switch r := s.reader.(type) {
	case nil:
		if s.source != nil {
			s.source.Reset(empty{})
			sources.Put(s.source)
		}
	case *gzipReader:
		r.src = nil
		gzipPool.Put(r)
	case *zlibReader:
		r.src = nil
		zlibPool.Put(r)
	case *brotliReader:
		_ = r.r.Reset(empty{})
		brotliPool.Put(r)
	case *zstdReader:
		r.close()
	default:
		_ = r.(flate.Resetter).Reset(empty{}, nil)
		flatePool.Put(r)
	}
	s.reader, s.source = nil, nil
}

// gzipReader reads gzip members. What follows a complete member and is none itself is no part of the body.
type gzipReader struct {
	z     gzip.Reader
	src   *bufio.Reader
	begun bool
}

func (g *gzipReader) reset(src *bufio.Reader) { g.src, g.begun = src, false }

// Read reads the members' data.
func (g *gzipReader) Read(p []byte) (int, error) {
	if !g.begun {
		if err := g.z.Reset(g.src); err != nil {
			return 0, unexpected(err)
		}
		g.z.Multistream(false)
		g.begun = true
	}
	for {
		n, err := g.z.Read(p)
		if err != io.EOF {
			return n, err
		}
		next, _ := g.src.Peek(sniffLen)
		if !isGzip(next) || g.z.Reset(g.src) != nil {
			return n, io.EOF
		}
		g.z.Multistream(false)
		if n > 0 {
			return n, nil
		}
	}
}

// unexpected turns the end of the bytes where data should begin into what it is.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// zlibReader is a zlib decoder that reads the header when it is first read.
type zlibReader struct {
	z   io.ReadCloser
	src *bufio.Reader
	err error
}

func (z *zlibReader) reset(src *bufio.Reader) { z.src, z.err = src, errUnread }

var errUnread = errors.New("not begun")

// Read reads the data.
func (z *zlibReader) Read(p []byte) (int, error) {
	if z.err == errUnread {
		if z.z == nil {
			z.z, z.err = zlib.NewReader(z.src)
		} else {
			z.err = z.z.(zlib.Resetter).Reset(z.src, nil)
		}
		z.err = unexpected(z.err)
	}
	if z.err != nil {
		return 0, z.err
	}
	return z.z.Read(p)
}

// brotliReader is a brotli decoder for which bytes behind the data are no fault.
type brotliReader struct{ r *brotli.Reader }

// Read reads the data.
func (b *brotliReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err != nil && err.Error() == "brotli: excessive input" { // the package has no name for it
		err = io.EOF
	}
	return n, err
}

// zstdReader is a zstd decoder for which bytes behind a complete frame are no fault.
type zstdReader struct {
	d     *zstd.Decoder
	err   error
	given bool
}

// newZstd makes a decoder, which is not kept for another body: it holds a channel, and one that was made within a test's
// bubble (testing/synctest) must not be used outside of it.
func newZstd() *zstdReader {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
	return &zstdReader{d: d, err: err}
}

func (z *zstdReader) close() {
	if z.d != nil {
		z.d.Close()
	}
}

func (z *zstdReader) reset(src *bufio.Reader) {
	z.given = false
	if z.d != nil {
		z.err = z.d.Reset(plainReader{src})
	}
}

// plainReader hides all but Read, so that no decoder takes a shortcut around the bounds.
type plainReader struct{ io.Reader }

// Read reads the data.
func (z *zstdReader) Read(p []byte) (int, error) {
	if z.err != nil {
		return 0, z.err
	}
	n, err := z.d.Read(p)
	z.given = z.given || n > 0
	if z.given && errors.Is(err, zstd.ErrMagicMismatch) {
		err = io.EOF
	}
	return n, err
}
