package convert

import (
	"slices"
	"strings"
)

// language is what is known of a language.
type language struct {
	point    byte     // of decimals; 0: a dot
	dates    []string // in figures, as the language writes them
	months   string   // of inflected languages as they stand in dates
	others   string   // more names of months: name=number
	weekdays string
}

var (
	dotted  = []string{"2.1.2006", "2. 1. 2006"}
	slashed = []string{"2/1/2006"}
	dashed  = []string{"2-1-2006", "2/1/2006"}
)

// languages by their codes (ISO 639-1).
var languages = map[string]language{
	"en": {
		months: "january february march april may june july august september october november december", others: "sept=9",
		weekdays: "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun",
	},
	"de": {
		point: ',', dates: dotted, others: "jänner=1 feber=2 mrz=3",
		months:   "januar februar märz april mai juni juli august september oktober november dezember",
		weekdays: "montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do fr sa so",
	},
	"fr": {
		point: ',', dates: slashed,
		months:   "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
		weekdays: "lundi mardi mercredi jeudi vendredi samedi dimanche lun mar mer jeu ven sam dim",
	},
	"es": {
		point: ',', dates: slashed, others: "setiembre=9",
		months:   "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
		weekdays: "lunes martes miércoles jueves viernes sábado domingo lun mar mié jue vie sáb dom",
	},
	"it": {
		point: ',', dates: slashed,
		months:   "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
		weekdays: "lunedì martedì mercoledì giovedì venerdì sabato domenica lun mar mer gio ven sab dom",
	},
	"pt": {
		point: ',', dates: slashed,
		months:   "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
		weekdays: "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo seg ter qua qui sex sáb dom",
	},
	"nl": {
		point: ',', dates: dashed, others: "mrt=3",
		months:   "januari februari maart april mei juni juli augustus september oktober november december",
		weekdays: "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag ma di wo do vr za zo",
	},
	"pl": {
		point: ',', dates: dotted,
		months:   "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
		weekdays: "poniedziałek wtorek środa czwartek piątek sobota niedziela",
	},
	"ru": {
		point: ',', dates: dotted, others: "май=5",
		months:   "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
		weekdays: "понедельник вторник среда четверг пятница суббота воскресенье пн вт ср чт пт сб вс",
	},
	"uk": {
		point: ',', dates: dotted,
		months: "січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня",
	},
	"tr": {
		point: ',', dates: dotted,
		months: "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık",
	},
	"sv": {point: ',', months: "januari februari mars april maj juni juli augusti september oktober november december"},
	"da": {point: ',', dates: dotted, months: "januar februar marts april maj juni juli august september oktober november december"},
	"nb": {point: ',', dates: dotted, months: "januar februar mars april mai juni juli august september oktober november desember"},
	"fi": {point: ',', dates: dotted}, "cs": {point: ',', dates: dotted}, "sk": {point: ',', dates: dotted}, "hu": {point: ','},
	"ro": {point: ',', dates: dotted}, "bg": {point: ',', dates: dotted}, "el": {point: ',', dates: slashed}, "id": {point: ',', dates: slashed},
	"vi": {point: ',', dates: slashed}, "zh": {}, "ja": {}, "ko": {}, "th": {}, "he": {}, "hi": {},
}

// regions are those that write figures in another way than most who speak the language.
var regions = map[string]language{
	"en-us": {dates: []string{"1/2/2006"}}, "en-gb": {dates: slashed}, "en-au": {dates: slashed}, "en-nz": {dates: slashed}, "en-ie": {dates: slashed}, "en-in": {dates: slashed},
	"de-ch": {dates: dotted}, "de-li": {dates: dotted}, "es-mx": {dates: slashed}, "es-us": {}, "es-pr": {}, "es-gt": {dates: slashed},
	"es-pe": {dates: slashed}, "es-do": {dates: slashed}, "es-hn": {dates: slashed}, "es-ni": {dates: slashed}, "es-sv": {dates: slashed}, "es-pa": {},
}

// Knows reports whether a language is known: by its code, and a region if need be ("de", "de-AT").
func Knows(lang string) bool {
	_, ok := languages[base(lang)]
	return ok
}

// base is the code of the language without that of the region.
func base(lang string) string {
	code, _, _ := strings.Cut(normal(lang), "-")
	return code
}

func normal(lang string) string {
	return strings.ReplaceAll(strings.ToLower(lang), "_", "-")
}

// usesComma reports whether the comma is the decimal point of a language.
func usesComma(lang string) bool {
	if lang == "" {
		return false
	}
	if region, ok := regions[normal(lang)]; ok {
		return region.point == ','
	}
	return languages[base(lang)].point == ','
}

// datesOf are the forms of dates in figures of a language.
func datesOf(lang string) []string {
	if region, ok := regions[normal(lang)]; ok {
		return region.dates
	}
	return languages[base(lang)].dates
}

// month finds the month that a name, or the beginning of one in at least three letters, stands for; 0 is none.
func (l language) month(name string) int {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	for word := range strings.FieldsSeq(l.others) {
		if other, number, _ := strings.Cut(word, "="); other == name {
			return int(number[0] - '0')
		}
	}
	if len([]rune(name)) < 3 {
		return 0
	}
	found := 0
	for i, full := range strings.Fields(l.months) {
		switch {
		case full == name:
			return i + 1
		case strings.HasPrefix(full, name) && found > 0:
			return 0
		case strings.HasPrefix(full, name):
			found = i + 1
		}
	}
	return found
}

func (l language) isWeekday(word string) bool {
	return slices.Contains(strings.Fields(l.weekdays), strings.ToLower(strings.TrimRight(word, ".,")))
}
