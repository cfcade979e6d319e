package audio

import (
	"math"
	"time"
)

const (
	echoLags     = 60     // longest delay of an echo in slots: 1.2 s of playout buffer, room and capture
	echoDecay    = 0.9933 // weight of the past per frame: 3 s
	echoLearn    = 50     // loud frames of the reply before the guard may conclude that there is no echo
	echoEnough   = 20     // audible frames after which correlation means something
	echoSure     = 20     // frames that must agree on a lag
	echoKnown    = 500    // audible frames for which a learned echo is assumed to last
	echoLike     = 0.8    // correlation of loudness that shows an echo
	echoMargin   = 2.0    // how much louder than the echo a caller must be (6 dB)
	echoAssumed  = 0.3    // gain of the echo until one is learned (-10 dB)
	echoQueueMax = 1024   // frames sent and, by estimate, not played yet
	echoPast     = 512    // slots that are remembered: 10 s
	echoRoom     = 0.8    // decay of a room's echo per slot: 60 dB in 0.6 s
	echoGap      = 10     // slots without a frame after which the microphone was closed
	echoTail     = 40     // slots after which a room's echo is over
	echoFloor    = 1e-4   // RMS below which there is no echo
	echoRefLoud  = 0.003  // RMS of a loud frame of the reply (-50 dBFS)
)

// EchoGuard reports whether a frame of the microphone may be an echo: the reply of the model,
// played by a loudspeaker. It compares loudness over time. It estimates when each frame of the
// reply plays, and learns the delay and the gain with which the microphone follows. From then on a
// frame that is not clearly louder than the expected echo may be echo.
//
// Until it has learned that there is no echo, it assumes a loud one. In the first second of the first
// reply a caller must therefore speak louder than usual to interrupt. A caller who is no louder than
// the echo counts as echo.
//
// Every method takes the time since some fixed moment, such as the beginning of the call. The reply
// plays on while the microphone sends nothing, so a guard expects no echo of a reply that is over.
// An EchoGuard takes 4 kB.
type EchoGuard struct {
	clock captureClock
	queue []queuedFrame // not played yet
	end   time.Duration // when the newest frame that was sent has been played

	past   [echoPast]float32 // loudness of what played in each slot of 20 ms, by slot modulo echoPast
	newest int               // slot of past
	at     int               // slot of the microphone's frame
	played bool              // all that was sent has been played, as the listener says
	opened bool              // the microphone was closed when the reply ended

	n, y, yy    float64 // weighted sums over frames: count, microphone, its square
	x, xx, xy   [echoLags]float64
	loud        int
	echo        float64 // loudest possible echo in this frame
	lag, agreed int
	known       int // frames for which the learned echo is still assumed
	gain        float64
}

// queuedFrame is a frame of the reply that will play.
type queuedFrame struct {
	slot     int
	loudness float32
}

// NewEchoGuard returns an EchoGuard that has learned nothing yet.
func NewEchoGuard() *EchoGuard {
	return &EchoGuard{queue: make([]queuedFrame, 0, 64)}
}

// slotOf returns the slot that contains t.
func slotOf(t time.Duration) int { return int(max(t, 0) / FrameDuration) }

// Playing adds one 20 ms frame of the reply, at any rate, that was sent to the listener at now and
// will play after the others. Beyond 1,024 frames (20 s) that are not played yet it ignores the
// frame.
func (g *EchoGuard) Playing(now time.Duration, frame []int16) {
	g.play(now)
	if len(g.queue) == echoQueueMax {
		return
	}
	g.played = false
	start := max(now, g.end)
	g.end = start + FrameDuration
	g.queue = append(g.queue, queuedFrame{slotOf(start), float32(RMS(frame))})
}

// Clear forgets the frames that are not played at now.
func (g *EchoGuard) Clear(now time.Duration) {
	g.play(now)
	g.queue = g.queue[:0]
	g.end = min(g.end, now)
}

// Played notes that the listener has played everything that was sent.
func (g *EchoGuard) Played() { g.played = true }

// Alive notes that something other than a frame of the microphone came from the listener at now. If
// no frames come meanwhile, the microphone is closed, and the connection is not stalled.
func (g *EchoGuard) Alive(now time.Duration) { g.clock.alive(now) }

// Explains takes the next 20 ms frame of the microphone and reports whether it may be an echo of
// the reply. The end of the frame was captured at now or, if it was under way for long, earlier.
func (g *EchoGuard) Explains(now time.Duration, frame []int16) bool {
	mic := RMS(frame)
	g.play(now)
	g.listen(slotOf(g.clock.captured(now) - FrameDuration))
	g.learn(mic)
	return mic <= g.echo && g.echo > echoFloor
}

