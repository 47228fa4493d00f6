package robots

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"
)

// recordVersion is raised when the meaning of a record changes; records of other versions are as good as none.
const recordVersion = 1

// storeTimeout bounds the storing of an outage.
const storeTimeout = 10 * time.Second

// record is the form in which an answer is stored. Times are Unix milliseconds, since they cross restarts.
type record struct {
	Version int    `json:"v"`
	Status  int    `json:"status,omitempty"`
	HasFile bool   `json:"file,omitempty"`
	Body    []byte `json:"body,omitempty"`
	Cut     bool   `json:"cut,omitempty"`
	Fetched int64  `json:"fetched,omitempty"` // 0: there was no answer
	TTL     int64  `json:"ttl_ms,omitempty"`
	Since   int64  `json:"unreachable_since,omitempty"` // 0: the origin could be asked
}

func storeKey(origin string) string { return "robots/" + origin }

// load returns what is stored of an origin, nil when that is nothing.
func (c *Cache) load(ctx context.Context, origin string) *state {
	r, ok := c.getRecord(ctx, origin)
	if !ok {
		return nil
	}
	return c.restore(r, time.Now())
}

// restore makes a state of a record. One from the future, which a clock that was set back leaves behind, is due at once.
func (c *Cache) restore(r record, now time.Time) *state {
	s := &state{source: SourceDisallowAll, due: now, bytes: entryBytes}
	if r.Fetched != 0 {
		ttl := min(time.Duration(r.TTL)*time.Millisecond, c.set.maxAge)
		s = c.known(answer{status: r.Status, hasFile: r.HasFile, body: r.Body, cut: r.Cut, ttl: ttl}, time.UnixMilli(r.Fetched))
		if s.fetched.After(now) {
			s.due = now
		}
	}
	if r.Since != 0 {
		s.since, s.due = time.UnixMilli(r.Since), now
		if s.since.After(now) {
			s.since = now
		}
		s.tries = 1 // it is stored already
	}
	return s
}

// save stores an answer.
func (c *Cache) save(ctx context.Context, origin string, a answer, now time.Time) {
	c.putRecord(ctx, origin, record{
		Version: recordVersion, Status: a.status, HasFile: a.hasFile, Body: a.body, Cut: a.cut,
		Fetched: now.UnixMilli(), TTL: a.ttl.Milliseconds(),
	})
}

// saveOutage stores that an origin cannot be asked any more, beside what is stored of it. Often ctx has just passed its
// deadline.
func (c *Cache) saveOutage(ctx context.Context, origin string, now time.Time) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	r, ok := c.getRecord(ctx, origin)
	if !ok {
		r = record{Version: recordVersion}
	}
	if r.Since == 0 {
		r.Since = now.UnixMilli()
		c.putRecord(ctx, origin, r)
	}
}

// getRecord reads a record. One that is damaged is deleted.
func (c *Cache) getRecord(ctx context.Context, origin string) (r record, ok bool) {
	if c.Store == nil {
		return r, false
	}
	raw, err := c.Store.Get(ctx, storeKey(origin))
	if errors.Is(err, fs.ErrNotExist) {
		return r, false
	}
	if err != nil {
		c.warn(ctx, origin, "get", err)
		return r, false
	}
	if err = json.Unmarshal(raw, &r); err == nil && r.Version != recordVersion {
		err = fmt.Errorf("version %d is not %d", r.Version, recordVersion)
	}
	if err != nil {
		c.warn(ctx, origin, "read", err)
		if err = c.Store.Delete(ctx, storeKey(origin)); err != nil {
			c.warn(ctx, origin, "delete", err)
		}
		return record{}, false
	}
	return r, true
}

func (c *Cache) putRecord(ctx context.Context, origin string, r record) {
	if c.Store == nil {
		return
	}
	raw, err := json.Marshal(r)
	if err == nil {
		err = c.Store.Put(ctx, storeKey(origin), raw)
	}
	if err != nil {
		c.warn(ctx, origin, "put", err)
	}
}

func (c *Cache) warn(ctx context.Context, origin, what string, err error) {
	if c.Log != nil && ctx.Err() == nil {
		c.Log.WarnContext(ctx, "robots: store failed", slog.String("op", what), slog.String("origin", origin), slog.Any("error", err))
	}
}
