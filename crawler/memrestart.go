package crawler

import (
	"context"
	"fmt"
	"time"
)

var _ Restarter = (*Memory)(nil)

// Restart implements Restarter. What hosts are like is remembered.
func (m *Memory) Restart(ctx context.Context) error {
	return m.do(ctx, func(now time.Duration) error {
		err := m.restart(now)
		if err == nil {
			m.journal.restarted()
		}
		return err
	})
}

func (m *Memory) restart(now time.Duration) error {
	if !m.finished(now) {
		return fmt.Errorf("seine: frontier: %d requests and %d producers are left", m.pending(), len(m.producer))
	}
	for _, h := range m.hostsInOrder() { // records that were replaced, or passed by a redirect
		for {
			record, _, err := h.queue.pop(&m.arena)
			if err != nil {
				return err
			}
			if record == nil {
				break
			}
		}
		h.queue.free(&m.arena)
		m.place(h, now)
	}
	m.delayed.clear(&m.arena)
	m.idle, m.stray = 0, 0
	if m.keys.disk != nil {
		for _, r := range m.keys.disk.runs {
			m.arena.freed = append(m.arena.freed, r.blocks()...)
		}
	}
	m.keys.forget()
	m.dead.init(m.opt.MaxDead)
	m.stats.Done, m.stats.Failed = 0, 0
	m.stats.Changes++
	return nil
}