// play plays the reply until the slot that contains now.
func (g *EchoGuard) play(now time.Duration) {
	slot := slotOf(now) - 1
	for ; g.newest < slot; g.newest++ {
		if slot-g.newest > echoPast {
			g.newest = slot - echoPast
		}
		g.past[(g.newest+1)%echoPast] = 0
	}
	n := 0
	for n < len(g.queue) && g.queue[n].slot <= slot {
		if q := g.queue[n]; q.slot > slot-echoPast {
			g.past[q.slot%echoPast] = q.loudness
		}
		n++
	}
	if n > 0 {
		g.queue = g.queue[:copy(g.queue, g.queue[n:])]
	}
}

// listen moves the microphone to a slot. If that is not the next one, it works out the room's echo
// from the slots before it.
func (g *EchoGuard) listen(slot int) {
	switch {
	case slot == g.at:
		g.echo = math.Max(g.expected(), g.echo)
		return
	case slot > g.at+echoGap:
		g.opened = true
	}
	if slot < g.at || slot > g.at+echoTail {
		g.at, g.echo = slot-echoTail, 0
	}
	for g.at < slot {
		g.at++
		g.echo = math.Max(g.expected(), g.echo*echoRoom)
	}
	if g.ref(0) > echoRefLoud {
		g.opened = false
		g.loud = min(g.loud+1, echoLearn)
	}
}

// ref returns the loudness of the frame that played lag slots ago.
func (g *EchoGuard) ref(lag int) float64 {
	slot := g.at - lag
	if slot < 0 || slot <= g.newest-echoPast {
		return 0
	}
	return float64(g.past[slot%echoPast])
}

// expected returns the loudest echo to expect in this frame.
func (g *EchoGuard) expected() float64 {
	if g.agreed >= echoSure {
		around := math.Max(g.ref(g.lag), math.Max(g.ref(max(g.lag-1, 0)), g.ref(g.lag+1)))
		return echoMargin * g.gain * around
	}
	switch {
	case g.opened && g.played: // to speak
		return 0
	case g.known > 0: // the echo is still there, perhaps with another delay
		return echoMargin * g.gain * g.loudest()
	case g.loud < echoLearn:
		return echoAssumed * g.loudest()
	default:
		return 0
	}
}

// loudest returns the loudness of the loudest frame that may be audible now, whatever the delay.
func (g *EchoGuard) loudest() float64 {
	most := 0.0
	for lag := range echoLags / 2 {
		most = math.Max(most, g.ref(lag))
	}
	return most
}

// learn updates the sums of every lag, and from them lag and gain.
func (g *EchoGuard) learn(mic float64) {
	if g.opened || !g.audible() {
		return
	}
	g.n = g.n*echoDecay + 1
	g.y = g.y*echoDecay + mic
	g.yy = g.yy*echoDecay + mic*mic
	best, bestLag := 0.0, -1
	vy := g.yy - g.y*g.y/g.n
	for lag := range echoLags {
		r := g.ref(lag)
		g.x[lag] = g.x[lag]*echoDecay + r
		g.xx[lag] = g.xx[lag]*echoDecay + r*r
		g.xy[lag] = g.xy[lag]*echoDecay + r*mic
		cov := g.xy[lag] - g.x[lag]*g.y/g.n
		if vx := g.xx[lag] - g.x[lag]*g.x[lag]/g.n; cov > 0 && vx > 0 && vy > 0 && cov*cov > best*vx*vy {
			best, bestLag = cov*cov/(vx*vy), lag
		}
	}
	g.agree(best, bestLag)
}

// audible reports whether an echo of the reply can be audible now.
func (g *EchoGuard) audible() bool {
	for lag := range echoLags {
		if g.ref(lag) > echoRefLoud {
			return true
		}
	}
	return false
}

// agree updates lag and gain from the lag with the best correlation, whose square is r2.
func (g *EchoGuard) agree(r2 float64, lag int) {
	switch {
	case g.n < echoEnough || r2 < echoLike*echoLike:
		g.agreed = max(g.agreed-1, 0)
	case lag >= g.lag-1 && lag <= g.lag+1:
		g.agreed = min(g.agreed+1, 3*echoSure)
		g.lag, g.gain = lag, g.xy[lag]/g.xx[lag]
	case g.agreed > 0:
		g.agreed--
	default:
		g.lag = lag
	}
	if g.known--; g.agreed >= echoSure {
		g.known = echoKnown
	}
	g.known = max(g.known, 0)
}
