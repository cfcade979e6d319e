package voicenets

import (
	"fmt"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// Detection says who decides that the caller speaks.
type Detection uint8

// The ways of detecting speech.
const (
	// Manual: our detector decides, or the caller with a button to talk; the
	// model is in manual activity mode.
	Manual Detection = iota
	// Server: every frame goes up and the model decides; our detector may only
	// pause playout.
	Server
)

// Config says what a session does. Its zero value works; every duration and
// count has the default its comment names.
type Config struct {
	Detection Detection
	// Greeting asks the model to speak first; GreetingFirm does not let the
	// caller interrupt that.
	Greeting, GreetingFirm bool
	// HalfDuplex does not listen to the caller while a reply is playing.
	HalfDuplex bool
	// Adaptive waits longer for the end of a turn with callers who pause while
	// they speak, see Linger. Manual detection alone.
	Adaptive bool
	// Hints takes the opinion of a recogniser about speech over a reply. Manual
	// detection alone.
	Hints bool
	// Consent does not listen to a caller who has not agreed to it.
	Consent bool
	// Prompts are those there is audio for; the others are passed over. One that
	// nothing asks for (Filler without tools, AskConsent without Consent, Reprompt
	// without RepromptAfter) changes nothing.
	Prompts Prompts
	// ToolSlots is how many tools may run at one time: 0 (the model has none) to
	// SlotsMax.
	ToolSlots int

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
	// Linger is how long, after the end of speech, a turn of an Adaptive session
	// may go on: at first, for a caller who was cut off once, and for one who was
	// cut off again: 0, 400 ms, 1 s. It grows with every turn that was given up
	// because the caller went on, and shrinks again after LingerLasts: 1 min.
	Linger      [3]time.Duration
	LingerLasts time.Duration
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

	// A model that gives no reply is asked again after NudgeAfter: 4 s; gets a
	// new connection RenewAfter later: 4 s; and is spoken for FallbackAfter
	// later: 4 s. ReplyDeadline, which nothing restarts, is the longest a
	// caller's turn waits: 30 s.
	NudgeAfter, RenewAfter, FallbackAfter, ReplyDeadline time.Duration
	// RepromptAfter is how long a caller may be silent before being asked whether
	// anybody is there, and GoodbyeAfter how long after that the call ends: 15 s.
	// RepromptAfter 0 waits for ever.
	RepromptAfter, GoodbyeAfter time.Duration
	// ConsentWait is how long the caller may think about consent: 60 s.
	ConsentWait time.Duration
	// ToolTimeout is the longest a tool may take: 15 s. FillerAfter is when the
	// Filler is played meanwhile: 1.5 s.
	ToolTimeout, FillerAfter time.Duration
	// Backoff is how long to wait before dialling again, the first, second and
	// third time in a row: 500 ms, 1 s, 2 s. Stable is how long a connection must
	// last for that row to begin anew: 10 s.
	Backoff [3]time.Duration
	Stable  time.Duration
	// DialsMax is how many dials may begin at once: 4, at most 16. After so many one
	// more may begin each DialEvery: 1 s.
	DialsMax  int
	DialEvery time.Duration
	// RotateAfter is how old a connection becomes before it shall be replaced:
	// 9 min. One that shall, or that the model will end, is at a quiet moment, or when
	// the model has not begun its reply after RotateSoon (2 s); at the latest, and
	// even if the model speaks, after RotateWithin (45 s), or after RotateSoon if
	// its end is at hand.
	RotateAfter, RotateWithin, RotateSoon time.Duration
	// DigitGap ends an entry of digits: 3 s.
	DigitGap time.Duration
	// DrainWithin is how long a call may go on when the gateway shuts down: 60 s.
	// Farewell is the longest its last words may take: 10 s.
	DrainWithin, Farewell time.Duration
	// MaxDuration is the longest a call may last: 30 min, at most 24 h.
	MaxDuration time.Duration

	// Parts replaces subnets, or leaves out those with a nil function. Whatever
	// could then never happen is left out too.
	Parts map[Part]func(Config) *petri.Net
}

// Prompts is a set of prompts.
type Prompts uint8

// With returns the set with p in it.
func (s Prompts) With(p Prompt) Prompts { return s | 1<<p }

// Has reports whether p is in the set.
func (s Prompts) Has(p Prompt) bool { return s>>p&1 == 1 }

// HeldFramesMax is the most caller audio that waits for a decision: 1.2 s.
const HeldFramesMax = 60

// Kind is what kind of session c makes, in words: "manual", or "server,
// half-duplex".
func (c Config) Kind() string {
	kind := "manual"
	if !c.manual() {
		kind = "server"
	}
	if c.HalfDuplex {
		kind += ", half-duplex"
	}
	return kind
}

// Filled is c with the defaults of what is zero, or what is wrong.
func (c Config) Filled() (Config, error) { return c.withDefaults() }

// withDefaults fills in what is zero and checks the rest.
func (c Config) withDefaults() (Config, error) {
	c.BudgetFrames = c.Budget()
	c.ReplyFramesMax = orInt(c.ReplyFramesMax, 15_000)
	c.PreRollFrames = orInt(c.PreRollFrames, 15)
	c.DialsMax = orInt(c.DialsMax, 4)
	for _, t := range c.times() {
		*t.v = orTime(*t.v, t.otherwise)
	}
	for i, d := range [3]time.Duration{0, 400 * time.Millisecond, time.Second} {
		c.Linger[i] = orTime(c.Linger[i], d)
	}
	for i, d := range [3]time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second} {
		c.Backoff[i] = orTime(c.Backoff[i], d)
	}
	if c.lacks(PartTools) {
		c.ToolSlots = 0
	}
	if c.lacks(PartCallerSilence) {
		c.RepromptAfter = 0
	}
	c.Prompts = c.asked()
	return c, c.check()
}

