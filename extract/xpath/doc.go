// Package xpath selects nodes of HTML by XPath 1.0 and a few functions of 2.0 (matches, replace, string-join, lower-case,
// ends-with).
//
//	years := xpath.MustCompile("//table[@class='films']//td[2]")
//	nodes, err := years.Select(root) // root is an *html.Node
//
// The engine is antchfx/xpath. This package makes of it what XPath promises: each node once, in document order, absolute
// paths from the document wherever one begins, errors in place of panics. Known not to be as the standard says: positions
// on reverse axes behind another step (preceding::td[1]), lang() and id().
package xpath
