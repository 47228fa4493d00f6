package crawler

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/seine-go/seine/internal/weburl"
)

// route is a compiled pattern.
type route struct {
	pattern  string
	host     string // "" for any; "." + domain for all below it
	segments []segment
	handler  Handler
}

// segment is one part of a path.
type segment struct {
	text string // literal, or the name of a wildcard
	kind segmentKind
}

type segmentKind uint8

const (
	literal segmentKind = iota
	single              // {name}
	rest                // {name...}, or what a slash at the end stands for
)

// maxPatternBytes bounds a pattern.
const maxPatternBytes = 2048

func parsePattern(pattern string) (*route, error) {
	if len(pattern) > maxPatternBytes {
		return nil, fmt.Errorf("longer than %d bytes", maxPatternBytes)
	}
	slash := strings.IndexByte(pattern, '/')
	if slash < 0 {
		return nil, errors.New("has no path")
	}
	r := &route{pattern: pattern}
	var err error
	if r.host, err = parseHostPattern(pattern[:slash]); err != nil {
		return nil, err
	}
	r.segments, err = parsePathPattern(pattern[slash+1:])
	return r, err
}

func parseHostPattern(host string) (string, error) {
	switch {
	case host == "":
		return "", nil
	case strings.Contains(host, "://"), strings.HasSuffix(host, ":"):
		return "", errors.New("begins with a scheme; write host/path")
	case strings.Contains(host, " "):
		return "", errors.New("has a blank; there is no method")
	}
	below, isBelow := strings.CutPrefix(host, "*.")
	u, err := weburl.Parse("https://" + below)
	if err != nil || strings.ContainsAny(below, "?#@{}*") {
		return "", fmt.Errorf("%q is no host", host)
	}
	if isBelow {
		if u, err := weburl.Parse("https://a." + below); err != nil || u.Hostname() != "a."+below {
			return "", fmt.Errorf("%q is never met", host)
		}
		return "." + below, nil
	}
	if v, err := weburl.Parse("http://" + host); err != nil || u.Host() != host && v.Host() != host {
		return "", fmt.Errorf("%q is never met: write %q", host, u.Host())
	}
	return host, nil
}

func parsePathPattern(path string) ([]segment, error) {
	var segments []segment
	names := map[string]bool{}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		last := i == len(parts)-1
		s, err := parseSegment(part)
		switch {
		case err != nil:
			return nil, err
		case part == "{$}" && !last:
			return nil, errors.New("{$} stands before the end")
		case part == "" && last:
			s.kind = rest // without a name: a slash at the end stands for all below
		case s.kind == rest && !last:
			return nil, fmt.Errorf("%s stands before the end", part)
		case s.kind != literal && names[s.text]:
			return nil, fmt.Errorf("wildcard %q stands twice", s.text)
		}
		if s.kind != literal {
			names[s.text] = true
		}
		segments = append(segments, s)
	}
	return segments, nil
}

// parseSegment reads a segment: a wildcard, or text as it stands in a URL.
func parseSegment(part string) (segment, error) {
	if !strings.ContainsAny(part, "{}") {
		return segment{text: part}, checkLiteral(part)
	}
	inner, closed := strings.CutSuffix(strings.TrimPrefix(part, "{"), "}")
	if part[0] != '{' || !closed || strings.ContainsAny(inner, "{}") {
		return segment{}, fmt.Errorf("segment %q is neither text nor a wildcard", part)
	}
	if inner == "$" {
		return segment{}, nil
	}
	name, isRest := strings.CutSuffix(inner, "...")
	if !isIdentifier(name) {
		return segment{}, fmt.Errorf("wildcard %q has no name of letters and digits", part)
	}
	if isRest {
		return segment{name, rest}, nil
	}
	return segment{name, single}, nil
}

// checkLiteral refuses a segment that the path of no URL has as it is serialised.
func checkLiteral(text string) error {
	if strings.ContainsAny(text, "?#") {
		return fmt.Errorf("segment %q holds a query or a fragment", text)
	}
	u, err := weburl.Parse("http://host/" + text + "/")
	switch written := strings.Trim(u.Path(), "/"); {
	case err != nil || u.Path() == "/" && text != "" || strings.Contains(written, "/"):
		return fmt.Errorf("segment %q is never met: no URL has it", text)
	case written != text:
		return fmt.Errorf("segment %q is never met: write %q", text, written)
	}
	return nil
}

func isIdentifier(s string) bool {
	for i, c := range s {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

func (r *route) matchHost(u weburl.URL) bool {
	switch {
	case r.host == "":
		return true
	case r.host[0] == '.':
		return strings.HasSuffix(u.Hostname(), r.host)
	}
	return u.Host() == r.host
}

// matchPath compares a path, which begins with a slash, segment by segment.
func (r *route) matchPath(path string) bool {
	path, _ = strings.CutPrefix(path, "/")
	for i, s := range r.segments {
		if s.kind == rest {
			return true
		}
		part, tail, more := strings.Cut(path, "/")
		if s.kind == literal && part != s.text || s.kind == single && part == "" {
			return false
		}
		if more != (i < len(r.segments)-1) {
			return false
		}
		path = tail
	}
	return true
}

// values returns what the wildcards stand for in a path that matches.
func (r *route) values(path string) []pathValue {
	var values []pathValue
	path, _ = strings.CutPrefix(path, "/")
	for _, s := range r.segments {
		part, tail, _ := strings.Cut(path, "/")
		switch {
		case s.kind == single:
			values = append(values, pathValue{s.text, unescape(part)})
		case s.kind == rest && s.text != "":
			values = append(values, pathValue{s.text, unescape(path)})
		}
		path = tail
	}
	return values
}

// unescape decodes percent escapes; a text with a bad one comes back as it is.
func unescape(s string) string {
	if u, err := url.PathUnescape(s); err == nil {
		return u
	}
	return s
}

// relation is how the sets of paths of two patterns lie.
type relation uint8

const (
	same relation = iota
	moreSpecial
	moreGeneral
	overlapping
	disjoint
)

// hostRank orders the hosts of patterns that fit one URL: a greater one is more special.
func hostRank(host string) int {
	if host == "" || host[0] == '.' {
		return len(host)
	}
	return maxPatternBytes + 1
}

// join combines the relations of two independent parts.
func join(a, b relation) relation {
	switch {
	case a == disjoint || b == disjoint:
		return disjoint
	case a == same || a == b:
		return b
	case b == same:
		return a
	}
	return overlapping
}

// comparePaths tells how the paths lie that two patterns fit.
func comparePaths(a, b []segment) relation {
	rel := same
	for {
		switch {
		case len(a) == 0 && len(b) == 0:
			return rel
		case len(a) == 0 || len(b) == 0:
			return disjoint
		case a[0].kind == rest && b[0].kind == rest:
			return rel
		case a[0].kind == rest:
			return join(rel, moreGeneral)
		case b[0].kind == rest:
			return join(rel, moreSpecial)
		}
		if rel = join(rel, compareSegments(a[0], b[0])); rel == disjoint {
			return disjoint
		}
		a, b = a[1:], b[1:]
	}
}

func compareSegments(a, b segment) relation {
	switch {
	case a.kind == single && b.kind == single:
		return same
	case a.kind == single:
		return generalUnlessEmpty(b.text, moreGeneral)
	case b.kind == single:
		return generalUnlessEmpty(a.text, moreSpecial)
	case a.text == b.text:
		return same
	}
	return disjoint
}

// generalUnlessEmpty: {name} matches no empty segment.
func generalUnlessEmpty(literal string, r relation) relation {
	if literal == "" {
		return disjoint
	}
	return r
}
