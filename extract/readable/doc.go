// Package readable finds the main text of a page and writes it as text and as Markdown.
//
//	article, err := readable.Read(root, readable.Options{URL: "https://news.example/7"})
//	fmt.Println(article.Title, article.Markdown)
//
// The main text is the element in whose paragraphs most text stands that is not of links (after Kohlschütter, Fankhauser and
// Nejdl, "Boilerplate Detection using Shallow Text Features", 2010: length of text and density of links tell text from what
// surrounds it). Texts parted by two line breaks are paragraphs too; what is called comments, cookies or consent counts only where
// there is nothing else; a form that holds most of a page is no form. It is a guess, which is right for articles and wrong for lists and tables of links.
package readable
