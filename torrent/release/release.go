// Package release reads names of releases, as torrents, files and lists of them carry:
//
//	r := release.Parse("The.Show.S02E05-E06.1080p.WEB-DL.DDP5.1.H.264-GROUP.mkv")
//	// r.Title "The Show", r.Seasons [2], r.Episodes [5 6], r.Resolution "1080p", r.Source "WEB-DL", r.Group "GROUP"
//
// There is no standard of such names; Parse follows the habits of scene, peer-to-peer, anime, Spanish, Russian and
// Chinese releases, and leaves a field empty rather than guess. [Classify] tells what a file is by its path.
//
// Conventions: a pack of a season has Seasons and no Episodes; episodes that are counted over a whole series have no
// season; Cap.409, and a number such as 409 right before the tags of a name without a year, are episode 9 of season
// 4; of a date the year counts as Year; tags of sites and groups are no part of the title; of titles in several
// scripts the Latin one is given; dots between words are blanks.
package release

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Info is what a name says. Empty fields were not found.
type Info struct {
	Title   string
	Year    int    // 1900 to MaxYear
	Date    string // of a broadcast, as 2006-01-02
	Seasons []int  // rising
	// rising; without Seasons they may be counted over the whole series; of a range of more than 2000 only the two
	// ends
	Episodes   []int
	Resolution string // lines with p or i, such as 1080p; 4K is 2160p, 1280x720 is 720p
	// BluRay, BDRip, BRRip, WEB-DL, WEBRip, WEB, HDTV, TVRip, HD-DVD, DVD, DVDRip, HDRip, CAM, TeleSync, TeleCine,
	// Screener, Workprint, VHS or PPV
	Source    string
	Remux     bool
	Video     string   // codec: H.264, H.265, AV1, VP9, XviD, DivX, MPEG-2, VC-1
	BitDepth  int      // bits of a color
	HDR       []string // HDR, HDR10, HDR10+, DV, HLG, SDR
	Audio     []string // codecs: AAC, AC3, EAC3, DTS, DTS-HD, DTS-HD MA, DTS-X, TrueHD, Atmos, FLAC, Opus, MP3, PCM
	Channels  string   // such as 5.1
	Languages []string // codes of ISO 639-1; "multi" and "dual" when only the number is told
	Edition   []string // such as Extended, Unrated, Director's Cut
	Proper    bool     // or repack, rerip
	Complete  bool     // all episodes of a season or seasons of a series
	Group     string
	Checksum  string // CRC-32 in eight hexadecimal digits, upper case
	Container string // extension of a file in lower case, without the dot
}

// Bounds of what is read.
const (
	MaxBytes    = 4096 // of a name; what lies behind is not read
	MaxYear     = 2039 // greater numbers are part of a title
	maxSeason   = 99   // in a range of seasons
	maxDigits   = 4    // of an episode; longer numbers are none
	maxInRange  = 2000 // numbers in a range of episodes; of a longer one the ends are given alone
	maxElements = 8    // of a path, from its end
	maxGroups   = 64   // brackets; further ones are taken for separators
)

// Parse reads a name, or a path whose folders tell what the name of the file does not.
func Parse(name string) Info {
	if len(name) > MaxBytes {
		name = name[:MaxBytes]
	}
	name = strings.ToValidUTF8(name, "\uFFFD")
	elements := splitPath(name)
	last := len(elements) - 1
	p := parseElement(elements[last])
	for i := last - 1; i >= max(0, last-maxElements+1); i-- {
		p.inherit(parseElement(elements[i]), i == last-1)
	}
	if len(p.Seasons) == 1 && p.inBrackets {
		if inside, ok := inSeason(p.Episodes, p.Seasons[0]); ok {
			p.Episodes = inside
		}
	}
	return p.Info
}

// inherit fills what is missing from a folder above. The folder that a file is in is often the release, and the file
// renamed: then its title goes before that of the file.
func (p *parser) inherit(folder *parser, parent bool) {
	if p.Title == "" || parent && folder.Title != "" && folder.isRelease() {
		p.Title = folder.Title
	}
	if p.Year == 0 && (folder.Title == "" || sameTitle(p.Title, folder.Title)) {
		p.Year = folder.Year
	}
	if len(p.Seasons) == 0 && len(folder.Seasons) == 1 {
		p.Seasons = folder.Seasons
		if len(p.Episodes) == 0 && parent {
			p.Episodes = folder.Episodes
		}
	}
	if p.Resolution == "" {
		p.Resolution = folder.Resolution
	}
	if p.Source == "" {
		p.Source = folder.Source
	}
	if p.Group == "" {
		p.Group = folder.Group
	}
}

// isRelease tells whether a folder has the tags of a release.
func (p *parser) isRelease() bool {
	tags := 0
	for _, m := range p.marks {
		if m.kind == tagMark {
			tags++
		}
	}
	return tags >= 2
}

// sameTitle compares letters and digits alone, without case.
func sameTitle(a, b string) bool {
	fold := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, s)
	}
	return fold(a) == fold(b)
}

