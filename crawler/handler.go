package crawler

import "context"

// Handler works on a page.
//
// It returns nil when the page is done. An error has the page tried again, as often as its class and
// Config.MaxAttempts allow; Permanent(err) gives it up at once and RetryAfter(d, err) says when to try again. What the
// handler staged on the page (links, items) takes effect together with its end, and only if it returns nil.
//
// HandlePage is called from many goroutines at a time, at most one of them for a page. It should return soon after ctx
// ends, which it does at the end of the run and after Config.HandlerTimeout. A panic costs the page.
type Handler interface {
	HandlePage(ctx context.Context, p *Page) error
}

// HandlerFunc makes a Handler of a function.
type HandlerFunc func(ctx context.Context, p *Page) error

// HandlePage calls f.
func (f HandlerFunc) HandlePage(ctx context.Context, p *Page) error { return f(ctx, p) }

// Blocking runs f, which waits for something (a database, another service), while other handlers use the CPU. Handlers
// run on as many goroutines at a time as there are CPUs; inside f the handler's place is somebody else's. It returns
// what f returns, or the cause of ctx if that ends before the place is had again. ctx is the handler's; with any other f
// just runs.
func Blocking(ctx context.Context, f func() error) error {
	v := visitOf(ctx)
	if v == nil || !v.leaveCPU() {
		return f()
	}
	err := f()
	if e := v.enterCPU(); err == nil {
		err = e
	}
	return err
}
