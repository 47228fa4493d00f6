// Package dedupe says which URLs and requests are the same: canonical keys of URLs in several profiles, and keys of whole
// requests.
//
//	var c dedupe.Canonicalizer                      // the Strict profile
//	key, err := c.Key("http://example.com/%7Eme#x") // http://example.com/~me
//
// A key is for comparing only. The URL that is fetched is always the one that was linked, for servers may see a
// difference where a profile sees none.
package dedupe

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seine-go/seine/internal/weburl"
)

// MaxLength is the greatest length in bytes of a URL and of its key.
const MaxLength = weburl.MaxLength

// Profile is a set of rules that make the key of a URL. The profiles contradict each other, so that keys of different
// profiles must not be compared.
type Profile uint8

const (
	// Strict merges only what RFC 3986, 6.2.2 calls equivalent: case of scheme and host, escapes in upper case or, for
	// unreserved characters, decoded, dot segments, default ports; and it drops the fragment. The order of the query, empty
	// parts and trailing slashes count. URLs are read as browsers do (https://url.spec.whatwg.org/).
	Strict Profile = iota
	// W3lib follows canonicalize_url of w3lib, which Scrapy uses: arguments sorted and encoded anew, blanks as "+". It takes
	// relative references too. Dot segments and default ports count. Other than there, "%25" is never decoded, so that a key
	// is its own key.
	W3lib
	// CrawlerCommons follows the basic normaliser of crawler-commons: arguments sorted by name, "a=" as "a", slashes
	// collapsed, user info dropped. It knows http, https, ftp and file, and takes a URL without a scheme for an http one.
	CrawlerCommons
	// SemanticPrecise follows semantic_precise of urlcanon (IIPC): escapes decoded as often as they go, arguments sorted,
	// slashes collapsed, user info dropped; the fragment counts.
	SemanticPrecise
	// SURT writes a URL in sort-friendly order, the host from its end: "http://(org,example,www,)/path". It canonicalises
	// nothing. Keys of a domain and all its subdomains share a prefix.
	SURT
)

var profileNames = [...]string{"strict", "w3lib", "crawler-commons", "semantic_precise", "SURT"}

// String returns the name that ParseProfile knows.
func (p Profile) String() string {
	if int(p) < len(profileNames) {
		return profileNames[p]
	}
	return fmt.Sprintf("Profile(%d)", uint8(p))
}

// ParseProfile returns the profile of a name; case does not matter, "" is Strict. The error is an *OptionError.
func ParseProfile(name string) (Profile, error) {
	for p, known := range profileNames {
		if strings.EqualFold(name, known) || name == "" {
			return Profile(p), nil
		}
	}
	return Strict, &OptionError{Option: "Profile", Value: name, Reason: "unknown, not one of " + strings.Join(profileNames[:], ", ")}
}

// SURTForm is a way of writing SURT keys.
type SURTForm uint8

const (
	// PlainSURT is "http://(org,example,www,:81)/path", without user info.
	PlainSURT SURTForm = iota
	// SortedSURT is "org,example,www,//81:http@user:/path", known as SSURT: all of the URL, from the host on.
	SortedSURT
)

// Options adapt a profile. An option of another profile is an error.
type Options struct {
	// KeepFragments lets fragments count. W3lib.
	KeepFragments bool
	// QuerySeparator is what separates arguments, "&" or ";". "" means "&". W3lib.
	QuerySeparator string
	// Encoding is the name of the encoding in which characters beyond ASCII are written in queries, as Python names it;
	// queries with characters that it lacks are written in UTF-8. "" means UTF-8. W3lib.
	Encoding string
	// QueryParamsToRemove names arguments that do not count, as keys write them. CrawlerCommons.
	QueryParamsToRemove []string
	// Form is the form of SURT keys.
	Form SURTForm
	// OmitScheme leaves out the scheme and the opening parenthesis of PlainSURT.
	OmitScheme bool
	// OmitTrailingComma leaves out the comma behind the host of PlainSURT.
	OmitTrailingComma bool
}

// Canonicalizer makes keys. The zero value makes those of the Strict profile. It is immutable and safe for concurrent use.
type Canonicalizer struct {
	profile   Profile
	options   Options
	separator byte
	encoding  *queryEncoding
	remove    map[string]bool
}

// New returns a Canonicalizer. The error is an *OptionError.
func New(profile Profile, options Options) (*Canonicalizer, error) {
	if int(profile) >= len(profileNames) {
		return nil, &OptionError{Option: "Profile", Value: profile.String(), Reason: "unknown"}
	}
	if err := options.check(profile); err != nil {
		return nil, err
	}
	c := &Canonicalizer{profile: profile, options: options, separator: '&'}
	if options.QuerySeparator != "" {
		c.separator = options.QuerySeparator[0]
	}
	if options.Encoding != "" {
		encoding, ok := newQueryEncoding(options.Encoding)
		if !ok {
			return nil, &OptionError{Option: "Encoding", Value: options.Encoding, Reason: "unknown, or not a superset of ASCII"}
		}
		c.encoding = encoding
	}
	c.remove = make(map[string]bool, len(options.QueryParamsToRemove))
	for _, name := range options.QueryParamsToRemove {
		c.remove[name] = true
	}
	c.options.QueryParamsToRemove = nil // the caller's slice may change
	return c, nil
}

