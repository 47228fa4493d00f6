package dedupe

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// queryEncoding writes queries in an encoding that leaves ASCII as it is.
type queryEncoding struct {
	encoding encoding.Encoding // nil is ASCII itself
}

// pythonEncodings are Python's codecs that are supersets of ASCII, without those that switch states. The names are in
// lower case with "_" for all marks. Unlike the labels of web pages, "latin1" is ISO 8859-1 here.
var pythonEncodings = map[string]encoding.Encoding{
	"ascii": nil, "us_ascii": nil, "646": nil,
	"latin1": charmap.ISO8859_1, "latin_1": charmap.ISO8859_1, "l1": charmap.ISO8859_1, "latin": charmap.ISO8859_1,
	"iso8859_1": charmap.ISO8859_1, "iso8859_2": charmap.ISO8859_2, "iso8859_3": charmap.ISO8859_3, "iso8859_4": charmap.ISO8859_4,
	"iso8859_5": charmap.ISO8859_5, "iso8859_6": charmap.ISO8859_6, "iso8859_7": charmap.ISO8859_7, "iso8859_8": charmap.ISO8859_8,
	"iso8859_9": charmap.ISO8859_9, "iso8859_10": charmap.ISO8859_10, "iso8859_13": charmap.ISO8859_13, "iso8859_14": charmap.ISO8859_14,
	"iso8859_15": charmap.ISO8859_15, "iso8859_16": charmap.ISO8859_16,
	"cp437": charmap.CodePage437, "cp850": charmap.CodePage850, "cp852": charmap.CodePage852, "cp855": charmap.CodePage855,
	"cp858": charmap.CodePage858, "cp860": charmap.CodePage860, "cp862": charmap.CodePage862, "cp863": charmap.CodePage863,
	"cp865": charmap.CodePage865, "cp866": charmap.CodePage866, "cp874": charmap.Windows874,
	"cp1250": charmap.Windows1250, "cp1251": charmap.Windows1251, "cp1252": charmap.Windows1252, "cp1253": charmap.Windows1253,
	"cp1254": charmap.Windows1254, "cp1255": charmap.Windows1255, "cp1256": charmap.Windows1256, "cp1257": charmap.Windows1257,
	"cp1258": charmap.Windows1258,
	"koi8_r": charmap.KOI8R, "koi8_u": charmap.KOI8U, "mac_roman": charmap.Macintosh, "mac_cyrillic": charmap.MacintoshCyrillic,
	"big5": traditionalchinese.Big5, "gbk": simplifiedchinese.GBK, "cp936": simplifiedchinese.GBK, "gb18030": simplifiedchinese.GB18030,
	"euc_kr": korean.EUCKR, "euc_jp": japanese.EUCJP, "eucjp": japanese.EUCJP, "shift_jis": japanese.ShiftJIS, "sjis": japanese.ShiftJIS,
}

// newQueryEncoding returns the encoding of a Python name; nil is UTF-8.
func newQueryEncoding(name string) (*queryEncoding, bool) {
	name = strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(name)))
	switch name {
	case "utf8", "utf_8", "u8", "utf":
		return nil, true
	}
	name = strings.Replace(name, "windows_", "cp", 1)
	name = strings.Replace(name, "iso_8859", "iso8859", 1)
	e, ok := pythonEncodings[name]
	return &queryEncoding{encoding: e}, ok
}

// encode returns s in the encoding, or s itself when the encoding lacks a character of it.
func (q *queryEncoding) encode(s string) string {
	if q.encoding == nil || !utf8.ValidString(s) {
		return s
	}
	encoded, err := q.encoding.NewEncoder().String(s)
	if err != nil {
		return s
	}
	return encoded
}
