package crawler

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seine-go/seine/fetch"
)

// outages are what pages of a run need and cannot have for a time.
type outages struct {
	n     atomic.Int64 // so that who has none needs no lock
	mu    sync.Mutex
	those map[outageOf]*outage
}

// outageOf names what cannot be had: the robots.txt of a host, the login of a session.
type outageOf struct{ what, name string }

type outage struct {
	since   time.Time
	givenUp bool
}

// at notes an outage, and tells how long it lasts and whether to wait retryIn for its end: patience says how long in all.
func (o *outages) at(log *slog.Logger, of outageOf, patience, retryIn time.Duration, err error) (lasts time.Duration, waits bool) {
	began, gaveUp := false, false
	o.mu.Lock()
	out := o.those[of]
	if out == nil {
		if o.those == nil || len(o.those) >= maxDelays {
			o.those = map[outageOf]*outage{}
		}
		out, began = &outage{since: time.Now()}, true
		o.those[of] = out
		o.n.Store(int64(len(o.those)))
	}
	lasts = time.Since(out.since)
	waits = lasts < patience && retryIn <= patience
	gaveUp = !waits && !out.givenUp
	out.givenUp = out.givenUp || gaveUp
	o.mu.Unlock()
	if began {
		log.Warn(of.what+" cannot be had", "of", of.name, "asked again in", retryIn, "err", err)
	}
	if gaveUp {
		log.Warn(of.what+" given up", "of", of.name, "after", lasts, "err", err)
	}
	return lasts, waits
}

// over notes that it has been had.
func (o *outages) over(log *slog.Logger, of outageOf) {
	if o.n.Load() == 0 {
		return
	}
	o.mu.Lock()
	out := o.those[of]
	delete(o.those, of)
	o.n.Store(int64(len(o.those)))
	o.mu.Unlock()
	if out != nil {
		log.Info(of.what+" is there again", "of", of.name, "after", time.Since(out.since))
	}
}

// loginWait is how long a page waits for the login of its session, 0 if the error is none of that, or one that no waiting ends. How
// long in all is the middleware's to say, which gives sessions up.
func (v *visit) loginWait(err error) time.Duration {
	var login *fetch.LoginError
	if !errors.As(err, &login) || login.RetryIn <= 0 || !temporary(login.Err) || errors.Is(login.Err, context.Canceled) {
		return 0
	}
	v.r.outages.at(v.e.log, outageOf{"login", login.Session}, math.MaxInt64, login.RetryIn, login.Err)
	return login.RetryIn
}
