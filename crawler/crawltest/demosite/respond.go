package demosite

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

//go:embed templates
var templateFiles embed.FS

// templates has one template for each kind of page, by file name without its end.
var templates = sync.OnceValue(func() map[string]*template.Template {
	functions := template.FuncMap{
		"comment": func(text string) template.HTML { return template.HTML("<!-- " + text + " -->") }, // html/template drops those in files
	}
	layout := template.Must(template.New("").Funcs(functions).ParseFS(templateFiles, "templates/layout.html"))
	files, err := templateFiles.ReadDir("templates")
	if err != nil {
		panic(err) // they are part of the program
	}
	set := map[string]*template.Template{}
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".html")
		set[name] = template.Must(template.Must(layout.Clone()).ParseFS(templateFiles, path.Join("templates", f.Name())))
	}
	return set
})

// view is what a template is given.
type view struct {
	Title     string
	Lang      string            // of the page; empty means en
	Charset   string            // what the page declares in a meta element; "none" nothing, empty utf-8
	Robots    string            // content of the robots meta element
	Canonical string            // URL
	Prev      string            // path of the page before
	Next      string            // path of the next page
	Hosts     map[string]string // the roots of the hosts
	Trap      bool
	Data      any
}

// render makes the HTML of a page.
func (s *Site) render(name string, v view) []byte {
	v.Hosts = map[string]string{}
	for _, h := range Hosts() {
		v.Hosts[string(h)] = s.HostURL(h)
	}
	v.Trap = s.opts.Trap
	if v.Lang == "" {
		v.Lang = "en"
	}
	if v.Charset == "" {
		v.Charset = "utf-8"
	}
	var b bytes.Buffer
	if err := templates()[name].ExecuteTemplate(&b, "page", v); err != nil {
		panic(fmt.Errorf("demosite: template %s: %w", name, err)) // a fault of this package
	}
	return b.Bytes()
}

// html answers with a page.
func (s *Site) html(w http.ResponseWriter, r *http.Request, name string, v view) {
	s.content(w, r, "text/html; charset=utf-8", changed(s.opts.Seed, 0), s.render(name, v))
}

// content answers 200 with a body, or 304 or a part of it when so asked; with gzip when that is accepted.
func (s *Site) content(w http.ResponseWriter, r *http.Request, contentType string, modified time.Time, body []byte) {
	sum := sha256.Sum256(body)
	tag := fmt.Sprintf("%x", sum[:8])
	header := w.Header()
	header.Set("Content-Type", contentType)
	if compressible(contentType) {
		header.Set("Vary", "Accept-Encoding")
		if acceptsGzip(r.Header.Values("Accept-Encoding")) {
			header.Set("Content-Encoding", "gzip")
			tag += "-gzip"
			body = s.zipped(body)
		}
	}
	header.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", modified, bytes.NewReader(body))
}

// answer answers with a status other than 200 and a short page.
func (s *Site) answer(w http.ResponseWriter, status int, v view) {
	body := s.render("text", v)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

const notFoundTitle = "Not found"

func (s *Site) notFound(w http.ResponseWriter, _ *http.Request) {
	s.answer(w, http.StatusNotFound, view{Title: notFoundTitle, Data: "There is no such page."})
}

func (s *Site) sendJSON(w http.ResponseWriter, r *http.Request, modified time.Time, v any) {
	s.content(w, r, "application/json", modified, marshal(v))
}

// marshal makes JSON in which <, > and & are escaped, so that it may stand in a script element.
func marshal(v any) []byte {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic(fmt.Errorf("demosite: %w", err)) // a fault of this package
	}
	return append(b, '\n')
}

func compressible(contentType string) bool {
	return strings.HasPrefix(contentType, "text/") || strings.HasPrefix(contentType, "application/json") ||
		strings.HasSuffix(contentType, "xml")
}

// acceptsGzip reads Accept-Encoding (RFC 9110, 12.5.3): gzip must be named, or stand under *, with a weight above zero.
func acceptsGzip(values []string) bool {
	named, star := -1.0, -1.0
	for member := range strings.SplitSeq(strings.Join(values, ","), ",") {
		coding, parameters, _ := strings.Cut(member, ";")
		weight := 1.0
		if key, value, ok := strings.Cut(parameters, "="); ok && strings.EqualFold(strings.TrimSpace(key), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil || q < 0 || q > 1 { // NaN passes here and fails below, being not above zero
				q = 0
			}
			weight = q
		}
		switch strings.ToLower(strings.TrimSpace(coding)) {
		case "gzip", "x-gzip":
			named = weight
		case "*":
			star = weight
		}
	}
	if named >= 0 {
		return named > 0
	}
	return star > 0
}

func (s *Site) zipped(body []byte) []byte {
	z, ok := s.gzips.Get().(*gzip.Writer)
	if !ok {
		z = gzip.NewWriter(nil)
	}
	defer s.gzips.Put(z)
	var b bytes.Buffer
	z.Reset(&b)
	_, _ = z.Write(body) // a bytes.Buffer takes all
	_ = z.Close()
	return b.Bytes()
}
