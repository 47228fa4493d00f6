package release

import (
	"regexp"
	"strconv"
	"strings"
)

// Forms of a further episode behind one. The first submatch is a connector, the last is the number.
var (
	nextAgain    = regexp.MustCompile(`^[\s.]?([-~&+,]|–|to|a|al|ao)?[\s.]?(?:s(\d{1,4})[\s._]?(?:ep?|x)|(\d{1,2})x)(\d{1,4})(?:$|[^\pL\pN]|[esx]\d|v\d)`)
	nextLettered = regexp.MustCompile(`^[\s.]?([-~&+,]|–|to|a|al|ao)?[\s.]?(?:e|ep|x)\.?(\d{1,4})(?:$|[^\pL\pN]|[ex]\d|v\d)`)
	nextPlain    = regexp.MustCompile(`^[\s.]?([-~]|–|\sto|\sa|\sal|\sao|[&+,])[\s.]?(\d{1,4})(?:$|[^\pL\pN]|v\d)`)
)

// listing is what stands before the numbers of a list of episodes.
type listing struct {
	season int  // that may be told again, as in S01E01-S01E03; -1 is none
	many   bool // whether it is a list for sure, so that a dash between blanks joins
}

// listEpisodes reads what follows an episode, up to the end that it returns.
func (p *parser) listEpisodes(first, at int, l listing) (list []int, end int) {
	list = []int{first}
	for {
		s, ok := p.nextEpisode(first, at, l)
		if !ok || s.n <= list[len(list)-1] {
			return list, p.version(at)
		}
		if s.isRange {
			list = extend(list, s.n)
		} else {
			list = append(list, s.n)
		}
		at = s.to
	}
}

// step is a further episode.
type step struct {
	n, to   int
	isRange bool // with those between
}

// nextEpisode reads a further episode. A number behind a dash between blanks begins a title rather, as in S01E01 - 24
// Hours, unless it has a letter or the season before it.
func (p *parser) nextEpisode(first, at int, l listing) (s step, ok bool) {
	for _, re := range []*regexp.Regexp{nextAgain, nextLettered, nextPlain} {
		m := p.match(re, at)
		if m == nil {
			continue
		}
		from, to := m[len(m)-2], m[len(m)-1]
		connector := ""
		if m[2] >= 0 {
			connector = strings.TrimSpace(p.low[m[2]:m[3]])
		}
		s.n, _ = number(p.low[from:to], maxDigits)
		switch re {
		case nextAgain:
			i := 4
			if m[i] < 0 {
				i = 6
			}
			if season, _ := number(p.low[m[i]:m[i+1]], maxDigits); season != l.season {
				return s, false
			}
		case nextPlain:
			apart := (connector == "-" || connector == "–") && p.apart(m[2], m[3])
			if apart && !l.many || to-from > max(digitsOf(first), 3) || isYear(s.n) {
				return s, false
			}
		}
		s.to = to
		s.isRange = connector != "" && !strings.Contains("&+,", connector)
		return s, !p.marked(from, to)
	}
	return s, false
}

// apart tells whether there are blanks, or dots in place of them, on both sides.
func (p *parser) apart(from, to int) bool {
	return from > 0 && to < len(p.low) && strings.IndexByte(" .", p.low[from-1]) >= 0 && strings.IndexByte(" .", p.low[to]) >= 0
}

// digitsOf counts the digits of a number.
func digitsOf(n int) int { return len(strconv.Itoa(n)) }

// version passes over the number of a version, such as v2.
func (p *parser) version(at int) int {
	if at+2 <= len(p.low) && p.low[at] == 'v' && '0' <= p.low[at+1] && p.low[at+1] <= '9' {
		return at + 2
	}
	return at
}

// span lists the numbers from first to last, both of which count. Of more than maxInRange it lists the ends alone.
func span(first, last int) []int {
	if first > last {
		return nil
	}
	return extend([]int{first}, last)
}

// extend adds the numbers behind the last one of a list up to another. If that makes a range of more than maxInRange,
// it adds only its end.
func extend(list []int, to int) []int {
	from := list[len(list)-1]
	if to-from >= maxInRange {
		return append(list, to)
	}
	for n := from + 1; n <= to; n++ {
		list = append(list, n)
	}
	return list
}

// merge lists the numbers of both lists once, rising. Numbers have up to maxDigits digits.
func merge(a, b []int) []int {
	if len(b) == 0 {
		return a
	}
	var seen [10_000]bool
	for _, n := range a {
		seen[n] = true
	}
	for _, n := range b {
		seen[n] = true
	}
	merged := make([]int, 0, len(a)+1)
	for n, ok := range seen {
		if ok {
			merged = append(merged, n)
		}
	}
	return merged
}
