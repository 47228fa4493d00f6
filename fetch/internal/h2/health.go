package h2

import "time"

// watch sees to it that somebody notices when the server says or takes nothing while a stream is open. The timer runs on when
// streams end, so that a busy connection does not set it again and again. A kept connection that has been silent is asked at
// once: a path that has forgotten it is found long before the head of the response would be missed.
func (c *Conn) watch(now time.Time) {
	t := &c.conf.Timeouts
	switch {
	case c.lost:
	case c.served && t.PingAfter >= 0 && t.PingReply >= 0 && c.pinged.IsZero() && now.Sub(c.lastRead) >= probeAfter:
		c.ping(now)
		c.setHealth(t.PingReply)
	case !c.watched:
		c.setHealth(t.PingAfter)
	}
}

// setHealth has the connection looked at in d, never where that is negative, and before where a write may have stalled.
func (c *Conn) setHealth(d time.Duration) {
	if look := c.conf.Timeouts.stall() / 2; look > 0 && (d < 0 || look < d) {
		d = look
	}
	if d < 0 {
		return
	}
	c.watched = true
	if c.health == nil {
		c.health = time.AfterFunc(d, c.check)
	} else {
		c.health.Reset(d)
	}
}

func (c *Conn) stopHealth() {
	if c.health != nil {
		c.health.Stop()
	}
}

func (c *Conn) ping(now time.Time) {
	c.pinged = now
	_ = c.framer.WritePing(false, [8]byte{'s', 'e', 'i', 'n', 'e'})
}

// check asks a silent server for a sign of life, and gives it up when none comes; and lets nobody begin to wait for one that
// takes nothing.
func (c *Conn) check() {
	c.mu.Lock()
	defer c.unlock()
	c.watched = false
	if c.lost || len(c.streams) == 0 {
		return
	}
	t, now := &c.conf.Timeouts, time.Now()
	if limit := t.stall(); limit > 0 && !c.writing.IsZero() && now.Sub(c.writing) >= limit {
		c.strand()
	}
	asked := !c.pinged.IsZero()
	switch {
	case asked && t.PingReply >= 0 && now.Sub(c.pinged) >= t.PingReply:
		c.lose(Closed, errSilence)
	case asked:
		c.setHealth(max(t.PingReply-now.Sub(c.pinged), -1))
	case t.PingAfter < 0 || now.Sub(c.lastRead) < t.PingAfter:
		c.setHealth(max(t.PingAfter-now.Sub(c.lastRead), -1))
	default:
		c.ping(now)
		c.setHealth(t.PingReply)
	}
	c.kick(false)
}

// strand lets no more exchange begin while the server takes nothing. What has not gone out is for another connection: it is
// taken back, with nothing encoded after it. Exchanges whose requests have gone out go on, if the server does.
func (c *Conn) strand() {
	c.shut(errStalled)
	if len(c.unsent) == 0 {
		return
	}
	c.send += c.out.dropFrom(c.unsent[0].id)
	for _, o := range c.unsent {
		if o.s.id == o.id {
			o.s.fail(Refused, errStalled)
			delete(c.streams, o.id)
		}
	}
	clear(c.unsent)
	c.unsent = c.unsent[:0]
	c.wakeAll()
	c.leave()
}
