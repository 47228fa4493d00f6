package torrent

import (
	"slices"
	"strings"

	"github.com/seine-go/seine/torrent/bencode"
)

// trackerScheme tells whether a URL is of a scheme that trackers have.
func trackerScheme(url string) bool {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok || rest == "" {
		return false
	}
	for _, s := range [...]string{"http", "https", "udp", "ws", "wss"} {
		if strings.EqualFold(scheme, s) {
			return true
		}
	}
	return false
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

// announceList reads the tiers of BEP 12. A flat list of URLs and a single URL are found in the wild; each URL is then a
// tier of its own.
func (p *parser) announceList() {
	t := p.Next()
	if t.Kind == bencode.String {
		p.announce = [][]string{{string(p.Text(t))}}
		return
	}
	if t.Kind != bencode.List {
		p.wrongType(t, "announce-list")
		return
	}
	for t = p.Next(); t.Kind != bencode.End && t.Kind != bencode.None; t = p.Next() {
		switch t.Kind {
		case bencode.String:
			p.announce = append(p.announce, []string{string(p.Text(t))})
		case bencode.List:
			p.announce = append(p.announce, p.stringsOfList("announce-list"))
		default:
			p.wrongType(t, "announce-list")
		}
	}
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

// stringsOfList reads the rest of a list that has been entered.
func (p *parser) stringsOfList(key string) []string {
	var list []string
	for {
		t := p.Next()
		switch t.Kind {
		case bencode.End, bencode.None:
			return list
		case bencode.String:
			list = append(list, string(p.Text(t)))
		default:
			p.wrongType(t, key)
		}
	}
}

// texts reads a string or a list of strings: trimmed, without empty ones, each once.
func (p *parser) texts(key string) []string {
	var all []string
	switch t := p.Next(); t.Kind {
	case bencode.String:
		all = []string{string(p.Text(t))}
	case bencode.List:
		all = p.stringsOfList(key)
	default:
		p.wrongType(t, key)
	}
	var list []string
	seen := uniq{}
	for _, s := range all {
		if s = trim(s); s != "" {
			seen.add(&list, s)
		}
	}
	return list
}

// trim takes away blanks and control characters at both ends.
func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f || r == 0xa0 || r == 0xfeff || r == 0x3000 })
}

// trackers makes the tiers: trimmed, each URL once, usable ones alone; announce counts when nothing else does.
func (p *parser) trackers(announce bencode.Token) [][]string {
	tiers := p.usable(p.announce, "announce-list")
	if len(tiers) == 0 && p.optional(announce, bencode.String, "announce") {
		tiers = p.usable([][]string{{string(p.Text(announce))}}, "announce")
	}
	return tiers
}

func (p *parser) usable(tiers [][]string, key string) [][]string {
	var kept [][]string
	var all []string
	seen := uniq{}
	for _, tier := range tiers {
		start := len(all)
		for _, url := range tier {
			switch url = trim(url); {
			case url == "":
			case trackerScheme(url) || !strings.Contains(url, "://"):
				seen.add(&all, url)
			default:
				p.warn(ErrUnusable, p.info.offset, key)
			}
		}
		if len(all) > start {
			kept = append(kept, all[start:len(all):len(all)])
		}
	}
	return kept
}

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
	name := trim(string(p.Text(host)))
	if name == "" || port.Int() < 1 || port.Int() > 65535 {
		p.warn(ErrUnusable, start, "nodes")
		return
	}
	p.m.Nodes = append(p.m.Nodes, Node{Host: name, Port: uint16(port.Int())})
}
