package weburl

import "testing"

func BenchmarkAppendResolve(b *testing.B) {
	page, err := Parse("http://127.0.0.1:8399/list/2")
	if err != nil {
		b.Fatal(err)
	}
	for _, ref := range []string{
		"http://127.0.0.1:8399/page/17", "http://films.example/page/17", "//127.0.0.1:8399/page/17", "/page/17", "../page/17",
		"./17", "17?x=1#frag", "?page=2", "#top", "/p%C3%A4ge/17", "/page/é", " /page/17 ",
	} {
		b.Run(ref, func(b *testing.B) {
			base, raw := NewBase(page, ""), []byte(ref)
			dst := make([]byte, 0, 128)
			b.ReportAllocs()
			for b.Loop() {
				if dst, err = base.AppendResolve(dst[:0], raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for _, raw := range []string{"http://127.0.0.1:8399/page/17", "HTTP://Example.com/a/../b?q#f", "http://bücher.example/"} {
		b.Run(raw, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
