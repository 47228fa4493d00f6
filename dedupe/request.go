package dedupe

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
)

// maxMethod bounds the length of a method in bytes.
const maxMethod = 64

// ErrInvalidMethod is what errors.Is finds in the error of a method that is no token (RFC 9110, 9.1) or longer than 64
// bytes.
var ErrInvalidMethod = errors.New("invalid method")

var (
	standardMethods = []string{"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"}
	isTokenByte     = setOf(letters + digits + "!#$%&'*+-.^_`|~")
)

// AppendRequestKey appends the identity of a request to dst: its method, the canonical key of its URL and its body. A GET
// without a body has the key of its URL; any other request "METHOD BODY KEY", where BODY is the SHA-256 of the body in
// hexadecimal, or "-" without one. No key of a URL looks like that. "" means GET; the standard methods are the same in
// any case, others are not. With an error, an *Error, it returns dst as it was.
func (c *Canonicalizer) AppendRequestKey(dst []byte, method, url string, body []byte) ([]byte, error) {
	method, ok := canonicalMethod(method)
	if !ok {
		return dst, c.fail(url, ErrInvalidMethod)
	}
	if method == "GET" && len(body) == 0 {
		return c.AppendKey(dst, url)
	}
	key := append(append(dst, method...), ' ')
	if len(body) == 0 {
		key = append(key, '-')
	} else {
		sum := sha256.Sum256(body)
		key = hex.AppendEncode(key, sum[:])
	}
	key, err := c.AppendKey(append(key, ' '), url)
	if err != nil {
		return dst, err
	}
	return key, nil
}

func canonicalMethod(method string) (string, bool) {
	if method == "" {
		return "GET", true
	}
	if len(method) > maxMethod {
		return "", false
	}
	for i := range len(method) {
		if !isTokenByte[method[i]] {
			return "", false
		}
	}
	if upper := strings.ToUpper(method); slices.Contains(standardMethods, upper) {
		return upper, true
	}
	return method, true
}
