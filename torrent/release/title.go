package release

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

func isYear(n int) bool { return 1900 <= n && n <= MaxYear }

// years finds the year: the last one that is not where the title begins. One in brackets goes before others; behind a
// season or an episode a bare one counts only beside a tag, since titles of episodes hold years.
func (p *parser) years() {
	if p.Year != 0 {
		return
	}
	best := -1
	rank := 0
	known := p.neighbours()
	for i, w := range p.words {
		n, ok := number(p.text(i, i), 4)
		if !ok || !isYear(n) || w.from <= p.start || p.marked(w.from, w.to) {
			continue
		}
		r := p.rankYear(w, known)
		if r == 0 || r < rank {
			continue
		}
		if best >= 0 && r == rank && p.low[p.words[best].to:w.from] == "-" {
			continue // the end of a range
		}
		best, rank = i, r
	}
	if best < 0 {
		return
	}
	w := p.words[best]
	p.Year, _ = number(p.text(best, best), 4)
	p.mark(w.from, w.to, yearMark)
}

// neighbours are where marks that a year may stand beside begin and end, rising.
type neighbours struct {
	tags    []int // where tags begin
	ends    []int // where tags and numbers end
	numbers int   // where the first number ends
}

func (p *parser) neighbours() neighbours {
	k := neighbours{numbers: len(p.low) + 1}
	for _, m := range p.marks {
		switch m.kind {
		case tagMark:
			k.tags = append(k.tags, m.from)
			k.ends = append(k.ends, m.to)
		case numberMark:
			k.ends = append(k.ends, m.to)
			k.numbers = min(k.numbers, m.to)
		}
	}
	slices.Sort(k.tags)
	slices.Sort(k.ends)
	return k
}

// rankYear tells how sure a year is; zero is not at all.
func (p *parser) rankYear(w word, k neighbours) int {
	if w.group > 0 && p.groups[w.group-1].from > p.start {
		return 3
	}
	if k.numbers > w.from {
		return 2
	}
	if i, _ := slices.BinarySearch(k.tags, w.to); i < len(k.tags) && p.only(w.to, k.tags[i], blanks+"[(") {
		return 1
	}
	if i, _ := slices.BinarySearch(k.ends, w.from+1); i > 0 && p.only(k.ends[i-1], w.from, blanks) {
		return 1
	}
	return 0
}

// title finds where the title ends, and cleans it.
func (p *parser) title() {
	p.skipLeading()
	end := len(p.low)
	for _, m := range p.marks {
		if m.kind == weakMark || m.kind == packMark {
			continue
		}
		if from := p.outermost(m.from); from >= p.start {
			end = min(end, from)
		}
	}
	end = p.absorb(end)
	p.tell(end)
	title := p.clean(p.name[min(p.start, end):end])
	if title == "" {
		title = p.bracketTitle()
	}
	p.Title = title
}

// outermost is the start of the outermost bracket around an offset that begins behind the start of the title, or the
// offset.
func (p *parser) outermost(at int) int {
	for _, g := range p.groups {
		if g.from >= p.start && g.from <= at && at < g.to {
			return g.from
		}
	}
	return at
}

// skipLeading moves the start of the title behind groups and tags in brackets.
func (p *parser) skipLeading() {
	for _, g := range p.groups {
		if strings.Trim(p.low[p.start:max(p.start, g.from)], " ._-★☆") != "" || g.from < p.start {
			break
		}
		if rest := strings.Trim(p.low[g.to:], blanks); rest == "" || p.allBrackets(g.to) {
			break
		}
		_, size := utf8.DecodeRuneInString(p.low[g.from:])
		if p.Group == "" && !p.marked(g.from, g.to) {
			_, last := utf8.DecodeLastRuneInString(p.low[:g.to])
			p.Group = strings.TrimSpace(p.name[g.from+size : max(g.to-last, g.from+size)])
		}
		p.start = g.to
	}
	for p.start < len(p.low) && strings.IndexByte(blanks, p.low[p.start]) >= 0 {
		p.start++
	}
}

// allBrackets tells whether from an offset on everything is in brackets.
func (p *parser) allBrackets(at int) bool {
	return !slices.ContainsFunc(p.words, func(w word) bool { return w.from >= at && w.group == 0 })
}

