package fetch

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"sync"
)

// Sizes of reading bodies, in bytes.
const (
	exactBody   = 1 << 20   // up to which a promised length is allocated at once
	scratchSize = 64 << 10  // of the buffer that a body of unknown length is read into first
	grownBody   = 256 << 10 // of the memory that follows the scratch
	sourceSize  = 16 << 10  // of the buffer between a body and its decoder
	rawSlack    = 64 << 10  // that a coded body may be larger than the bound of the decoded one, beside an eighth
	maxDrain    = 64 << 10  // that is read behind the end of the coded data
	maxEmpty    = 100       // reads in a row without bytes or error
)

var errEmptyReads = errors.New("many reads brought nothing")

// bodyReader reads one body: bounded, decoded, into memory that the caller may keep.
type bodyReader struct {
	wire    meter
	layers  [maxCodings]meter
	stages  []stage   // under way, to be given back
	sink    io.Writer // nil: into memory
	clock   clock     // of the exchange; nil without a bound, or a sink
	scratch [scratchSize]byte
	probe   [1]byte
}

var bodyReaders = sync.Pool{New: func() any { return new(bodyReader) }}

// meter counts what is read through it, stops at a bound and remembers how it ended.
type meter struct {
	r     io.Reader
	n     int64
	bound int64 // bytes after which errTooMuch is returned
	err   error // of r, io.EOF included
}

var errTooMuch = errors.New("more coded bytes than MaxBody allows decoded ones")

// Read reads from below.
func (m *meter) Read(p []byte) (int, error) {
	if m.err != nil {
		return 0, m.err
	}
	if m.n >= m.bound {
		return 0, errTooMuch
	}
	if int64(len(p)) > m.bound-m.n {
		p = p[:m.bound-m.n]
	}
	n, err := m.r.Read(p)
	m.n += int64(n)
	m.err = err
	return n, err
}

// bodyInfo is what decides how a body is read.
type bodyInfo struct {
	size   int64 // on the wire, -1 if unknown
	header http.Header
	path   string // of the URL
	limit  int64  // decoded bytes; negative: none
	packed bool   // what is packed by itself stays so
	sink   func() (io.Writer, error)
	clock  clock // of the exchange; nil: none, or no sink
}

// bodyResult is what came of a body.
type bodyResult struct {
	data    []byte
	sunk    int64 // bytes that went to the sink
	rawSize int64
	ended   bool // the wire came to the proper end of the body
	wireErr error
	cut     *Error // why the data is not the whole
	fatal   *Error // nothing can be delivered
}

// readBody reads src to its end or to the limit.
func readBody(src io.Reader, info bodyInfo) bodyResult {
	b := bodyReaders.Get().(*bodyReader)
	defer b.free()
	limit := info.limit
	if limit < 0 || limit == math.MaxInt64 {
		limit = math.MaxInt64 - 1 // so that one more can be counted
	}
	b.wire = meter{r: src, bound: math.MaxInt64}
	var res bodyResult
	if info.sink != nil {
		var err error
		b.clock = info.clock
		err = b.own(func() error {
			b.sink, err = info.sink()
			return err
		})
		if err != nil {
			return bodyResult{fatal: &Error{Op: "sink", Kind: ErrSink, Err: err}}
		}
	}
	res.data, res.sunk, res.cut, res.fatal = b.read(&info, limit)
	res.rawSize = b.wire.n
	res.ended = b.wire.err == io.EOF
	if b.wire.err != nil && !res.ended {
		res.wireErr = b.wire.err
	}
	return res
}

func (b *bodyReader) free() {
	for i := range b.stages {
		b.stages[i].free()
		b.stages[i] = stage{}
	}
	b.stages = b.stages[:0]
	b.wire, b.layers, b.sink, b.clock = meter{}, [maxCodings]meter{}, nil, nil
	bodyReaders.Put(b)
}

func (b *bodyReader) read(info *bodyInfo, limit int64) (data []byte, sunk int64, cut, fatal *Error) {
	list, unknown := bodyCodings(info.header, info.path, info.packed)
	var src io.Reader = &b.wire
	size := info.size
	if len(list) > 0 || unknown != "" {
		// A body that is empty has no coding, whatever is said of it.
		first := b.source(src)
		if _, err := first.Peek(1); err != nil {
			return nil, 0, b.cutError(err), nil
		}
		switch head, _ := first.Peek(probeLen); {
		case unknown == "":
			b.wire.bound = rawBound(limit)
			src, size = b.decoders(first, list, limit), -1
		case isText(head): // nothing was done to it, whatever is said
			src, size = first, -1
		default:
			return nil, 0, &Error{Op: "decode", Kind: ErrEncoding, Err: &CodingError{unknown}}, nil
		}
	}
	if ahead := b.wire.ahead(); b.sink == nil && size > 0 && size <= limit && int64(len(ahead)) == size && !isGzip(ahead) {
		data, err := b.readAhead(src, ahead)
		return data, 0, b.cutError(err), nil
	}
	buf := b.scratch[:min(scratchSize, limit+1)]
	if size >= 0 && b.sink == nil {
		buf = make([]byte, min(size, limit+1, exactBody))
	}
	var err error
	if ahead := b.wire.ahead(); b.sink == nil || len(ahead) < sniffLen || isGzip(ahead) {
		var n int
		n, err = readAtLeast(src, buf, min(sniffLen, len(buf)))
		data = buf[:n]
	}
	if isGzip(data) && !info.packed && isPackedDocument(info.header.Get("Content-Type"), info.path) {
		src, size, data, err = b.unpacked(src, data, limit), -1, b.scratch[:0], nil
	}
	switch {
	case b.sink != nil:
		sunk, err = b.pour(src, data, limit, err)
		data = nil
	case err != nil:
	case size >= 0:
		data, err = b.readSized(src, data, size, limit)
	default:
		data, err = b.readAll(src, data, limit)
	}
	if b.sink == nil {
		if int64(len(data)) > limit {
			data, err = data[:limit], errOverflow
		}
		data = b.keep(data)
	}
	cut, fatal = b.outcome(err, limit)
	if fatal != nil {
		data = nil
	}
	return data, sunk, cut, fatal
}