func (o Options) check(profile Profile) error {
	for _, option := range []struct {
		name  string
		set   bool
		owner Profile
	}{
		{"KeepFragments", o.KeepFragments, W3lib},
		{"QuerySeparator", o.QuerySeparator != "", W3lib},
		{"Encoding", o.Encoding != "", W3lib},
		{"QueryParamsToRemove", len(o.QueryParamsToRemove) > 0, CrawlerCommons},
		{"Form", o.Form != PlainSURT, SURT},
		{"OmitScheme", o.OmitScheme, SURT},
		{"OmitTrailingComma", o.OmitTrailingComma, SURT},
	} {
		if option.set && option.owner != profile {
			return &OptionError{Option: option.name, Reason: "not an option of profile " + profile.String()}
		}
	}
	switch {
	case o.QuerySeparator != "" && o.QuerySeparator != "&" && o.QuerySeparator != ";":
		return &OptionError{Option: "QuerySeparator", Value: o.QuerySeparator, Reason: `neither "&" nor ";"`}
	case o.Form > SortedSURT:
		return &OptionError{Option: "Form", Value: fmt.Sprint(uint8(o.Form)), Reason: "unknown"}
	case o.Form == SortedSURT && o.OmitScheme:
		return &OptionError{Option: "OmitScheme", Reason: "not an option of SortedSURT"}
	case o.Form == SortedSURT && o.OmitTrailingComma:
		return &OptionError{Option: "OmitTrailingComma", Reason: "not an option of SortedSURT"}
	}
	for _, name := range o.QueryParamsToRemove {
		if name == "" {
			return &OptionError{Option: "QueryParamsToRemove", Reason: "an empty name"}
		}
	}
	return nil
}

// Profile returns the profile.
func (c *Canonicalizer) Profile() Profile { return c.profile }

// String returns the profile with its options. Canonicalizers with the same text make the same keys.
func (c *Canonicalizer) String() string {
	text := c.profile.String()
	for _, option := range []struct {
		set  bool
		text string
	}{
		{c.options.KeepFragments, "keep-fragments"},
		{c.separator == ';', "query-separator=;"},
		{c.options.Encoding != "", "encoding=" + strings.ToLower(c.options.Encoding)},
		{len(c.remove) > 0, fmt.Sprintf("remove=%q", slices.Sorted(maps.Keys(c.remove)))},
		{c.options.Form == SortedSURT, "sorted"},
		{c.options.OmitScheme, "omit-scheme"},
		{c.options.OmitTrailingComma, "omit-trailing-comma"},
	} {
		if option.set {
			text += " " + option.text
		}
	}
	return text
}

// Key returns the canonical key of url. In the Strict profile most http URLs are their own key, and nothing is
// allocated. The error is an *Error.
func (c *Canonicalizer) Key(url string) (string, error) {
	if c.profile == Strict && weburl.Clean(url) {
		return url, nil
	}
	key, err := c.AppendKey(nil, url)
	return string(key), err
}

// AppendKey appends the canonical key of url to dst. With an error, an *Error, it returns dst as it was.
func (c *Canonicalizer) AppendKey(dst []byte, url string) ([]byte, error) {
	if c.profile == Strict && weburl.Clean(url) {
		return append(dst, url...), nil
	}
	if len(url) > MaxLength {
		return dst, c.fail(url, weburl.TooLong)
	}
	key, err := c.appendKey(dst, url)
	switch {
	case err != nil:
		return dst, c.fail(url, err)
	case len(key)-len(dst) > MaxLength:
		return dst, c.fail(url, weburl.TooLong)
	}
	return key, nil
}

func (c *Canonicalizer) appendKey(dst []byte, url string) ([]byte, error) {
	switch c.profile {
	case W3lib:
		return c.appendW3lib(dst, url)
	case CrawlerCommons:
		return c.appendCrawlerCommons(dst, url)
	case SemanticPrecise:
		return appendSemantic(dst, url)
	case SURT:
		return c.appendSURT(dst, url)
	}
	return appendStrict(dst, url)
}

func (c *Canonicalizer) fail(url string, err error) error {
	var detail *weburl.Error
	if errors.As(err, &detail) {
		err = detail.Reason // the URL is named once
	}
	return &Error{Profile: c.profile, URL: weburl.Redact(url), Err: err}
}

// ErrInvalidURL is what errors.Is finds in the error of every URL or request that has no key.
var ErrInvalidURL = errors.New("invalid url")

// Error says why a URL has no key.
type Error struct {
	Profile Profile
	URL     string // without user info, cut to 200 bytes
	Err     error
}

func (e *Error) Error() string {
	return fmt.Sprintf("seine: %s key of %q: %v", e.Profile, e.URL, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is ErrInvalidURL.
func (e *Error) Is(target error) bool { return target == ErrInvalidURL }

// OptionError names an option that is wrong.
type OptionError struct {
	Option string // name of the field, or "Profile"
	Value  string // what it was set to; "" when the option itself is out of place
	Reason string
}

func (e *OptionError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("seine: dedupe option %s: %s", e.Option, e.Reason)
	}
	return fmt.Sprintf("seine: dedupe option %s: %q: %s", e.Option, e.Value, e.Reason)
}
