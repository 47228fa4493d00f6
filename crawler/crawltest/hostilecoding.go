package crawltest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
)

// packers make a writer for each content coding.
var packers = []struct {
	coding string
	pack   func(io.Writer) (io.WriteCloser, error)
}{
	{"gzip", func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, gzip.BestSpeed) }},
	{"br", func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriterLevel(w, brotli.BestSpeed), nil }},
	{"deflate", func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriterLevel(w, zlib.BestSpeed) }},
	{"zstd", func(w io.Writer) (io.WriteCloser, error) {
		return zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	}},
}

// packedText is what is coded where the content does not matter: 64 KiB that do not shrink to nothing.
func packedText() string {
	var b strings.Builder
	for i := 0; b.Len() < 64<<10; i++ {
		fmt.Fprintf(&b, "line %d of the text: %x\n", i, uint32(i)*2654435761)
	}
	return b.String()
}

// codingBehaviours have bodies whose content coding is a bomb, cut, or not what it is said to be.
func codingBehaviours() []behaviour {
	var out []behaviour
	for _, p := range packers {
		out = append(
			out,
			on("bomb-"+p.coding, "sends 256 MiB of zeros in "+p.coding, func(r *reply) { r.bomb(p.coding, p.coding) }),
			on("junk-"+p.coding, "sends 4 KiB of junk behind a body in "+p.coding, func(r *reply) {
				r.coded(p.coding, append(pack(packedText(), p.coding), strings.Repeat("junk", 1024)...))
			}),
			on("cut-"+p.coding, "ends in the middle of a body in "+p.coding+", with the length of what it sends", func(r *reply) {
				body := pack(packedText(), p.coding)
				r.coded(p.coding, body[:len(body)/2])
			}),
			on("flip-"+p.coding, "has a wrong byte in the middle of a body in "+p.coding, func(r *reply) {
				body := pack(packedText(), p.coding)
				body[len(body)/2] ^= 0x55
				r.coded(p.coding, body)
			}),
			on("not-"+p.coding, "sends plain text and says that it is "+p.coding, func(r *reply) { r.coded(p.coding, []byte("not coded at all")) }),
		)
	}
	return append(
		out,
		on("bomb-gzip-gzip", "sends 256 MiB of zeros in gzip in gzip", func(r *reply) { r.bomb("gzip, gzip", "gzip", "gzip") }),
		on("bomb-gzip-br", "sends 256 MiB of zeros in gzip in br", func(r *reply) { r.bomb("gzip, br", "gzip", "br") }),
		on("bomb-layers", "sends a page in six codings", func(r *reply) {
			r.coded("gzip, gzip, gzip, gzip, gzip, gzip", pack("deep", "gzip", "gzip", "gzip", "gzip", "gzip", "gzip"))
		}),
		on("bomb-window", "sends zstd that asks for a window of 2 GiB", func(r *reply) {
			r.coded("zstd", []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0x21, 0x00, 0x00, 'w', 'i', 'd', 'e'})
		}),
		on("bomb-unlisted", "sends 256 MiB of zeros in gzip as text, without a word of a coding", func(r *reply) { r.bomb("", "gzip") }),
		on("raw-deflate", "sends deflate without the frame of zlib", func(r *reply) {
			var b bytes.Buffer
			w, err := flate.NewWriter(&b, flate.BestSpeed)
			if err == nil {
				_, _ = io.WriteString(w, "raw deflate")
				_ = w.Close()
			}
			r.coded("deflate", b.Bytes())
		}),
		on("coding-unknown", "names a coding that nobody knows", func(r *reply) { r.coded("rot13", []byte("\x00\x7fobql")) }),
		on("coding-empty", "names a coding and has no body", func(r *reply) { r.coded("gzip", nil) }),
	)
}

// coded answers with a body in a coding.
func (r *reply) coded(coding string, body []byte) {
	if coding != "" {
		coding = "Content-Encoding: " + coding + "\r\n"
	}
	r.sendf("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n%sContent-Length: %d\r\n\r\n", coding, len(body))
	r.keep = r.sendBytes(body)
}

// bombChunk is small, since a byte of a bomb stands for thousands: a larger chunk would make the client wait.
const bombChunk = 256

// bomb answers with zeros in the codings, the innermost first, as fast as they are taken. told is what the head says.
func (r *reply) bomb(told string, codings ...string) {
	if told != "" {
		told = "Content-Encoding: " + told + "\r\n"
	}
	if !r.open("text/plain", told) {
		return
	}
	out := bufio.NewWriterSize(chunkWriter{r}, bombChunk)
	if writeBomb(out, r.h.o.Bomb, codings) == nil && out.Flush() == nil {
		r.raw("0\r\n\r\n")
	}
}

// chunkWriter sends what is written to it as chunks.
type chunkWriter struct{ r *reply }

// Write sends a chunk.
func (w chunkWriter) Write(p []byte) (int, error) {
	if len(p) > 0 && !w.r.sendf("%x\r\n%s\r\n", len(p), p) {
		return 0, net.ErrClosed
	}
	return len(p), nil
}

