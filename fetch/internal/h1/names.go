package h1

// isToken says of each byte whether it may stand in a token (RFC 9110 5.6.2).
var isToken = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	for _, c := range "!#$%&'*+-.^_`|~" {
		t[c] = true
	}
	return t
}()

// ValidToken reports whether s is a token of RFC 9110 5.6.2.
func ValidToken(s string) bool {
	for i := range len(s) {
		if !isToken[s[i]] {
			return false
		}
	}
	return s != ""
}

// commonNames are field names that servers often write in other forms than the canonical one.
var commonNames = func() map[string]string {
	names := map[string]string{}
	for _, name := range []string{
		"Accept-Ranges", "Access-Control-Allow-Origin", "Age", "Alt-Svc", "Cache-Control", "Cf-Ray", "Connection",
		"Content-Disposition", "Content-Encoding", "Content-Language", "Content-Length", "Content-Location", "Content-Range",
		"Content-Security-Policy", "Content-Type", "Date", "Etag", "Expires", "Keep-Alive", "Last-Modified", "Link",
		"Location", "Pragma", "Referrer-Policy", "Retry-After", "Server", "Server-Timing", "Set-Cookie",
		"Strict-Transport-Security", "Trailer", "Transfer-Encoding", "Vary", "Via", "Www-Authenticate", "X-Cache",
		"X-Content-Type-Options", "X-Frame-Options", "X-Powered-By", "X-Request-Id", "X-Robots-Tag", "X-Xss-Protection",
	} {
		names[lowered(name)] = name
	}
	return names
}()

func lowered(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = lower(c)
	}
	return string(b)
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// CanonicalName returns the form that [http.CanonicalHeaderKey] gives to a name. It allocates only for a rare name that
// is not in that form already.
func CanonicalName(s string) string {
	canonical, up := true, true
	for i := range len(s) {
		c := s[i]
		if !isToken[c] {
			return s
		}
		if up && c >= 'a' && c <= 'z' || !up && c >= 'A' && c <= 'Z' {
			canonical = false
		}
		up = c == '-'
	}
	if canonical {
		return s
	}
	var short [32]byte
	b := append(short[:0], s...)
	for i, c := range b {
		b[i] = lower(c)
	}
	if name, ok := commonNames[string(b)]; ok {
		return name
	}
	up = true
	for i, c := range b {
		if up && c >= 'a' && c <= 'z' {
			b[i] = c - ('a' - 'A')
		}
		up = c == '-'
	}
	return string(b)
}
