package torrent

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"

	"github.com/seine-go/seine/torrent/bencode"
)

// trackerScheme tells whether a URL is of a scheme that trackers have, and has a host.
func trackerScheme(url string) bool {
	if len(url) > len("http://") && (url[:6] == "udp://" && beginsHost(url[6]) || url[:7] == "http://" && beginsHost(url[7])) {
		return true // as most have it
	}
	var lower [len("https")]byte
	for i := range min(len(url), len(lower)+1) {
		if url[i] == ':' {
			if len(url) <= i+3 || url[i+1] != '/' || url[i+2] != '/' || !beginsHost(url[i+3]) {
				return false
			}
			switch string(lower[:i]) {
			case "http", "https", "udp", "ws", "wss":
				return true
			}
			return false
		}
		if i < len(lower) {
			lower[i] = url[i] | 0x20
		}
	}
	return false
}

func beginsHost(c byte) bool { return c != '/' && c != '?' && c != '#' && c != ':' }

// isClean tells whether a URL is free of control characters, which would end a line of a request.
func isClean(url string) bool {
	for i := range len(url) {
		if url[i] < ' ' || url[i] == 0x7f {
			return false
		}
	}
	return true
}

// uniq keeps what it saw, so that lists hold each string once.
type uniq struct {
	seen map[string]struct{} // nil while there are few
}

// fewStrings is up to where a list is searched rather than a map.
const fewStrings = 16

// add appends s to the list unless the list, or another that add filled, holds it.
func (u *uniq) add(list *[]string, s string) {
	if u.seen == nil && len(*list) >= fewStrings {
		u.keep(*list)
	}
	if u.seen == nil {
		if *list == nil {
			*list = make([]string, 0, 4)
		}
		if !slices.Contains(*list, s) {
			*list = append(*list, s)
		}
		return
	}
	if _, ok := u.seen[s]; !ok {
		u.seen[s] = struct{}{}
		*list = append(*list, s)
	}
}

// keep goes over to a map that holds the list.
func (u *uniq) keep(list []string) {
	u.seen = make(map[string]struct{}, 2*len(list))
	for _, s := range list {
		u.seen[s] = struct{}{}
	}
}

// tiers collects trackers: trimmed, each URL once, usable ones alone.
type tiers struct {
	all  []string
	seen uniq
	list [][]string
}

// tracker adds a URL.
func (p *parser) tracker(raw []byte, at int, key string) {
	raw = trimBytes(raw)
	if len(raw) == 0 {
		return
	}
	if len(p.tiers.all) < maxURLs {
		if url := string(raw); trackerScheme(url) && isClean(url) || isBareHost(url) {
			p.tiers.seen.add(&p.tiers.all, url)
			return
		}
	}
	p.warn(ErrUnusable, at, key)
}

// maxURLs is how many trackers, and URLs of one list, are kept of a torrent; further ones get a warning.
const maxURLs = 10_000

// isBareHost tells whether a tracker without a scheme may be one: a host, maybe with a port and a path.
func isBareHost(s string) bool {
	host, _, _ := strings.Cut(s, "/")
	_, ok := hostPort(host)
	return (ok || isHost(host)) && isClean(s)
}

// endTier makes a tier of the URLs behind start.
func (t *tiers) endTier(start int) {
	if n := len(t.all); n > start {
		t.list = append(t.list, t.all[start:n:n])
	}
}

// announceList reads the tiers of BEP 12. A flat list of URLs and a single URL are found in the wild; each URL is
// then a tier of its own.
func (p *parser) announceList() {
	const key = "announce-list"
	t := p.Next()
	if t.Kind == bencode.String {
		p.tracker(p.Text(t), t.Start, key)
		p.tiers.endTier(0)
		return
	}
	if t.Kind != bencode.List {
		p.wrongType(t, key)
		return
	}
	for t = p.Next(); t.Kind != bencode.End && t.Kind != bencode.None; t = p.Next() {
		start := len(p.tiers.all)
		switch t.Kind {
		case bencode.String:
			p.tracker(p.Text(t), t.Start, key)
		case bencode.List:
			p.eachText(key, func(t bencode.Token) { p.tracker(p.Text(t), t.Start, key) })
		default:
			p.wrongType(t, key)
		}
		p.tiers.endTier(start)
	}
}