// absorb moves the end of the title before weak words that lead to it.
func (p *parser) absorb(end int) int {
	kind := yearMark
	for _, m := range p.marks {
		if p.outermost(m.from) == end && m.kind != weakMark && m.kind != packMark {
			kind = m.kind
		}
	}
	backwards := slices.SortedFunc(slices.Values(p.marks), func(x, y mark) int { return y.from - x.from })
	for _, m := range backwards {
		fits := m.kind == packMark && kind == numberMark || kind == tagMark && (m.kind == weakMark || m.kind == packMark)
		if fits && m.from > p.start && m.from < end && m.to <= end && p.only(m.to, end, blanks+"[(+&,") {
			end = p.outermost(m.from)
		}
	}
	if kind == numberMark {
		for _, re := range []*regexp.Regexp{rangeBefore, leadingWord} {
			tail := max(p.start, end-lookAhead)
			if m := re.FindStringIndex(p.low[tail:end]); m != nil {
				end = tail + m[0]
			}
		}
	}
	return end
}

// leadingWord is a word before a season that is no part of a title.
var leadingWord = regexp.MustCompile(`[\s._-]+(?:seasons?|temporada|saison|series|сезон)[\s._:-]*$`)

// rangeBefore is a range of absolute numbers before those in a season.
var rangeBefore = regexp.MustCompile(`[\s._-]+\d{2,4}-\d{2,4}[\s._-]*$`)

// clean makes a title of a part of the name.
func (p *parser) clean(s string) string {
	s = strings.ReplaceAll(s, "_", " ")
	dotted := !strings.Contains(strings.Trim(s, " ._-"), " ")
	if strings.ContainsAny(s, "[({【（") {
		s = brackets.ReplaceAllString(s, " ")
	}
	if dotted {
		s = strings.ReplaceAll(s, ".", " ")
	}
	s = latinPart(s)
	s = strings.Join(strings.Fields(s), " ")
	s = strings.TrimFunc(s, func(r rune) bool { return strings.ContainsRune(" -–—_.,:;*+~|/\\★☆([{【#&=", r) })
	s = strings.TrimSpace(strings.TrimLeft(s, "])}】）」》 "))
	if !strings.Contains(s, ", ") {
		return s
	}
	if m := article.FindStringSubmatch(s); m != nil {
		s = m[2] + " " + strings.TrimRight(m[1], " ,")
	}
	return s
}

// article is a title whose article stands at its end.
var article = regexp.MustCompile(`(?i)^(.+), (the|an?|les?|la|der|die|das|el|los)$`)

// brackets are pairs without others in them.
var brackets = regexp.MustCompile(`\[[^\[\]]*\]|\([^()]*\)|\{[^{}]*\}|【[^【】]*】|（[^（）]*）`)

// latinPart picks the Latin one of titles in several scripts: of parts between slashes or bars, or behind letters of
// another script.
func latinPart(s string) string {
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == '/' || r == '|' })
	if len(parts) > 1 && slices.ContainsFunc(parts, func(x string) bool { return script(x) == otherScript }) {
		for _, part := range parts {
			if script(part) == latinScript {
				return part
			}
		}
	}
	first := strings.IndexFunc(s, isIdeograph)
	if first < 0 || script(s) != mixedScript {
		return s
	}
	last := strings.LastIndexFunc(s, isIdeograph)
	_, size := utf8.DecodeRuneInString(s[last:])
	behind := s[last+size:]
	if words := strings.Fields(behind); len(words) > 0 && script(behind) == latinScript && hasLetters(behind) {
		return behind
	}
	if before := s[:first]; hasLetters(before) && len(strings.Fields(before)) > 0 {
		return before
	}
	return s
}

type scriptKind uint8

const (
	noScript scriptKind = iota
	latinScript
	otherScript
	mixedScript
)

func script(s string) scriptKind {
	k := noScript
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Latin, r):
			k |= latinScript
		case unicode.IsLetter(r):
			k |= otherScript
		}
	}
	return k
}

func hasLetters(s string) bool { return strings.ContainsFunc(s, unicode.IsLetter) }

