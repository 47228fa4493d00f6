package fetch

import (
	"bytes"
	"fmt"
	"net/http"
	"path"
	"strings"

	"golang.org/x/text/encoding/htmlindex"
)

// CodingError is a content coding that is not known, or too many of them, joined by commas.
type CodingError struct{ Coding string }

// Error names the coding.
func (e *CodingError) Error() string {
	if strings.Contains(e.Coding, ",") { // no name of a coding has one
		return fmt.Sprintf("more than %d content codings: %.100q", maxCodings, e.Coding)
	}
	return fmt.Sprintf("content coding %q is not known", e.Coding)
}

type coding uint8

const (
	codingGzip coding = iota + 1
	codingDeflate
	codingBrotli
	codingZstd
)

// bodyCodings returns the codings that are to be taken off a body, the outermost first, and the first name that is none. With
// packed what is a packed file by itself stays as it was sent, and so does what is coded in a way that is not known.
func bodyCodings(h http.Header, urlPath string, packed bool) (list []coding, unknown string) {
	list, unknown = codings(h)
	if packed && (unknown != "" || len(list) == 1 && isPackedFile(list[0], mediaType(h), urlPath)) {
		return nil, ""
	}
	return list, unknown
}

// isPackedFile reports whether the coding is that of a file, which the host has stored so, by its media type or its name:
// an old Apache tells both application/x-gzip and x-gzip of an archive.
func isPackedFile(c coding, mediaType, urlPath string) bool {
	kind, sub, _ := strings.Cut(mediaType, "/")
	if kind == "application" && packedTypes[strings.TrimPrefix(sub, "x-")] == c {
		return true
	}
	return packedNames[strings.ToLower(path.Ext(urlPath))] == c
}

// What packed files are called: subtypes without "x-", and suffixes.
var (
	packedTypes = map[string]coding{
		"gzip": codingGzip, "gzipped": codingGzip, "gzip-compressed": codingGzip, "gunzip": codingGzip, "tgz": codingGzip,
		"tar.gz": codingGzip, "tar-gz": codingGzip, "compressed-tar": codingGzip, "brotli": codingBrotli, "zstd": codingZstd,
	}
	packedNames = map[string]coding{
		".gz": codingGzip, ".tgz": codingGzip, ".taz": codingGzip, ".br": codingBrotli, ".zst": codingZstd, ".tzst": codingZstd,
	}
)

// codings returns the codings of a body, the outermost first, and the first name that is none. Names that say that nothing
// was done are left out, and what some hosts write into this field that belongs into another: the framing of the message,
// labels of character encodings, media types. Parameters are passed over.
func codings(h http.Header) (list []coding, unknown string) {
	fields := h["Content-Encoding"]
	if len(fields) == 0 {
		return nil, ""
	}
	for i := len(fields) - 1; i >= 0; i-- {
		names := strings.Split(fields[i], ",")
		for j := len(names) - 1; j >= 0; j-- {
			name, _, _ := strings.Cut(names[j], ";")
			name = strings.ToLower(strings.Trim(name, " \t\"'"))
			var c coding
			switch name {
			case "gzip", "x-gzip":
				c = codingGzip
			case "deflate":
				c = codingDeflate
			case "br":
				c = codingBrotli
			case "zstd":
				c = codingZstd
			case "", "identity", "none", "binary", "8bit", "7bit", "chunked", "aws-chunked":
				continue
			default:
				if strings.Contains(name, "/") {
					continue
				}
				if _, err := htmlindex.Get(name); err == nil {
					continue
				}
				return nil, name
			}
			if list = append(list, c); len(list) > maxCodings {
				return nil, strings.Join(fields, ", ") // which has a comma
			}
		}
	}
	return list, ""
}

// isPackedDocument says whether a body that begins like gzip, though no coding says so, is unpacked.
//
// It is when its type is that of a document (text, XML, JSON, scripts), none of which can begin so, or when it has no type.
// A body of an opaque or a packed type is a download and delivered as it is, unless its name says that a document is packed
// in it: sitemap.xml.gz.
func isPackedDocument(contentType, path string) bool {
	mediaType, _, _ := strings.Cut(contentType, ";")
	mediaType = strings.ToLower(strings.TrimSpace(mediaType))
	kind, sub, _ := strings.Cut(mediaType, "/")
	switch {
	case mediaType == "", kind == "text", kind == "*", kind == "unknown", sub == "unknown", sub == "x-unknown":
		return true
	case kind == "application" || kind == "image" || kind == "model":
		for _, part := range strings.FieldsFunc(sub, func(r rune) bool { return r == '+' || r == '-' || r == '.' }) {
			switch part {
			case "xml", "xhtml", "html", "json", "jsonl", "ndjson", "javascript", "ecmascript", "rss", "atom", "csv", "svg", "rdf":
				return true
			}
		}
	}
	name, found := strings.CutSuffix(strings.ToLower(path), ".gz")
	if !found {
		return false
	}
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "xml", "txt", "html", "htm", "xhtml", "json", "jsonl", "ndjson", "csv", "tsv", "rss", "atom", "rdf", "svg":
		return true
	}
	return false
}

// isText reports whether b has none of the bytes that text does not have (the binary data bytes of the MIME Sniffing
// standard). Bytes of any compression have some among a few hundred.
func isText(b []byte) bool {
	for _, c := range b {
		if c <= 0x08 || c == 0x0b || c >= 0x0e && c <= 0x1a || c >= 0x1c && c <= 0x1f {
			return false
		}
	}
	return true
}

// isGzip reports whether b begins a gzip member (RFC 1952 2.3.1) in the one method that there is.
func isGzip(b []byte) bool {
	return len(b) >= sniffLen && b[0] == 0x1f && b[1] == 0x8b && b[2] == 8
}

// isZlib reports whether b begins a zlib stream (RFC 1950 2.2) without a preset dictionary.
func isZlib(b []byte) bool {
	return len(b) >= 2 && b[0]&0x0f == 8 && b[0]>>4 <= 7 && (int(b[0])<<8|int(b[1]))%31 == 0 && b[1]&0x20 == 0
}

// isZstd reports whether b begins a zstd frame or a skippable one (RFC 8878 3.1).
func isZstd(b []byte) bool {
	return len(b) >= 4 && (bytes.Equal(b[:4], []byte{0x28, 0xb5, 0x2f, 0xfd}) || b[0]&0xf0 == 0x50 && bytes.Equal(b[1:4], []byte{0x2a, 0x4d, 0x18}))
}
