// Package structured reads what pages say of themselves for machines: JSON-LD, Microdata, RDFa Lite and OpenGraph.
//
//	data := structured.Read(root, structured.Options{URL: "https://films.example/7"})
//	name, ok := data.Find("Movie.name")           // the first that has it of JSON-LD, Microdata and RDFa
//	var film structured.Movie
//	err := data.Decode(&film)                     // by the tags schema:"…" of its fields
//	text, err := structured.Marshal(film)         // JSON-LD again
//
// One bad block loses no other: what could not be read stands in Data.Errors. Nothing is fetched: contexts of JSON-LD are
// taken as names only, and those of schema.org are what is understood.
package structured
