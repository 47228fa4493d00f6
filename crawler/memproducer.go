package crawler

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// maxProducers bounds the producers that are open at a time.
const maxProducers = 10_000

type producer struct {
	until time.Duration
	open  int
}

// producers counts the open ones.
func (m *Memory) producers(now time.Duration) int {
	for name, p := range m.producer {
		if now >= p.until {
			delete(m.producer, name)
			m.stats.Changes++
		}
	}
	return len(m.producer)
}

// OpenProducer implements Producers.
func (m *Memory) OpenProducer(ctx context.Context, name string, ttl time.Duration) (func(context.Context) error, error) {
	if name == "" || ttl <= 0 {
		return nil, fmt.Errorf("seine: frontier: producer %q with a ttl of %v", name, ttl)
	}
	var p *producer
	err := m.do(ctx, func(now time.Duration) error {
		m.producers(now)
		if p = m.producer[name]; p == nil {
			if len(m.producer) >= maxProducers {
				return fmt.Errorf("%w: %d producers are open", ErrFull, maxProducers)
			}
			p = &producer{}
			m.producer[name] = p
		}
		p.open++
		p.until = now + ttl
		m.stats.Changes++
		return nil
	})
	if err != nil {
		return nil, err
	}
	var once sync.Once
	return func(context.Context) error {
		once.Do(func() { m.closeProducer(name, p) })
		return nil
	}, nil
}

func (m *Memory) closeProducer(name string, p *producer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p.open--; p.open == 0 && m.producer[name] == p {
		delete(m.producer, name)
		m.stats.Changes++
	}
}