// lacks reports whether Parts leaves out a part.
func (c Config) lacks(p Part) bool {
	own, ok := c.Parts[p]
	return ok && own == nil
}

// timing is a setting with its default and its limits.
type timing struct {
	name              string
	v                 *time.Duration
	otherwise, lo, hi time.Duration
}

func (c *Config) times() []timing {
	const ms = time.Millisecond
	return []timing{
		{"ConfirmWindow", &c.ConfirmWindow, 600 * ms, 100 * ms, 900 * ms},
		{"FrameGap", &c.FrameGap, 300 * ms, 150 * ms, 2 * time.Second},
		{"LingerLasts", &c.LingerLasts, time.Minute, time.Second, time.Hour},
		{"LateAudio", &c.LateAudio, 300 * ms, 50 * ms, 5 * time.Second},
		{"AckTimeout", &c.AckTimeout, 2 * time.Second, 500 * ms, 30 * time.Second},
		{"OwedTimeout", &c.OwedTimeout, 3 * time.Second, 500 * ms, time.Minute},
		{"SilentTurn", &c.SilentTurn, 5 * time.Second, time.Second, time.Minute},
		{"NudgeAfter", &c.NudgeAfter, 4 * time.Second, 500 * ms, time.Minute},
		{"RenewAfter", &c.RenewAfter, 4 * time.Second, 500 * ms, time.Minute},
		{"FallbackAfter", &c.FallbackAfter, 4 * time.Second, 500 * ms, time.Minute},
		{"ReplyDeadline", &c.ReplyDeadline, 30 * time.Second, 2 * time.Second, 5 * time.Minute},
		{"RepromptAfter", &c.RepromptAfter, 0, time.Second, time.Hour},
		{"GoodbyeAfter", &c.GoodbyeAfter, 15 * time.Second, time.Second, time.Hour},
		{"ConsentWait", &c.ConsentWait, time.Minute, time.Second, time.Hour},
		{"ToolTimeout", &c.ToolTimeout, 15 * time.Second, 100 * ms, 10 * time.Minute},
		{"FillerAfter", &c.FillerAfter, 1500 * ms, 100 * ms, time.Minute},
		{"Stable", &c.Stable, 10 * time.Second, time.Second, 10 * time.Minute},
		{"DialEvery", &c.DialEvery, time.Second, 100 * ms, time.Minute},
		{"RotateAfter", &c.RotateAfter, 9 * time.Minute, time.Minute, 24 * time.Hour},
		{"RotateWithin", &c.RotateWithin, 45 * time.Second, time.Second, 5 * time.Minute},
		{"RotateSoon", &c.RotateSoon, 2 * time.Second, 50 * ms, time.Minute},
		{"DigitGap", &c.DigitGap, 3 * time.Second, 200 * ms, time.Minute},
		{"DrainWithin", &c.DrainWithin, time.Minute, time.Second, 24 * time.Hour},
		{"Farewell", &c.Farewell, 10 * time.Second, time.Second, time.Minute},
		{"MaxDuration", &c.MaxDuration, 30 * time.Minute, time.Second, 24 * time.Hour},
	}
}

func (c *Config) check() error {
	for _, f := range []struct {
		name      string
		v, lo, hi int
	}{
		{"BudgetFrames", c.BudgetFrames, 1, 100},
		{"ReplyFramesMax", c.ReplyFramesMax, 1, 60_000},
		{"PreRollFrames", c.PreRollFrames, 1, 25},
		{"ToolSlots", c.ToolSlots, 0, SlotsMax},
		{"DialsMax", c.DialsMax, 1, 16},
	} {
		if f.v < f.lo || f.v > f.hi {
			return fmt.Errorf("voicenets: %s is %d; %d to %d is possible", f.name, f.v, f.lo, f.hi)
		}
	}
	for _, t := range c.times() {
		if (*t.v < t.lo || *t.v > t.hi) && *t.v != t.otherwise {
			return fmt.Errorf("voicenets: %s is %v; %v to %v is possible", t.name, *t.v, t.lo, t.hi)
		}
	}
	for i := range 3 {
		if d := c.Linger[i]; d < 0 || d > 5*time.Second {
			return fmt.Errorf("voicenets: Linger[%d] is %v; 0 to 5s is possible", i, d)
		}
		if d := c.Backoff[i]; d < 10*time.Millisecond || d > time.Minute {
			return fmt.Errorf("voicenets: Backoff[%d] is %v; 10ms to 1m is possible", i, d)
		}
	}
	return nil
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

// manual reports whether we decide about turns, pauses whether a reply may be
// paused for the caller, clears whether the peer may be told to drop audio.
func (c Config) manual() bool { return c.Detection == Manual }
func (c Config) pauses() bool { return !c.HalfDuplex }