// trackers takes over the tiers of announce-list, or announce when there is none that is usable.
func (p *parser) trackers(announce bencode.Token) {
	if p.optional(announce, bencode.String, "announce") && !slices.ContainsFunc(p.tiers.all, trackerScheme) &&
		(len(p.tiers.all) == 0 || trackerScheme(trim(string(p.Text(announce))))) { // a usable one counts for more than bare names
		p.tiers = tiers{}
		p.tracker(p.Text(announce), announce.Start, "announce")
		p.tiers.endTier(0)
	}
	p.m.Trackers = p.tiers.list
}

// wrongType passes over a value that has just begun.
func (p *parser) wrongType(t bencode.Token, key string) {
	if t.Kind == bencode.None {
		return
	}
	p.warn(ErrWrongType, t.Start, key)
	if t.Kind == bencode.List || t.Kind == bencode.Dict {
		p.Skip()
	}
}

// eachText calls f for the strings of a list that has been entered.
func (p *parser) eachText(key string, f func(bencode.Token)) {
	for {
		t := p.Next()
		switch t.Kind {
		case bencode.End, bencode.None:
			return
		case bencode.String:
			f(t)
		default:
			p.wrongType(t, key)
		}
	}
}

// texts reads a URL or a list of URLs: trimmed, without empty ones, each once.
func (p *parser) texts(key string) (list []string) {
	seen := uniq{}
	add := func(t bencode.Token) {
		raw := trimBytes(p.Text(t))
		if len(raw) == 0 {
			return
		}
		if len(list) < maxURLs {
			if url := string(raw); isClean(url) {
				seen.add(&list, url)
				return
			}
		}
		p.warn(ErrUnusable, t.Start, key)
	}
	switch t := p.Next(); t.Kind {
	case bencode.String:
		add(t)
	case bencode.List:
		p.eachText(key, add)
	default:
		p.wrongType(t, key)
	}
	return list
}

// trim takes away blanks and control characters at both ends.
func trim(s string) string {
	if s != "" && !(visible(s[0]) && visible(s[len(s)-1])) {
		s = strings.TrimFunc(s, isBlank)
	}
	return s
}

func trimBytes(b []byte) []byte {
	if len(b) == 0 || visible(b[0]) && visible(b[len(b)-1]) {
		return b
	}
	return bytes.TrimFunc(b, isBlank)
}

func visible(c byte) bool { return c > ' ' && c < 0x7f }

// isBlank tells what is taken away at the ends of a text: also the blanks of other scripts and the byte order mark.
func isBlank(r rune) bool { return r <= ' ' || r == 0x7f || r == 0xa0 || r == 0xfeff || r == 0x3000 }

// maxNodes is how many nodes are kept of a torrent; further ones get a warning.
const maxNodes = 10_000

// nodes reads the addresses of BEP 5: a list of pairs of host and port.
func (p *parser) nodes() {
	t := p.Next()
	if t.Kind != bencode.List {
		p.wrongType(t, "nodes")
		return
	}
	for t = p.Next(); t.Kind != bencode.End && t.Kind != bencode.None; t = p.Next() {
		if t.Kind != bencode.List {
			p.wrongType(t, "nodes")
			continue
		}
		p.node(t.Start)
	}
}

// node reads a pair, whose list has been entered. Further members are passed over.
func (p *parser) node(start int) {
	host, port := p.Value(), bencode.Token{}
	if host.Kind != bencode.End {
		port = p.Value()
	}
	for t := port; t.Kind != bencode.End && t.Kind != bencode.None && host.Kind != bencode.End; {
		t = p.Value()
	}
	if host.Kind != bencode.String || port.Kind != bencode.Integer {
		p.warn(ErrWrongType, start, "nodes")
		return
	}
	name, ok := nodeHost(trim(string(p.Text(host))))
	if !ok || port.Int() < 1 || port.Int() > 65535 || len(p.m.Nodes) == maxNodes {
		p.warn(ErrUnusable, start, "nodes")
		return
	}
	p.m.Nodes = append(p.m.Nodes, Node{Host: name, Port: uint16(port.Int())})
}

// nodeHost checks the host of a node: a name or an IP address, which some write in brackets.
func nodeHost(s string) (host string, ok bool) {
	if isHost(s) {
		return s, true
	}
	if inside, cut := strings.CutPrefix(s, "["); cut {
		s, ok = strings.CutSuffix(inside, "]")
		if !ok {
			return "", false
		}
	}
	addr, err := netip.ParseAddr(s)
	return s, err == nil && addr.Is6() && addr.Zone() == ""
}
