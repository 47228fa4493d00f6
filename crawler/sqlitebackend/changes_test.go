package sqlitebackend

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/seine-go/seine/crawler"
	"modernc.org/sqlite"
)

// An Add of more bytes than a row takes is written and read back like any other, and stops nobody. So it is for one that fits
// exactly, and for one that takes a byte more.
func TestGreatAdd(t *testing.T) {
	const most = 256 << 10 // as if that were all that SQLite takes
	for _, size := range []int{most - 2000, most, 20 * most} {
		w := newWorld(t)
		db := begin(t, w, Options{})
		if _, err := sqlite.Limit(db.writer.conn, 0, most+64); err != nil { // a row has its checksum and columns too
			t.Fatal(err)
		}
		db.writer.mostRow = most
		before, err := db.Frontier().Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var reqs []*crawler.Request
		for left := size; left > 0; left -= 16 << 10 {
			reqs = append(reqs, &crawler.Request{URL: fmt.Sprintf("http://a.example/%d", len(reqs)), Method: "POST", Body: make([]byte, min(left, 16<<10))})
		}
		if _, err := db.Frontier().Add(t.Context(), reqs...); err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		if _, err := db.Frontier().Add(t.Context(), &crawler.Request{URL: "http://after.example/"}); err != nil {
			t.Fatalf("after %d bytes: %v", size, err)
		}
		db = w.die(t, db, nil)
		after, err := db.Frontier().Stats(t.Context())
		if want := before.Ready + int64(len(reqs)) + 1; err != nil || after.Ready != want {
			t.Errorf("%d bytes: %d are ready, not %d, %v", size, after.Ready, want, err)
		}
	}
}

// Rows are as large as they may be and no larger; what comes out of them is what went in.
func TestRowsOfChanges(t *testing.T) {
	const most = 64
	for size := 1; size < 5*most; size++ {
		rows, want := changeRows{most: most}, [][]byte{{1}, bytes.Repeat([]byte{0}, size), {2, 3}, bytes.Repeat([]byte{1}, size), {4}}
		for _, change := range want {
			rows.add(change)
		}
		got, err := changesOf(rows.end(), most)
		if err != nil || !slices.EqualFunc(got, want, bytes.Equal) {
			t.Fatalf("changes of %d bytes: %d became %d, %v", size, len(want), len(got), err)
		}
		last := len(rows.rows) - 1
		if size <= most {
			continue
		}
		if _, err := changesOf(slices.Delete(slices.Clone(rows.rows), last-1, last), most); !errors.Is(err, errDamaged) {
			t.Fatalf("changes of %d bytes without a last part: %v", size, err)
		}
	}
}

// changesOf reads rows.
func changesOf(rows [][]byte, most int) (all [][]byte, err error) {
	var parts changeParts
	for _, row := range rows {
		if len(row) > most {
			return nil, fmt.Errorf("a row of %d bytes", len(row))
		}
		if err := parts.each(seal(row), func(p []byte) error { all = append(all, bytes.Clone(p)); return nil }); err != nil {
			return nil, err
		}
	}
	return all, parts.whole()
}

// Rows of any bytes end in changes or in an error.
func FuzzRowsOfChanges(f *testing.F) {
	f.Add([]byte{1, 7, 0}, []byte{0, partFollows, 1}, []byte{0, partLast, 2})
	f.Add([]byte{0, partFollows}, []byte{1, 1}, []byte{})
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		n := 0
		changes, err := changesOf([][]byte{a, b, c}, len(a)+len(b)+len(c))
		for _, p := range changes {
			n += len(p)
		}
		if n > len(a)+len(b)+len(c) || err != nil && !errors.Is(err, errDamaged) {
			t.Fatal(n, err)
		}
	})
}
