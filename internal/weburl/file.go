package weburl

import "strings"

// The states of file URLs, with their quirks about Windows drive letters.

// file is the file and file slash states.
func (p *parser) file(s string) Reason {
	base := p.base
	if base != nil && base.Scheme() != "file" {
		base = nil
	}
	if s != "" && (s[0] == '/' || s[0] == '\\') {
		s = s[1:]
		if s != "" && (s[0] == '/' || s[0] == '\\') {
			return p.fileHost(s[1:])
		}
		p.fileAuthority(base)
		if base != nil && !startsWithDrive(s) && startsWithDrivePath(base.Path()) {
			p.out = append(p.out, base.Path()[:3]...)
		}
		return p.path(s)
	}
	switch {
	case base == nil || startsWithDrive(s):
		p.fileAuthority(base)
	case s == "" || s[0] == '#':
		p.copyBase(base.at.queryEnd)
		return p.fragment(s)
	case s[0] == '?':
		p.copyBase(base.at.pathEnd)
		return p.query(s)
	default:
		p.copyBase(base.at.pathEnd)
		p.shorten()
	}
	return p.path(s)
}

// fileAuthority writes the host of the base, or an empty one.
func (p *parser) fileAuthority(base *URL) {
	if base != nil {
		p.copyBase(base.at.authority)
		return
	}
	p.openAuthority()
	p.at.hostEnd = p.at.host
	p.closeAuthority()
}

func (p *parser) fileHost(s string) Reason {
	end := p.delimiter(s)
	host := s[:end]
	p.openAuthority()
	if isDrive(host) {
		p.at.hostEnd = p.at.host
		p.closeAuthority()
		return p.path(s)
	}
	if host != "" {
		if reason := p.writeHost(host); reason != 0 {
			return reason
		}
		if string(p.out[p.at.host:]) == "localhost" {
			p.out = p.out[:p.at.host]
		}
	}
	p.at.hostEnd = int32(len(p.out))
	p.closeAuthority()
	return p.pathStart(s[end:])
}

// isDrive reports whether s is a Windows drive letter, as in "C:" or "C|".
func isDrive(s string) bool {
	return len(s) == 2 && isAlpha(s[0]) && (s[1] == ':' || s[1] == '|')
}

// startsWithDrive reports whether s starts with a drive letter that ends there.
func startsWithDrive(s string) bool {
	return len(s) >= 2 && isDrive(s[:2]) && (len(s) == 2 || strings.IndexByte(`/\?#`, s[2]) >= 0)
}

// startsWithDrivePath reports whether the first segment of a path is a normalised drive letter.
func startsWithDrivePath(path string) bool {
	return len(path) >= 3 && path[0] == '/' && isAlpha(path[1]) && path[2] == ':' && (len(path) == 3 || path[3] == '/')
}
