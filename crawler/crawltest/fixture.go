package crawltest

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
)

const (
	// maxPart is the longest part of a file's name between slashes; file systems allow 255 bytes, and an ending follows.
	maxPart = 180
	// keptPart is how much of a longer one is kept before its hash.
	keptPart  = 140
	hexDigits = "0123456789ABCDEF"
)

// fixtureName is the name of the file for a request, without ending, by the rules that Offline states.
func fixtureName(method string, u *url.URL) string {
	host := strings.ToLower(u.Hostname())
	if port := u.Port(); port != "" && port != defaultPorts[u.Scheme] {
		host += ":" + port
	}
	parts := []string{bounded(escape(host, false))}
	segments := strings.Split(strings.TrimPrefix(rawPath(u), "/"), "/")
	for i, segment := range segments {
		last := i == len(segments)-1
		if plain, err := url.PathUnescape(segment); err == nil {
			segment = plain
		}
		part := escape(segment, false)
		switch {
		case part == "" && last:
			part = "index"
		case part == "":
			part = "%"
		}
		if last && (u.RawQuery != "" || u.ForceQuery) {
			part += "%3F" + escape(u.RawQuery, true)
		}
		if last && method != "" && method != http.MethodGet && method != http.MethodHead {
			part += "!" + escape(method, false)
		}
		parts = append(parts, bounded(part))
	}
	return strings.Join(parts, "/")
}

// rawPath is the path as it was written. EscapedPath forgets that where other bytes of the path should have been escaped.
func rawPath(u *url.URL) string {
	if plain, err := url.PathUnescape(u.RawPath); err == nil && plain == u.Path {
		return u.RawPath
	}
	return u.EscapedPath()
}

var defaultPorts = map[string]string{"http": "80", "https": "443"}

// escape writes every byte that is not plain, and a dot at the end, as % and two digits; when told so it leaves what has
// been escaped before, in upper case.
func escape(text string, leaveEscapes bool) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case leaveEscapes && c == '%' && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]):
			b.WriteString(strings.ToUpper(text[i : i+3]))
			i += 2
		case isPlain(c) && (c != '.' || i < len(text)-1):
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', hexDigits[c>>4], hexDigits[c&15]})
		}
	}
	return b.String()
}

func isPlain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~=&+,@()", c) >= 0
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// bounded shortens a long part; its hash tells it from others that begin alike.
func bounded(part string) string {
	if len(part) <= maxPart {
		return part
	}
	sum := sha256.Sum256([]byte(part))
	return part[:keptPart] + "!" + hex.EncodeToString(sum[:8])
}
