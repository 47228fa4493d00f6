package crawler

import (
	"context"
	"sync/atomic"

	"github.com/seine-go/seine/internal/weburl"
)

// liveScope is the scope of a run, which may be replaced while it goes on.
type liveScope struct{ now atomic.Pointer[Scope] }

func (l *liveScope) set(s *Scope)               { l.now.Store(s) }
func (l *liveScope) holds(href string) bool     { return l.now.Load().holds(href) }
func (l *liveScope) holdsURL(u weburl.URL) bool { return l.now.Load().holdsURL(u) }
func (l *liveScope) refuse(href string) error   { return l.now.Load().refuse(href) }

// SetScope replaces the scope of the Config and of a Site, from now on, also while the engine runs: links and redirects
// are held to it, and requests that are queued already, but for seeds. Hooks.Changed is told. It must not be zero. A bad scope changes nothing.
func (e *Engine) SetScope(ctx context.Context, s Scope) error {
	if s.isZero() {
		return &ConfigError{Field: "Scope", Reason: "holds nothing: it has neither Hosts nor Domains nor Prefixes"}
	}
	if err := s.check("Scope"); err != nil {
		return err
	}
	indexed := s.indexed()
	e.mu.Lock()
	e.replaced, e.scope = &indexed, &indexed
	if e.run != nil {
		e.run.scope.set(&indexed)
	}
	e.mu.Unlock()
	e.changed(ctx, Change{Scope: &s})
	return nil
}

// namedScope is the scope that SetScope or the Config names, which may be zero.
func (e *Engine) namedScope() Scope {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.replaced != nil {
		return *e.replaced
	}
	return e.cfg.Scope
}
