// Package jsonpath finds values in JSON by the paths of RFC 9535.
//
//	title := jsonpath.MustCompile("$.data.title")
//	raw, ok, err := title.Find(body) // no tree is built
//	fmt.Println(jsonpath.Text(raw), ok, err)
//
// A definite path, of names and indexes alone, is looked up in the bytes of a document without allocating. All paths work
// on documents that [Parse] has read. Both see a document in the same way: of names that repeat in an object the last
// counts, numbers keep their digits, and bytes that are not UTF-8 stand for U+FFFD. Filters compare whole numbers by their
// digits and others as float64; regular expressions in them are those of Go, with dots as RFC 9485 has them.
package jsonpath
