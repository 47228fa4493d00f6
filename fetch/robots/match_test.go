package robots

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func compileRules(lines ...string) *Rules {
	var rules []rule
	for i, line := range lines {
		rules = append(rules, rule{Rule{i + 1, line}, line[0] == '+', line[1:]})
	}
	r := &Rules{}
	r.compile(rules)
	return r
}

func TestMatch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		rules  []string // "+" allows, "-" disallows
		target string
		want   bool
	}{
		{"none", nil, "/a", true},
		{"longest wins", []string{"-/a", "+/a/b"}, "/a/b/c", true},
		{"longest wins, either order", []string{"+/a/b", "-/a"}, "/a/b/c", true},
		{"longest wins, disallow", []string{"+/a", "-/a/b"}, "/a/b/c", false},
		{"allow wins ties", []string{"-/a", "+/a"}, "/a", true},
		{"allow wins ties with a wildcard", []string{"-/a/b", "+/*/b"}, "/a/b", true},
		{"wildcard longer than literal", []string{"+/a", "-/*b"}, "/ab", false},
		{"literal longer than wildcard", []string{"+/abc", "-/*c"}, "/abc", true},
		{"wildcard counts", []string{"+/a", "-/a*"}, "/ab", false},
		{"anchor counts", []string{"+/a", "-/a$"}, "/a", false},
		{"anchor is the end", []string{"-/a$"}, "/ab", true},
		{"anchor after the query", []string{"-/a$"}, "/a?b", true},
		{"anchor after a wildcard", []string{"-/*.gif$"}, "/x.gif/y.gif", false},
		{"anchored tail does not overlap", []string{"-/ab*ba$"}, "/aba", true},
		{"anchored empty tail", []string{"-/a*$"}, "/abc", false},
		{"dollar inside is literal", []string{"-/a$b"}, "/a$bc", false},
		{"dollar before a wildcard is literal", []string{"-/a$*"}, "/ab", true},
		{"escaped dollar at the end is literal", []string{"-/a%24"}, "/a$b", false},
		{"escaped star is literal", []string{"-/a%2Ab"}, "/axb", true},
		{"escaped star matches a raw one", []string{"-/a%2ab"}, "/a*b", false},
		{"many wildcards", []string{"-/**a***b"}, "/xaxxb", false},
		{"leading wildcard", []string{"-*b"}, "/ab", false},
		{"case matters", []string{"-/A"}, "/a", true},
		{"query as sent", []string{"-/s?a=1&b=2"}, "/s?b=2&a=1", true},
		{"query belongs", []string{"-/*?"}, "/s?", false},
		{"fragment does not", []string{"-/*#x", "-/*x"}, "/a#x", true},
		{"escape of an unreserved octet", []string{"-/%7Euser/%61"}, "/~user/a", false},
		{"escape of a reserved octet", []string{"-/a%2Fb"}, "/a/b", true},
		{"escape case", []string{"-/a%2fb"}, "/a%2Fb", false},
		{"escape of the percent sign", []string{"-/a%252F"}, "/a%2F", true},
		{"raw blank and its escape", []string{"-/a b"}, "/a%20b", false},
		{"raw bracket and its escape", []string{"-/a[]"}, "/a%5b%5D", false},
		{"raw utf-8 and its escape", []string{"-/%E3%83%84"}, "/ツ", false},
		{"bad escapes stay", []string{"-/%zz%", "-/%4"}, "/%zz%", false},
		{"bad escape is a percent sign", []string{"-/100%25"}, "/100%", false},
		{"slash in a query", []string{"-/f?baz=https://foo.bar"}, "/f?baz=https%3A%2F%2Ffoo.bar", false},
		{"slash in a query, other way", []string{"-/f?baz=https%3a%2f%2ffoo.bar"}, "/f?baz=https://foo.bar/x", false},
		{"slash in a query, equal length", []string{"+/f?u=//a", "-/f?u=%2F%2F*"}, "/f?u=//a", true},
		{"slash in a query is no path", []string{"-/*//"}, "/f?baz=https%3A%2F%2Ffoo.bar", true},
		{"delimiter in a query", []string{"-/f?a%26b"}, "/f?a&b", true},
		{"whole url", []string{"-/a"}, "https://u:p@h.test:8080/a/b", false},
		{"url without a path", []string{"-/$"}, "https://h.test", false},
		{"url with a query only", []string{"-/?q"}, "http://h.test?q=a", false},
		{"url inside a query", []string{"-/r?u=http://h/a"}, "/r?u=http://h/ab", false},
		{"path of two slashes", []string{"-//a"}, "//a/b", false},
		{"empty", []string{"-/$"}, "", false},
		{"no slash", []string{"-/a"}, "a", false},
		{"query only", []string{"-/?a"}, "?ab", false},
		{"robots.txt", []string{"-/"}, "/robots.txt", true},
		{"robots.txt escaped", []string{"-/"}, "/robots%2Etxt", true},
		{"robots.txt with a query", []string{"-/"}, "/robots.txt?x", false},
		{"nested prefixes", []string{"-/a", "+/ab", "-/abc", "+/abd", "-/b"}, "/abcd", false},
		{"nested prefixes, sibling", []string{"-/a", "+/ab", "-/abc", "+/abd", "-/b"}, "/abe", true},
		{"nested prefixes, way up", []string{"-/a", "+/ab", "-/abc", "+/abd", "-/b"}, "/az", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := compileRules(tt.rules...).Allowed(tt.target); got != tt.want {
				t.Errorf("%v of %q: allowed %v, want %v", tt.rules, tt.target, got, tt.want)
			}
		})
	}
}

