package release

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tag is what a word, or up to four words written together, says.
type tag struct {
	kind  markKind
	apply func(r *Info)
}

// dictionary holds tags; the keys are words in lower case without what is between them.
type dictionary map[string]tag

// tagsByWord are the tags that are known.
var tagsByWord = newDictionary()

func newDictionary() dictionary {
	t := dictionary{}
	t.addSources()
	t.addVideo()
	t.addAudio()
	t.addLanguages()
	t.addEditions()
	t.addFlags()
	return t
}

// add adds words, parted by blanks, that say the same.
func (t dictionary) add(kind markKind, keys string, apply func(*Info)) {
	for key := range strings.FieldsSeq(keys) {
		t[key] = tag{kind, apply}
	}
}

// source adds words of a source. A later word goes before an earlier one that says little.
func (t dictionary) source(kind markKind, value, keys string) {
	t.add(kind, keys, func(r *Info) {
		if r.Source == "" || weakSource(r.Source) {
			r.Source = value
		}
	})
}

func weakSource(s string) bool { return s == "WEB" || s == "DVD" || s == "HDRip" || s == "BluRay" }

// list adds words that add a value to a list.
func (t dictionary) list(kind markKind, field func(*Info) *[]string, value, keys string) {
	t.add(kind, keys, func(r *Info) {
		if f := field(r); !slices.Contains(*f, value) {
			*f = append(*f, value)
		}
	})
}

func (t dictionary) addSources() {
	t.source(tagMark, "BluRay", "bluray bdremux bdmv bdiso bd25 bd50 bd66 bd100 uhdbluray ultrahdbluray uhdbd")
	t.source(weakMark, "BluRay", "bd")
	t.source(tagMark, "BDRip", "bdrip uhdbdrip bdlight")
	t.source(tagMark, "BRRip", "brrip brmux bdmux")
	t.source(tagMark, "WEB-DL", "webdl webhd webdlrip webddl amznwebdl webhdrip")
	t.source(tagMark, "WEBRip", "webrip webmux webcap")
	t.source(weakMark, "WEB", "web")
	t.source(tagMark, "HDTV", "hdtv hdtvrip dtv ahdtv uhdtv hdtvmux")
	t.source(tagMark, "TVRip", "tvrip pdtv dsr dsrip satrip dvbrip dthrip dvb sdtv tvhdrip iptvrip pdtvrip dvbs")
	t.source(tagMark, "HD-DVD", "hddvd hddvdrip")
	t.source(tagMark, "DVD", "dvd5 dvd9 dvdr dvdfull fulldvd dvdremux")
	t.source(weakMark, "DVD", "dvd")
	t.source(tagMark, "DVDRip", "dvdrip dvdmux")
	t.source(tagMark, "HDRip", "hdrip")
	t.source(tagMark, "CAM", "camrip hdcam hqcam hdcamrip camhd sprint predvd predvdrip")
	t.source(weakMark, "CAM", "cam")
	t.source(tagMark, "TeleSync", "telesync hdts hdtsrip tsrip pdvd hqts")
	t.source(weakMark, "TeleSync", "ts")
	t.source(tagMark, "TeleCine", "telecine hdtc tcrip")
	t.source(weakMark, "TeleCine", "tc")
	t.source(tagMark, "Screener", "dvdscr dvdscreener bdscr bluscr dvdscrrip webscreener")
	t.source(weakMark, "Screener", "screener scr")
	t.source(tagMark, "Workprint", "workprint")
	t.source(weakMark, "Workprint", "wp")
	t.source(tagMark, "VHS", "vhsrip")
	t.source(weakMark, "VHS", "vhs")
	t.source(tagMark, "PPV", "ppvrip")
	t.source(weakMark, "PPV", "ppv")
	t.add(tagMark, "remux", func(r *Info) { r.Remux = true })
	t["bdremux"] = tag{tagMark, func(r *Info) { r.Source, r.Remux = "BluRay", true }}
	t["dvdremux"] = tag{tagMark, func(r *Info) { r.Source, r.Remux = "DVD", true }}
}

