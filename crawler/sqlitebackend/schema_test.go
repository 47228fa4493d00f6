package sqlitebackend

import (
	"compress/gzip"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/seine-go/seine/crawler"
)

// firstSchema returns a file that the version of the first schema has written and closed: 20 requests, two of them done with
// an item each. The state of its frontier has a schema that this version does not read.
func firstSchema(t *testing.T) string {
	t.Helper()
	packed, err := os.Open(filepath.Join("testdata", "schema1.db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	path := filepath.Join(t.TempDir(), "old.db")
	if err = errors.Join(err, os.WriteFile(path, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

// tables returns what stands in a file: its version, its tables, and their rows.
func tables(t *testing.T, path string) (all string) {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range []string{
		"SELECT user_version, '' FROM pragma_user_version", "SELECT name, sql FROM sqlite_schema ORDER BY name", "SELECT n, hex(data) FROM part ORDER BY n", "SELECT seq, hex(data) FROM change ORDER BY seq",
		"SELECT id, hex(data) FROM block ORDER BY id", "SELECT hex(key), hex(value) FROM item ORDER BY key", "SELECT parts, sum || ' ' || first || ' ' || clock || ' ' || wall FROM head",
	} {
		rows, err := db.QueryContext(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var a, b sql.NullString
			if err := rows.Scan(&a, &b); err != nil {
				t.Fatal(err)
			}
			all += fmt.Sprintln(a.String, b.String)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// A real file of the first schema, whose state this version cannot read, is named as such however it is opened, and is then
// as it was: the version that wrote it can go on.
func TestFileOfFirstSchemaStaysAsItIs(t *testing.T) {
	path := firstSchema(t)
	want := tables(t, path)
	for range 2 {
		var other *crawler.VersionError
		if db, err := Open(t.Context(), path, Options{}); !errors.As(err, &other) || other.Schema != 2 || Damaged(err) {
			t.Fatal(db, err)
		}
		if got := tables(t, path); got != want {
			t.Fatalf("it was\n%s\nand is\n%s", want, got)
		}
		var older *SchemaError
		if _, err := Open(t.Context(), path, Options{ReadOnly: true}); !errors.As(err, &older) || older.Schema != 1 {
			t.Error(err)
		}
	}
	fmt.Println("shown durable.3: a real file of schema 1, whose state is older too, is refused by name and stays as it was")
}
