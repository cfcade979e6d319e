package audio

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
)

// Edge is how one frame changed the state of the caller's speech.
type Edge uint8

// The edges. A segment of speech is Start, then any number of More and at most one Confirm, then
// Stop.
const (
	None    Edge = iota
	Start        // speech begins: a few frames were positive
	More         // heartbeat of an open segment: shows the consumer that frames still arrive
	Confirm      // the segment is long enough not to be a cough
	Stop         // speech ended: the hangover is over
)

// String returns the name of the edge in lower case.
func (e Edge) String() string {
	switch e {
	case None:
		return "none"
	case Start:
		return "start"
	case More:
		return "more"
	case Confirm:
		return "confirm"
	case Stop:
		return "stop"
	}
	return fmt.Sprintf("edge(%d)", uint8(e))
}

// Limits of an ActivityConfig, in frames.
const (
	activityWindowMax = 64  // 1.28 s
	activityCountMax  = 500 // 10 s
)

// ActivityConfig says when speech starts, is confirmed and stops. All lengths are in frames of 20
// ms. A zero field takes its default.
type ActivityConfig struct {
	// Threshold is the score above which a frame is positive: default 0.5.
	Threshold float64
	// RaisedThreshold replaces Threshold while the model speaks: default 1.0.
	RaisedThreshold float64

	// StartFrames is how many of the last StartWindow frames must be positive to start speech:
	// default 3.
	StartFrames int
	// StartWindow is the length of that window: default 4, at most 64.
	StartWindow int
	// RaisedStartFrames replaces StartFrames while the model speaks: default 3. The window is
	// longer by the difference, up to 64.
	RaisedStartFrames int

	// ConfirmFrames is how many of the last ConfirmWindow frames of a segment must be positive to
	// confirm it: default 15.
	ConfirmFrames int
	// ConfirmWindow is the length of that window: default 30, at most 64.
	ConfirmWindow int
	// StopFrames is the hangover: default 25, at most 500. Only two positive frames in a row
	// restart it.
	StopFrames int
	// MoreEvery is the distance between two heartbeats: default 5, at most 500.
	MoreEvery int
}

// Activity turns the scores of a [Detector] into the edges of speech. It counts frames and has no
// clock: if the frames of a caller stop, call [Activity.Abort].
type Activity struct {
	cfg          ActivityConfig
	raisedWindow int

	history uint64 // the last 64 frames, the newest in bit 0; 1 is positive
	open    bool
	length  int // frames of the open segment that count for Confirm, at most 64
	run     int // positive frames in a row
	quiet   int // frames since the last two positive ones in a row
	beat    int // frames since the last heartbeat was due

	confirmed                    bool
	confirmDue, stopDue, moreDue bool
}

// NewActivity returns an Activity without an open segment, or an error that names the field of cfg
// that is out of range.
func NewActivity(cfg ActivityConfig) (*Activity, error) {
	cfg = cfg.withDefaults()
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("audio: new activity: %w", err)
	}
	return &Activity{cfg: cfg, raisedWindow: cfg.StartWindow + max(0, cfg.RaisedStartFrames-cfg.StartFrames)}, nil
}

// Frame takes the score of the next frame and returns its edge. If a frame causes several edges,
// Frame returns them on this frame and the next ones, in the order Start, Confirm, Stop, More. Set
// raised while the model speaks, because the frame may contain its echo. NaN counts as no speech.
func (a *Activity) Frame(score float64, raised bool) Edge {
	threshold := a.cfg.Threshold
	if raised {
		threshold = a.cfg.RaisedThreshold
	}
	a.push(score > threshold)
	if a.open {
		return a.during()
	}
	if a.starts(raised) {
		return Start
	}
	return None
}

// Abort ends an open segment without an edge and forgets all frames. Call it when the frames of a
// caller stop.
func (a *Activity) Abort() { *a = Activity{cfg: a.cfg, raisedWindow: a.raisedWindow} }

