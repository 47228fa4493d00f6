package release

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	dashNumber  = regexp.MustCompile(`^[\s.][-–—][\s.]+#?(\d{1,4})`)
	looseRange  = newForm(digit, `(\d{1,3})\s?[-~]\s?(\d{1,3})(?:$|[^\pL\pN])`)
	groupNumber = regexp.MustCompile(`^(\d{1,4})(?:\s?[-~]\s?(\d{1,4}))?(?:\s?v\d)?(?:\s?(?:end|fin|final|完|全集))?$`)
)

// looseEpisodes reads episodes that only their place tells: behind a dash, alone in a bracket, a range, or the last
// number of a name that begins with a group.
func (p *parser) looseEpisodes() {
	if len(p.Episodes) > 0 || p.Date != "" {
		return
	}
	if p.behindDash() || p.inBracket() || len(p.Seasons) > 1 {
		return
	}
	end := p.firstTag()
	for m := range p.each(looseRange) {
		first, _ := number(p.low[m[2]:m[3]], 3)
		if m[2] <= p.start || p.marked(m[2], m[5]) {
			continue
		}
		if list, to := p.listEpisodes(first, m[3], listing{season: -1, many: true}); len(list) > 1 && p.only(to, max(end, to), blanks+"[(") {
			p.Episodes = list
			p.mark(m[2], to, numberMark)
			return
		}
	}
	if !p.lastNumber(end) && len(p.Seasons) == 0 {
		p.bareNumber(end)
	}
}

func (p *parser) behindDash() bool {
	all := p.everywhere(dashNumber, func(i int) bool {
		return i+1 < len(p.low) && strings.IndexByte(" .", p.low[i]) >= 0 && strings.IndexByte("-\xe2", p.low[i+1]) >= 0
	})
	for i := len(all) - 1; i >= 0; i-- {
		m := all[i]
		n, _ := number(p.low[m[2]:m[3]], 4)
		if p.marked(m[2], m[3]) || p.glued(m[3]) || isYear(n) || m[0] < p.start {
			continue
		}
		if m[3]-m[2] == 1 && !p.endsPart(m[3]) {
			continue
		}
		list, end := p.listEpisodes(n, m[3], listing{season: -1})
		p.Episodes = list
		p.mark(m[0], end, numberMark)
		return true
	}
	return false
}

// endsPart tells whether at an offset the name, or a part of it, ends.
func (p *parser) endsPart(at int) bool {
	rest := strings.TrimLeft(p.low[at:], " .")
	r, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || closing(r) != 0 || r == '-'
}

func (p *parser) inBracket() bool {
	for _, g := range p.groups {
		_, size := utf8.DecodeRuneInString(p.low[g.from:])
		_, last := utf8.DecodeLastRuneInString(p.low[:g.to])
		if g.from+size > g.to-last || g.from <= p.start {
			continue
		}
		m := groupNumber.FindStringSubmatch(strings.TrimSpace(p.low[g.from+size : g.to-last]))
		if m == nil || p.marked(g.from+size, g.to-last) {
			continue
		}
		first, _ := number(m[1], 4)
		if isYear(first) {
			continue
		}
		p.Episodes = []int{first}
		if m[2] != "" {
			last, _ := number(m[2], 4)
			p.Episodes = span(first, last)
		}
		p.inBrackets = true
		p.mark(g.from, g.to, numberMark)
		return true
	}
	return false
}

// firstTag is where the first tag, year or bracket begins behind the start of the title.
func (p *parser) firstTag() int {
	end := len(p.low)
	for _, m := range p.marks {
		if m.kind != weakMark && m.kind != packMark && m.from > p.start {
			end = min(end, m.from)
		}
	}
	return end
}

// lastNumber takes the last number before the tags of a name that begins with a group in brackets.
func (p *parser) lastNumber(end int) bool {
	if len(p.groups) == 0 || strings.TrimSpace(p.low[:p.groups[0].from]) != "" {
		return false
	}
	for i := len(p.words) - 1; i > 0; i-- {
		w := p.words[i]
		if w.to > end || w.group != 0 || p.marked(w.from, w.to) {
			continue
		}
		digits, _, _ := strings.Cut(p.text(i, i), "v")
		n, ok := number(digits, 4)
		if ok && len(digits) > 1 && !isYear(n) && p.words[i-1].group == 0 && p.only(w.to, end, blanks+"[(") {
			p.Episodes = []int{n}
			p.mark(w.from, w.to, numberMark)
			return true
		}
		return false
	}
	return false
}

// bareNumber takes a number that begins with a zero, or one such as 409, season and episode, that stands before the
// tags of a name without a year.
func (p *parser) bareNumber(end int) {
	for i, w := range p.words {
		s := p.text(i, i)
		n, ok := number(s, 3)
		if !ok || i == 0 || w.from <= p.start || w.group != 0 || w.to > end || p.marked(w.from, w.to) || p.insideNumber(i) {
			continue
		}
		if s[0] == '0' && n > 0 {
			p.Episodes = []int{n}
			p.mark(w.from, w.to, numberMark)
			return
		}
		if len(s) == 3 && p.Year == 0 && end < len(p.low) && p.only(w.to, end, ".") && n%perSeason > 0 {
			p.Seasons, p.Episodes = []int{n / perSeason}, []int{n % perSeason}
			p.mark(w.from, w.to, numberMark)
			return
		}
	}
}

// insideNumber tells a number that a dash joins to another, or to a word.
func (p *parser) insideNumber(i int) bool {
	return i > 0 && p.low[p.words[i-1].to:p.words[i].from] == "-" || i+1 < len(p.words) && p.low[p.words[i].to:p.words[i+1].from] == "-"
}
