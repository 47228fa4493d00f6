package dedupe

import "testing"

func BenchmarkKey(b *testing.B) {
	for _, url := range []string{"http://127.0.0.1:8399/page/17", "http://films.example/p%C3%A4ge/17?b=2&a=1#x"} {
		for profile := Strict; profile <= SURT; profile++ {
			b.Run(profile.String()+"/"+url, func(b *testing.B) {
				c := mustNew(b, profile, Options{})
				b.ReportAllocs()
				for b.Loop() {
					if _, err := c.Key(url); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkAppendRequestKey(b *testing.B) {
	var c Canonicalizer
	dst, body := make([]byte, 0, 256), []byte("q=lang")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.AppendRequestKey(dst, "POST", "http://127.0.0.1:8399/page/17", body); err != nil {
			b.Fatal(err)
		}
	}
}
