package fetch

import (
	"slices"
	"sync"

	"github.com/seine-go/seine/internal/charset"
)

// Charset is the encoding of a body and how it was found.
type Charset struct {
	Name       string  // of the Encoding standard, in lower case: "utf-8", "gbk", "windows-1252"
	Source     string  // "caller", "bom", "header", "meta", "xml", "detected", or "default" where nothing speaks for the name
	Confidence float64 // 0 to 1: 1 where the bytes agree with what is declared
}

// Charset tells the encoding of the body: a byte order mark, what the request says (Request.Charset), or else the first of
// these that the bytes do not contradict: UTF-8 beyond doubt, the Content-Type, a meta element or XML declaration in the
// first 16 KiB, what the bytes look like; or the default of its type. A Response of this package finds it once for a Body and
// its Content-Type, copies of the Response included, so the bytes of a Body should not be changed in between; one that was made
// otherwise finds it anew in each call. A body that a Sink took is not looked at.
func (r *Response) Charset() Charset {
	c := r.charsets.find(r.Body, r.Header["Content-Type"])
	if label := r.charsetOfRequest(); label != "" && c.Source != charset.BOM {
		return Charset{label, string(charset.Caller), 1}
	}
	return Charset{c.Name, string(c.Source), c.Confidence}
}

// charsetMemo remembers the encoding of a body. Nil remembers nothing.
type charsetMemo struct {
	mu    sync.Mutex
	body  []byte // of which found is, together with types
	types []string
	found charset.Charset
	done  bool
}

func (m *charsetMemo) find(body []byte, types []string) charset.Charset {
	if m == nil {
		return charset.Find(body, types)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	same := len(body) == len(m.body) && (len(body) == 0 || &body[0] == &m.body[0])
	if !m.done || !same || !slices.Equal(types, m.types) {
		m.found = charset.Find(body, types)
		m.body, m.types, m.done = body, slices.Clone(types), true
	}
	return m.found
}

// charsetOfRequest returns the encoding that the request says, "" where it says none that is known.
func (r *Response) charsetOfRequest() string {
	if r.Request == nil || r.Request.Charset == "" {
		return ""
	}
	return charset.Lookup(r.Request.Charset)
}

// Text returns the body as UTF-8, without a byte order mark. What is no text in its encoding becomes U+FFFD. It may be the
// body itself.
func (r *Response) Text() []byte {
	text, err := charset.Decode(r.Body, r.Charset().Name)
	if err != nil { // a name that Charset has found is known
		return r.Body
	}
	return text
}
