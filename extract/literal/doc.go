// Package literal reads the JSON that pages really carry, and the object literals of their scripts.
//
//	value, n, err := literal.Parse([]byte("{id: 7, url: '/play/7', next: undefined,};(function(){})()"), literal.Limits{})
//
// It takes JSON and, beyond it, what is written as a literal in JavaScript (ECMA-262, 13.2): names without quotes, strings
// in single quotes and templates without expressions, comments, trailing commas, holes, numbers in all notations, undefined,
// !0, void 0, JSON.parse and decodeURIComponent of one string, and functions that do nothing but return a literal in which the
// scalars stand that they are called with, as Nuxt writes them. It evaluates nothing: anything else is an error, or is left out by ParsePartly. Control
// characters in strings, byte order marks, comments of HTML and CDATA marks are let pass.
//
// Values are of the types that encoding/json uses: map[string]any, []any, string, json.Number, bool and nil.
package literal