func TestZeroRulesAllow(t *testing.T) {
	t.Parallel()
	for _, rules := range []*Rules{nil, {}, (&File{}).Agent("mybot")} {
		if !rules.Allowed("/a?b") {
			t.Error("not allowed")
		}
		if d, ok := rules.CrawlDelay(); d != 0 || ok {
			t.Error("a crawl-delay")
		}
	}
}

// TestHostilePatterns matches against patterns that make a backtracking matcher explode, and against many of them.
func TestHostilePatterns(t *testing.T) {
	t.Parallel()
	many := func(n int, line func(i int) string) (lines []string) {
		for i := range n {
			lines = append(lines, line(i))
		}
		return lines
	}
	as := "/" + strings.Repeat("a", 64<<10)
	tests := []struct {
		name   string
		rules  []string
		target string
		want   bool
	}{
		{"one flood", []string{"-/" + strings.Repeat("*a", maxLine/2) + "b"}, as, true},
		{"one flood that matches", []string{"-/" + strings.Repeat("*a", maxLine/2) + "$"}, as, false},
		{"stars", []string{"-/" + strings.Repeat("*", maxLine)}, as, false},
		{"5,000 floods", many(5_000, func(i int) string { return fmt.Sprintf("-/%sb%d", strings.Repeat("*a", 40), i) }), as, true},
		{"5,000 suffixes", many(5_000, func(i int) string { return fmt.Sprintf("-/*%sb%d$", strings.Repeat("a", 80), i) }), as, true},
		{"5,000 long needles", many(5_000, func(i int) string { return fmt.Sprintf("-/*%sb%d", strings.Repeat("a", 80), i) }), as[:8<<10], true},
		{"5,000 prefixes", many(5_000, func(i int) string { return fmt.Sprintf("-/p%d/", i) }), "/p4999/x", false},
		{"nested prefixes", many(1_000, func(i int) string { return "-/" + strings.Repeat("a", i) + "b" }), as, true},
		{"escapes", []string{"-/" + strings.Repeat("*%61", 4_000) + "b"}, "/" + strings.Repeat("%61", 20_000), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rules := compileRules(tt.rules...)
			start := time.Now()
			if got := rules.Allowed(tt.target); got != tt.want {
				t.Errorf("allowed %v, want %v", got, tt.want)
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestAllowedDoesNotAllocate(t *testing.T) {
	rules := typicalRules(100)
	for _, target := range typicalTargets {
		if n := testing.AllocsPerRun(100, func() { rules.Allowed(target) }); n != 0 {
			t.Errorf("%s: %v allocations", target, n)
		}
	}
}

// FuzzMatch compares with a matcher that is written from the text of the RFC: it escapes where ours unescapes, and tries
// all ways where ours takes the first.
func FuzzMatch(f *testing.F) {
	f.Add("-/a\n+/a/b", "/a/b/c")
	f.Add("-/*a*b$\n+/ab\n-*%2f", "/xaxb?%2F")
	f.Add("-/%61%2a%24$\n+/a*$b\n-/%", "/a*$%2a%")
	f.Add("-/?u=http%3A//\n+/*?*=http:%2f%2F\n-/?u=%3f%40", "/?u=http:%2F/%40?@")
	f.Add("-/a[b]\n-/ü\n+/%C3%bc", "/%c3%bcxy")
	f.Add("+/\n-/*/*/*$\n-/robots", "/robots%2etxt")
	f.Fuzz(func(t *testing.T, lines, target string) {
		if len(lines) > 400 || len(target) > 400 {
			return
		}
		var rules []string
		for line := range strings.SplitSeq(lines, "\n") {
			if len(line) > 1 && (line[0] == '+' || line[0] == '-') && (line[1] == '/' || line[1] == '*') {
				rules = append(rules, line)
			}
		}
		got, want := compileRules(rules...).Allowed("/"+target), slowAllowed(rules, "/"+target)
		if got != want {
			t.Errorf("%q of %q: allowed %v, want %v", rules, target, got, want)
		}
	})
}

// slowAllowed is Allowed, tried one by one.
func slowAllowed(rules []string, target string) bool {
	target, _, _ = strings.Cut(target, "#")
	tokens := slowTokens(target, false)
	if strings.Join(tokens, "") == "/robots.txt" {
		return true
	}
	length, allowed := -1, true
	note := func(pattern []string, allow bool) {
		n := 0
		for _, token := range pattern {
			if token == "%2A" || token == "%24" || token == "any" || token == "end" {
				n++
			} else {
				n += len(token)
			}
		}
		if n > length || n == length && allow {
			length, allowed = n, allow
		}
	}
	for _, line := range rules {
		pattern := slowTokens(line[1:], true)
		if slowMatch(pattern, tokens) {
			note(pattern, line[0] == '+')
		}
		if slices.Contains(pattern, "?") && slices.Contains(tokens, "?") {
			if pattern = slowLoosen(pattern); slowMatch(pattern, slowLoosen(tokens)) {
				note(pattern, line[0] == '+')
			}
		}
	}
	return allowed
}

// slowTokens escapes what RFC 9309 2.2.2 wants escaped, an octet a token; of a pattern "any" and "end" stand for the
// special characters.
func slowTokens(s string, pattern bool) (tokens []string) {
	const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
	for i := 0; i < len(s); i++ {
		octet, escaped := s[i], false
		if octet == '%' {
			escaped = true
			var n int
			if i+2 < len(s) && !strings.ContainsAny(s[i+1:i+3], "+-_ ") {
				if k, _ := fmt.Sscanf(s[i+1:i+3], "%02x", &n); k == 1 && strings.EqualFold(fmt.Sprintf("%02x", n), s[i+1:i+3]) {
					octet = byte(n)
					i += 2
				}
			}
		}
		switch {
		case pattern && !escaped && octet == '*':
			tokens = append(tokens, "any")
		case pattern && !escaped && octet == '$' && i == len(s)-1:
			tokens = append(tokens, "end")
		case strings.IndexByte(unreserved, octet) >= 0,
			!escaped && strings.IndexByte(":/?#@!&'()+,;=", octet) >= 0:
			tokens = append(tokens, string(rune(octet)))
		default:
			tokens = append(tokens, fmt.Sprintf("%%%02X", octet))
		}
	}
	return tokens
}

func slowLoosen(tokens []string) []string {
	raw := map[string]string{"%2F": "/", "%3A": ":", "%3F": "?", "%40": "@"}
	out := slices.Clone(tokens)
	for i := slices.Index(out, "?"); i < len(out); i++ {
		if octet, ok := raw[out[i]]; ok {
			out[i] = octet
		}
	}
	return out
}

// slowMatch keeps the set of places in the target that the pattern so far can lead to.
func slowMatch(pattern, target []string) bool {
	places := make([]bool, len(target)+1)
	places[0] = true
	for _, token := range pattern {
		next := make([]bool, len(target)+1)
		for i, here := range places {
			switch {
			case !here:
			case token == "any":
				for j := i; j <= len(target); j++ {
					next[j] = true
				}
			case token == "end":
				next[i] = i == len(target)
			case i < len(target) && target[i] == token:
				next[i+1] = true
			}
		}
		places = next
	}
	return slices.Contains(places, true)
}

var typicalTargets = []string{"/title/tt0111161/", "/search?q=heat&page=2", "/section17/private/file.html", "/"}

// typicalRules returns n rules as large sites have them: plain paths, one in ten with wildcards.
func typicalRules(n int) *Rules {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := range n {
		switch {
		case i%10 == 0:
			fmt.Fprintf(&b, "Disallow: /*/sort%d=*.html$\n", i)
		case i%7 == 0:
			fmt.Fprintf(&b, "Allow: /section%d/public/\n", i)
		default:
			fmt.Fprintf(&b, "Disallow: /section%d/private/\n", i)
		}
	}
	return Parse([]byte(b.String())).Agent("mybot")
}

func BenchmarkAllowed(b *testing.B) {
	for _, n := range []int{10, 100, 5_000} {
		rules := typicalRules(n)
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				rules.Allowed(typicalTargets[i%len(typicalTargets)])
				i++
			}
		})
	}
	rules := typicalRules(100)
	b.Run("escapes", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			rules.Allowed("/section17/%E3%83%84/file%20name.html?u=http%3A%2F%2Fh")
		}
	})
	flood := compileRules("-/" + strings.Repeat("*a", 1_000) + "b")
	target := "/" + strings.Repeat("a", 8<<10)
	b.Run("flood", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			flood.Allowed(target)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	body := []byte("User-agent: *\n" + strings.Repeat("Disallow: /section/private/file\n", 100))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		Parse(body).Agent("mybot")
	}
}
