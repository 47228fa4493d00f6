package weburl

import (
	"strings"
	"unicode/utf8"
)

// maxRedacted bounds what an error or a log line repeats of a URL, in bytes.
const maxRedacted = 200

// Redact returns a URL without its user info, for logs and errors, cut to 200 bytes. It takes any string. Where it is no
// absolute URL nobody knows what is user info in it, and all up to the last at sign is taken out.
func Redact(raw string) string {
	if strings.IndexByte(raw, '@') >= 0 {
		raw = withoutUserInfo(raw)
	}
	if len(raw) <= maxRedacted {
		return raw
	}
	end := maxRedacted
	for end > maxRedacted-utf8.UTFMax && !utf8.RuneStart(raw[end]) {
		end--
	}
	return raw[:end] + "…"
}

func withoutUserInfo(raw string) string {
	var p parser // not Parse, whose error would be redacted in turn
	if p.run(raw) == 0 {
		if u := p.url(); u.HasUserInfo() {
			return u.Redacted()
		}
		return raw
	}
	at := strings.LastIndexByte(raw, '@')
	_, rest, _ := cutScheme(strings.TrimLeft(raw[:at], c0AndSpace))
	start := at - len(strings.TrimLeft(rest, `/\`+tabAndNewline))
	return raw[:start] + "…@" + raw[at+1:]
}
