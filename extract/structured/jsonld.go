package structured

import (
	"html"
	"strings"

	"github.com/seine-go/seine/extract/literal"
)

// isJSONLD reports whether the type of a script is that of JSON-LD (RFC 6838: without regard to case and parameters).
func isJSONLD(kind string) bool {
	media, _, _ := strings.Cut(kind, ";")
	return strings.EqualFold(strings.TrimSpace(media), "application/ld+json")
}

// Block reads a block of JSON-LD: the text of one script. It lets pass what pages get wrong: comments, wrappers of comments
// or CDATA, control characters, trailing commas, byte order marks, several values, and quotes written as entities. A list
// gives its members; null gives nothing. Of a block that is broken it returns what was whole before the fault. The error is
// a *literal.SyntaxError or a *LimitError.
func Block(text []byte, l Limits) ([]any, error) {
	values, err := literal.Salvage(text, l)
	if err != nil && len(values) == 0 && strings.Contains(string(text), "&quot;") {
		if again, e := literal.ParseAll([]byte(html.UnescapeString(string(text))), l); e == nil {
			values, err = again, nil
		}
	}
	var objects []any
	for _, v := range values {
		switch v := v.(type) {
		case nil:
		case []any:
			for _, member := range v {
				if member != nil {
					objects = append(objects, member)
				}
			}
		default:
			objects = append(objects, v)
		}
	}
	return objects, err
}
