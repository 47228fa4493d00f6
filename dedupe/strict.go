package dedupe

import "github.com/seine-go/seine/internal/weburl"

// appendStrict is RFC 3986, 6.2.2 on an href: the URL parser has already set the case of scheme and host, removed dot
// segments and default ports.
func appendStrict(dst []byte, url string) ([]byte, error) {
	u, err := weburl.Parse(url)
	if err != nil {
		return dst, err
	}
	if u.Scheme() != "file" {
		return appendStrictURL(dst, u), nil
	}
	// A decoded "%43|" is a drive letter, which the parser writes "C:".
	if u, err = weburl.Parse(string(appendStrictURL(nil, u))); err != nil {
		return dst, err
	}
	return appendStrictURL(dst, u), nil
}

func appendStrictURL(dst []byte, u weburl.URL) []byte {
	dst = append(append(dst, u.Scheme()...), ':')
	if u.HasAuthority() {
		dst = append(dst, "//"...)
		if u.HasUserInfo() {
			dst = appendUnreserved(dst, u.Username(), false)
			if password := u.Password(); password != "" {
				dst = appendUnreserved(append(dst, ':'), password, false)
			}
			dst = append(dst, '@')
		}
		dst = appendUnreserved(dst, u.Hostname(), true)
		if port := u.Port(); port != "" {
			dst = append(append(dst, ':'), port...)
		}
	} else if path := u.Path(); len(path) > 1 && path[:2] == "//" {
		dst = append(dst, "/."...)
	}
	dst = appendUnreserved(dst, u.Path(), false)
	if u.HasQuery() {
		dst = appendUnreserved(append(dst, '?'), u.Query(), false)
	}
	return dst
}