// outcome says what the error means in which reading a body has ended.
func (b *bodyReader) outcome(err error, limit int64) (cut, fatal *Error) {
	var own *sinkError
	switch {
	case errors.As(err, &own):
		return nil, &Error{Op: "sink", Kind: ErrSink, Err: own.err}
	case err == errOverflow:
		return &Error{Op: "read body", Kind: ErrBodyLimit, Err: fmt.Errorf("more than the %d bytes that MaxBody allows", limit)}, nil
	case err == io.EOF:
		err = b.drain()
	}
	return b.cutError(err), nil
}

// readAhead reads a body that is there already; memory that is filled at once is not cleared before.
func (b *bodyReader) readAhead(src io.Reader, ahead []byte) ([]byte, error) {
	data := bytes.Clone(ahead)
	b.wire.take(len(data))
	return b.readEnd(src, data)
}

// unpacked reads what is packed in a body of which some has been read.
func (b *bodyReader) unpacked(src io.Reader, begun []byte, limit int64) io.Reader {
	b.wire.bound = rawBound(limit)
	packed := io.MultiReader(bytes.NewReader(bytes.Clone(begun)), src)
	return b.decoder(b.source(b.layer(packed, limit)), codingGzip)
}

func rawBound(limit int64) int64 {
	if limit > math.MaxInt64/2 {
		return math.MaxInt64
	}
	return limit + limit/8 + rawSlack
}

// readSized reads a body of which the length on the wire is known; data has come already.
func (b *bodyReader) readSized(src io.Reader, data []byte, size, limit int64) ([]byte, error) {
	want := min(size, limit+1)
	for {
		n, err := readAtLeast(src, data[len(data):cap(data)], cap(data)-len(data))
		data = data[:len(data)+n]
		switch {
		case err != nil || int64(len(data)) > limit:
			return data, err
		case int64(len(data)) >= want:
			return b.readEnd(src, data)
		}
		// What has come vouches for some more of what was promised.
		room := min(want, 4*int64(cap(data)))
		data = append(make([]byte, 0, room), data...)
	}
}

// readEnd expects the end of a body of known length.
func (b *bodyReader) readEnd(src io.Reader, data []byte) ([]byte, error) {
	n, err := readAtLeast(src, b.probe[:], 1)
	if n > 0 {
		data = append(data, b.probe[0])
		if err == nil {
			err = io.ErrShortBuffer
		}
	}
	return data, err
}

// readAll reads a body of unknown length; data lies at the beginning of the scratch.
func (b *bodyReader) readAll(src io.Reader, data []byte, limit int64) ([]byte, error) {
	most := limit + 1
	for {
		full := int(min(int64(cap(data)), most))
		n, err := readAtLeast(src, data[len(data):full], full-len(data))
		data = data[:len(data)+n]
		if err != nil || int64(len(data)) > limit {
			return data, err
		}
		room := max(grownBody, 2*int64(cap(data)))
		if room > most-most/4 {
			room = most // else the rest would take all of the memory anew
		}
		data = append(make([]byte, 0, room), data...)
	}
}

// keep returns data in memory of its own that is not much larger than it.
func (b *bodyReader) keep(data []byte) []byte {
	scratch := cap(data) > 0 && &data[:1][0] == &b.scratch[0]
	if !scratch && cap(data)-len(data) <= len(data)/4 {
		return data
	}
	return bytes.Clone(data)
}

// readAtLeast reads until at least least bytes have come, or an error.
func readAtLeast(r io.Reader, p []byte, least int) (n int, err error) {
	for empty := 0; n < least && err == nil; {
		var m int
		m, err = r.Read(p[n:])
		n += m
		if m > 0 {
			empty = 0
		} else if empty++; err == nil && empty >= maxEmpty {
			err = errEmptyReads
		}
	}
	return n, err
}

// drain reads what follows the coded data up to the end of the body, so that the connection can be kept. Much more than
// nothing is left where it is.
func (b *bodyReader) drain() error {
	if b.wire.err == nil {
		b.wire.bound = b.wire.n + maxDrain + 1 // one more, to see the end behind the last
		for b.wire.err == nil {
			if _, err := b.wire.Read(b.scratch[:]); err == errTooMuch {
				return io.EOF
			}
		}
	}
	return b.wire.err
}

// cutError says what the end of a body means: nil for a proper one. Errors of the wire are told by the caller, who knows
// what they are.
func (b *bodyReader) cutError(err error) *Error {
	switch {
	case err == io.EOF:
		return nil
	case b.wire.err != nil && b.wire.err != io.EOF:
		return &Error{Op: "read body", Kind: ErrTruncated, Err: b.wire.err}
	case errors.Is(err, errTooMuch):
		return &Error{Op: "read body", Kind: ErrBodyLimit, Err: err}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &Error{Op: "decode", Kind: ErrTruncated, Err: err}
	}
	return &Error{Op: "decode", Kind: ErrEncoding, Err: err}
}

// source returns a pooled buffer over r.
func (b *bodyReader) source(r io.Reader) *bufio.Reader {
	s := sources.Get().(*bufio.Reader)
	s.Reset(r)
	b.stages = append(b.stages, stage{source: s})
	return s
}

var sources = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, sourceSize) }}
