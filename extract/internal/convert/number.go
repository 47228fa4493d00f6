package convert

import (
	"fmt"
	"slices"
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
	{"만", 4},
	{"亿", 8},
	{"億", 8},
	{"억", 8},
	{"千", 3},
	{"百", 2},
	{"thousand", 3},
	{"тыс", 3},
	{"million", 6},
	{"millions", 6},
	{"millionen", 6},
	{"millones", 6},
	{"milhões", 6},
	{"milioni", 6},
	{"mio", 6},
	{"mln", 6},
	{"млн", 6},
	{"milliarden", 9},
	{"milliards", 9},
	{"miliardi", 9},
	{"mrd", 9},
	{"mld", 9},
	{"млрд", 9},
	{"%", 0},
}

// letters are powers of ten too. "m" and "b" are none: they are minutes, metres, bits.
var letters = map[byte]int{'k': 3, 'K': 3, 'M': 6, 'B': 9}

// Number reads a number: with separators of thousands (comma, dot, blank, apostrophe), a decimal point or comma, an
// exponent, a sign, digits of full width, a sign or code of currency, and a word or letter for a power of ten behind it
// (k, M, B). Separators are all the same and part groups of three digits; commas those of four (in the east) or of two
// before the last (in India) too. A single comma before three digits parts thousands, and a single dot is the decimal point,
// unless the language says otherwise.
func Number(s, lang string) (Decimal, error) {
	text, exp := scaled(plain(s), lang)
	d, ok := decimal(text, usesComma(lang))
	if !ok {
		return Decimal{}, fmt.Errorf("%q is not a number", cut(s))
	}
	d.exp += exp
	return d, nil
}

// scaled takes the word or letter for a power of ten off a number.
func scaled(text, lang string) (string, int) {
	lower := strings.TrimSuffix(strings.ToLower(text), ".")
	if rest, ok := strings.CutSuffix(lower, "billion"); ok && (lang == "" || base(lang) == "en") { // elsewhere it is 10^12
		return strings.TrimSpace(rest), 9
	}
	for _, scale := range scales {
		if rest, ok := strings.CutSuffix(lower, scale.suffix); ok {
			if last := strings.TrimRight(rest, " "); last != "" && '0' <= last[len(last)-1] && last[len(last)-1] <= '9' {
				return last, scale.exp
			}
		}
	}
	if n := len(text) - 1; n > 0 {
		if exp, ok := letters[text[n]]; ok {
			return strings.TrimSpace(text[:n]), exp
		}
	}
	return text, 0
}

// plain brings digits, signs and blanks into the forms of ASCII, and cuts off blanks, signs and codes of currency.
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
		case r == '’':
			return '\''
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, s)
	s = strings.TrimSpace(s)
	if sign := strings.TrimLeft(s, "-+"); len(sign) < len(s) { // -$5
		return s[:len(s)-len(sign)] + withoutCurrency(sign)
	}
	return withoutCurrency(s)
}

// currencies are the codes and words of currency that stand before or behind amounts.
var currencies = []string{"USD", "EUR", "GBP", "CNY", "RMB", "JPY", "KRW", "HKD", "TWD", "CHF", "RUB", "INR", "CAD", "AUD", "元", "円", "원"}

func withoutCurrency(s string) string {
	isSign := func(r rune) bool { return r == ' ' || unicode.Is(unicode.Sc, r) || r == '￥' }
	s = strings.TrimFunc(s, isSign)
	for _, code := range currencies {
		if rest, ok := strings.CutPrefix(s, code); ok {
			return strings.TrimFunc(rest, isSign)
		}
		if rest, ok := strings.CutSuffix(s, code); ok {
			return strings.TrimFunc(rest, isSign)
		}
	}
	if letters := strings.IndexFunc(s, func(r rune) bool { return r < 'A' || r > 'Z' }); 0 < letters && letters <= 3 {
		if rest := strings.TrimLeftFunc(s[letters:], func(r rune) bool { return unicode.Is(unicode.Sc, r) }); len(rest) < len(s)-letters { // US$
			return strings.TrimFunc(rest, isSign)
		}
	}
	return s
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

// ungroup removes separators from a whole number; see Number.
func ungroup(s string) (string, bool) {
	if allDigits(s) {
		return s, true
	}
	at := strings.IndexAny(s, " ,.'_")
	if at < 0 {
		return "", false
	}
	groups := strings.Split(s, s[at:at+1])
	for _, g := range groups {
		if !allDigits(g) {
			return "", false
		}
	}
	return strings.Join(groups, ""), isGrouped(groups, s[at] == ',')
}

// isGrouped reports whether groups of digits are those of one number.
func isGrouped(groups []string, commas bool) bool {
	first, rest := len(groups[0]), groups[1:]
	of := func(n int, groups []string) bool {
		return !slices.ContainsFunc(groups, func(g string) bool { return len(g) != n })
	}
	last := len(rest) - 1
	switch {
	case first == 0 || groups[0][0] == '0':
		return false
	case first <= 3 && of(3, rest):
		return true
	case !commas || last < 1:
		return false
	}
	return first <= 4 && of(4, rest) || first <= 2 && of(2, rest[:last]) && len(rest[last]) == 3
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// sizes are the units of sizes in bytes.
var sizes = map[string]int64{
	"": 1, "b": 1, "byte": 1, "bytes": 1, "o": 1, "octets": 1,
	"кб": 1e3, "мб": 1e6, "гб": 1e9, "тб": 1e12,
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