// splitPath cuts at separators of paths: slashes outside of brackets with no blank beside them.
func splitPath(name string) []string {
	name = strings.TrimRight(name, "/\\")
	var elements []string
	depth, start := 0, 0
	for i, r := range name {
		switch {
		case closing(r) != 0:
			depth++
		case isClosing(r):
			depth = max(depth-1, 0)
		case (r == '/' || r == '\\') && depth == 0 && !blankBeside(name, i):
			if i > start {
				elements = append(elements, name[start:i])
			}
			start = i + 1
		}
	}
	return append(elements, name[start:])
}

func blankBeside(s string, i int) bool {
	return i > 0 && s[i-1] == ' ' || i+1 < len(s) && s[i+1] == ' '
}

// parser reads one element of a path.
type parser struct {
	Info
	name     string // without its extension
	low      string // the same in lower case, with underscores as blanks; offsets are those of name
	words    []word
	groups   []group // brackets
	marks    []mark
	begins   []begin
	findings []finding
	known    []bool // for each byte of the name, whether a mark covers it
	start    int    // where the title begins

	inBrackets bool // the episode stood alone in brackets
}

// word is a run of letters and digits.
type word struct {
	from, to int
	group    int // index of the innermost bracket plus one; 0 is outside
}

// group is a pair of brackets, which may lack its end.
type group struct{ from, to int }

// markKind is what a mark is of.
type markKind uint8

const (
	tagMark    markKind = iota // a word that stands in no title
	weakMark                   // a word that may stand in a title
	packMark                   // a word that belongs to a season behind it, such as complete
	numberMark                 // season, episode or date
	yearMark
)

// mark is a part of the name that was understood.
type mark struct {
	from, to int
	kind     markKind
}

func parseElement(name string) *parser {
	p := &parser{}
	p.name, p.Container = cutExtension(strings.TrimSpace(name))
	if strings.ContainsAny(p.name, "★☆") {
		p.name = stars.ReplaceAllString(p.name, "【$1】")
	}
	p.name = single(p.name)
	p.low = lower(p.name)
	p.known = make([]bool, len(p.low))
	p.start = siteTag(p.low)
	p.scan()
	p.findBegins()
	p.tags()
	p.sizes()
	p.dates()
	p.seasons()
	p.years()
	p.looseEpisodes()
	p.title()
	p.group()
	return p
}

// single drops brackets that only repeat the one before them.
func single(s string) string {
	var last rune
	return strings.Map(func(r rune) rune {
		if r == last && (closing(r) != 0 || isClosing(r)) {
			return -1
		}
		last = r
		return r
	}, s)
}

// stars stand for brackets in Chinese names; they are as long.
var stars = regexp.MustCompile(`[★☆]([^★☆]*)[★☆]`)

// lower changes case without changing lengths, and blanks out underscores.
func lower(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		l := unicode.ToLower(r)
		switch {
		case r == '_' || r == '\t':
			l = ' '
		case utf8.RuneLen(l) != utf8.RuneLen(r):
			l = r
		}
		b.WriteRune(l)
	}
	return b.String()
}

// closing returns the bracket that ends one that r begins, or zero.
func closing(r rune) rune {
	switch r {
	case '[':
		return ']'
	case '(':
		return ')'
	case '{':
		return '}'
	case '【':
		return '】'
	case '（':
		return '）'
	case '「':
		return '」'
	case '《':
		return '》'
	}
	return 0
}

func isClosing(r rune) bool { return strings.ContainsRune("])}】）」》", r) }

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

// scan finds words and brackets.
func (p *parser) scan() {
	var open []int // indices of groups
	from := -1
	inside := 0
	endWord := func(at int) {
		if from >= 0 {
			p.words = append(p.words, word{from, at, inside})
			from = -1
		}
	}
	for i, r := range p.low {
		switch {
		case isWordRune(r):
			if from < 0 {
				from = i
			}
			continue
		case closing(r) != 0 && len(p.groups) < maxGroups:
			endWord(i)
			p.groups = append(p.groups, group{i, len(p.low)})
			open = append(open, len(p.groups)-1)
		case isClosing(r):
			endWord(i)
			if len(open) > 0 {
				p.groups[open[len(open)-1]].to = i + utf8.RuneLen(r)
				open = open[:len(open)-1]
			}
		default:
			endWord(i)
		}
		inside = 0
		if len(open) > 0 {
			inside = open[len(open)-1] + 1
		}
	}
	endWord(len(p.low))
}

func (p *parser) mark(from, to int, kind markKind) {
	p.marks = append(p.marks, mark{from, to, kind})
	for i := from; i < to; i++ {
		p.known[i] = true
	}
}

// marked tells whether a part of the name has been understood already.
func (p *parser) marked(from, to int) bool {
	return from < to && slices.Contains(p.known[from:to], true)
}

// text returns the words from i to j, without what is between them.
func (p *parser) text(i, j int) string {
	if i == j {
		return p.low[p.words[i].from:p.words[i].to]
	}
	var b strings.Builder
	for ; i <= j; i++ {
		b.WriteString(p.low[p.words[i].from:p.words[i].to])
	}
	return b.String()
}

// number reads a word of up to limit digits.
func number(s string, limit int) (n int, ok bool) {
	if s == "" || len(s) > limit {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}

// only tells whether between two offsets there is nothing but separators.
func (p *parser) only(from, to int, separators string) bool {
	return from <= to && strings.Trim(p.low[from:to], separators) == ""
}

const blanks = " ._-"
