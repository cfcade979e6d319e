package audio

import "time"

const (
	clockLate    = 200 * time.Millisecond // a frame later than this follows a gap
	clockLateMax = 8 * time.Second        // a connection stalls for less
	clockAlive   = 150 * time.Millisecond // after the last frame the far end shows that it is there,
	clockFresh   = 60 * time.Millisecond  // and so long before the next
	clockWindow  = 50                     // frames over which the shortest delay is taken: 1 s
	clockProbe   = 2                      // frames between two looks at whether a delay shrinks
)

// captureClock estimates when the frames of a microphone were captured. While they come, it counts
// them, because their delay varies. Two things make a frame late: the microphone was closed, and the
// frame is new; or the connection stalled, and the frame is old. It is old if the frames that follow
// come faster than they were captured.
type captureClock struct {
	begun bool
	at    time.Duration // when the newest frame was captured, if none is missing
	heard time.Duration // when it came
	shown time.Duration // when the far end showed, after heard, that it is there; or 0

	frames int           // of the window
	least  time.Duration // shortest delay in the window

	probe    int           // late frames since the last look
	late     time.Duration // delay at the last look
	catching bool          // the delay shrinks
}

// alive notes that something other than a frame came.
func (c *captureClock) alive(now time.Duration) {
	if c.shown == 0 && now >= c.heard+clockAlive {
		c.shown = now
	}
}

// captured takes the next frame and returns when it was captured. That is now at the latest.
func (c *captureClock) captured(now time.Duration) time.Duration {
	fresh := !c.begun || c.shown > 0 && now >= c.shown+clockFresh
	c.begun, c.heard, c.shown = true, now, 0
	c.at += FrameDuration
	late := now - c.at
	switch {
	case late <= 0, fresh && late > clockLate, late > clockLateMax:
		c.restart(now)
	case late > clockLate:
		return c.afterGap(now, late)
	default:
		c.probe = 0
		c.follow(late)
	}
	return c.at
}

// restart begins to count at now.
func (c *captureClock) restart(now time.Duration) {
	c.at, c.frames, c.probe = now, 0, 0
}

// follow takes up a delay that no frame of a window was without.
func (c *captureClock) follow(late time.Duration) {
	if c.frames == 0 {
		c.least = late
	}
	c.least = min(c.least, late)
	if c.frames++; c.frames < clockWindow {
		return
	}
	c.frames = 0
	if c.least >= FrameDuration {
		c.at += c.least
	}
}

// afterGap returns when a late frame was captured.
func (c *captureClock) afterGap(now, late time.Duration) time.Duration {
	if c.probe == 0 {
		c.late, c.catching = late, false
	}
	c.frames = 0
	if c.probe++; c.probe%clockProbe == 0 {
		if c.catching = c.late-late >= FrameDuration/2; !c.catching {
			c.restart(now)
			return now
		}
		c.late = late
	}
	if c.catching {
		return c.at
	}
	return now
}
