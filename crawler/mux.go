package crawler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/seine-go/seine/internal/weburl"
)

// Mux is a Handler that gives each page to the handler whose pattern fits its URL best.
//
// A pattern is "HOST/PATH" in the syntax of net/http.ServeMux, without a method. An empty host fits every host, a host
// without a port its default port, "*.films.example" every host below films.example on any port. In the path {name} is
// one segment and {name...} the rest; a path that ends in a slash stands for all below it, unless it ends in {$}.
// Segments are compared as they stand in the URL and nothing is redirected, decoded or cleaned: values of wildcards are
// decoded (%2F becomes a slash) only in Page.PathValue. A segment that no URL has, since the URL standard writes it
// otherwise ("a b" is "a%20b", ".." is gone), is an error. Of two patterns that fit the one with the more special host
// wins, then the one with the more special path, in whatever order they were registered; two of one host that overlap
// with neither inside the other are an error.
//
// HandleLabel takes pages by the Label of their request, before any pattern. A page that nothing fits goes to Default.
//
// The zero value is ready. Faulty patterns are kept for Check, which New calls, so that a crawl with one never starts.
type Mux struct {
	// Default handles pages that nothing fits. Nil means that they are done.
	Default Handler

	mu     sync.RWMutex
	routes []*route
	labels map[string]Handler
	errs   []error
}

// Handle registers a handler for a pattern.
func (m *Mux) Handle(pattern string, h Handler) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := parsePattern(pattern)
	if err == nil && (h == nil || isNil(h)) {
		err = errors.New("the handler is nil")
	}
	if err == nil {
		r.handler = h
		err = m.insert(r)
	}
	if err != nil {
		m.errs = append(m.errs, fmt.Errorf("seine: mux: pattern %q: %w", pattern, err))
	}
}

// HandleFunc registers a function for a pattern.
func (m *Mux) HandleFunc(pattern string, f func(ctx context.Context, p *Page) error) {
	if f == nil {
		m.Handle(pattern, nil)
		return
	}
	m.Handle(pattern, HandlerFunc(f))
}

// HandleLabel registers a handler for the pages of requests with a label.
func (m *Mux) HandleLabel(label string, h Handler) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case label == "" || len(label) > MaxLabelBytes || h == nil || isNil(h):
		m.errs = append(m.errs, fmt.Errorf("seine: mux: label %q: no label of 1 to %d bytes with a handler", label, MaxLabelBytes))
	case m.labels[label] != nil:
		m.errs = append(m.errs, fmt.Errorf("seine: mux: label %q is taken", label))
	default:
		if m.labels == nil {
			m.labels = map[string]Handler{}
		}
		m.labels[label] = h
	}
}

// Check returns what is wrong with the patterns and labels, its own and those of handlers that have a Check too, all faults
// joined.
func (m *Mux) Check() error { return errors.Join(m.faults(map[*Mux]bool{})...) }

func (m *Mux) faults(seen map[*Mux]bool) []error {
	if seen[m] {
		return nil
	}
	seen[m] = true
	m.mu.RLock()
	faults := slices.Clone(m.errs)
	handlers := append(slices.Collect(maps.Values(m.labels)), m.Default)
	for _, r := range m.routes {
		handlers = append(handlers, r.handler)
	}
	m.mu.RUnlock()
	for _, h := range handlers {
		switch h := h.(type) {
		case *Mux:
			if h != nil {
				faults = append(faults, h.faults(seen)...)
			}
		case interface{ Check() error }:
			faults = append(faults, h.Check())
		}
	}
	return faults
}

// HandlePage implements Handler.
func (m *Mux) HandlePage(ctx context.Context, p *Page) error {
	h := m.find(p)
	if h == nil {
		return nil
	}
	return h.HandlePage(ctx, p)
}

func (m *Mux) find(p *Page) Handler {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if p.Request.Label != "" {
		if h := m.labels[p.Request.Label]; h != nil {
			return h
		}
	}
	if u, ok := weburl.Split(p.URL); ok {
		for _, r := range m.routes {
			if r.matchHost(u) && r.matchPath(u.Path()) {
				p.values = r.values(u.Path())
				return r.handler
			}
		}
	}
	return m.Default
}

// insert puts a route behind those of more special hosts, and before those of its own host that are more general. Of the
// hosts that fit a URL each lies within the next, and of two patterns with one host that fit it one lies within the
// other: so the first that fits is the most special, in whatever order they came.
func (m *Mux) insert(r *route) error {
	at := len(m.routes)
	for i, old := range m.routes {
		if old.host != r.host {
			if hostRank(old.host) < hostRank(r.host) {
				at = min(at, i)
			}
			continue
		}
		switch comparePaths(r.segments, old.segments) {
		case same:
			return fmt.Errorf("is the same as %q", old.pattern)
		case overlapping:
			return fmt.Errorf("overlaps with %q, and neither is more special", old.pattern)
		case moreSpecial:
			at = min(at, i)
		}
	}
	m.routes = slices.Insert(m.routes, at, r)
	return nil
}
