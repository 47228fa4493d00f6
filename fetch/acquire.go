package fetch

import (
	"context"
	"errors"
	"slices"
	"time"
)

var (
	errClosed   = errors.New("the transport is closed")
	errPanicked = errors.New("the function that connects panicked")
	errEarlyEnd = errors.New("the connection ended before it could be used")
)

// waiter is a hop that waits for a place on a connection, or to be allowed to open one.
type waiter struct {
	f     *flight
	fresh bool
	node  node[*waiter]
	ready chan struct{} // closed with one of the following

	c      *conn
	reused bool
	own    bool // it opens a connection for itself, which is counted
	err    *Error
	panics any // what the caller's own code panicked with
}

// opening is an attempt to open a connection that may serve all who wait for one. It belongs to nobody: who began it may
// leave. It lasts until it is known how many exchanges the host allows on the connection; the first goes ahead of that.
type opening struct {
	cancel context.CancelFunc
	c      *conn // once it is there
}

// acquire returns a connection for the hop: an idle one, a shared one, or a new one; only a new or shared one when fresh is
// set. Where the host has as many as it may have, it waits for its turn.
func (t *Transport) acquire(f *flight, fresh bool) (c *conn, reused bool, err *Error) {
	p := &t.pool
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, false, &Error{Op: "connect", Kind: ErrInvalid, Err: errClosed}
	}
	h := t.hostOf(f)
	c, doomed := p.take(h, fresh)
	if len(doomed) > 0 { // the last of a host takes that out with it
		p.hosts[h.key] = h
	}
	var w *waiter
	switch {
	case c != nil:
		reused, c.used = c.used, true
	case h.isH1 && p.room(h):
		h.open++
	default:
		w = &waiter{f: f, fresh: fresh, ready: make(chan struct{})}
		w.node.value = w
		h.waiting.pushBack(&w.node)
		t.widen(h)
	}
	p.mu.Unlock()
	closeAll(doomed)
	switch {
	case c != nil:
		return c, reused, nil
	case w != nil:
		return t.wait(h, w)
	}
	c, err = t.connectOwn(f, h)
	return c, false, err
}

// hostOf returns what the pool knows of the hop's host, under the protocol that an earlier exchange may have learnt.
func (t *Transport) hostOf(f *flight) *poolHost {
	p := &t.pool
	key := f.route.key(f.url.Scheme(), f.url.Hostname(), f.url.PortOrDefault())
	if f.forwarded() {
		key = poolKey{proxy: key.proxy} // whose connections serve all hosts
	}
	key.onlyH1 = f.onlyH1
	if key.tls && !key.onlyH1 {
		key.onlyH1 = true
		_, key.onlyH1 = p.hosts[key]
		f.onlyH1 = key.onlyH1
	}
	h := p.hosts[key]
	if h == nil {
		h = &poolHost{key: key, isH1: !key.tls || t.DisableHTTP2 || key.onlyH1}
		p.hosts[key] = h
	}
	return h
}

// wait waits for what a waiter is given.
func (t *Transport) wait(h *poolHost, w *waiter) (*conn, bool, *Error) {
	select {
	case <-w.ready:
	case <-w.f.ctx.Done():
		if t.leave(h, w) {
			return nil, false, contextError(w.f.ctx, "connect")
		}
		<-w.ready
	}
	if w.panics != nil {
		panic(w.panics)
	}
	if w.own {
		c, err := t.connectOwn(w.f, h)
		return c, false, err
	}
	return w.c, w.reused, w.err
}

// leave reports whether a waiter has left before it was given anything. What is being opened goes on without it: the next who
// asks, with as little time, finds it open. It ends with the last who waits when that one was cancelled, or nothing else would
// end it.
func (t *Transport) leave(h *poolHost, w *waiter) bool {
	t.pool.mu.Lock()
	defer t.pool.mu.Unlock()
	if !w.node.in {
		return false
	}
	h.waiting.remove(&w.node)
	timeless := t.conf.dialTimeout == 0 || t.conf.tlsTimeout == 0
	if o := h.opening; o != nil && h.waiting.len == 0 && (timeless || errors.Is(w.f.ctx.Err(), context.Canceled)) {
		o.cancel()
	}
	return true
}

// nextWaiter takes the first waiter out, who is then told by closing ready.
func (h *poolHost) nextWaiter() *waiter {
	w := h.waiting.front()
	h.waiting.remove(&w.node)
	return w
}

// connectOwn opens a connection for one hop to a host that speaks HTTP/1, and enters the outcome, also that the caller's own
// code panicked.
func (t *Transport) connectOwn(f *flight, h *poolHost) (c *conn, err *Error) {
	p := &t.pool
	defer func() {
		p.mu.Lock()
		if c == nil {
			h.open--
		} else {
			p.enter(h, c)
			if c.h2 != nil { // it spoke HTTP/1 before
				c.h2.Reserve()
			}
			c.inFlight, c.used = 1, true
		}
		doomed := t.serve(h)
		p.forget(h)
		p.mu.Unlock()
		closeAll(doomed)
	}()
	return t.connect(f)
}

