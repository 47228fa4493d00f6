package demosite

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"net/http"
	"strings"
)

const (
	imagesTitle = "Posters"
	// A poster has posterWidth × posterHeight pixels, in tiles of posterTile: few bytes, but no two films alike.
	posterWidth  = 48
	posterHeight = 72
	posterTile   = 12
)

// imagesHandler serves the posters. This host has no robots.txt: all may be fetched.
func (s *Site) imagesHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", s.notFound)
	mux.HandleFunc("GET /{$}", s.serveText(imagesTitle, "The posters are linked from the films."))
	mux.HandleFunc("GET /poster/{name}", func(w http.ResponseWriter, r *http.Request) {
		number, kind, _ := strings.Cut(r.PathValue("name"), ".")
		id, ok := idOf(number, len(s.films))
		if !ok || r.URL.Path != s.films[id-1].Poster {
			s.notFound(w, r)
			return
		}
		contentType := "image/png"
		if kind == "jpg" {
			contentType = "image/jpeg"
		}
		s.content(w, r, contentType, changed(s.opts.Seed, id), poster(s.opts.Seed, id, kind))
	})
	return mux
}

// poster draws a film's poster as a PNG or JPEG file.
func poster(seed uint64, id int, kind string) []byte {
	d := roll(seed, streamPoster, id)
	img := image.NewRGBA(image.Rect(0, 0, posterWidth, posterHeight))
	for y := 0; y < posterHeight; y += posterTile {
		for x := 0; x < posterWidth; x += posterTile {
			n := d.next()
			fill(img, image.Rect(x, y, x+posterTile, y+posterTile), color.RGBA{byte(n), byte(n >> 8), byte(n >> 16), 0xff})
		}
	}
	var b bytes.Buffer
	var err error
	if kind == "jpg" {
		err = jpeg.Encode(&b, img, &jpeg.Options{Quality: 80})
	} else {
		err = png.Encode(&b, img)
	}
	if err != nil {
		panic(fmt.Errorf("demosite: poster %d: %w", id, err)) // writing to memory does not fail
	}
	return b.Bytes()
}

func fill(img *image.RGBA, area image.Rectangle, c color.RGBA) {
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			img.SetRGBA(x, y, c)
		}
	}
}
