package convert

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// unitNames are the names and signs of the units of spoken durations.
var unitNames = []struct {
	unit  time.Duration
	names string
}{
	{time.Minute, " m min mins minute minutes 分钟 分鐘 分 minuten mn minuto minutos minuti minut minuta minuty мин минута минуты минут 분 dk dakika phút "},
	{time.Hour, " h hr hrs hour hours 小时 小時 时 時 時間 std stunde stunden heure heures hora horas ora ore uur godz godzina godziny ч час часа часов 시간 tim timme timmar saat giờ "},
	{time.Second, " s sec secs second seconds 秒 秒钟 sek sekunde sekunden seconde secondes segundo segundos secondo secondi sekund сек секунда секунды секунд 초 "},
	{24 * time.Hour, " d day days 天 日 tag tage tagen jour jours día días giorno giorni dia dias dag dagen день дня дней 일 "},
	{time.Millisecond, " ms "},
}

// unitOf finds a unit by its name; 0 is none.
func unitOf(name string) time.Duration {
	for _, u := range unitNames {
		if name != "" && strings.Contains(u.names, " "+name+" ") {
			return u.unit
		}
	}
	return 0
}

// Duration reads an ISO 8601 duration (weeks, days and what is shorter), a time of the clock ("1:36:20", or "96:20" for
// minutes and seconds), or one spoken: "2h 16min", "136分钟", "1 heure 45 minutes", "1h45". Its numbers are written as those of
// Number are. A bare number counts units; where the unit is 0 it is an error.
func Duration(s string, unit time.Duration, lang string) (time.Duration, error) {
	text := strings.ToLower(plain(s))
	var total float64
	var ok bool
	switch {
	case strings.HasPrefix(text, "p"):
		total, ok = isoDuration(text[1:])
	case strings.Contains(text, ":"):
		total, ok = clock(text)
	default:
		total, ok = spoken(text, unit, lang)
	}
	if !ok || total < 0 || total > 1<<62 {
		return 0, fmt.Errorf("%q is not a duration", cut(s))
	}
	return time.Duration(total + 0.5), nil
}

// spoken reads numbers with their units, the larger before the smaller.
func spoken(s string, unit time.Duration, lang string) (total float64, ok bool) {
	for last := time.Duration(0); s != "" || last == 0; {
		number, word, rest := numberAndWord(s)
		d, ok := decimal(number, usesComma(lang))
		n, err := strconv.ParseFloat(d.String(), 64)
		if !ok || err != nil {
			return 0, false
		}
		u := unitOf(strings.TrimSuffix(word, "."))
		switch {
		case u > 0 && (last == 0 || u < last):
		case word == "" && last == 0 && rest == "":
			u = unit
		case word == "" && last == time.Hour && rest == "" && n < 60: // 1h45
			u = time.Minute
		default:
			return 0, false
		}
		if u == 0 {
			return 0, false
		}
		total, last, s = total+n*float64(u), u, rest
	}
	return total, true
}

// numberAndWord takes a number, and the word behind it, from the front of s. A word "and", or a comma, may follow.
func numberAndWord(s string) (number, word, rest string) {
	end := strings.IndexFunc(s, unicode.IsLetter)
	if end < 0 {
		return s, "", ""
	}
	number, s = strings.TrimRight(s[:end], " "), s[end:]
	end = strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && r != '.' && !unicode.IsMark(r) })
	if end < 0 {
		end = len(s)
	}
	word, rest = s[:end], strings.TrimLeft(s[end:], " ,")
	for _, and := range [...]string{"and ", "und ", "et ", "y ", "e ", "en ", "i ", "и "} {
		if after, ok := strings.CutPrefix(rest, and); ok {
			rest = strings.TrimLeft(after, " ")
			break
		}
	}
	return number, word, rest
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