func (t dictionary) addVideo() {
	video := func(value, keys string) { t.add(tagMark, keys, func(r *Info) { r.Video = value }) }
	video("H.264", "x264 h264 avc avc1 h264avc x264avc avchd")
	video("H.265", "x265 h265 hevc h265hevc x265hevc hevcx265")
	video("AV1", "av1")
	video("VP9", "vp9")
	video("XviD", "xvid xvidhd")
	video("DivX", "divx divx5 divx6 divxhd")
	video("MPEG-2", "mpeg2 mpeg2video")
	video("VC-1", "vc1")
	t.add(tagMark, "10bit 10bits hi10p hi10 yuv420p10 main10", func(r *Info) { r.BitDepth = 10 })
	t.add(tagMark, "8bit 8bits", func(r *Info) { r.BitDepth = 8 })
	t.add(tagMark, "12bit 12bits", func(r *Info) { r.BitDepth = 12 })
	t.add(tagMark, "uhd 4k ultrahd 4kuhd uhd4k", func(r *Info) {
		if r.Resolution == "" {
			r.Resolution = "2160p"
		}
	})
	t.add(tagMark, "8k", func(r *Info) { r.Resolution = "4320p" })
	t.add(weakMark, "hd fhd sd hq 3d hsbs sbs hou halfsbs microhd mhd fullhd hdlight", nil)

	hdr := func(r *Info) *[]string { return &r.HDR }
	t.list(tagMark, hdr, "HDR", "hdr")
	t.list(tagMark, hdr, "HDR10", "hdr10")
	t.list(tagMark, hdr, "HDR10+", "hdr10plus hdr10p")
	t.list(tagMark, hdr, "DV", "dovi dolbyvision")
	t.list(weakMark, hdr, "DV", "dv")
	t.list(weakMark, hdr, "HLG", "hlg")
	t.list(weakMark, hdr, "SDR", "sdr")
}

func (t dictionary) addAudio() {
	audio := func(r *Info) *[]string { return &r.Audio }
	t.list(tagMark, audio, "AAC", "aac heaac aaclc qaac")
	t.list(tagMark, audio, "AC3", "ac3 ac3d ac3ld ac3hd dolbydigital")
	t.list(weakMark, audio, "AC3", "dd")
	t.list(tagMark, audio, "EAC3", "eac3 ddp ddplus dolbydigitalplus")
	t.list(tagMark, audio, "DTS", "dts")
	t.list(tagMark, audio, "DTS-HD", "dtshd dtshdhra dtshdhr")
	t.list(tagMark, audio, "DTS-HD MA", "dtshdma dtsma")
	t.list(tagMark, audio, "DTS-X", "dtsx")
	t.list(tagMark, audio, "TrueHD", "truehd")
	t.list(tagMark, audio, "Atmos", "atmos")
	t.list(tagMark, audio, "FLAC", "flac")
	t.list(weakMark, audio, "Opus", "opus")
	t.list(tagMark, audio, "MP3", "mp3")
	t.list(tagMark, audio, "PCM", "lpcm")
	t.list(weakMark, audio, "PCM", "pcm")
}

func languages(r *Info) *[]string { return &r.Languages }

// addLanguages adds the names of languages, which are weak: titles hold many of them.
func (t dictionary) addLanguages() {
	for code, keys := range map[string]string{
		"en": "english eng", "fr": "french vff vf truefrench francais français fre fra vfq vfi", "de": "german deutsch ger",
		"es": "spanish castellano latino esp spa español espanol lat audiolatino", "it": "italian italiano ita",
		"pt": "portuguese ptbr dublado legendado portugues", "ru": "russian rus", "ja": "japanese jpn jap", "zh": "chinese mandarin chi chs cht cantonese",
		"ko": "korean kor", "hi": "hindi hin", "ta": "tamil tam", "te": "telugu tel", "ml": "malayalam mal", "kn": "kannada kan", "bn": "bengali",
		"pa": "punjabi", "mr": "marathi", "pl": "polish lektor dubbingpl lektorpl", "nl": "dutch flemish", "sv": "swedish swesub", "da": "danish dksubs",
		"no": "norwegian nor", "fi": "finnish", "hu": "hungarian hun", "cs": "czech cze", "tr": "turkish", "el": "greek", "ar": "arabic",
		"he": "hebrew", "uk": "ukrainian ukr", "ro": "romanian", "th": "thai", "vi": "vietnamese", "multi": "multi multilang multiaudio",
		"nordic": "nordic",
	} {
		t.list(weakMark, languages, code, keys)
	}
	t.list(tagMark, languages, "fr", "vostfr subfrench")
	t.list(weakMark, languages, "dual", "dual")
	t.list(tagMark, languages, "dual", "dualaudio")
}

func (t dictionary) addEditions() {
	edition := func(r *Info) *[]string { return &r.Edition }
	t.list(weakMark, edition, "Extended", "extended")
	t.list(tagMark, edition, "Extended", "extendedcut extendededition extendedversion")
	t.list(weakMark, edition, "Unrated", "unrated")
	t.list(weakMark, edition, "Uncut", "uncut uncensored")
	t.list(tagMark, edition, "Director's Cut", "directorscut directorcut dircut directorsedition")
	t.list(weakMark, edition, "Theatrical", "theatrical theatricalcut")
	t.list(weakMark, edition, "Remastered", "remastered 4kremastered")
	t.list(tagMark, edition, "Special Edition", "specialedition")
	t.list(weakMark, edition, "IMAX", "imax imaxedition")
	t.list(weakMark, edition, "Criterion", "criterion")
	t.list(tagMark, edition, "Criterion", "criterioncollection criterionedition")
	t.list(tagMark, edition, "Ultimate", "ultimateedition ultimatecut")
	t.list(tagMark, edition, "Collector's", "collectorsedition collectoredition")
	t.list(tagMark, edition, "Anniversary", "anniversaryedition")
	t.list(weakMark, edition, "Final Cut", "finalcut")
	t.list(tagMark, edition, "Deluxe", "deluxeedition")
}

