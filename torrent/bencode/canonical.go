package bencode

import (
	"bytes"
	"slices"
)

// Canonical returns the canonical form of the value at the start of b: keys sorted, of repeated ones the first,
// numbers without leading zeros. Bytes after the value are left out. It takes time and memory in proportion to the
// value, however deep it is.
func (o Options) Canonical(b []byte) ([]byte, error) {
	n, _, err := o.Check(b)
	if err != nil {
		return nil, err
	}
	var s Scanner
	s.Reset(b[:n], unlimited)
	c := canonical{out: make([]byte, 0, n), parts: []part{{}}}
	for {
		t := s.Next()
		switch t.Kind {
		case None:
			return c.finish(), nil
		case Integer:
			c.out = AppendInt(c.out, t.Int())
		case Key:
			c.key(s.Text(t))
			c.out = AppendString(c.out, s.Text(t))
		case String:
			c.out = AppendString(c.out, s.Text(t))
		case List, Dict:
			c.open = append(c.open, nil)
			c.out = append(c.out, s.Raw(t)...)
		case End:
			c.end()
			c.out = append(c.out, 'e')
		}
	}
}

// canonical writes a value in the order of the input, in parts, and puts the parts of dictionaries in order by their
// links alone, so that no byte is moved more than once.
type canonical struct {
	out    []byte
	parts  []part    // in the order of the input; the last is being written
	open   [][]entry // dictionaries, and lists, which have no entries
	sorted bool      // whether any part was moved
}

// part is a run of the output up to the start of the next part of the input.
type part struct {
	from int
	next int // the part behind it in canonical order
}

// entry is a member of a dictionary: a chain of parts.
type entry struct {
	key         []byte
	before      int // the part that stood before it
	first, last int
}

// part begins a part, and returns it and the one before.
func (c *canonical) part() (before, begun int) {
	before, begun = len(c.parts)-1, len(c.parts)
	c.parts[before].next = begun
	c.parts = append(c.parts, part{from: len(c.out)})
	return before, begun
}

// key begins a member of the innermost dictionary.
func (c *canonical) key(key []byte) {
	before, begun := c.part()
	entries := &c.open[len(c.open)-1]
	if n := len(*entries); n > 0 {
		(*entries)[n-1].last = before
	}
	*entries = append(*entries, entry{key: key, before: before, first: begun})
}

// end ends the innermost list or dictionary, and puts its members in order.
func (c *canonical) end() {
	entries := c.open[len(c.open)-1]
	c.open = c.open[:len(c.open)-1]
	rising := true
	for i := 1; i < len(entries) && rising; i++ {
		rising = bytes.Compare(entries[i-1].key, entries[i].key) < 0
	}
	if rising {
		return
	}
	c.sorted = true
	last, behind := c.part()
	entries[len(entries)-1].last = last
	at := entries[0].before
	slices.SortStableFunc(entries, func(a, b entry) int { return bytes.Compare(a.key, b.key) })
	entries = slices.CompactFunc(entries, func(a, b entry) bool { return bytes.Equal(a.key, b.key) })
	for _, e := range entries {
		c.parts[at].next = e.first
		at = e.last
	}
	c.parts[at].next = behind
}

// finish joins the parts.
func (c *canonical) finish() []byte {
	if !c.sorted {
		return c.out
	}
	joined := make([]byte, 0, len(c.out))
	for i, end := 0, len(c.parts)-1; ; i = c.parts[i].next {
		if i == end {
			return append(joined, c.out[c.parts[i].from:]...)
		}
		joined = append(joined, c.out[c.parts[i].from:c.parts[i+1].from]...)
	}
}
