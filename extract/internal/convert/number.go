package convert

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Decimal is a number, exact: digits × 10^exp.
type Decimal struct {
	negative bool
	digits   string // without leading zeros; "" is 0
	exp      int
}

// maxDigits is how many digits a number has at most.
const maxDigits = 400

// String returns the number in a form that strconv reads.
func (d Decimal) String() string {
	s := d.digits
	if s == "" {
		s = "0"
	}
	if d.exp != 0 {
		s += "e" + strconv.Itoa(d.exp)
	}
	if d.negative {
		s = "-" + s
	}
	return s
}

// Whole returns the digits of a whole number.
func (d Decimal) Whole() (string, error) {
	s, exp := d.digits, d.exp
	for exp < 0 && strings.HasSuffix(s, "0") {
		s, exp = s[:len(s)-1], exp+1
	}
	switch {
	case s == "":
		return "0", nil
	case exp < 0:
		return "", fmt.Errorf("%s is not a whole number", d)
	case len(s)+exp > maxDigits:
		return "", fmt.Errorf("%s is too large", d)
	}
	s += strings.Repeat("0", exp)
	if d.negative {
		s = "-" + s
	}
	return s, nil
}

// scales are what may stand behind a number, and the power of ten they stand for.
var scales = []struct {
	suffix string
	exp    int
}{
	{"百万", 6},
	{"千万", 7},
	{"万", 4},
	{"萬", 4},
	{"亿", 8},
	{"億", 8},
	{"千", 3},
	{"百", 2},
	{"thousand", 3},
	{"million", 6},
	{"billion", 9},
	{"k", 3},
	{"m", 6},
	{"b", 9},
	{"%", 0},
}

// Number reads a number: with separators of thousands (comma, dot, blank, apostrophe), a decimal point or comma, an
// exponent, a sign, digits of full width, a sign of currency, and a word or letter for a power of ten behind it. A single
// comma before three digits parts thousands, and a single dot is the decimal point, unless the language says otherwise.
func Number(s, lang string) (Decimal, error) {
	text := plain(s)
	exp := 0
	lower := strings.ToLower(text)
	for _, scale := range scales {
		if rest, ok := strings.CutSuffix(lower, scale.suffix); ok {
			text, exp = strings.TrimSpace(rest), scale.exp
			break
		}
	}
	d, ok := decimal(text, usesComma(lang))
	if !ok {
		return Decimal{}, fmt.Errorf("%q is not a number", cut(s))
	}
	d.exp += exp
	return d, nil
}

// plain brings digits, signs and blanks into the forms of ASCII, and cuts off blanks and signs of currency.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case '０' <= r && r <= '９':
			return r - '０' + '0'
		case r == '．':
			return '.'
		case r == '，':
			return ','
		case r == '−' || r == '－':
			return '-'
		case r == '’' || r == '_' || r == '\'':
			return ' '
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, s)
	return strings.TrimFunc(s, func(r rune) bool { return r == ' ' || unicode.Is(unicode.Sc, r) || r == '￥' })
}

// decimal reads a number of ASCII.
func decimal(s string, comma bool) (d Decimal, ok bool) {
	switch {
	case strings.HasPrefix(s, "-"):
		d.negative, s = true, strings.TrimSpace(s[1:])
	case strings.HasPrefix(s, "+"):
		s = s[1:]
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		exp, err := strconv.Atoi(s[i+1:])
		if err != nil || exp > maxDigits || exp < -maxDigits {
			return d, false
		}
		s, d.exp = s[:i], exp
	}
	point := pointOf(s, comma)
	whole, fraction := s, ""
	if point >= 0 {
		whole, fraction = s[:point], s[point+1:]
	}
	digits, ok := ungroup(whole)
	if !ok || !allDigits(fraction) || digits+fraction == "" || len(digits)+len(fraction) > maxDigits {
		return d, false
	}
	d.exp -= len(fraction)
	d.digits = strings.TrimLeft(digits+fraction, "0")
	return d, true
}

// pointOf finds the decimal point; -1 where there is none.
func pointOf(s string, comma bool) int {
	dot, com := strings.LastIndexByte(s, '.'), strings.LastIndexByte(s, ',')
	if dot >= 0 && com >= 0 {
		return max(dot, com)
	}
	at, mark := dot, "."
	if com >= 0 {
		at, mark = com, ","
	}
	switch {
	case at < 0, strings.Count(s, mark) > 1:
		return -1
	case (mark == ",") == comma: // the point of the language
		return at
	case len(s)-at-1 == 3 && at > 0 && at <= 3 && s[:at] != "0" && (mark == "," || comma):
		return -1
	}
	return at
}

// ungroup removes separators from a whole number; groups are of three digits, in the east of four too, in India of two.
func ungroup(s string) (string, bool) {
	if allDigits(s) {
		return s, true
	}
	groups := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' || r == '.' })
	length := 0
	for i, g := range groups {
		last := i == len(groups)-1
		if !allDigits(g) || len(g) > 4 || i > 0 && len(g) < 2 || last && len(g) < 3 {
			return "", false
		}
		length += len(g)
	}
	return strings.Join(groups, ""), len(groups) > 1 && length+len(groups)-1 == len(s)
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// usesComma reports whether the comma is the decimal point of a language.
func usesComma(lang string) bool {
	switch lang {
	case "de", "fr", "es", "it", "pt", "nl", "pl", "ru", "uk", "cs", "sv", "da", "nb", "fi", "tr", "id", "vi":
		return true
	}
	return false
}

// sizes are the units of sizes in bytes.
var sizes = map[string]int64{
	"": 1, "b": 1, "byte": 1, "bytes": 1, "o": 1, "octets": 1,
	"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "pb": 1e15, "ko": 1e3, "mo": 1e6, "go": 1e9, "to": 1e12,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40, "pib": 1 << 50, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12,
}

// Size reads a size in bytes: KB is 1,000 and KiB 1,024 (IEC 80000-13). Parts of a byte are rounded.
func Size(s, lang string) (Decimal, error) {
	text := plain(s)
	cutAt := strings.LastIndexAny(text, "0123456789") + 1
	unit, known := sizes[strings.ToLower(strings.TrimSpace(text[cutAt:]))]
	d, ok := decimal(text[:cutAt], usesComma(lang))
	if !known || !ok {
		return Decimal{}, fmt.Errorf("%q is not a size", cut(s))
	}
	f, err := strconv.ParseFloat(d.String(), 64)
	switch {
	case err != nil, f < 0, f*float64(unit) > 1<<62:
		return Decimal{}, fmt.Errorf("%q is not a size", cut(s))
	case d.exp >= 0 && unit == 1:
		return d, nil
	}
	return Decimal{digits: strings.TrimLeft(strconv.FormatInt(int64(f*float64(unit)+0.5), 10), "0")}, nil
}
