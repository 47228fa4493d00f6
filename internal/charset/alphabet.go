package charset

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// The detector has no models of the languages that are written in most encodings of one byte, and calls all of them Latin-1.
// What tells these apart is that each language has few letters beyond ASCII: read in the wrong encoding a text has letters that
// no one language has.

// alphabets are the letters beyond ASCII of languages, in lower case, by the encodings that they are written in. Of encodings
// that fit a text alike the first counts.
var alphabets = [...]struct {
	name      string
	languages []string
}{
	{"windows-1252", western},
	{"windows-1250", eastern},
	{"iso-8859-2", eastern},
	{"windows-1254", []string{"çğıöşüâîûi"}}, // the capital dotted i becomes an i
	{"windows-1257", []string{"ąčęėįšųūž", "āčēģīķļņōŗšūž", "äõöüšž"}},
	{"windows-1256", []string{arabic, arabic + "پچژگکی"}},
	{"iso-8859-6", []string{arabic}},
}

var western = []string{
	"àâæçéèêëîïôœùûüÿ", "äöüßéà", "áéíóúüñ¿¡ºª", "áâãàçéêíóôõúüºª", "àèéìíòóù", "åäöéàü", "åäöšžé", "æøåéèêóòôäö", "áéíóúýþæöð",
	"áðíóúýæø", "àçéèíïòóúü", "áéíóúëïöüèê", "ëç", "âêîôûëïö",
}

var eastern = []string{"áčďéěíňóřšťúůýž", "ąćęłńóśźż", "áéíóöőúüű", "áäčďéíĺľňóôŕšťúýž", "ăâîşţ", "čćđšž", "ëç"}

const (
	arabic = "ءآأؤإئابةتثجحخدذرزسشصضطظعغـفقكلمنهوىيًٌٍَُِّْ،؛؟"
	// neutral are the characters that texts of all languages have.
	neutral = "\u00a0\u00ad§°©®±²µ¶·«»€™´¨×÷–—‘’‚“”„†‡•…‰‹›\u200c\u200d\u200e\u200f"

	// leastCovered is the share of a text's letters that its language has to have: quotations and names have others.
	leastCovered = 0.95
	// latin1Signs are those of windows-1252 that elsewhere are letters or other signs.
	latin1Signs = "¡¢£¤¥¦ª¬¯³¸¹º¼½¾¿"
	// mixed is what all Western letters and signs together count for, beside the letters of one language: names and words of
	// several stand beside each other in many texts.
	mixed = 0.9
)

// byAlphabet guesses the encoding of a text from its letters. The confidence grows with their number.
func byAlphabet(text []byte) Charset {
	all, inWords := countBytes(text)
	best := Charset{Source: Detected}
	covered, of := leastCovered, 0
	for _, a := range alphabets {
		counts := &inWords
		if a.name == "windows-1252" {
			counts = &all
		} else if counts.distinct() < 2 {
			continue
		}
		for _, language := range a.languages {
			share, letters := coverage(counts, a.name, language)
			// Some letters of ISO-8859-2 are signs in windows-1250, which no language speaks against.
			latin2 := a.name == "iso-8859-2" && best.Name == "windows-1250" && letters > of
			if share > covered || share == covered && (of == 0 || latin2) {
				best.Name, covered, of = a.name, share, letters
			}
		}
	}
	if share, letters := coverage(&all, "windows-1252", strings.Join(western, "")+latin1Signs); of == 0 && share >= leastCovered {
		best.Name, covered, of = "windows-1252", mixed*share, letters
	}
	if of == 0 {
		return Charset{}
	}
	best.Confidence = min(covered*float64(of)/float64(of+1), 0.9)
	return best
}

// byteCounts says how often each byte beyond ASCII occurs.
type byteCounts [128]int

// countBytes counts all bytes beyond ASCII, and those beside a letter or another one: a pound sign or a superscript of Latin-1 is
// a letter elsewhere.
func countBytes(text []byte) (all, inWords byteCounts) {
	inWord := func(i int) bool {
		return i >= 0 && i < len(text) && (text[i] >= utf8.RuneSelf || isLetter(text[i]))
	}
	for i, c := range text {
		if c < utf8.RuneSelf {
			continue
		}
		all[c-utf8.RuneSelf]++
		if inWord(i-1) || inWord(i+1) {
			inWords[c-utf8.RuneSelf]++
		}
	}
	return all, inWords
}

func (c *byteCounts) distinct() (n int) {
	for _, count := range c {
		if count > 0 {
			n++
		}
	}
	return n
}

// coverage returns which share of the letters of a text are of a language, and how many it has.
func coverage(counts *byteCounts, encoding, language string) (share float64, letters int) {
	table, ok := encodingOf(encoding).(*charmap.Charmap)
	if !ok {
		return 0, 0
	}
	known := 0
	for i, n := range counts {
		r := unicode.ToLower(table.DecodeByte(byte(utf8.RuneSelf + i)))
		if n == 0 || strings.ContainsRune(neutral, r) {
			continue
		}
		letters += n
		if strings.ContainsRune(language, r) {
			known += n
		}
	}
	if letters == 0 {
		return 0, 0
	}
	return float64(known) / float64(letters), letters
}