// addFlags adds what else stands among tags, most of which says nothing that is told.
func (t dictionary) addFlags() {
	t.add(weakMark, "proper repack rerip repack2 proper2 realproper", func(r *Info) { r.Proper = true })
	t.add(weakMark, "internal limited dubbed subbed subs sub esub esubs msub msubs readnfo nfofix dirfix convert hybrid custom real "+
		"hardsub hardsubs hardcoded softsub softsubs retail festival stv docu ws fs widescreen fullscreen upscaled upscale remaster "+
		"customaudio audio extras bonus colorized line dl 1cd 2cd 3cd cd1 cd2 cd3 disc1 disc2 reenc rip mkv mp4 avi "+
		"amzn nf netflix dsnp hulu hmax max atvp pcok itunes it batch", nil)
	t.add(packMark, "complete thecomplete full all thefull fullseason completeseries thecompleteseries collectioncomplete integrale integral "+
		"completa completo", func(r *Info) { r.Complete = true })
	t["all"], t["full"] = tag{packMark, nil}, tag{packMark, nil}
}

// longestTag is how many words a tag has at most.
const longestTag = 4

// finding is a tag that was found, and is told once it is known where the title ends.
type finding struct {
	mark
	apply func(*Info)
}

// tags finds the tags, the longest at each place.
func (p *parser) tags() {
	for i := 0; i < len(p.words); i++ {
		p.resolution(i)
		for j := min(i+longestTag, len(p.words)) - 1; j >= i; j-- {
			if !p.together(i, j) {
				continue
			}
			key, to := p.text(i, j), p.words[j].to
			t, ok := tagsByWord[key]
			if !ok {
				continue
			}
			if plus, ok := tagsByWord[key+"plus"]; ok && p.plusBehind(to) {
				t, to = plus, to+1
			}
			p.found(p.words[i].from, to, t)
			i = j
			break
		}
	}
	p.channels()
}

// plusBehind tells a plus sign that belongs to the word before it, as in HDR10+, and joins no other to it.
func (p *parser) plusBehind(at int) bool {
	if at == len(p.low) || p.low[at] != '+' {
		return false
	}
	r, _ := utf8.DecodeRuneInString(p.low[at+1:])
	return !unicode.IsLetter(r)
}

func (p *parser) found(from, to int, t tag) {
	p.mark(from, to, t.kind)
	if t.apply != nil {
		p.findings = append(p.findings, finding{mark{from, to, t.kind}, t.apply})
	}
}

// tell says what was found. Words that titles hold count behind the end of the title alone, or in a bracket with
// nothing else.
func (p *parser) tell(end int) {
	for _, f := range p.findings {
		if f.kind == tagMark || f.from >= end || f.from > p.start && p.bracketOfTags(f.from) {
			f.apply(&p.Info)
		}
	}
}

// bracketOfTags tells whether an offset is in a bracket of which all was understood.
func (p *parser) bracketOfTags(at int) bool {
	i, _ := slices.BinarySearchFunc(p.words, at, func(w word, at int) int { return w.from - at })
	if i == len(p.words) || p.words[i].group == 0 {
		return false
	}
	g := p.groups[p.words[i].group-1]
	for ; i > 0 && p.words[i-1].from > g.from; i-- {
	}
	for ; i < len(p.words) && p.words[i].to <= g.to; i++ {
		if !p.marked(p.words[i].from, p.words[i].to) {
			return false
		}
	}
	return true
}

// channels is a number of channels, with the codec before it.
var channels = regexp.MustCompile(`^((?:ddp|dd\+|dd|e?ac3|aac|dts|flac|lpcm|pcm|truehd)[\s._-]?)?([1257])([.\s])([012])(?:ch)?(?:$|[^0-9a-z])`)

