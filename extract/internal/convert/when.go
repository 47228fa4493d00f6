package convert

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// layouts are the forms of dates that are read when none is told. Those in which day and month could be taken for each
// other are not among them.
var layouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04:05 -0700", "2006-01-02 15:04", "2006-01-02",
	"2006/1/2", "2006/1/2 15:04:05", "2006/1/2 15:04", "2006.1.2", "2006年1月2日", "2006年1月2日 15:04", "2006年1月", "2006-1-2", "20060102",
	"January 2, 2006", "Jan 2, 2006", "2 January 2006", "2. January 2006", "2 Jan 2006", "January 2006", "Jan 2006",
	time.RFC1123Z, time.RFC1123, time.RFC850, time.ANSIC, "Mon, 2 Jan 2006 15:04:05 -0700", "2006-01", "2006年", "2006",
}

// Time reads a date by the layouts of the options.
func Time(s string, o *Options) (time.Time, error) {
	text := strings.Join(strings.Fields(s), " ")
	named := english(text, o.Lang)
	list, loc := o.Layouts, o.Location
	if list == nil {
		list = layouts
	}
	if loc == nil {
		loc = time.UTC
	}
	for _, layout := range list {
		if t, err := time.ParseInLocation(layout, named, loc); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a date", cut(s))
}

// months are the names of the months by language; of inflected languages as they stand in dates.
var months = map[string]string{
	"de": "januar februar märz april mai juni juli august september oktober november dezember",
	"fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
	"es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
	"it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
	"pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
	"nl": "januari februari maart april mei juni juli augustus september oktober november december",
	"pl": "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
	"ru": "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
}

// english puts the English names of months in place of those of a language, and drops the "de" between the parts.
func english(s, lang string) string {
	names, ok := months[lang]
	if !ok {
		return s
	}
	words := strings.Fields(s)
	out := words[:0]
	for _, w := range words {
		if lw := strings.ToLower(w); lw == "de" || lw == "г." || lw == "1er" {
			if lw != "1er" {
				continue
			}
			w = "1"
		}
		for i, name := range strings.Fields(names) {
			if strings.EqualFold(w, name) {
				w = time.Month(i + 1).String()
			}
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

// units of spoken durations.
var units = map[string]time.Duration{
	"d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour, "天": 24 * time.Hour, "日": 24 * time.Hour,
	"h": time.Hour, "hr": time.Hour, "hrs": time.Hour, "hour": time.Hour, "hours": time.Hour, "std": time.Hour, "小时": time.Hour, "小時": time.Hour, "时": time.Hour, "時間": time.Hour, "ч": time.Hour,
	"m": time.Minute, "min": time.Minute, "mins": time.Minute, "minute": time.Minute, "minutes": time.Minute, "minuten": time.Minute, "分钟": time.Minute, "分鐘": time.Minute, "分": time.Minute, "мин": time.Minute,
	"s": time.Second, "sec": time.Second, "secs": time.Second, "second": time.Second, "seconds": time.Second, "秒": time.Second, "ms": time.Millisecond,
}

// Duration reads an ISO 8601 duration (weeks, days and what is shorter), a time of the clock ("1:36:20", or "96:20" for
// minutes and seconds), or one spoken in English or Chinese ("2h 16min", "136分钟"). A bare number counts units; where the
// unit is 0 it is an error.
func Duration(s string, unit time.Duration) (time.Duration, error) {
	text := strings.ToLower(plain(s))
	var total float64
	ok := text != ""
	switch {
	case strings.HasPrefix(text, "p"):
		total, ok = isoDuration(text[1:])
	case strings.Contains(text, ":"):
		total, ok = clock(text)
	default:
		for ok && text != "" {
			total, text, ok = spoken(total, text, unit)
		}
	}
	if !ok || total > 1<<62 {
		return 0, fmt.Errorf("%q is not a duration", cut(s))
	}
	return time.Duration(total + 0.5), nil
}

// spoken takes a number and its unit from the front of s.
func spoken(total float64, s string, unit time.Duration) (float64, string, bool) {
	s = strings.TrimLeft(s, " ,")
	end := len(s) - len(strings.TrimLeft(s, "0123456789."))
	n, err := strconv.ParseFloat(s[:end], 64)
	if err != nil {
		return 0, "", false
	}
	rest := strings.TrimLeft(s[end:], " ")
	end = strings.IndexAny(rest, "0123456789 ,.")
	if end < 0 {
		end = len(rest)
	}
	word := rest[:end]
	if u, ok := units[word]; ok {
		unit = u
	} else if word != "" || total > 0 {
		return 0, "", false
	}
	return total + n*float64(unit), strings.TrimLeft(rest[end:], " .,"), unit > 0
}

func isoDuration(s string) (total float64, ok bool) {
	day, clock, _ := strings.Cut(s, "t")
	for _, part := range []struct {
		text  string
		units map[byte]time.Duration
	}{
		{day, map[byte]time.Duration{'w': 7 * 24 * time.Hour, 'd': 24 * time.Hour}},
		{clock, map[byte]time.Duration{'h': time.Hour, 'm': time.Minute, 's': time.Second}},
	} {
		for text := part.text; text != ""; {
			end := len(text) - len(strings.TrimLeft(text, "0123456789.,"))
			n, err := strconv.ParseFloat(strings.ReplaceAll(text[:end], ",", "."), 64)
			if err != nil || end == len(text) {
				return 0, false
			}
			unit, known := part.units[text[end]]
			if !known && n != 0 { // P0Y0M0DT2H is written too
				return 0, false
			}
			total += n * float64(unit)
			text = text[end+1:]
		}
	}
	return total, s != "" && s != "t"
}

func clock(s string) (total float64, ok bool) {
	parts := strings.Split(s, ":")
	if len(parts) > 3 {
		return 0, false
	}
	for i, p := range parts {
		n, err := strconv.ParseFloat(p, 64)
		if err != nil || n < 0 || !('0' <= p[0] && p[0] <= '9') || i > 0 && n >= 60 {
			return 0, false
		}
		total = total*60 + n
	}
	return total * float64(time.Second), true
}