// isIdeograph tells letters of Chinese, Japanese and Korean, and the mark that lengthens a vowel.
func isIdeograph(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r == 'ー' || r == '・'
}

// bracketTitle finds the title of a name that is all brackets: behind the group, the first that is no mark and, if
// there is one, Latin.
func (p *parser) bracketTitle() string {
	var candidates []string
	for i, g := range p.groups {
		_, first := utf8.DecodeRuneInString(p.low[g.from:])
		_, last := utf8.DecodeLastRuneInString(p.low[:g.to])
		if g.from+first > g.to-last || p.tagged(g) {
			if len(candidates) > 0 {
				break
			}
			continue
		}
		text := strings.TrimSpace(p.name[g.from+first : g.to-last])
		if i == 0 && len(p.groups) > 1 {
			if p.Group == "" {
				p.Group = text
			}
			continue
		}
		candidates = append(candidates, text)
	}
	for _, c := range candidates {
		if script(latinPart(c)) == latinScript {
			return p.clean(c)
		}
	}
	if len(candidates) > 0 {
		return p.clean(candidates[0])
	}
	return ""
}

// tagged tells whether a bracket holds something that was understood.
func (p *parser) tagged(g group) bool {
	return slices.ContainsFunc(p.marks, func(m mark) bool { return m.kind != weakMark && m.from >= g.from && m.to <= g.to })
}

var (
	site      = regexp.MustCompile(`^\s*[\[(【]?\s*(?:www\.[\w.-]+\.[a-z]{2,6}|[\w-]+\.(?:com|net|org|info|ru|cc|tv|me|to))\s*[\])】]?\s*[-–]*\s*`)
	noGroup   = regexp.MustCompile(`^(?:(?:s\d{1,4})?e\d+|(?:cd|disc)\d{1,2})$`) // an episode, such as the end of a range that is none, or a disc
	groupTail = regexp.MustCompile(`-\s?([\pL\pN][\pL\pN._@]*?)(?:[\[({][^\[\](){}]*[\])}]?)*$`)
)

// maxSite is how many bytes the name of a site has at most, with what is around it.
const maxSite = 256

// siteTag is the length of the name of a site that a name begins with.
func siteTag(low string) int {
	if m := site.FindStringIndex(low[:min(len(low), maxSite)]); m != nil && m[1] < len(low) && (strings.HasPrefix(strings.TrimLeft(low, " [(【"), "www.") || strings.ContainsAny(low[:m[1]], "[]- ")) {
		return m[1]
	}
	return 0
}

// group finds the group behind the last dash, unless a name begins with one.
func (p *parser) group() {
	tail := max(0, len(p.name)-maxGroupTail)
	m := groupTail.FindStringSubmatchIndex(p.name[tail:])
	for i := range m {
		m[i] += tail
	}
	if m == nil || m[0] < p.start || len(p.marks) == 0 || p.tagMarked(m[2], m[3]) {
		return
	}
	if p.apart(m[0], m[0]+1) && (p.marked(m[2], m[3]) || !p.behindTags(m[0])) {
		return // the title of an episode, or an edition
	}
	if m[2] > p.firstTag() && !noGroup.MatchString(p.low[m[2]:m[3]]) {
		p.Group = p.name[m[2]:m[3]]
	}
}

// maxGroupTail is how many bytes a group has at most, with the brackets behind it.
const maxGroupTail = 256

// behindTags tells whether tags end before an offset, with nothing but words between that are tags too, though titles
// hold them.
func (p *parser) behindTags(at int) bool {
	backwards := slices.SortedFunc(slices.Values(p.marks), func(x, y mark) int { return y.to - x.to })
	for _, m := range backwards {
		switch {
		case m.to > at:
			continue
		case !p.only(m.to, at, blanks+")]") || m.kind == numberMark || m.kind == yearMark:
			return false
		case m.kind == tagMark:
			return true
		}
		at = m.from
	}
	return false
}

func (p *parser) tagMarked(from, to int) bool {
	return slices.ContainsFunc(p.marks, func(m mark) bool { return m.kind != weakMark && m.from < to && from < m.to })
}
