package voicenets

import (
	"fmt"
	"time"
)

// Detection says who decides that the caller speaks.
type Detection uint8

// The ways of detecting speech.
const (
	// Manual: our detector decides, the model is in manual activity mode.
	Manual Detection = iota
	// Server: every frame goes up and the model decides; our detector may only
	// pause playout.
	Server
)

// Config says what a session does. Its zero value works; every duration and
// count has the default its comment names.
type Config struct {
	Detection Detection
	// Greeting asks the model to speak first.
	Greeting bool
	// HalfDuplex does not listen to the caller while a reply is playing.
	HalfDuplex bool

	// BudgetFrames is how much may be handed over and not be acknowledged:
	// 20 (400 ms), at most 100.
	BudgetFrames int
	// ReplyFramesMax is how much of a reply may wait here: 15,000 (5 minutes).
	// When it is full the model's connection is no longer read.
	ReplyFramesMax int
	// PreRollFrames is what is kept of the time before speech was noticed: 15
	// (300 ms), at most 25.
	PreRollFrames int

	// ConfirmWindow is how long a pause waits for speech to be confirmed:
	// 600 ms.
	ConfirmWindow time.Duration
	// FrameGap without a sign of frames ends speech: 300 ms.
	FrameGap time.Duration
	// LateAudio is how long after the caller's turn audio of an interrupted
	// reply may still come: 300 ms.
	LateAudio time.Duration
	// AckTimeout is how long after its end audio counts as played without an
	// acknowledgement: 2 s.
	AckTimeout time.Duration
	// OwedTimeout is how long the end of an earlier turn is waited for: 3 s.
	OwedTimeout time.Duration
	// SilentTurn ends a reply whose model fell silent without saying so: 5 s.
	SilentTurn time.Duration
	// MaxDuration is the longest a call may last: 30 min, at most 24 h.
	MaxDuration time.Duration
}

// HeldFramesMax is the most caller audio that waits for a decision: 1.2 s.
const HeldFramesMax = 60

// withDefaults fills in what is zero and checks the rest.
func (c Config) withDefaults() (Config, error) {
	c.BudgetFrames = c.Budget()
	c.ReplyFramesMax = orInt(c.ReplyFramesMax, 15_000)
	c.PreRollFrames = orInt(c.PreRollFrames, 15)
	c.ConfirmWindow = orTime(c.ConfirmWindow, 600*time.Millisecond)
	c.FrameGap = orTime(c.FrameGap, 300*time.Millisecond)
	c.LateAudio = orTime(c.LateAudio, 300*time.Millisecond)
	c.AckTimeout = orTime(c.AckTimeout, 2*time.Second)
	c.OwedTimeout = orTime(c.OwedTimeout, 3*time.Second)
	c.SilentTurn = orTime(c.SilentTurn, 5*time.Second)
	c.MaxDuration = c.Longest()
	for _, f := range []struct {
		name      string
		v, lo, hi int
	}{
		{"BudgetFrames", c.BudgetFrames, 1, 100},
		{"ReplyFramesMax", c.ReplyFramesMax, 1, 60_000},
		{"PreRollFrames", c.PreRollFrames, 1, 25},
	} {
		if f.v < f.lo || f.v > f.hi {
			return c, fmt.Errorf("voicenets: %s is %d frames; %d to %d is possible", f.name, f.v, f.lo, f.hi)
		}
	}
	for _, f := range []struct {
		name      string
		v, lo, hi time.Duration
	}{
		{"ConfirmWindow", c.ConfirmWindow, 100 * time.Millisecond, 900 * time.Millisecond},
		{"FrameGap", c.FrameGap, 150 * time.Millisecond, 2 * time.Second},
		{"LateAudio", c.LateAudio, 50 * time.Millisecond, 5 * time.Second},
		{"AckTimeout", c.AckTimeout, 500 * time.Millisecond, 30 * time.Second},
		{"OwedTimeout", c.OwedTimeout, 500 * time.Millisecond, 60 * time.Second},
		{"SilentTurn", c.SilentTurn, time.Second, 60 * time.Second},
		{"MaxDuration", c.MaxDuration, time.Second, 24 * time.Hour},
	} {
		if f.v < f.lo || f.v > f.hi {
			return c, fmt.Errorf("voicenets: %s is %v; %v to %v is possible", f.name, f.v, f.lo, f.hi)
		}
	}
	return c, nil
}

func orInt(v, d int) int {
	if v == 0 {
		return d
	}
	return v
}

func orTime(v, d time.Duration) time.Duration {
	if v == 0 {
		return d
	}
	return v
}

// Budget is BudgetFrames with its default.
func (c Config) Budget() int { return orInt(c.BudgetFrames, 20) }

// Longest is MaxDuration with its default.
func (c Config) Longest() time.Duration { return orTime(c.MaxDuration, 30*time.Minute) }
