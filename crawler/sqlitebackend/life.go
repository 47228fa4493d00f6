package sqlitebackend

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// mark notes whether the file is open, in the file itself and not in the log alone: where it says that it is, a log belongs
// to it. The log stays as long as somebody may write, so that one which is not there is missing.
func (w *writer) mark(ctx context.Context, open bool) error {
	_, err := w.st.mark.ExecContext(ctx, open)
	if err == nil {
		_, err = w.conn.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
	}
	return err
}

// leave notes that the file is closed, and brings all that is in the log into it. Who looks at the crawl keeps the log, and
// is not waited for. Nothing is committed any more.
func (w *writer) leave() error {
	ctx := context.Background()
	if err := w.still(); err != nil {
		return err
	}
	_, err := w.st.mark.ExecContext(ctx, false)
	if err == nil {
		_, err = w.conn.ExecContext(ctx, "PRAGMA busy_timeout(0); PRAGMA wal_checkpoint(TRUNCATE)")
	}
	return err
}

// recovery tells what a file and its log, as it was before SQLite saw it, say of how the crawl ended.
func (l logFile) recovery(ctx context.Context, read reader) (r Recovery, err error) {
	err = read.QueryRowContext(ctx, "SELECT open FROM life").Scan(&r.Unclosed)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%w: it does not say whether it was closed", errDamaged)
	}
	r.Unreplayed = l.unreplayed
	r.LogMissing = r.Unclosed && !l.there
	return r, err
}
