package release

import (
	"fmt"
	"strings"
	"time"
)

var (
	dateYearFirst = newForm("12", `((?:19|20)\d\d)([\s._-])(\d\d)([\s._-])(\d\d)(?:$|[^\pL\pN])`)
	dateYearLast  = newForm(digit, `(\d\d)([\s._-])(\d\d)([\s._-])((?:19|20)\d\d)(?:$|[^\pL\pN])`)
	dateName      = newNumberForm("snrtjfmaod", `(\d{1,2})(?:st|nd|rd|th)?[\s._-]+(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[\s._-]+((?:19|20)?\d\d)(?:$|[^\pL\pN])`)
)

// dates reads the date of a broadcast.
func (p *parser) dates() {
	if m := p.find(dateYearFirst); m != nil && p.low[m[4]:m[5]] == p.low[m[8]:m[9]] {
		p.date(m[2], m[11], p.low[m[2]:m[3]], p.low[m[6]:m[7]], p.low[m[10]:m[11]])
		return
	}
	if m := p.find(dateYearLast); m != nil && p.low[m[4]:m[5]] == p.low[m[8]:m[9]] {
		if p.date(m[2], m[11], p.low[m[10]:m[11]], p.low[m[6]:m[7]], p.low[m[2]:m[3]]) {
			return
		}
		p.date(m[2], m[11], p.low[m[10]:m[11]], p.low[m[2]:m[3]], p.low[m[6]:m[7]])
		return
	}
	if m := p.find(dateName); m != nil {
		month := strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", p.low[m[4]:m[5]])/3 + 1
		year := p.low[m[6]:m[7]]
		if len(year) == 2 {
			year = "20" + year
		}
		p.date(m[2], m[7], year, fmt.Sprintf("%02d", month), fmt.Sprintf("%02s", p.low[m[2]:m[3]]))
	}
}

func (p *parser) date(from, to int, year, month, day string) bool {
	text := year + "-" + month + "-" + day
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return false
	}
	p.Date = text
	p.Year, _ = number(year, 4)
	p.mark(from, to, numberMark)
	return true
}
