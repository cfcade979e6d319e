package audio

import "math"

const (
	echoLags     = 60     // 1.2 s: playout buffer, room and capture together
	echoDecay    = 0.9933 // per frame: a memory of 3 s
	echoLearn    = 50     // loud frames of the reply before the guard trusts what it learned
	echoSure     = 20     // frames in a row that agree on a lag
	echoKnown    = 500    // audible frames after which a room that stopped echoing is believed to have none
	echoLike     = 0.8    // correlation of loudness from which the microphone hears the loudspeaker
	echoMargin   = 2.0    // a caller is this much louder than the echo (6 dB)
	echoAssumed  = 0.3    // before anything is learned: the loudest echo expected (-10 dB)
	echoQueueMax = 1024   // frames handed over and, by our estimate, not yet played
	echoRoom     = 0.8    // how a room's echo dies, per frame: 60 dB in 0.6 s
	echoFloor    = 1e-4   // RMS below which an echo is none
	echoRefLoud  = 0.003  // RMS of a frame of the reply that is worth learning from (-50 dBFS)
)

// EchoGuard tells whether a frame of the microphone may be no more than the
// reply, heard through a loudspeaker. It compares loudness over time: it
// estimates when each frame of the reply is played, learns with which delay and
// how much quieter the microphone follows it, and from then on explains away
// what is not clearly louder than that. Until it has learned that there is no
// echo it assumes a loud one, so in the first second of the first reply a
// caller must speak up to be heard over it. It hears no difference between an
// echo and a caller who is as quiet as one.
//
// It counts frames and has no clock. It is not safe for concurrent use.
type EchoGuard struct {
	queue []float64 // loudness of what is handed over and not yet played
	past  [echoLags + 2]float64
	at    int // where the newest of past is

	n, y, yy    float64 // weighted sums over frames: count, microphone, its square
	x, xx, xy   [echoLags]float64
	loud        int
	echo        float64 // how loud one may be in this frame
	lag, agreed int
	known       int // frames for which what was learned is still believed
	gain        float64
}

// NewEchoGuard returns an EchoGuard that has heard nothing.
func NewEchoGuard() *EchoGuard {
	return &EchoGuard{queue: make([]float64, 0, 64)}
}

// Playing adds one 20 ms frame of the reply, at any rate, that was handed to
// the listener and will be played behind the others.
func (g *EchoGuard) Playing(frame []int16) {
	if len(g.queue) < echoQueueMax {
		g.queue = append(g.queue, RMS(frame))
	}
}

// Clear forgets what was handed over and not yet played.
func (g *EchoGuard) Clear() { g.queue = g.queue[:0] }

// Explains takes the next 20 ms frame of the microphone and reports whether it
// may be the echo of the reply. It must see every frame.
func (g *EchoGuard) Explains(frame []int16) bool {
	mic := RMS(frame)
	g.advance()
	g.echo = math.Max(g.expected(), g.echo*echoRoom)
	g.learn(mic)
	return mic <= g.echo && g.echo > echoFloor
}

// advance plays one frame of the reply.
func (g *EchoGuard) advance() {
	g.at = (g.at + 1) % len(g.past)
	g.past[g.at] = 0
	if len(g.queue) == 0 {
		return
	}
	g.past[g.at] = g.queue[0]
	if g.queue[0] > echoRefLoud && g.loud < echoLearn {
		g.loud++
	}
	g.queue = g.queue[:copy(g.queue, g.queue[1:])]
}

// ref is the loudness of what was played lag frames ago.
func (g *EchoGuard) ref(lag int) float64 {
	return g.past[(g.at-lag+len(g.past))%len(g.past)]
}

// expected is how loud an echo may be in this frame.
func (g *EchoGuard) expected() float64 {
	if g.agreed >= echoSure {
		around := math.Max(g.ref(g.lag), math.Max(g.ref(max(g.lag-1, 0)), g.ref(g.lag+1)))
		return echoMargin * g.gain * around
	}
	switch {
	case g.known > 0: // a room that echoed a moment ago still does, perhaps with another delay
		return echoMargin * g.gain * g.loudest()
	case g.loud < echoLearn:
		return echoAssumed * g.loudest()
	default:
		return 0
	}
}

// loudest is the loudest frame that may be heard now, whatever the delay.
func (g *EchoGuard) loudest() float64 {
	most := 0.0
	for lag := range echoLags / 2 {
		most = math.Max(most, g.ref(lag))
	}
	return most
}

// learn updates the sums of every lag and what follows from them.
func (g *EchoGuard) learn(mic float64) {
	if !g.audible() {
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

// audible reports whether the reply can be in the room now.
func (g *EchoGuard) audible() bool {
	for lag := range echoLags {
		if g.ref(lag) > echoRefLoud {
			return true
		}
	}
	return false
}

// agree follows the lag with the best correlation; r2 is its square.
func (g *EchoGuard) agree(r2 float64, lag int) {
	switch {
	case r2 < echoLike*echoLike:
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
