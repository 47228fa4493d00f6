package demosite

import (
	"fmt"
	"net/http"
)

const (
	charsetsTitle = "Charsets"
	russianTitle  = "Фильмы на русском языке"
	chineseTitle  = "中文电影目录"
)

// charsetPage is a page in another charset than UTF-8.
type charsetPage struct {
	path, title, lang string
	charset           string // its name
	header, meta      bool   // where it is declared
	text              string
	country           string // whose films it lists
	encode            func(string) ([]byte, error)
}

func (s *Site) charsetPages() []charsetPage {
	var all []charsetPage
	for _, how := range []struct {
		name         string
		header, meta bool
	}{{"header", true, false}, {"meta", false, true}, {"undeclared", false, false}} {
		all = append(all,
			charsetPage{"/charset/gbk/" + how.name, chineseTitle, "zh", "gbk", how.header, how.meta, chineseText, "China", toGBK},
			charsetPage{"/charset/windows-1251/" + how.name, russianTitle, "ru", "windows-1251", how.header, how.meta, russianText, "Russia", toWindows1251})
	}
	return all
}

func (s *Site) routeCharsets(mux *http.ServeMux) {
	var paths []string
	for _, p := range s.charsetPages() {
		paths = append(paths, p.path)
		mux.HandleFunc("GET "+p.path, func(w http.ResponseWriter, r *http.Request) { s.serveCharset(w, r, p) })
	}
	mux.HandleFunc("GET /charsets", func(w http.ResponseWriter, r *http.Request) {
		s.html(w, r, "paths", view{Title: charsetsTitle, Data: paths})
	})
}

func (s *Site) serveCharset(w http.ResponseWriter, r *http.Request, p charsetPage) {
	data := struct {
		Text  string
		Films []Film
	}{Text: p.text}
	for _, f := range window(s, s.filmsFrom(p.country), 1) {
		data.Films = append(data.Films, s.film(f))
	}
	v := view{Title: p.title, Lang: p.lang, Charset: "none", Data: data}
	if p.meta {
		v.Charset = p.charset
	}
	body, err := p.encode(string(s.render("charset", v)))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	contentType := "text/html"
	if p.header {
		contentType += "; charset=" + p.charset
	}
	s.content(w, r, contentType, changed(s.opts.Seed, 0), body)
}

// filmsFrom lists the films of a country.
func (s *Site) filmsFrom(country string) []int {
	var ids []int
	for _, f := range s.films {
		if f.Country == country {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

// toWindows1251 encodes ASCII and Russian letters.
func toWindows1251(text string) ([]byte, error) {
	b := make([]byte, 0, len(text))
	for _, r := range text {
		switch {
		case r < 0x80:
			b = append(b, byte(r))
		case r >= 'А' && r <= 'я':
			b = append(b, byte(r-'А'+0xc0))
		case r == 'Ё':
			b = append(b, 0xa8)
		case r == 'ё':
			b = append(b, 0xb8)
		default:
			return nil, fmt.Errorf("demosite: %q cannot be said in windows-1251 here", r)
		}
	}
	return b, nil
}

// toGBK encodes ASCII and the characters that this site uses.
func toGBK(text string) ([]byte, error) {
	b := make([]byte, 0, len(text))
	for _, r := range text {
		code, ok := gbk[r]
		switch {
		case r < 0x80:
			b = append(b, byte(r))
		case ok:
			b = append(b, byte(code>>8), byte(code))
		default:
			return nil, fmt.Errorf("demosite: %q cannot be said in GBK here", r)
		}
	}
	return b, nil
}
