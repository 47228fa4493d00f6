package sqlitebackend

import (
	"encoding/binary"
	"fmt"
)

// A row of changes has whole ones, each after its length, or a part of one that is too large for a row. A part begins with a
// length of zero, which no change has, and says whether it is the last. The rows of a change are written in one transaction.
const (
	partFollows = 1 // by another of the same change
	partLast    = 0
	partMark    = 2 // bytes before a part
)

// changeRows puts changes into rows that are not larger than they may be.
type changeRows struct {
	most int
	rows [][]byte
	open []byte
}

func (r *changeRows) add(change []byte) {
	size := binary.MaxVarintLen64 + len(change)
	if len(r.open)+size > r.most {
		r.close()
	}
	if size <= r.most {
		r.open = append(binary.AppendUvarint(r.open, uint64(len(change))), change...)
		return
	}
	for piece := max(r.most-partMark, 1); len(change) > 0; {
		n, more := len(change), byte(partLast)
		if n > piece {
			n, more = piece, partFollows
		}
		r.rows = append(r.rows, append([]byte{0, more}, change[:n]...))
		change = change[n:]
	}
}

func (r *changeRows) close() {
	if len(r.open) > 0 {
		r.rows, r.open = append(r.rows, r.open), nil
	}
}

// end returns the rows.
func (r *changeRows) end() [][]byte {
	r.close()
	return r.rows
}

// changeParts reads rows of changes.
type changeParts struct {
	open []byte // of a change whose last part is to come
	more bool
}

// each goes through the changes that end in a row.
func (c *changeParts) each(row []byte, change func([]byte) error) error {
	row, err := unseal(row)
	if err != nil {
		return err
	}
	if isPart := len(row) >= partMark && row[0] == 0; isPart {
		c.open, c.more = append(c.open, row[partMark:]...), row[1] == partFollows
		if !c.more {
			err = change(c.open)
			c.open = nil
		}
		return err
	}
	if err := c.whole(); err != nil {
		return err
	}
	for err == nil && len(row) > 0 {
		n, w := binary.Uvarint(row)
		if w <= 0 || n > uint64(len(row)-w) {
			return errDamaged
		}
		err = change(row[w : w+int(n)])
		row = row[w+int(n):]
	}
	return err
}

// whole is an error if a change has no last part.
func (c *changeParts) whole() error {
	if c.more {
		return fmt.Errorf("%w: a part of a change is missing", errDamaged)
	}
	return nil
}
