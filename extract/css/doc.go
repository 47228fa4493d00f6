// Package css selects elements by CSS selectors, level 4.
//
//	titles := css.MustCompile("article:has(> .price) h2:not(.sold)")
//	for _, n := range titles.MatchAll(root) { … } // root is an *html.Node
//
// A Selector is a goquery Matcher. Beside what browsers know of [Selectors Level 4] it takes what goquery's users are used
// to: :contains, :containsOwn, :haschild and :input.
//
// [Selectors Level 4]: https://www.w3.org/TR/selectors-4/
package css
