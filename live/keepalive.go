package live

import (
	"context"
	"time"
)

// keepAlive sends pings. It ends the connection if no frame follows a ping within the silence
// time-out. It returns when the connection has failed or is closed.
func (c *wireConn) keepAlive() {
	interval, silence := int64(c.cfg.PingInterval), int64(c.cfg.SilenceTimeout)
	timer := time.NewTimer(c.cfg.PingInterval)
	defer timer.Stop()
	next := c.elapsed() + interval // time of the next ping
	var asked int64                // time of the oldest ping without an answer; 0: none
	for {
		select {
		case <-c.failed:
			return
		case <-timer.C:
		}
		now, reading := c.elapsed(), c.reading.Load()
		if reading == 0 || c.inbound.Load() >= asked {
			asked = 0 // answered, or unknown because no Recv waits
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

// ping sends a ping and waits for its answer, at most as long as a write may take. heard records
// the answer.
func (c *wireConn) ping() {
	ctx, cancel := context.WithTimeout(context.Background(), c.cfg.WriteTimeout)
	defer cancel()
	_ = c.ws.Ping(ctx)
}
