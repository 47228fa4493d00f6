package robots

import (
	"fmt"
	"strings"
)

// DefaultAgent is the product token of a Cache that names none.
const DefaultAgent = "seine"

// maxAgent is the greatest length of a product token in bytes.
const maxAgent = 128

// AgentError says that a crawler's name is no product token.
type AgentError struct {
	Agent string // cut to 200 bytes
	Token string // what may be meant; "" when nobody can tell
}

// Error names the agent, and the token that may be meant.
func (e *AgentError) Error() string {
	text := fmt.Sprintf("seine: robots agent %q is no product token: letters, digits and _-. are, up to %d of them", e.Agent, maxAgent)
	if e.Token != "" {
		text += fmt.Sprintf(" (is %q meant?)", e.Token)
	}
	return text
}

// ValidAgent returns an *AgentError unless token can be a crawler's product token. RFC 9309 2.2.1 wants letters, "_" and
// "-"; digits and dots are taken too, since well-known crawlers have them in their names.
func ValidAgent(token string) error {
	if isToken(token) {
		return nil
	}
	err := &AgentError{Agent: token}
	if len(token) > 200 {
		err.Agent = strings.ToValidUTF8(token[:200], "")
	}
	err.Token, _ = ProductToken(token)
	return err
}

func isToken(s string) bool {
	if s == "" || len(s) > maxAgent {
		return false
	}
	for i := range len(s) {
		b := s[i]
		letter := 'a' <= b|0x20 && b|0x20 <= 'z'
		if !letter && !('0' <= b && b <= '9') && b != '_' && b != '-' && b != '.' {
			return false
		}
	}
	return true
}

// ProductToken finds a crawler's product token in its User-Agent header: "mybot" in "mybot/1.2 (+url)" and in
// "Mozilla/5.0 (compatible; mybot/1.2; +url)". Of a header that begins like a browser's, a product within a comment
// counts. It reports false where there is none.
func ProductToken(userAgent string) (token string, ok bool) {
	rest := strings.TrimLeft(userAgent, blanks)
	first, _, _ := strings.Cut(rest, " ")
	if name, _, _ := strings.Cut(first, "/"); isToken(name) && !strings.EqualFold(name, "Mozilla") {
		return name, true
	}
	for {
		var comment string
		if _, rest, ok = strings.Cut(rest, "("); !ok {
			return "", false
		}
		comment, rest, _ = strings.Cut(rest, ")")
		if token, ok = commentToken(comment); ok {
			return token, true
		}
	}
}

// commentToken finds what follows "compatible" in a comment, or a product with its version.
func commentToken(comment string) (string, bool) {
	compatible := false
	for part := range strings.SplitSeq(comment, ";") {
		part = strings.Trim(part, blanks)
		name, version, _ := strings.Cut(part, "/")
		versioned := version != "" && '0' <= version[0] && version[0] <= '9'
		if (versioned || compatible) && isToken(name) && !strings.ContainsAny(part, blanks) {
			return name, true
		}
		compatible = strings.EqualFold(part, "compatible")
	}
	return "", false
}