// channels reads numbers such as DDP5.1. Without a codec only those count that no title holds.
func (p *parser) channels() {
	all := p.everywhere(channels, func(i int) bool {
		if i > 0 && isPlainWord(p.low[i-1]) || i+3 > len(p.low) {
			return false
		}
		c := p.low[i]
		return strings.IndexByte("adeflpt", c) >= 0 || strings.IndexByte("1257", c) >= 0 && strings.IndexByte("012", p.low[i+2]) >= 0
	})
	for _, m := range all {
		count := p.low[m[4]:m[5]] + "." + p.low[m[8]:m[9]]
		from := m[4]
		if m[2] >= 0 {
			from = m[2]
			codec := strings.TrimRight(p.low[m[2]:m[3]], blanks)
			if t, ok := tagsByWord[strings.Replace(codec, "+", "p", 1)]; ok && t.apply != nil {
				p.findings = append(p.findings, finding{mark{from, m[9], tagMark}, t.apply})
			}
		} else if p.low[m[6]:m[7]] != "." || count != "5.1" && count != "7.1" || p.behindDigits(m[4]) {
			continue
		}
		p.Channels = count
		p.mark(from, m[9], tagMark)
	}
}

// isPlainWord tells letters and digits of ASCII in lower case.
func isPlainWord(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

// behindDigits tells whether a number goes on before an offset, as in 1.5.1.
func (p *parser) behindDigits(at int) bool {
	return at >= 2 && p.low[at-1] == '.' && '0' <= p.low[at-2] && p.low[at-2] <= '9'
}

// together tells whether words may be parts of one tag: in one bracket, with a single separator between two, or an
// apostrophe.
func (p *parser) together(i, j int) bool {
	for ; i < j; i++ {
		between := p.low[p.words[i].to:p.words[i+1].from]
		if p.words[i].group != p.words[i+1].group || between != " " && between != "." && between != "-" && between != "'" && between != "’" {
			return false
		}
	}
	return true
}

var (
	lines   = regexp.MustCompile(`^(?:.*\D)?(\d{3,4})([pi])(?:\d{2,3})?$`)
	linesOf = regexp.MustCompile(`(?:bd|br|hd|web|rip)(480|576|720|1080|2160)$`)
	pixels  = regexp.MustCompile(`^\d{3,4}[x×](\d{3,4})$`)
	// pixelsApart is such as 1280 x 720 or 1280*720.
	pixelsApart = regexp.MustCompile(`^\d{3,4}(?:\s[x×]\s|\s?\*\s?)(\d{3,4})(?:$|[^\pL\pN])`)
)

// Lines that a resolution may have.
const (
	leastLine = 144
	mostLines = 4320
)

// resolution reads a word such as 1080p or 1920x1080. Words before it may be glued to it.
func (p *parser) resolution(i int) {
	w := p.words[i]
	s := p.text(i, i)
	if !strings.ContainsAny(s, digit) || len(s) < 3 {
		return
	}
	from := w.from
	var n, scan string
	if m := lines.FindStringSubmatchIndex(s); m != nil {
		n, scan, from = s[m[2]:m[3]], s[m[4]:m[5]], w.from+m[2]
	} else if m := linesOf.FindStringSubmatchIndex(s); m != nil {
		n, scan, from = s[m[2]:m[3]], "p", w.from+m[0]
	} else if m := pixels.FindStringSubmatch(s); m != nil {
		n, scan = m[1], "p"
	} else if _, ok := number(s, 4); !ok {
		return
	} else if m := p.match(pixelsApart, w.from); m != nil {
		width, _ := number(s, 4)
		if height, _ := number(p.low[m[2]:m[3]], 4); width > height {
			p.setResolution(p.low[m[2]:m[3]], "p", w.from, m[3])
		}
		return
	}
	if n != "" {
		p.setResolution(n, scan, from, w.to)
	}
}

func (p *parser) setResolution(lines, scan string, from, to int) {
	if n, _ := number(lines, 4); n < leastLine || n > mostLines {
		return
	}
	p.Resolution = strings.TrimLeft(lines, "0") + scan
	p.mark(from, to, tagMark)
}

// sizes marks sizes, rates, checksums and counts of discs, whose numbers mean nothing else.
func (p *parser) sizes() {
	all := p.everywhere(measures, func(i int) bool {
		return strings.IndexByte(digit, p.low[i]) >= 0 && (i == 0 || !isPlainWord(p.low[i-1])) && p.follows(i, "bfghkm")
	})
	for _, m := range all {
		p.mark(m[0], m[1], tagMark)
	}
	for i, w := range p.words {
		s := p.text(i, i)
		if w.group == 0 || len(s) != 8 || !hexadecimal.MatchString(s) {
			continue
		}
		if g := p.groups[w.group-1]; p.only(g.from+1, w.from, " ") && g.to-w.to <= 2 {
			p.Checksum = strings.ToUpper(s)
			p.mark(w.from, w.to, tagMark)
		}
	}
}

var (
	measures    = regexp.MustCompile(`^\d+(?:[.,]\d+)?\s?(?:gb|mb|gib|mib|kb|kbps|mbps|kb/s|fps|khz|hz|bit)\b`)
	hexadecimal = regexp.MustCompile(`^[0-9a-f]*[0-9][0-9a-f]*$`)
)
