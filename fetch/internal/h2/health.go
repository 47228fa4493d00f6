package h2

import "time"

// watch sees to it that somebody notices when the server is silent while a stream is open. The timer runs on when streams
// end, so that a busy connection does not set it again and again. A kept connection that has been silent is asked at once:
// a path that has forgotten it is found long before the head of the response would be missed.
func (c *Conn) watch(now time.Time) {
	t := &c.conf.Timeouts
	if t.PingAfter < 0 || c.lost {
		return
	}
	if c.served && c.pinged.IsZero() && now.Sub(c.lastRead) >= probeAfter && t.PingReply >= 0 {
		c.ping(now)
		c.setHealth(t.PingReply)
	} else if !c.watched {
		c.setHealth(t.PingAfter)
	}
}

func (c *Conn) setHealth(d time.Duration) {
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

// check asks a silent server for a sign of life, and gives it up when none comes.
func (c *Conn) check() {
	c.mu.Lock()
	defer c.unlock()
	c.watched = false
	if c.lost || len(c.streams) == 0 {
		return
	}
	t, now := &c.conf.Timeouts, time.Now()
	switch {
	case !c.pinged.IsZero():
		if wait := t.PingReply - now.Sub(c.pinged); wait > 0 {
			c.setHealth(wait)
			return
		}
		c.lose(Closed, errSilence)
	default:
		if wait := t.PingAfter - now.Sub(c.lastRead); wait > 0 {
			c.setHealth(wait)
			return
		}
		c.ping(now)
		if t.PingReply >= 0 {
			c.setHealth(t.PingReply)
		}
	}
	c.kick(false)
}