// widen begins to open a connection for those who wait, unless that is under way or the host has as many as it may have.
func (t *Transport) widen(h *poolHost) {
	if h.isH1 || h.opening != nil || h.waiting.len == 0 || !t.pool.room(h) {
		return
	}
	w := h.waiting.front().f
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.ctx))
	f := &flight{t: t, ctx: ctx, url: w.url, route: w.route, onlyH1: w.onlyH1}
	o := &opening{cancel: cancel}
	h.opening = o
	h.open++
	go t.open(f, h, o)
}

// open connects, and enters the outcome, also that the caller's own code panicked or ended the goroutine.
func (t *Transport) open(f *flight, h *poolHost, o *opening) {
	var c *conn
	err := &Error{Op: "connect", Kind: ErrConnect, Err: errPanicked}
	defer o.cancel()
	defer func() { t.opened(h, o, c, err, recover()) }()
	c, err = t.connect(f)
}

// opened enters the outcome of an opening.
func (t *Transport) opened(h *poolHost, o *opening, c *conn, err *Error, panics any) {
	p := &t.pool
	p.mu.Lock()
	var doomed []*conn
	switch {
	case c == nil:
		h.opening = nil
		h.open--
		p.fail(h, err, panics)
		p.forget(h)
	case c.h2 == nil:
		h.opening = nil
		p.enter(h, c)
		if h.waiting.len > 0 {
			w := h.nextWaiter()
			w.c, c.inFlight, c.used = c, 1, true
			close(w.ready)
		} else {
			doomed = p.rest(c, true)
		}
		doomed = append(doomed, t.serve(h)...)
	default:
		o.c = c
		p.enter(h, c)
		if c.h2.Usable() {
			doomed = t.serve(h)
		}
		if c.inFlight == 0 && !c.gone {
			doomed = append(doomed, p.rest(c, true)...)
		}
		t.look(c)
	}
	p.mu.Unlock()
	closeAll(doomed)
}

// fail tells those who wait that no connection could be opened, unless there is one on which they may have a place yet.
func (p *pool) fail(h *poolHost, err *Error, panics any) {
	if panics != nil && h.waiting.len > 0 { // it is for who brought that code to deal with
		w := h.nextWaiter()
		w.panics = panics
		close(w.ready)
	}
	if slices.ContainsFunc(h.h2, func(c *conn) bool { return c.h2.Usable() }) {
		return
	}
	for h.waiting.len > 0 {
		w, e := h.nextWaiter(), *err
		w.err = &e
		close(w.ready)
	}
}

// serve gives those who wait what there is, in the order in which they came: a place on a connection, or, over HTTP/1, a
// connection that they open themselves. For the others it begins to open one.
func (t *Transport) serve(h *poolHost) (doomed []*conn) {
	p := &t.pool
	for h.waiting.len > 0 {
		c, dead := p.take(h, h.waiting.front().fresh)
		doomed = append(doomed, dead...)
		if c == nil && (!h.isH1 || !p.room(h)) {
			break
		}
		w := h.nextWaiter()
		if c != nil {
			w.c, w.reused, c.used = c, c.used, true
		} else {
			h.open++
			w.own = true
		}
		close(w.ready)
	}
	t.widen(h)
	return doomed
}

// changedH2 is told by a connection of HTTP/2 that it may serve more or fewer than before.
func (t *Transport) changedH2(c *conn) {
	t.pool.mu.Lock()
	defer t.pool.mu.Unlock()
	if c.host != nil {
		t.look(c)
	}
}

// look finds out what a connection of HTTP/2 can do.
func (t *Transport) look(c *conn) {
	p, h := &t.pool, c.host
	said, usable := c.h2.Said(), c.h2.Usable()
	failed := false
	if o := h.opening; o != nil && o.c == c && (said || !usable) {
		h.opening = nil
		failed = !usable && (!said || !c.used)
	}
	if !usable && c.inFlight == 0 { // else the last exchange does
		p.drop(c)
	}
	var doomed []*conn
	if failed { // the next one would too: who comes or goes next has it tried
		p.fail(h, &Error{Op: "connect", Kind: ErrClosed, Err: errEarlyEnd}, nil)
		p.forget(h)
	} else {
		doomed = t.serve(h)
	}
	if len(doomed) > 0 { // not by the goroutine of a connection, which Close waits for
		go closeAll(doomed)
	}
}

// park keeps a connection whose last exchange has ended, or drops it when it cannot serve another.
func (p *pool) park(c *conn, keep bool) (doomed []*conn) {
	if c.inFlight--; c.inFlight > 0 || c.gone {
		return nil
	}
	return p.rest(c, keep)
}

// rest keeps a connection without an exchange, or drops it; and the one that is idle for the longest where there are too many.
func (p *pool) rest(c *conn, keep bool) (doomed []*conn) {
	switch {
	case c.h2 != nil && !c.h2.Usable(), c.h1 != nil && len(c.host.idle) >= p.maxIdlePerHost, !keep, p.closed:
		p.drop(c)
		return []*conn{c}
	case c.h1 != nil:
		c.host.idle = append(c.host.idle, c)
	}
	c.idleSince = time.Now()
	p.idle.pushBack(&c.node)
	if p.idle.len > p.maxIdle {
		oldest := p.idle.front()
		p.drop(oldest)
		doomed = append(doomed, oldest)
	}
	p.arm()
	return doomed
}
