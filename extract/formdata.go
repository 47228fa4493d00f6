package extract

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/seine-go/seine/internal/weburl"
)

const (
	urlencodedForm = "application/x-www-form-urlencoded"
	multipartForm  = "multipart/form-data"
	plainForm      = "text/plain"
)

// Submission is what a form sends.
type Submission struct {
	URL         string
	Method      string // "GET" or "POST"
	ContentType string // "" for GET
	Body        []byte // nil for GET
}

// formEntry is one pair of what a form sends.
type formEntry struct {
	name, value string
	file        *formFile
}

// Submit returns what the form sends when the button of a name is pressed, the first of it that is not disabled. "" presses the
// one that Press chose, or else the first of all; its name and value are sent where it has them. Where the form has no button at
// all it is sent without. Equal forms give equal bytes.
func (f *Form) Submit(button string) (Submission, error) {
	pressed := f.pressed(button)
	if pressed < 0 && button != "" {
		return Submission{}, &FormFieldError{button, "the form has no button of the name"}
	}
	s, kind := Submission{URL: f.Action, Method: f.Method}, f.Enctype
	if pressed >= 0 {
		says := f.fields[pressed].says
		s.Method, kind = cmp.Or(says.method, s.Method), cmp.Or(says.enctype, kind)
		if says.action != nil {
			u, err := f.target(*says.action)
			if err != nil {
				return Submission{}, fmt.Errorf("seine: extract: action of the button: %w", err)
			}
			s.URL = u.Href()
		}
	}
	target, err := weburl.Parse(s.URL)
	if err != nil {
		return Submission{}, fmt.Errorf("seine: extract: action of the form: %w", err)
	}
	enc := newFormEncoder(f.Charset)
	entries := f.entries(pressed, enc.name)
	switch {
	case s.Method == "DIALOG":
		return Submission{}, ErrDialog
	case s.Method == "GET":
		s.URL = withQuery(target, enc.urlencoded(entries))
	case kind == multipartForm:
		s.Body, s.ContentType = enc.multipart(entries)
	case kind == plainForm:
		s.Body, s.ContentType = enc.plain(entries), plainForm
	default:
		s.Body, s.ContentType = []byte(enc.urlencoded(entries)), urlencodedForm
	}
	return s, nil
}

// pressed returns which field is the button to press; -1: none.
func (f *Form) pressed(name string) int {
	if name == "" && f.press > 0 {
		return f.press - 1
	}
	return slices.IndexFunc(f.fields, func(c formField) bool { return c.isButton() && (name == "" || c.name == name) })
}

// target returns what an action means: "" is the page itself, whatever its base.
func (f *Form) target(action string) (weburl.URL, error) {
	if action == "" {
		return f.page, nil
	}
	return f.base.Resolve(action)
}

// withQuery returns a URL with its query replaced.
func withQuery(u weburl.URL, query string) string {
	href := u.WithoutFragment().Href()
	if u.HasQuery() {
		href, _, _ = strings.Cut(href, "?")
	}
	if u.HasFragment() {
		query += "#" + u.Fragment()
	}
	return href + "?" + query
}

// entries constructs the entry list (HTML 4.10.21.4).
func (f *Form) entries(pressed int, charset string) []formEntry {
	var list []formEntry
	for i, c := range f.fields {
		switch {
		case c.off:
		case c.kind == "image" && i == pressed:
			prefix := c.name
			if prefix != "" {
				prefix += "."
			}
			list = append(list, formEntry{name: prefix + "x", value: "0"}, formEntry{name: prefix + "y", value: "0"})
		case c.name == "" || !c.on && i != pressed:
		case c.kind == "file":
			files := c.files
			if len(files) == 0 {
				files = make([]formFile, 1)
			}
			for i := range files {
				list = append(list, formEntry{name: c.name, value: files[i].name, file: &files[i]})
			}
		case c.kind == "hidden" && strings.EqualFold(c.name, "_charset_"):
			list = append(list, formEntry{name: c.name, value: charset})
		default:
			list = append(list, formEntry{name: c.name, value: c.value})
			if c.dirName != "" {
				list = append(list, formEntry{name: c.dirName, value: c.direction()})
			}
		}
	}
	for i := range list {
		list[i].name, list[i].value = crlf(list[i].name), crlf(list[i].value)
	}
	return list
}

