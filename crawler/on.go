package crawler

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/seine-go/seine/extract"
)

// On registers a function for the pages of a pattern that takes what the tags of T (see extract.Schema) find on them. A page
// on which something is not as T declares it (a field that is required is missing, a text does not convert) fails for good,
// with the *extract.FieldError of each such field, and the function is not called. A bad declaration is a fault of the
// Mux, which Check tells.
func On[T any](m *Mux, pattern string, f func(ctx context.Context, p *Page, v T) error) {
	schema, err := extract.SchemaOf[T]()
	if err != nil {
		m.mu.Lock()
		m.errs = append(m.errs, fmt.Errorf("seine: mux: pattern %q: %w", pattern, err))
		m.mu.Unlock()
		return
	}
	OnSchema(m, pattern, schema, f)
}

// OnSchema is On with a schema that was compiled with options.
func OnSchema[T any](m *Mux, pattern string, schema *extract.Schema[T], f func(ctx context.Context, p *Page, v T) error) {
	if schema == nil || f == nil {
		m.Handle(pattern, nil)
		return
	}
	m.HandleFunc(pattern, func(ctx context.Context, p *Page) error {
		v, report, err := schema.Extract(ctx, p.Document())
		p.looked()
		p.reports = append(p.reports, report)
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			return Permanent(err)
		}
		return f(ctx, p, v)
	})
}

// Items returns what the tags of T find in each place of a page that the sources of scope find, "css=li.film" or
// "json=$.films[*]". The error of an item does not end the loop; that of T or scope comes alone. That a scope finds nothing is an
// error only if it says so, "css=li.film ; required"; in any case the first of its Page.Reports tells.
func Items[T any](ctx context.Context, p *Page, scope string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		schema, err := extract.SchemaOf[T]()
		if err != nil {
			var zero T
			yield(zero, err)
			return
		}
		ItemsSchema(ctx, p, schema, scope)(yield)
	}
}

// ItemsSchema is Items with a schema that was compiled with options. No schema is an error that comes alone.
func ItemsSchema[T any](ctx context.Context, p *Page, schema *extract.Schema[T], scope string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if schema == nil {
			var zero T
			yield(zero, errors.New("seine: items: no schema"))
			return
		}
		found, values := schema.EachIn(ctx, p.Document(), scope)
		p.looked()
		p.reports = append(p.reports, found)
		if found.Err != nil {
			var zero T
			yield(zero, found.Err)
			return
		}
		for v, report := range values {
			p.reports = append(p.reports, report)
			if !yield(v, report.Err) {
				return
			}
		}
	}
}

// Reports returns the reports of what On and Items have extracted from the page, in order: of Items first that of the scope (see
// extract.ScopePath), then those of the items.
func (p *Page) Reports() []*extract.Report { return p.reports }
