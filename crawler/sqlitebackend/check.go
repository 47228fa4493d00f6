package sqlitebackend

import (
	"context"
	"fmt"
)

// Check looks for damage in the whole file: its structure, and the checksum of each value. A crawl may go on meanwhile.
func (db *DB) Check(ctx context.Context) error {
	rows, err := db.read.QueryContext(ctx, "PRAGMA integrity_check(1)")
	if err != nil {
		return db.closedOr(fmt.Errorf("seine: sqlite: %w", err))
	}
	for rows.Next() {
		var verdict string
		if err := rows.Scan(&verdict); err != nil {
			rows.Close()
			return err
		}
		if verdict != "ok" {
			rows.Close()
			return fmt.Errorf("seine: sqlite: %w: %s", errDamaged, verdict)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("seine: sqlite: %w", err)
	}
	for _, q := range []string{"SELECT data FROM block", "SELECT data FROM change"} {
		if err := db.checkRows(ctx, q); err != nil {
			return err
		}
	}
	for _, err := range db.store.Scan(ctx, "") {
		if err != nil {
			return err
		}
	}
	return nil
}

func (db *DB) checkRows(ctx context.Context, query string) error {
	rows, err := db.read.QueryContext(ctx, query)
	if err != nil {
		return db.closedOr(fmt.Errorf("seine: sqlite: %w", err))
	}
	defer rows.Close()
	for rows.Next() {
		var data []byte
		if err = rows.Scan(&data); err == nil {
			_, err = unseal(data)
		}
		if err != nil {
			return fmt.Errorf("seine: sqlite: %w", err)
		}
	}
	return rows.Err()
}
