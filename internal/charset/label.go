package charset

import (
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// Lookup returns the name of the encoding that a label of the Encoding standard stands for, in any case and between
// blanks; "" for an unknown label. The labels of the standard's replacement encoding, which decodes nothing, count as
// unknown.
func Lookup(label string) string {
	if len(label) == len("utf-8") && strings.EqualFold(label, "utf-8") {
		return "utf-8"
	}
	label = strings.Trim(label, " \t\r\n\f")
	if label == "" || len(label) > maxLabel {
		return ""
	}
	for i := range len(label) {
		if label[i] >= 0x80 { // htmlindex folds more than ASCII
			return ""
		}
	}
	enc, err := htmlindex.Get(label)
	if err != nil {
		return ""
	}
	name, err := htmlindex.Name(enc)
	if err != nil || name == "replacement" {
		return ""
	}
	return name
}

// maxLabel is longer than any label.
const maxLabel = 64

// encodingOf returns the encoding of a name. GBK is decoded as the larger GB18030, as the standard says.
func encodingOf(name string) encoding.Encoding {
	if name == "gbk" || name == "gb18030" {
		return simplifiedchinese.GB18030
	}
	enc, err := htmlindex.Get(name)
	if err != nil {
		return nil
	}
	return enc
}

// HeaderLabel returns the encoding that a Content-Type names, "" for none that is known. It is read leniently: quotes
// of either kind, lists joined by commas and repeated parameters are fine, and the first label that is known counts.
func HeaderLabel(contentType []string) string {
	for _, value := range contentType {
		for {
			label, rest, ok := parameter(value)
			if !ok {
				break
			}
			if name := Lookup(label); name != "" {
				return name
			}
			value = rest
		}
	}
	return ""
}

const (
	charsetName = "charset"
	blanks      = " \t\r\n\f"
)

// parameter finds the next charset parameter of a Content-Type.
func parameter(value string) (label, rest string, ok bool) {
	for i := 0; i+len(charsetName) < len(value); i++ {
		if i > 0 && strings.IndexByte(";, \t\"'", value[i-1]) < 0 || !strings.EqualFold(value[i:i+len(charsetName)], charsetName) {
			continue
		}
		rest = strings.TrimLeft(value[i+len(charsetName):], blanks)
		if rest == "" || rest[0] != '=' {
			continue
		}
		rest = strings.TrimLeft(rest[1:], blanks)
		end := strings.IndexAny(rest, ";,"+blanks)
		if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
			quote := rest[:1]
			rest = rest[1:]
			end = strings.Index(rest, quote)
		}
		if end < 0 {
			end = len(rest)
		}
		return rest[:end], rest[end:], true
	}
	return "", "", false
}
