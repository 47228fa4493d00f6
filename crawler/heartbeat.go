package crawler

import (
	"context"
	"errors"
	"time"
)

// heartbeat renews the leases that are being worked on.
func (r *run) heartbeat(ctx context.Context) {
	tick := time.NewTicker(leaseTTL / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			r.renew(ctx)
		}
	}
}

// renew makes the leases last. Pages whose lease is lost are broken off.
func (r *run) renew(ctx context.Context) {
	r.mu.Lock()
	held := make(map[string]*visit, len(r.held))
	leases := make([]Lease, 0, len(r.held))
	for v := range r.held {
		if older := held[v.lease.Key]; older == nil || v.lease.Epoch < older.lease.Epoch { // which is the one that is lost
			held[v.lease.Key] = v
		}
		leases = append(leases, v.lease)
	}
	r.mu.Unlock()
	if len(leases) == 0 {
		return
	}
	err := r.foreign("Frontier.Extend", func() error { return r.e.cfg.Frontier.Extend(ctx, leaseTTL, leases...) })
	var lost *LeaseLostError
	var panicked *PanicError
	switch {
	case err == nil, ctx.Err() != nil:
	case errors.As(err, &lost):
		for _, key := range lost.Keys {
			if v := held[key]; v != nil {
				v.cancel(lost)
			}
		}
	case errors.As(err, &panicked):
		r.end(err, false)
	default:
		r.e.log.Warn("extend", "leases", len(leases), "err", err)
	}
}