// direction is that of the field's value.
func (f *formField) direction() string {
	if f.dir == byContent {
		return cmp.Or(directionOf(f.value), leftToRight)
	}
	return f.dir
}

// crlf writes every line break as CR LF.
func crlf(s string) string {
	if !strings.ContainsAny(s, "\r\n") {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r", "\n"), "\n", "\r\n")
}

// formEncoder turns text into the bytes of the encoding of a form; characters that it lacks become references (&#8364;).
type formEncoder struct {
	name    string
	encoder *encoding.Encoder // nil for UTF-8
}

func newFormEncoder(name string) formEncoder {
	enc, err := htmlindex.Get(name)
	if err != nil || name == "utf-8" {
		return formEncoder{name: "utf-8"}
	}
	return formEncoder{name, encoding.HTMLEscapeUnsupported(enc.NewEncoder())}
}

func (e formEncoder) bytes(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if e.encoder == nil {
		return s
	}
	out, err := e.encoder.String(s)
	if err != nil {
		return s
	}
	return out
}

// urlencoded is the serialiser of the URL standard (5.2).
func (e formEncoder) urlencoded(entries []formEntry) string {
	var b strings.Builder
	for i, entry := range entries {
		if i > 0 {
			b.WriteByte('&')
		}
		formEscape(&b, e.bytes(entry.name))
		b.WriteByte('=')
		formEscape(&b, e.bytes(entry.value))
	}
	return b.String()
}

func formEscape(b *strings.Builder, s string) {
	const hexDigits = "0123456789ABCDEF"
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ':
			b.WriteByte('+')
		case c >= '0' && c <= '9', c|0x20 >= 'a' && c|0x20 <= 'z', c == '*', c == '-', c == '.', c == '_':
			b.WriteByte(c)
		default:
			b.WriteString("%" + hexDigits[c>>4:c>>4+1] + hexDigits[c&15:c&15+1])
		}
	}
}

func (e formEncoder) plain(entries []formEntry) []byte {
	var b strings.Builder
	for _, entry := range entries {
		b.WriteString(e.bytes(entry.name) + "=" + e.bytes(entry.value) + "\r\n")
	}
	return []byte(b.String())
}

// multipart is HTML 4.10.21.8 on RFC 7578. The boundary is made of what it bounds, so that it is the same for the same form.
func (e formEncoder) multipart(entries []formEntry) (body []byte, contentType string) {
	hash := sha256.New()
	for _, entry := range entries {
		fmt.Fprintf(hash, "%d %s%d %s", len(entry.name), entry.name, len(entry.value), entry.value)
		if entry.file != nil {
			hash.Write(entry.file.data)
		}
	}
	boundary := "----seine" + hex.EncodeToString(hash.Sum(nil)[:12])
	for n := 0; e.holds(entries, boundary); n++ {
		boundary += strconv.Itoa(n)
	}
	for _, entry := range entries {
		head := "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + e.quoted(entry.name) + `"`
		body = append(body, head...)
		if entry.file == nil {
			body = append(body, "\r\n\r\n"+e.bytes(entry.value)+"\r\n"...)
			continue
		}
		mediaType := entry.file.mediaType
		if mediaType == "" {
			mediaType = "application/octet-stream"
		}
		body = append(body, `; filename="`+e.quoted(entry.value)+"\"\r\nContent-Type: "+mediaType+"\r\n\r\n"...)
		body = append(append(body, entry.file.data...), "\r\n"...)
	}
	return append(body, "--"+boundary+"--\r\n"...), multipartForm + "; boundary=" + boundary
}

func (e formEncoder) holds(entries []formEntry, boundary string) bool {
	for _, entry := range entries {
		if strings.Contains(e.bytes(entry.name)+"\n"+e.bytes(entry.value), boundary) {
			return true
		}
		if entry.file != nil && strings.Contains(string(entry.file.data), boundary) {
			return true
		}
	}
	return false
}

var quoteEscapes = strings.NewReplacer("\r", "%0D", "\n", "%0A", `"`, "%22")

func (e formEncoder) quoted(s string) string { return quoteEscapes.Replace(e.bytes(s)) }
