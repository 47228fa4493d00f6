package sqlitebackend

import (
	"context"
	"fmt"
	"hash/crc32"
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
	if err := db.checkFrontier(ctx); err != nil {
		return err
	}
	for _, err := range db.store.Scan(ctx, "") {
		if err != nil {
			return err
		}
	}
	return nil
}

// checkFrontier looks for damage in the state, in what is queued and in the changes.
func (db *DB) checkFrontier(ctx context.Context) error {
	if err := db.checkState(ctx); err != nil {
		return db.closedOr(fmt.Errorf("seine: sqlite: %w", err))
	}
	for _, q := range []string{"SELECT data FROM block", "SELECT data FROM change"} {
		if err := db.checkRows(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// checkState reads the state and its head in one statement, since another may be saved meanwhile.
func (db *DB) checkState(ctx context.Context) error {
	rows, err := db.read.QueryContext(ctx, "SELECT "+headColumns+", part.data FROM (SELECT 1) LEFT JOIN head LEFT JOIN part ORDER BY part.n")
	if err != nil {
		return err
	}
	defer rows.Close()
	n, sum := 0, uint32(0)
	var h sealedHead
	for rows.Next() {
		var data []byte
		if err := rows.Scan(append(h.columns(), &data)...); err != nil {
			return err
		}
		if data != nil { // else there is none
			n, sum = n+1, crc32.Update(sum, table, data)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return h.check(n, sum)
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
