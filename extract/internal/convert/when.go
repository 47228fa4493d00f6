package convert

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Layouts of moments that are counted since the start of 1970 in UTC.
const (
	LayoutUnix      = "unix"      // seconds
	LayoutUnixMilli = "unixmilli" // milliseconds
)

// CheckLayout reports what is wrong with a layout: it must have parts of a date or time as package time writes them.
func CheckLayout(layout string) error {
	if layout == LayoutUnix || layout == LayoutUnixMilli {
		return nil
	}
	at := time.Date(1987, 11, 29, 17, 48, 39, 123456789, time.FixedZone("XST", 5*3600+45*60))
	text := at.Format(layout)
	again, err := time.Parse(layout, text)
	if text == layout || err != nil || again.IsZero() {
		return fmt.Errorf("%q has no parts of a date: a layout is written 2006-01-02, %s or %s", cut(layout), LayoutUnix, LayoutUnixMilli)
	}
	for _, foreign := range [...]string{"YY", "yy", "DD", "dd", "HH", "hh", "%Y", "%d", "%m"} {
		if strings.Contains(text, foreign) {
			return fmt.Errorf("%q: %s is no part of a layout, which is written 2006-01-02 15:04:05", cut(layout), foreign)
		}
	}
	return nil
}

// dates are the forms of dates that are read when none is told. Those in which day and month could be taken for each
// other are not among them; some languages tell which is which. Names of months are written out.
var dates = []string{
	"2006-01-02", "2006/1/2", "2006.1.2", "2006年1月2日", "2006年1月", "2006-1-2", "20060102", "January 2, 2006", "January 2 2006", "2 January 2006",
	"2. January 2006", "2 January, 2006", "2-January-2006", "January 2006", "January, 2006", "2006-01", "2006年", "2006",
}

// clocks are the forms of times of the day.
var clocks = []string{
	"15:04:05Z07:00", "15:04Z07:00", "15:04:05Z0700", "15:04Z0700", "15:04:05", "15:04", "15:04:05 Z07:00", "15:04:05 -0700", "15:04 -0700", "15:04:05 MST",
	"15:04 MST", "3:04 PM", "3:04PM", "3:04:05 PM", "3:04 PM MST",
}

// maxDate is how long a text may be that is read as a date, in bytes.
const maxDate = 256

// Time reads a date, with or without a time of the day, by the layouts of the options or else by the usual ones. Names and
// abbreviations of months and weekdays may be English or of the language. A remark in parentheses behind it is let aside,
// as in "2024-01-15(中国大陆)". A zone must be an offset, UTC, one of those of RFC 5322, or of Location.
func Time(s string, o *Options) (time.Time, error) {
	if len(s) > maxDate {
		return time.Time{}, fmt.Errorf("%q is not a date", cut(s))
	}
	text := strings.Join(strings.Fields(s), " ")
	loc := o.Location
	if loc == nil {
		loc = time.UTC
	}
	t, ok := time.Time{}, false
	if o.Layouts != nil {
		t, ok = byLayout(text, o, loc)
	} else {
		t, ok = usual(text, o.Lang, loc)
	}
	if !ok {
		return time.Time{}, fmt.Errorf("%q is not a date", cut(s))
	}
	return t, nil
}

