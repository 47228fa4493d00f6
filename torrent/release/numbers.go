package release

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	seasonWord = `(?:seasons?|saisons?|tem(?:p|porada)?s?|stagion[ei]|sezon[yi]?|сезон[ыа]?|staffeln?|seizoen|series|sez\.)`
)

var (
	seasonEpisode = newForm("s", `s(\d{1,4})[\s._-]*(?:e|ep|episode|x)[\s._-]?(\d+)`)
	crossEpisode  = newNumberForm("x", `(\d{1,2})x(\d{2,}|\d$)`)
	dashEpisode   = newForm("s", `s(\d{1,2})-(\d{2,3})(?:$|[^\pL\pN])`)
	leadEpisode   = form{re: regexp.MustCompile(`^(\d{1,2})-(\d{2})\.\s`), starts: digit, first: true}
	seasonNumber  = newForm("stс", seasonWord+`[\s._:#-]*\(?s?(\d{1,4})`)
	numberSeason  = newNumberForm("stnr\xc2\xd0\xd1", `(\d{1,2})(st|nd|rd|th|º|ª|°|-?й|-?я)?[\s._-]*(`+seasonWord+`)(?:$|[^\pL])`)
	seasonLetter  = newForm("s", `s(\d{1,2})`)
	chineseSeason = regexp.MustCompile(`^第([0-9一二三四五六七八九十]+)(?:[-~至]第?([0-9一二三四五六七八九十]+))?[季期]`)

	episodeNumber  = newForm("eécfэс", `(?:episodes?|episodio|épisode|eps?|cap(?:itulo|ítulo)?|folge|эпизод|сери[ия]|сер|серии)[\s._:#(-]*(\d+)`)
	numberEpisode  = newNumberForm("s\xd1", `(\d{1,4})(?:-(\d{1,4}))?[\s._-]*(?:сер(?:ия|ии|ий)?|seri[aiy]|ser\.|эпизод)`)
	episodeLetter  = newForm("e", `e(\d{1,4})`)
	chineseEpisode = regexp.MustCompile(`^第([0-9一二三四五六七八九十]+)(?:[-~至]第?([0-9一二三四五六七八九十]+))?[集話话回]`)
)

// seasons reads seasons and episodes that are marked as such.
func (p *parser) seasons() {
	if p.both(seasonEpisode) || p.both(crossEpisode) || p.both(dashEpisode) || p.both(leadEpisode) {
		p.moreEpisodes()
		return
	}
	p.seasonAlone()
	p.episodeAlone()
}

// both reads a season and its episodes.
func (p *parser) both(f form) bool {
	for m := range p.each(f) {
		if p.marked(m[2], m[5]) {
			continue
		}
		season, _ := number(p.low[m[2]:m[3]], 4)
		first, ok := number(p.low[m[4]:m[5]], maxDigits)
		episodes, end := []int(nil), m[5]
		if ok {
			episodes, end = p.listEpisodes(first, m[5], listing{season: season})
		} else if f.re != seasonEpisode.re {
			continue
		}
		p.Seasons = []int{season}
		p.Episodes = merge(p.Episodes, episodes)
		p.mark(m[2]-boolInt(m[2] > 0 && p.low[m[2]-1] == 's'), end, numberMark)
		return true
	}
	return false
}