// writeBomb writes n zeros in the codings, the innermost first.
func writeBomb(w io.Writer, n int64, codings []string) error {
	outer, layers, err := packInto(w, codings[1:])
	if err != nil {
		return err
	}
	switch codings[0] {
	case "gzip":
		err = writeZeros(outer, n, []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}, func() []byte { return zerosGzipEnd(n) })
	case "deflate":
		err = writeZeros(outer, n, []byte{0x78, 0x9c}, func() []byte { return zerosZlibEnd(n) })
	default:
		err = packFrom(outer, io.LimitReader(zeros{}, n), codings[:1])
	}
	for i := len(layers) - 1; i >= 0 && err == nil; i-- {
		err = layers[i].Close()
	}
	return err
}

// zeroBlock is how many zeros one block of deflate holds that is sent again and again.
const zeroBlock = 1 << 20

// writeZeros writes n zeros, rounded down to whole blocks, in deflate (RFC 1951) between a head and an end. A block that
// ends with a flush refers to nothing before it, so it may follow itself.
func writeZeros(w io.Writer, n int64, head []byte, end func() []byte) error {
	block := deflatedZeros()
	if _, err := w.Write(head); err != nil {
		return err
	}
	for range n / zeroBlock {
		if _, err := w.Write(block); err != nil {
			return err
		}
	}
	_, err := w.Write(append([]byte{3, 0}, end()...)) // a last block, empty
	return err
}

// deflatedZeros returns a block. The fastest level finds in zeros what the best one does.
func deflatedZeros() []byte {
	var block bytes.Buffer
	packer, err := flate.NewWriter(&block, flate.BestSpeed)
	if err == nil {
		_, _ = packer.Write(make([]byte, zeroBlock)) // a Buffer takes all
		_ = packer.Flush()
	}
	return block.Bytes()
}

// zerosGzipEnd is the end of n zeros in gzip, rounded down to whole blocks: checksum and length (RFC 1952 2.3.1).
func zerosGzipEnd(n int64) []byte {
	sum, block := uint32(0), make([]byte, zeroBlock)
	for range n / zeroBlock {
		sum = crc32.Update(sum, crc32.IEEETable, block)
	}
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, sum), uint32(n/zeroBlock*zeroBlock))
}

// zerosZlibEnd is the same in zlib: Adler-32 (RFC 1950 section 8), of which zeros change the second half alone.
func zerosZlibEnd(n int64) []byte {
	return binary.BigEndian.AppendUint32(nil, uint32(n/zeroBlock*zeroBlock%65521)<<16|1)
}

// pack returns a text in codings, the innermost first.
func pack(text string, codings ...string) []byte {
	var out bytes.Buffer
	_ = packFrom(&out, strings.NewReader(text), codings) // a Buffer takes all
	return out.Bytes()
}

// packFrom writes all of src in codings, the innermost first.
func packFrom(w io.Writer, src io.Reader, codings []string) error {
	outer, layers, err := packInto(w, codings)
	if err == nil {
		_, err = io.CopyBuffer(struct{ io.Writer }{outer}, src, make([]byte, 256<<10))
	}
	for i := len(layers) - 1; i >= 0; i-- {
		err = errors.Join(err, layers[i].Close())
	}
	return err
}

// packInto returns a writer that packs into w, the innermost coding first, and its layers, the outermost first, which
// are to be closed from the last to the first.
func packInto(w io.Writer, codings []string) (io.Writer, []io.WriteCloser, error) {
	var layers []io.WriteCloser
	for _, coding := range slices.Backward(codings) {
		for _, p := range packers {
			if p.coding == coding {
				layer, err := p.pack(w)
				if err != nil {
					return nil, nil, err
				}
				layers = append(layers, layer)
				w = layer
			}
		}
	}
	return w, layers, nil
}

// zeros is a reader of zeros.
type zeros struct{}

// Read fills p.
func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// charsetBehaviours say something wrong of how their text is encoded.
func charsetBehaviours() []behaviour {
	const latin, utf = "<p>caf\xe9 cr\xe8me</p>", "<p>café crème</p>"
	var out []behaviour
	for _, c := range []struct{ name, doc, contentType, body string }{
		{"charset-utf-8", "says UTF-8 and sends ISO-8859-1", "text/html; charset=utf-8", latin},
		{"charset-latin1", "says ISO-8859-1 and sends UTF-8", "text/html; charset=iso-8859-1", utf},
		{"charset-meta", "says UTF-16 in a meta element of ASCII bytes", "text/html", `<meta charset="utf-16le">` + utf},
		{"charset-two", "says one charset in the header, another in the page", "text/html; charset=utf-8", `<meta charset="shift_jis">` + utf},
		{"charset-bom", "says ISO-8859-1 and begins with the mark of UTF-8", "text/html; charset=iso-8859-1", "\xef\xbb\xbf" + utf},
		{"charset-none", "names a charset that does not exist", "text/html; charset=klingon", utf},
		{"charset-binary", "says that bytes of a picture are HTML", "text/html; charset=utf-8", "\x89PNG\r\n\x1a\n\x00\x01\x02\xff\xfe"},
	} {
		out = append(out, on(c.name, c.doc, func(r *reply) { r.page(c.contentType, c.body) }))
	}
	return out
}
