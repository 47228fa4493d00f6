// Package identity says who a request pretends to come from. Today it holds the kinds of requests, which decide the
// headers a browser would send; the browser identities themselves are planned.
//
//	req := &fetch.Request{URL: "https://films.example/api/films", Kind: identity.Fetch}
package identity

// Kind is what a browser would be doing when it sends a request. The zero value is Navigate.
type Kind uint8

// The kinds of requests.
const (
	Navigate Kind = iota // the address bar, or a link that was followed
	Iframe               // a document inside a document
	Fetch                // fetch() or XMLHttpRequest of a script
	Form                 // a submitted form
	Style                // a style sheet
	Script               // a script
	Image                // an image
	Favicon              // the icon of a site
)

var kindNames = [...]string{"navigate", "iframe", "fetch", "form", "style", "script", "image", "favicon"}

// String returns the name of the kind in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}
