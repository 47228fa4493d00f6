package sqlitebackend

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	"github.com/seine-go/seine/crawler"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// applicationID marks a file as one of ours; it is "sein".
const applicationID = 0x7365696e

// migrations lead from each schema to the next. The number of those that were made is the user_version of the file.
var migrations = [...]string{
	`CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), parts INTEGER, sum INTEGER, first INTEGER, clock INTEGER, wall INTEGER);
	CREATE TABLE part (n INTEGER PRIMARY KEY, data BLOB);
	CREATE TABLE change (seq INTEGER PRIMARY KEY, clock INTEGER, wall INTEGER, data BLOB);
	CREATE TABLE block (id INTEGER PRIMARY KEY, data BLOB);
	CREATE TABLE item (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID;`,
	// Whether somebody has the crawl, and a checksum of the row of head, which is NULL until the next state is saved.
	`CREATE TABLE life (one INTEGER PRIMARY KEY CHECK (one = 1), open INTEGER NOT NULL);
	INSERT INTO life VALUES (1, 0);
	ALTER TABLE head ADD COLUMN seal INTEGER;`,
}

// undone takes the migrations back that may be, for a file that this version cannot go on with: one that can has to find it
// as it was.
var undone = [len(migrations)]string{
	1: "ALTER TABLE head DROP COLUMN seal; DROP TABLE life;",
}

// markSQL notes whether somebody has the crawl.
const markSQL = "UPDATE life SET open = ?"

// dsn is what the driver is given to open a file.
func dsn(path string, pragmas ...string) string {
	q := url.Values{}
	for _, p := range pragmas {
		q.Add("_pragma", p)
	}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String()
}

const busyTimeout = "busy_timeout(10000)"

func openWriter(path string, d Durability) (*sql.DB, error) {
	sync := "synchronous(NORMAL)"
	if d == Power {
		sync = "synchronous(FULL)"
	}
	db, err := sql.Open("sqlite", dsn(path, busyTimeout, "journal_mode(WAL)", sync, "journal_size_limit(67108864)", "cache_size(-4096)"))
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

const readers = 4

func openReader(path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", dsn(path, busyTimeout, "query_only(1)", "cache_size(-1024)"))
	if err == nil {
		db.SetMaxOpenConns(readers)
		db.SetMaxIdleConns(readers)
	}
	return db, err
}

// schemaOf returns how many migrations were made of a file, if it is new or one of ours.
func schemaOf(ctx context.Context, conn *sql.Conn) (version int, err error) {
	var id, tables int
	for query, to := range map[string]*int{
		"PRAGMA application_id": &id, "PRAGMA user_version": &version, "SELECT count(*) FROM sqlite_schema": &tables,
	} {
		if err := conn.QueryRowContext(ctx, query).Scan(to); err != nil {
			return 0, err
		}
	}
	switch {
	case id != applicationID && (id != 0 || tables > 0):
		return 0, ErrNotCrawl
	case version < 0 || version == 0 && tables > 0:
		return 0, fmt.Errorf("%w: the file has tables, and schema %d", errDamaged, version)
	case version > len(migrations):
		return 0, &SchemaError{Schema: version, Known: len(migrations)}
	}
	return version, nil
}

// migrate makes the tables of a new file, or of an older schema what they are today. It returns the schema that they had.
func migrate(ctx context.Context, conn *sql.Conn) (version int, err error) {
	if version, err = schemaOf(ctx, conn); err != nil || version == len(migrations) {
		return version, err
	}
	script := "BEGIN IMMEDIATE;"
	for _, m := range migrations[version:] {
		script += m
	}
	script += fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT;", applicationID, len(migrations))
	_, err = conn.ExecContext(ctx, script)
	return version, err
}

// migrateBack makes the tables what they were in an older schema.
func migrateBack(ctx context.Context, conn *sql.Conn, version int) error {
	script := "BEGIN IMMEDIATE;"
	for i := len(migrations) - 1; i >= version; i-- {
		script += undone[i]
	}
	_, err := conn.ExecContext(ctx, script+fmt.Sprintf("PRAGMA user_version = %d; COMMIT;", version))
	return err
}

// Damaged reports whether an error, of a run or of any method, says that the file is not what was written. Open with
// Options.Verify goes on with the newest snapshot that is whole.
func Damaged(err error) bool {
	var e *sqlite.Error
	if errors.As(err, &e) {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
			return true
		}
	}
	var damaged *DamagedError
	return errors.As(err, &damaged) || errors.Is(err, errDamaged) || errors.Is(err, crawler.ErrJournal)
}
