package cookie

import (
	"strings"
	"time"
)

// parseDate is RFC 6265bis 5.1.1: of all that is between delimiters, the first that can be a time is the time, the first
// that can be a day is the day, and so on.
func parseDate(s string) (time.Time, bool) {
	d := date{day: -1, month: -1, year: -1, hour: -1}
	for i := 0; i < len(s); {
		for i < len(s) && isDelimiter(s[i]) {
			i++
		}
		start := i
		for i < len(s) && !isDelimiter(s[i]) {
			i++
		}
		d.take(s[start:i])
	}
	return d.time()
}

type date struct{ year, month, day, hour, minute, second int } // -1: not found yet

func (d *date) take(token string) {
	if d.hour < 0 && d.takeTime(token) {
		return
	}
	if d.day < 0 {
		if n, _, ok := number(token, 1, 2); ok {
			d.day = n
			return
		}
	}
	if d.month < 0 && len(token) >= 3 {
		if i := strings.Index(months, lowerASCII(token[:3])); i >= 0 && i%3 == 0 {
			d.month = i/3 + 1
			return
		}
	}
	if d.year < 0 {
		if n, _, ok := number(token, 2, 4); ok {
			d.year = n
		}
	}
}

const months = "janfebmaraprmayjunjulaugsepoctnovdec"

// takeTime takes hours, minutes and seconds with colons between them.
func (d *date) takeTime(token string) bool {
	var parts [3]int
	for i := range parts {
		n, rest, ok := number(token, 1, 2)
		if !ok || i < 2 && !strings.HasPrefix(rest, ":") {
			return false
		}
		if parts[i] = n; i < 2 {
			token = rest[1:]
		}
	}
	d.hour, d.minute, d.second = parts[0], parts[1], parts[2]
	return true
}

// number reads a number of least to most digits, behind which no digit comes.
func number(s string, least, most int) (n int, rest string, ok bool) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		if i == most {
			return 0, "", false
		}
		n = n*10 + int(s[i]-'0')
		i++
	}
	return n, s[i:], i >= least
}

func (d *date) time() (t time.Time, ok bool) {
	if d.hour < 0 || d.day < 0 || d.month < 0 || d.year < 0 {
		return t, false
	}
	switch {
	case d.year >= 70 && d.year <= 99:
		d.year += 1900
	case d.year <= 69:
		d.year += 2000
	}
	if d.year < 1601 || d.day < 1 || d.hour > 23 || d.minute > 59 || d.second > 59 {
		return t, false
	}
	t = time.Date(d.year, time.Month(d.month), d.day, d.hour, d.minute, d.second, 0, time.UTC)
	return t, t.Day() == d.day // the 30th of February is none
}

func isDelimiter(c byte) bool {
	return c == '\t' || c >= ' ' && c <= '/' || c >= ';' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}