// moreEpisodes reads further episodes of the same form, such as S01E01 S01E02.
func (p *parser) moreEpisodes() {
	var further []int
	for _, f := range []form{seasonEpisode, crossEpisode} {
		for m := range p.each(f) {
			season, _ := number(p.low[m[2]:m[3]], 4)
			first, ok := number(p.low[m[4]:m[5]], maxDigits)
			if ok && season == p.Seasons[0] && !p.marked(m[2], m[5]) {
				list, end := p.listEpisodes(first, m[5], listing{season: season})
				further = append(further, list...)
				p.mark(m[2], end, numberMark)
			}
		}
	}
	p.Episodes = merge(p.Episodes, further)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// seasonAlone reads seasons without episodes beside them.
func (p *parser) seasonAlone() {
	var all []int
	for m := range p.each(numberSeason) {
		n, _ := number(p.low[m[2]:m[3]], 2)
		if m[4] < 0 && p.match(plainNumber, m[7]) != nil && p.match(episodeBehind, m[7]) == nil {
			continue // the number behind the word is the season
		}
		if !p.marked(m[2], m[3]) && n > 0 {
			all = append(all, n)
			p.mark(m[2], m[7], numberMark)
		}
	}
	for _, f := range []form{seasonNumber, seasonLetter} {
		for m := range p.each(f) {
			from := m[0]
			if p.marked(from, m[3]) || f.re == seasonLetter.re && p.isGroup(from, m[3]) {
				continue
			}
			list, end := p.listSeasons(m[2], plural.MatchString(p.low[from:m[2]]))
			if len(list) > 0 {
				all = append(all, list...)
				p.mark(from, end, numberMark)
			}
		}
	}
	for _, m := range p.everywhere(chineseSeason, p.ordinal) {
		if list := chineseRange(p.low, m); list != nil {
			all = append(all, list...)
			p.mark(m[0], m[1], numberMark)
		}
	}
	p.Seasons = merge(p.Seasons, all)
}

var (
	// plainNumber is a number that stands for itself, behind the word season.
	plainNumber   = regexp.MustCompile(`^[\s._:#-]*\d{1,2}(?:$|[^\pL\pN])`)
	episodeBehind = regexp.MustCompile(`^[\s._:#-]*\d{1,2}[\s._-]*(?:сер|seri|ser\.|эпизод|ep)`)
	// many is a word in the plural before episodes.
	many   = regexp.MustCompile(`^(?:episodes|eps|серии)`)
	plural = regexp.MustCompile(`^(?:seasons|saisons|temporadas|stagioni|sezony|сезоны)`)
)

// isGroup tells a group that looks like a season: the last word, behind a dash without blanks, after tags.
func (p *parser) isGroup(from, to int) bool {
	return to == len(p.low) && from > 0 && p.low[from-1] == '-' && len(p.marks) > 0 && p.lastMark() >= from-4
}

func (p *parser) lastMark() int {
	end := 0
	for _, m := range p.marks {
		end = max(end, m.to)
	}
	return end
}

// ordinal tells the sign before numbers of seasons and episodes in Chinese.
func (p *parser) ordinal(at int) bool { return strings.HasPrefix(p.low[at:], "第") }

// nextSeason is a further season behind one.
var nextSeason = regexp.MustCompile(`^\s*([-~–,&+/]|and|и|y|to)(?:\s*[,&+/])?\s*s?(?:season\s)?(\d{1,2})(?:$|[^\pL\pN])`)

// listSeasons reads the numbers of seasons at an offset. A dash between blanks joins them only behind a word in the
// plural, else an episode follows it.
func (p *parser) listSeasons(at int, many bool) (list []int, end int) {
	end = at
	for end < len(p.low) && '0' <= p.low[end] && p.low[end] <= '9' {
		end++
	}
	n, ok := number(p.low[at:end], 2)
	if !ok || end < len(p.low) && isWordRune(rune(p.low[end])) && p.low[end] < utf8.RuneSelf {
		return nil, end
	}
	list = []int{n}
	for {
		m := p.match(nextSeason, end)
		if m == nil {
			return list, end
		}
		last := list[len(list)-1]
		n, _ := number(p.low[m[4]:m[5]], 2)
		apart := p.low[end] == ' ' && p.low[m[2]] == '-' && p.low[m[3]] == ' '
		if n <= last || n > maxSeason || apart && !many && p.low[m[4]-1] != 's' {
			return list, end
		}
		switch p.low[m[2]:m[3]] {
		case "-", "~", "–", "to":
			list = extend(list, n)
		default:
			list = append(list, n)
		}
		end = m[5]
	}
}

// episodeAlone reads episodes that a word or a letter marks.
func (p *parser) episodeAlone() {
	var all []int
	for _, f := range []form{episodeNumber, episodeLetter, numberEpisode} {
		for m := range p.each(f) {
			from := m[0]
			if p.marked(m[2], m[3]) || f.re == episodeLetter.re && p.glued(m[3]) {
				continue
			}
			first, ok := number(p.low[m[2]:m[3]], maxDigits)
			if !ok {
				continue
			}
			if f.re == numberEpisode.re {
				all = append(all, first)
				if m[4] >= 0 {
					last, _ := number(p.low[m[4]:m[5]], 4)
					all = append(all, span(first, last)...)
				}
				p.mark(from, m[1], numberMark)
				continue
			}
			list, end := p.listEpisodes(first, m[3], listing{season: -1, many: many.MatchString(p.low[from:m[2]])})
			if strings.HasPrefix(p.low[from:], "ca") {
				list, end = p.chapters(first, m[3], list, end)
			}
			all = append(all, list...)
			p.mark(from, end, numberMark)
		}
		if len(all) > 0 {
			break
		}
	}
	for _, m := range p.everywhere(chineseEpisode, p.ordinal) {
		if list := chineseRange(p.low, m); list != nil {
			all = append(all, list...)
			p.mark(m[0], m[1], numberMark)
		}
	}
	p.Episodes = merge(p.Episodes, all)
}

// chapterRange is the end of a range of chapters.
var chapterRange = regexp.MustCompile(`^[\s-](\d{3,4})(?:$|[^\pL\pN])`)

// chapters reads the Spanish form Cap.409, where 4 is the season, or Cap.409_411.
func (p *parser) chapters(first, at int, list []int, end int) ([]int, int) {
	if m := p.match(chapterRange, at); m != nil && len(list) == 1 {
		if last, _ := number(p.low[m[2]:m[3]], 4); last > first && last-first < perSeason {
			list, end = span(first, last), m[3]
		}
	}
	if season := first / perSeason; season > 0 && (len(p.Seasons) == 0 || slices.Equal(p.Seasons, []int{season})) {
		if inside, ok := inSeason(list, season); ok {
			p.Seasons = []int{season}
			return inside, end
		}
	}
	return list, end
}

// perSeason is what a number of season and episode, such as 409, is divided by.
const perSeason = 100

// inSeason takes the season out of such numbers.
func inSeason(list []int, season int) (inside []int, ok bool) {
	for _, n := range list {
		if n/perSeason != season || n%perSeason == 0 {
			return nil, false
		}
		inside = append(inside, n%perSeason)
	}
	return inside, len(list) > 0
}

// glued tells whether letters follow a number, but for that of a version.
func (p *parser) glued(at int) bool {
	r, _ := utf8.DecodeRuneInString(p.low[p.version(at):])
	return isWordRune(r) && r != utf8.RuneError
}

// chineseRange reads the numbers of 第N季 or 第N-M集; nil when they are too long.
func chineseRange(s string, m []int) []int {
	first, ok := chineseNumber(s[m[2]:m[3]])
	last := first
	if ok && m[4] >= 0 {
		last, ok = chineseNumber(s[m[4]:m[5]])
	}
	if !ok {
		return nil
	}
	return span(first, last)
}

// chineseNumber reads digits, or Chinese numerals up to 99.
func chineseNumber(s string) (n int, ok bool) {
	if strings.ContainsAny(s, "0123456789") {
		return number(s, maxDigits)
	}
	total, digit := 0, 0
	for _, r := range s {
		if r == '十' {
			total += max(digit, 1) * 10
			digit = 0
			continue
		}
		if i := strings.IndexRune("一二三四五六七八九", r); i >= 0 {
			digit = i/utf8.RuneLen(r) + 1
		}
	}
	return total + digit, total <= 99
}
