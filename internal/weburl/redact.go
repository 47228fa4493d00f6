package weburl

import "strings"

// Redact returns a URL without its user info, for logs and errors. It takes any string: what is no URL comes back as
// it is, cut to 200 bytes.
func Redact(raw string) string {
	const most = 200
	if i := strings.Index(raw, "://"); i >= 0 {
		rest := raw[i+3:]
		end := strings.IndexAny(rest, `/?#\`)
		if end < 0 {
			end = len(rest)
		}
		if at := strings.LastIndexByte(rest[:end], '@'); at >= 0 {
			raw = raw[:i+3] + rest[at+1:]
		}
	}
	if len(raw) > most {
		raw = raw[:most] + "…"
	}
	return raw
}
