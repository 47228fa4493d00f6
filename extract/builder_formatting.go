package extract

import (
	"slices"

	"golang.org/x/net/html/atom"
)

// marker bounds the list of active formatting elements at a cell, an object or the like.
var marker = formatting{}

func (f formatting) isMarker() bool { return f.id == 0 }

func (b *builder) formattingIndex(id uint32) int {
	for i := len(b.formatting) - 1; i >= 0; i-- {
		if b.formatting[i].id == id {
			return i
		}
	}
	return -1
}

func (b *builder) unformat(id uint32) {
	if i := b.formattingIndex(id); i >= 0 {
		b.formatting = slices.Delete(b.formatting, i, i+1)
	}
}

// mark puts a marker on the list.
func (b *builder) mark() {
	if len(b.formatting) < 2*maxOpen {
		b.formatting = append(b.formatting, marker)
	}
}

// clearFormatting forgets the formatting elements up to the last marker.
func (b *builder) clearFormatting() {
	for len(b.formatting) > 0 {
		last := b.formatting[len(b.formatting)-1]
		b.formatting = b.formatting[:len(b.formatting)-1]
		if last.isMarker() {
			return
		}
	}
}

// reconstruct opens the active formatting elements again that have been closed by the way (WHATWG HTML 13.2.4.3).
func (b *builder) reconstruct() {
	from := len(b.formatting)
	for from > 0 && !b.formatting[from-1].isMarker() && b.indexOf(b.formatting[from-1].id) < 0 {
		from--
	}
	for i := from; i < len(b.formatting); i++ {
		e := b.formatting[i].element
		e.id = 0
		b.formatting[i] = formatting{b.push(e)}
		b.clones++
		b.empty = 0
	}
}

// insertFormatting opens a formatting element. Of more than three that are equal, the earliest go (the "Noah's Ark
// clause").
func (b *builder) insertFormatting() {
	e := b.insert(inHTML)
	equal := 0
	for i := len(b.formatting) - 1; i >= 0 && !b.formatting[i].isMarker(); i-- {
		if f := b.formatting[i]; f.atom == e.atom && f.attrs == e.attrs {
			if equal++; equal >= 3 {
				b.formatting = slices.Delete(b.formatting, i, i+1)
			}
		}
	}
	if len(b.formatting) < 2*maxOpen {
		b.formatting = append(b.formatting, formatting{e})
	}
}

// activeFormatting returns the last active formatting element of that name, up to a marker.
func (b *builder) activeFormatting(a atom.Atom) (formatting, bool) {
	for i := len(b.formatting) - 1; i >= 0 && !b.formatting[i].isMarker(); i-- {
		if f := b.formatting[i]; f.atom == a {
			return f, true
		}
	}
	return formatting{}, false
}

// adopt is the adoption agency algorithm (WHATWG HTML 13.2.6.4.7) for the end tag of a formatting element.
func (b *builder) adopt(name tagName) {
	if top := b.top(); top.hash == name.hash && b.formattingIndex(top.id) < 0 {
		b.pop()
		return
	}
	for range 8 {
		f, ok := b.activeFormatting(name.atom)
		if !ok {
			b.endOther(name)
			return
		}
		at := b.indexOf(f.id)
		if at < 0 {
			b.unformat(f.id)
			return
		}
		if !b.inScope(defaultScope, name.atom) {
			return
		}
		block := at
		for block < len(b.open) && !b.open[block].special {
			block++
		}
		if block == len(b.open) {
			b.open = b.open[:at]
			b.unformat(f.id)
			return
		}
		b.adoptBlock(f, b.open[block].id)
	}
}

// adoptBlock closes f outside of the block and opens it again inside: the steps for a furthest block.
func (b *builder) adoptBlock(f formatting, block uint32) {
	bookmark := b.formattingIndex(f.id)
	first := true // nothing lies between the block and the node that is looked at
	x := b.indexOf(block)
	for j := 1; ; j++ {
		x--
		node := b.open[x]
		if node.id == f.id {
			break
		}
		i := b.formattingIndex(node.id)
		if j > 3 && i >= 0 {
			b.unformat(node.id)
			if i <= bookmark {
				bookmark--
			}
			continue // x/net/html leaves it open
		}
		if i < 0 {
			b.open = slices.Delete(b.open, x, x+1)
			continue
		}
		b.clones++
		b.lastID++
		node.id = b.lastID
		b.open[x], b.formatting[i] = node, formatting{node}
		if first {
			bookmark = i + 1
			first = false
		}
	}
	b.clones++
	b.lastID++
	clone := f.element
	clone.id = b.lastID
	if old := b.formattingIndex(f.id); old >= 0 && old < bookmark {
		bookmark--
	}
	b.unformat(f.id)
	bookmark = max(min(bookmark, len(b.formatting)), 0)
	b.formatting = slices.Insert(b.formatting, bookmark, formatting{clone})
	b.remove(f.id)
	b.open = slices.Insert(b.open, b.indexOf(block)+1, clone)
}