func byLayout(text string, o *Options, loc *time.Location) (time.Time, bool) {
	forms := [...]string{text, english(text, o.Lang, "January"), english(text, o.Lang, "Jan"), english(text, o.Lang, "Jan.")}
	for _, layout := range o.Layouts {
		if layout == LayoutUnix || layout == LayoutUnixMilli {
			n, err := strconv.ParseFloat(text, 64)
			if layout == LayoutUnixMilli {
				n /= 1000
			}
			if err == nil && math.Abs(n) < 1e12 {
				whole, part := math.Modf(n)
				return time.Unix(int64(whole), int64(math.Round(part*1e6))*1e3).In(loc), true
			}
			continue
		}
		for _, form := range forms {
			if t, ok := parse(layout, form, loc); ok {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

// usual reads a date by the usual forms.
func usual(text, lang string, loc *time.Location) (time.Time, bool) {
	text = english(withoutRemark(text), lang, "January")
	day, clock := splitClock(text)
	if clock == "" {
		return dateOf(text, lang, loc)
	}
	if d, ok := dateOf(day, lang, loc); ok {
		for _, layout := range clocks {
			if t, ok := parse(time.DateOnly+" "+layout, d.Format(time.DateOnly)+" "+clock, loc); ok {
				return t, true
			}
		}
	}
	for _, layout := range [...]string{"02-January-06 15:04:05 MST", "January 2 15:04:05 2006", "January 2 15:04:05 MST 2006"} { // RFC 850, asctime, date(1)
		if t, ok := parse(layout, text, loc); ok {
			return t, true
		}
	}
	return time.Time{}, false
}

func dateOf(text, lang string, loc *time.Location) (time.Time, bool) {
	for _, list := range [...][]string{dates, datesOf(lang)} {
		for _, layout := range list {
			if t, err := time.ParseInLocation(layout, text, loc); err == nil {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

// splitClock parts a date from the time of the day behind it, which begins with figures before a colon.
func splitClock(text string) (day, clock string) {
	colon := strings.IndexByte(text, ':')
	start := colon
	for start > 0 && '0' <= text[start-1] && text[start-1] <= '9' {
		start--
	}
	if colon < 0 || start == colon {
		return text, ""
	}
	day = text[:start]
	if rest, ok := strings.CutSuffix(day, "T"); ok {
		return rest, text[start:]
	}
	day = strings.TrimRight(strings.TrimSuffix(strings.TrimRight(day, " "), " at"), " ,")
	return day, text[start:]
}

// withoutRemark cuts off what stands in parentheses at the end.
func withoutRemark(s string) string {
	for _, p := range [...][2]string{{"(", ")"}, {"（", "）"}} {
		if i := strings.Index(s, p[0]); i > 0 && strings.HasSuffix(s, p[1]) {
			return strings.TrimSpace(s[:i])
		}
	}
	return s
}

// zones are the abbreviations that mean one offset, in hours (RFC 5322, 4.3, and those that only one zone has).
var zones = map[string]float64{
	"EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "UTC": 0, "GMT": 0, "UT": 0, "WET": 0,
	"CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3, "JST": 9, "KST": 9, "HKT": 8,
}

// parse is time.ParseInLocation, which takes any abbreviation of a zone for UTC; here it must be known.
func parse(layout, text string, loc *time.Location) (time.Time, bool) {
	t, err := time.ParseInLocation(layout, text, loc)
	if err != nil {
		return t, false
	}
	name, offset := t.Zone()
	if !strings.Contains(layout, "MST") || offset != 0 || t.Location() == loc && loc != time.UTC {
		return t, true
	}
	hours, known := zones[name]
	if !known || hours == 0 {
		return t, known
	}
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.FixedZone(name, int(hours*3600))), true
}

// english puts the English names of months, in a layout's form, in place of those of English and of a language, and leaves out
// weekdays, ordinals and what stands between the parts.
func english(s, lang, form string) string {
	words := strings.Fields(s)
	l := languages[base(lang)]
	out := make([]string, 0, len(words))
	for i, w := range words {
		if i == 0 && (l.isWeekday(w) || languages["en"].isWeekday(w)) && (len(words) > 3 || l.month(strings.TrimSuffix(w, ",")) == 0) { // "mar" is a month too
			continue
		}
		if w = translated(w, l, lang, form); w != "" {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}

func translated(w string, l language, lang, form string) string {
	w, comma := strings.CutSuffix(w, ",")
	lower := strings.ToLower(w)
	n := len(lower) - 2
	switch {
	case lang != "" && (lower == "de" || lower == "г."), lower == "of", strings.HasPrefix(w, "星期"), strings.HasPrefix(w, "周"):
		return ""
	case lower == "1er" && base(lang) == "fr":
		w = "1"
	case lower == "am" || lower == "a.m." || lower == "pm" || lower == "p.m.":
		w = strings.ToUpper(strings.ReplaceAll(lower, ".", ""))
	case 0 < n && n <= 2 && strings.Contains("st nd rd th", lower[n:]) && allDigits(lower[:n]):
		w = w[:n]
	default:
		w = withMonths(w, l, form)
	}
	if comma {
		w += ","
	}
	return w
}

// withMonths puts English names of months into a word, which may be a date of its own: 15-Jan-2024.
func withMonths(w string, l language, form string) string {
	parts := strings.Split(w, "-")
	for i, part := range parts {
		m := l.month(part)
		if m == 0 {
			m = languages["en"].month(part)
		}
		if m > 0 {
			parts[i] = time.Date(2000, time.Month(m), 1, 0, 0, 0, 0, time.UTC).Format(form)
		}
	}
	return strings.Join(parts, "-")
}
