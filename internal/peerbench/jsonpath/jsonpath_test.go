package jsonpath

import (
	"testing"

	"github.com/tidwall/gjson"

	"github.com/seine-go/seine/extract/jsonpath"
)

func BenchmarkDefinitePath(b *testing.B) {
	for _, where := range []string{"start", "middle", "end"} {
		doc := document(where)
		p := jsonpath.MustCompile("$.root.data.metadata.tags[15].version")
		b.Run(where+"/First", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.First(doc)
			}
		})
		b.Run(where+"/gjson", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				gjson.GetBytes(doc, "root.data.metadata.tags.15.version")
			}
		})
		b.Run(where+"/Find", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Find(doc)
			}
		})
		b.Run(where+"/gjsonValid", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if gjson.ValidBytes(doc) {
					gjson.GetBytes(doc, "root.data.metadata.tags.15.version")
				}
			}
		})
	}
}
