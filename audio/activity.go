package audio

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
)

// Edge is what one frame did to the caller's speech.
type Edge uint8

// The edges. A segment of speech is Start, then any number of More and at most one Confirm, then Stop.
const (
	None    Edge = iota
	Start        // speech begins: a few frames already sound like speech
	More         // speech goes on, or its hangover is not over: a heartbeat by which a consumer notices missing frames
	Confirm      // this was enough speech to be no cough
	Stop         // speech ended: the hangover is over
)

// String is the edge's name in lower case.
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

// ActivityConfig says when speech starts, is confirmed and stops. All lengths are frames of 20 ms. A field that
// is zero has its default.
type ActivityConfig struct {
	Threshold       float64 // a frame that scores more is positive; default 0.5
	RaisedThreshold float64 // the threshold while the model speaks; default 1.0

	StartFrames int // this many positive frames, default 3,
	StartWindow int // among the last so many, default 4 and at most 64, start speech
	// RaisedStartFrames is used in place of StartFrames while the model speaks; default 3. The window grows by
	// as much as it exceeds StartFrames, to at most 64.
	RaisedStartFrames int

	ConfirmFrames int // this many positive frames, default 15,
	ConfirmWindow int // among the last so many of the segment, default 30 and at most 64, confirm speech
	StopFrames    int // the hangover; default 25, at most 500. Only two positive frames in a row restart it
	MoreEvery     int // distance of the heartbeats; default 5, at most 500
}

// Activity turns the scores of a [Detector] into the edges of speech. It counts frames: time in which no frame
// comes does not exist for it, see [Activity.Abort].
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

// NewActivity returns an Activity in silence. The error names the field that is out of range.
func NewActivity(cfg ActivityConfig) (*Activity, error) {
	cfg = cfg.withDefaults()
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("audio: new activity: %w", err)
	}
	return &Activity{cfg: cfg, raisedWindow: cfg.StartWindow + max(0, cfg.RaisedStartFrames-cfg.StartFrames)}, nil
}

// Frame takes the score of the next frame and returns the edge it caused, at most one: of several that fall on
// one frame the first of Start, Confirm, Stop and More comes now, the others on the next frames. raised says
// that the model speaks, and so an echo of it may be in the frame. A score that is not a number is not speech.
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

// Open says whether a segment of speech is open: Start came, Stop did not.
func (a *Activity) Open() bool { return a.open }

// Abort ends an open segment without an edge and forgets the frames so far. It is for a caller whose frames
// stopped coming: who calls it knows that speech ended.
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

// starts opens a segment if the frames of the window say so.
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

// during is Frame within a segment.
func (a *Activity) during() Edge {
	if !a.stopDue { // a segment whose Stop is only postponed hears nothing more
		a.hear()
	}
	switch {
	case a.confirmDue:
		a.confirmDue, a.confirmed = false, true
		return Confirm
	case a.stopDue:
		positive := a.run > 0
		a.Abort()
		a.push(positive) // the frame that Stop comes on may begin the next segment
		return Stop
	case a.moreDue:
		a.moreDue = false
		return More
	}
	return None
}

// hear notes what the newest frame makes due.
func (a *Activity) hear() {
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

// confirms says whether the segment's frames are enough speech, for the first time.
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

// check names the first field out of range.
func (c ActivityConfig) check() error {
	for _, f := range []struct {
		name  string
		value float64
	}{{"Threshold", c.Threshold}, {"RaisedThreshold", c.RaisedThreshold}} {
		if !(f.value > 0) || math.IsInf(f.value, 1) {
			return fmt.Errorf("%s is %v, want a number over 0", f.name, f.value)
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
