package crawler

import "context"

// Handler works on a page.
//
// It returns nil when the page is done. An error has the page tried again, as often as its class and
// Config.MaxAttempts allow; Permanent(err) gives it up at once and RetryAfter(d, err) says when to try again. What the
// handler staged on the page (links, items) takes effect together with its end, and only if it returns nil.
//
// HandlePage is called from many goroutines at a time, at most one of them for a page. It should return soon after ctx
// ends. A panic costs the page.
type Handler interface {
	HandlePage(ctx context.Context, p *Page) error
}

// HandlerFunc makes a Handler of a function.
type HandlerFunc func(ctx context.Context, p *Page) error

// HandlePage calls f.
func (f HandlerFunc) HandlePage(ctx context.Context, p *Page) error { return f(ctx, p) }
