package robots

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// blanks are what may stand round keys and values: the WS of RFC 9309, and the ASCII blanks that others take too.
const blanks = " \t\v\f"

// parser reads lines into a file.
type parser struct {
	file  *File
	group *group // that is being read; nil before the first user-agent line
	open  bool   // no rule of the group has come, so that a user-agent line belongs to it
}

// parse is Parse for a body that may be known to be cut.
func parse(body []byte, cut bool) *File {
	if len(body) > MaxSize {
		cut = true
		end := MaxSize
		if body[end] == '\n' || body[end] == '\r' {
			end++ // the last line is whole
		}
		body = body[:end]
	}
	text := decode(body)
	if cut {
		text = text[:strings.LastIndexAny(text, "\r\n")+1]
	}
	p := parser{file: &File{Cut: cut}}
	if isMarkup(text) {
		return p.file
	}
	for n := 1; text != ""; n++ {
		var line string
		line, text = cutLine(text)
		p.line(n, line)
	}
	p.closeGroup()
	return p.file
}

// decode returns the text without byte order mark, UTF-16 as UTF-8. Octets that are no UTF-8 stay: paths are compared
// as octets.
func decode(body []byte) string {
	var order binary.ByteOrder
	switch {
	case len(body) >= 2 && body[0] == 0xFF && body[1] == 0xFE:
		order = binary.LittleEndian
	case len(body) >= 2 && body[0] == 0xFE && body[1] == 0xFF:
		order = binary.BigEndian
	default:
		return strings.TrimPrefix(string(body), "\uFEFF")
	}
	var b strings.Builder
	b.Grow(len(body) / 2)
	for body = body[2:]; len(body) >= 2; body = body[2:] {
		r := rune(order.Uint16(body))
		if utf16.IsSurrogate(r) && len(body) >= 4 {
			if pair := utf16.DecodeRune(r, rune(order.Uint16(body[2:]))); pair != utf8.RuneError {
				r, body = pair, body[2:]
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

// markup is how documents begin that are served where there is no robots.txt.
var markup = [...]string{"<!doctype", "<html", "<head", "<body", "<title", "<meta", "<script", "<?xml", "<svg"}

func isMarkup(text string) bool {
	text = strings.TrimLeft(text, blanks+"\r\n")
	for _, m := range markup {
		if len(text) >= len(m) && strings.EqualFold(text[:len(m)], m) {
			return true
		}
	}
	return false
}

// cutLine takes off the first line, which ends in LF, CR LF, CR or with the text.
func cutLine(text string) (line, rest string) {
	i := strings.IndexAny(text, "\r\n")
	if i < 0 {
		return text, ""
	}
	line, rest = text[:i], text[i+1:]
	if text[i] == '\r' && strings.HasPrefix(rest, "\n") {
		rest = rest[1:]
	}
	return line, rest
}

// line reads one line. Lines with keys that are unknown do not end a group.
func (p *parser) line(n int, line string) {
	if len(line) > maxLine {
		line = line[:maxLine]
	}
	line, _, _ = strings.Cut(line, "#")
	line = strings.Trim(line, blanks)
	key, value := cutField(line)
	switch {
	case strings.EqualFold(key, "user-agent"):
		p.agent(value)
	case strings.EqualFold(key, "allow"):
		p.rule(rule{Rule{n, line}, true, value})
	case strings.EqualFold(key, "disallow"):
		p.rule(rule{Rule{n, line}, false, value})
	case strings.EqualFold(key, "crawl-delay"):
		p.crawlDelay(value)
	case strings.EqualFold(key, "sitemap"):
		if value != "" {
			p.file.sitemaps = append(p.file.sitemaps, strings.Clone(value))
		}
	}
}

// cutField splits a line at its colon. A blank stands for a forgotten colon where the line has just two words.
func cutField(line string) (key, value string) {
	key, value, ok := strings.Cut(line, ":")
	if ok {
		return strings.TrimRight(key, blanks), strings.TrimLeft(value, blanks)
	}
	i := strings.IndexAny(line, blanks)
	if i < 0 {
		return "", ""
	}
	value = strings.TrimLeft(line[i:], blanks)
	if strings.ContainsAny(value, blanks) {
		return "", ""
	}
	return line[:i], value
}

// agent reads a user-agent line, of which the first word counts, without a version.
func (p *parser) agent(value string) {
	if !p.open {
		p.closeGroup()
		p.group, p.open = &group{sections: make([]section, 1)}, true
	}
	token := value
	if i := strings.IndexAny(value, blanks+"/"); i >= 0 {
		token = value[:i]
	}
	s := p.section()
	if s.hasDelay {
		p.group.sections = append(p.group.sections, section{})
		s = p.section()
	}
	s.agents = append(s.agents, token)
}

func (p *parser) section() *section { return &p.group.sections[len(p.group.sections)-1] }

// rule reads an allow or disallow line. An empty path is no rule, and one that begins with neither "/" nor "*" matches
// no URL; both end the list of agents.
func (p *parser) rule(r rule) {
	if p.group == nil {
		return
	}
	p.open = false
	p.file.rules++
	if r.pattern != "" && (r.pattern[0] == '/' || r.pattern[0] == '*') {
		p.group.rules = append(p.group.rules, r)
	}
}

// crawlDelay reads a crawl-delay line in seconds. What is no number, or below zero, is ignored.
func (p *parser) crawlDelay(value string) {
	if p.group == nil {
		return
	}
	if i := strings.IndexAny(value, blanks); i >= 0 {
		value = value[:i]
	}
	seconds, err := strconv.ParseFloat(value, 64)
	outOfRange := math.IsInf(seconds, 1) // an error too, but a clear wish
	if err != nil && !outOfRange || math.IsNaN(seconds) || seconds < 0 {
		return
	}
	delay := MaxCrawlDelay
	if seconds < MaxCrawlDelay.Seconds() {
		delay = time.Duration(seconds * float64(time.Second))
	}
	s := p.section()
	s.delay, s.hasDelay = max(s.delay, delay), true
}

func (p *parser) closeGroup() {
	if p.group != nil {
		p.file.groups = append(p.file.groups, *p.group)
	}
}