// push adds a frame to the history.
func (a *Activity) push(positive bool) {
	a.history <<= 1
	a.run++
	if positive {
		a.history |= 1
	} else {
		a.run = 0
	}
}

// starts opens a segment if enough frames of the window are positive.
func (a *Activity) starts(raised bool) bool {
	need, window := a.cfg.StartFrames, a.cfg.StartWindow
	if raised {
		need, window = a.cfg.RaisedStartFrames, a.raisedWindow
	}
	if a.positives(window) < need {
		return false
	}
	a.open, a.length, a.quiet, a.beat = true, window, 0, 0
	a.confirmDue = a.confirms()
	return true
}

// during is Frame while a segment is open.
func (a *Activity) during() Edge {
	if !a.stopDue { // a postponed Stop is final
		a.count()
	}
	switch {
	case a.confirmDue:
		a.confirmDue, a.confirmed = false, true
		return Confirm
	case a.stopDue:
		positive := a.run > 0
		a.Abort()
		a.push(positive) // the frame of Stop may begin the next segment
		return Stop
	case a.moreDue:
		a.moreDue = false
		return More
	}
	return None
}

// count counts the newest frame, and sets the edges that it makes due.
func (a *Activity) count() {
	a.length = min(a.length+1, activityWindowMax)
	if a.quiet++; a.run >= 2 {
		a.quiet = 0
	}
	if a.beat++; a.beat == a.cfg.MoreEvery {
		a.beat, a.moreDue = 0, true
	}
	a.confirmDue = a.confirmDue || a.confirms()
	a.stopDue = a.quiet >= a.cfg.StopFrames && a.run == 0 // a positive frame may be the first of two
}

// confirms reports whether the segment has enough positive frames for the first time.
func (a *Activity) confirms() bool {
	return !a.confirmed && a.positives(min(a.length, a.cfg.ConfirmWindow)) >= a.cfg.ConfirmFrames
}

// positives counts the positive frames among the last n, at most 64.
func (a *Activity) positives(n int) int {
	return bits.OnesCount64(a.history << (64 - n))
}

func (c ActivityConfig) withDefaults() ActivityConfig {
	c.Threshold = cmp.Or(c.Threshold, 0.5)
	c.RaisedThreshold = cmp.Or(c.RaisedThreshold, 1.0)
	c.StartFrames = cmp.Or(c.StartFrames, 3)
	c.StartWindow = cmp.Or(c.StartWindow, 4)
	c.RaisedStartFrames = cmp.Or(c.RaisedStartFrames, 3)
	c.ConfirmFrames = cmp.Or(c.ConfirmFrames, 15)
	c.ConfirmWindow = cmp.Or(c.ConfirmWindow, 30)
	c.StopFrames = cmp.Or(c.StopFrames, 25)
	c.MoreEvery = cmp.Or(c.MoreEvery, 5)
	return c
}

// check returns an error that names the first field out of range.
func (c ActivityConfig) check() error {
	for _, f := range []struct {
		name  string
		value float64
	}{{"Threshold", c.Threshold}, {"RaisedThreshold", c.RaisedThreshold}} {
		if !(f.value > 0) || math.IsInf(f.value, 1) {
			return fmt.Errorf("%s is %v, want a number above 0", f.name, f.value)
		}
	}
	for _, f := range []struct {
		name       string
		value, max int
	}{
		{"StartWindow", c.StartWindow, activityWindowMax},
		{"StartFrames", c.StartFrames, c.StartWindow},
		{"RaisedStartFrames", c.RaisedStartFrames, activityWindowMax - c.StartWindow + c.StartFrames},
		{"ConfirmWindow", c.ConfirmWindow, activityWindowMax},
		{"ConfirmFrames", c.ConfirmFrames, c.ConfirmWindow},
		{"StopFrames", c.StopFrames, activityCountMax},
		{"MoreEvery", c.MoreEvery, activityCountMax},
	} {
		if f.value < 1 || f.value > f.max {
			return fmt.Errorf("%s is %d, want 1 to %d", f.name, f.value, f.max)
		}
	}
	return nil
}
