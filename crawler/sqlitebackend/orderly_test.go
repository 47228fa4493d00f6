package sqlitebackend

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
)

// lives opens a crawl again and again, has each life do something, and returns what is given up at last.
func lives(t *testing.T, path string, n int, live func(life int, db *DB)) (dead []string, s crawler.FrontierStats) {
	t.Helper()
	for life := range n {
		db, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() }) // where live ended the test
		live(life, db)
	}
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for d, err := range db.Frontier().Dead(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		dead = append(dead, fmt.Sprintf("%s: %s", d.Key, d.Reason))
	}
	s, err = db.Frontier().Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return dead, s
}

// visitSlowly has an engine crawl one page whose handler comes to no end.
func visitSlowly(t *testing.T, db *DB, end <-chan struct{}) (eng *crawler.Engine, begun <-chan struct{}) {
	t.Helper()
	in := make(chan struct{}, 8)
	eng, err := crawler.New(crawler.Config{
		Name: "films", Frontier: db.Frontier(), Store: db.Store(), IgnoreRobots: true, AllowPrivate: true, Spacing: -1, Grace: time.Millisecond,
		Handler: crawler.HandlerFunc(func(context.Context, *crawler.Page) error {
			in <- struct{}{}
			<-end
			return nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return eng, in
}

// A page that was under way each time a crawl was ended in order is as healthy as any other.
func TestOrderlyEndsAreNoDeaths(t *testing.T) {
	for _, first := range []string{"engine", "file"} { // that is closed
		t.Run(first, func(t *testing.T) {
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/html") }))
			defer site.Close()
			end := make(chan struct{})
			defer close(end)
			dead, s := lives(t, filepath.Join(t.TempDir(), "films.db"), 7, func(_ int, db *DB) {
				eng, begun := visitSlowly(t, db, end)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				ran := make(chan error, 1)
				go func() {
					_, err := eng.Run(ctx, site.URL)
					ran <- err
				}()
				<-begun
				if first == "file" {
					if err := db.Close(); err != nil {
						t.Fatal(err)
					}
				}
				cancel()
				if err := <-ran; err == nil {
					t.Error("a run that was ended says that it is done")
				}
				_ = eng.Close() // it tells what was left behind
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
			})
			if len(dead) > 0 || s.Failed != 0 || s.Ready != 1 {
				t.Errorf("%v, %+v", dead, s)
			}
		})
	}
}

// The state that Close leaves is all there is.
func TestClosedFileHasNothingToDoAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "films.db")
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	again(t, db)
	crawlOn(t, db.Frontier(), 1, 300, 30, map[string]int{})
	if b, err := db.Frontier().Lease(t.Context(), crawler.LeaseRequest{Owner: "A", Boot: 1, Max: 3}); err != nil || len(b.Leases) == 0 {
		t.Fatal(b, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = Open(t.Context(), path, Options{ReadOnly: true}); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	changes := -1
	if err := db.read.QueryRowContext(t.Context(), "SELECT count(*) FROM change").Scan(&changes); err != nil || changes != 0 {
		t.Error(changes, err)
	}
	if s, err := db.Frontier().Stats(t.Context()); err != nil || s.Leased != 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

// What another version has written is named, and is not taken for damage that a snapshot is needed for.
func TestOtherVersionIsNoDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "films.db")
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	again(t, db)
	if _, err := db.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	raise(t, path)
	_, err = Open(t.Context(), path, Options{})
	var v *crawler.VersionError
	if !errors.As(err, &v) || Damaged(err) || v.Schema == 0 {
		t.Errorf("%v: %+v", err, v)
	}
}

// raise has the state of a file be of the next schema, with checksums that are right.
func raise(t *testing.T, path string) {
	t.Helper()
	conn, err := openWriter(path, Process)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	rows, err := conn.QueryContext(t.Context(), "SELECT data FROM part ORDER BY n")
	if err != nil {
		t.Fatal(err)
	}
	sum, first := uint32(0), []byte(nil)
	for rows.Next() {
		var data []byte
		if err := rows.Scan(&data); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			data[1]++ // after the kind of the record
			first = data
		}
		sum = crc32.Update(sum, table, data)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for query, v := range map[string]any{"UPDATE part SET data = ? WHERE n = 0": first, "UPDATE head SET sum = ?, seal = NULL": int64(sum)} {
		if _, err := conn.ExecContext(t.Context(), query, v); err != nil {
			t.Fatal(err)
		}
	}
}
