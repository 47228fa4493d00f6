package dedupe

import (
	"errors"
	"strings"
)

var (
	errNoScheme = errors.New("no scheme")
	errBlank    = errors.New("blank or control character")
)

// appendSURT writes the parts of a URL in another order
// (http://crawler.archive.org/articles/user_manual/glossary.html#surt). Blanks and controls are refused, for they would
// blur the order of keys.
func (c *Canonicalizer) appendSURT(dst []byte, url string) ([]byte, error) {
	url = tidy(url)
	for i := range len(url) {
		if url[i] <= ' ' || url[i] == 0x7F {
			return dst, errBlank
		}
	}
	u := parseLoose(url, "")
	if u.scheme == "" {
		return dst, errNoScheme
	}
	if c.options.Form == SortedSURT {
		return u.appendTail(u.appendSorted(dst)), nil
	}
	if !c.options.OmitScheme {
		dst = append(append(dst, u.scheme...), ':')
		if u.hasAuthority {
			dst = append(dst, "//"...)
		}
	}
	if u.host != "" {
		if !c.options.OmitScheme {
			dst = append(dst, '(')
		}
		dst = appendReversed(dst, u.host, !c.options.OmitTrailingComma)
		if u.hasPort {
			dst = append(append(dst, ':'), u.port...)
		}
		dst = append(dst, ')')
	}
	return u.appendTail(dst), nil
}

// appendSorted writes host, slashes, port, scheme and user info.
func (u *looseURL) appendSorted(dst []byte) []byte {
	dst = appendReversed(dst, u.host, true)
	if u.hasAuthority {
		dst = append(dst, "//"...)
	}
	if u.hasPort {
		dst = append(append(dst, u.port...), ':')
	}
	dst = append(dst, u.scheme...)
	if u.hasUser {
		dst = append(append(dst, '@'), u.user...)
		if u.hasPassword {
			dst = append(append(dst, ':'), u.password...)
		}
	}
	return append(dst, ':')
}

func (u *looseURL) appendTail(dst []byte) []byte {
	dst = append(dst, u.path...)
	if u.hasQuery {
		dst = append(append(dst, '?'), u.query...)
	}
	if u.hasFragment {
		dst = append(append(dst, '#'), u.fragment...)
	}
	return dst
}

// appendReversed appends the labels of a name from the last to the first, with commas between; commas in labels become
// dots. Addresses stay as they are.
func appendReversed(dst []byte, host string, trailingComma bool) []byte {
	if _, isIPv4 := looseIPv4(host); host == "" || host[0] == '[' || isIPv4 {
		return append(dst, host...)
	}
	for rest := host; ; {
		dot := strings.LastIndexByte(rest, '.')
		dst = append(dst, strings.ReplaceAll(rest[dot+1:], ",", ".")...)
		if dot < 0 {
			break
		}
		dst, rest = append(dst, ','), rest[:dot]
	}
	if trailingComma {
		dst = append(dst, ',')
	}
	return dst
}
