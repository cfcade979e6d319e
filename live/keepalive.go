package live

import (
	"context"
	"time"
)

// keepAlive pings, and gives up a connection on which a ping stayed without any frame in return for the silence
// time-out. It ends when the connection has failed or is closed.
func (c *wireConn) keepAlive() {
	interval, silence := int64(c.cfg.PingInterval), int64(c.cfg.SilenceTimeout)
	timer := time.NewTimer(c.cfg.PingInterval)
	defer timer.Stop()
	next := c.elapsed() + interval // when to ping
	var asked int64                // when the oldest unanswered ping was sent; 0: none is open
	for {
		select {
		case <-c.failed:
			return
		case <-timer.C:
		}
		now, reading := c.elapsed(), c.reading.Load()
		if reading == 0 || c.inbound.Load() >= asked {
			asked = 0 // answered; or nobody looks, so silence says nothing
		}
		if asked != 0 && now-max(asked, reading) >= silence {
			c.fail(&CloseError{Code: 1006, Class: ClassTimeout, limit: c.cfg.SilenceTimeout})
			c.drop()
			return
		}
		if now >= next {
			if asked == 0 {
				asked = now
			}
			next = now + interval
			c.ping()
		}
		wake := next
		if asked != 0 {
			wake = min(next, max(asked, reading)+silence)
		}
		timer.Reset(time.Duration(max(wake-c.elapsed(), int64(time.Millisecond))))
	}
}

// ping sends a ping. It does not care for the answer, which heard notes, but Ping waits for it, at most as long as a
// write may take.
func (c *wireConn) ping() {
	ctx, cancel := context.WithTimeout(context.Background(), c.cfg.WriteTimeout)
	defer cancel()
	_ = c.ws.Ping(ctx)
}
