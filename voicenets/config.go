package voicenets

import (
	"fmt"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// Detection selects the detector that decides when the caller speaks: the gateway's or the model's.
type Detection uint8

// The ways of detecting speech.
const (
	// GatewayVAD: the gateway's detector decides, or the caller's push-to-talk button. The model is
	// in manual activity mode.
	GatewayVAD Detection = iota
	// ModelVAD: every frame goes up and the model decides. The gateway's detector may only pause
	// playout.
	ModelVAD
)

// Config sets what a session does. Its zero value works. A zero duration or count means the default
// that the field's comment names.
type Config struct {
	Detection Detection
	// Greeting asks the model to speak first. With GreetingFirm the caller cannot interrupt the
	// greeting.
	Greeting, GreetingFirm bool
	// HalfDuplex sends no caller audio to the model while a reply is playing.
	HalfDuplex bool
	// Adaptive waits longer for the end of a turn if the caller pauses while speaking; see Linger.
	// It needs GatewayVAD.
	Adaptive bool
	// Hints accepts the opinion of a recogniser about speech over a reply. It needs GatewayVAD
	// without HalfDuplex.
	Hints bool
	// Consent keeps the input gate closed until the caller consents.
	Consent bool
	// Prompts is the set of prompts that have audio. The net skips the others. A prompt that
	// nothing asks for (Filler without tools, AskConsent without Consent, Reprompt without
	// RepromptAfter) changes nothing.
	Prompts Prompts
	// ToolSlots is how many tools may run at one time: 0 (the model has no tools) to SlotsMax.
	ToolSlots int

	// BudgetFrames is the most audio handed over to the peer and not yet acknowledged: 20 frames
	// (400 ms), at most 100.
	BudgetFrames int
	// ReplyFramesMax is the most audio of a reply that may wait in the net: 15,000 frames
	// (5 minutes). At this limit the gateway stops reading the model's connection.
	ReplyFramesMax int
	// PreRollFrames is how much caller audio from before the start of speech the net keeps: 15
	// frames (300 ms), at most 25.
	PreRollFrames int

	// ConfirmWindow is how long a paused reply waits for speech to be confirmed: 600 ms.
	ConfirmWindow time.Duration
	// FrameGap is how long after the last heartbeat of the detector speech ends: 300 ms.
	FrameGap time.Duration
	// Linger is how long a turn of an Adaptive session may go on after the end of speech: 0 at
	// first, 400 ms after the caller was cut off once, and 1 s after the caller was cut off again.
	// The level rises with every turn that was replaced because the caller went on. It falls by one
	// after LingerLasts: 1 min.
	Linger      [3]time.Duration
	LingerLasts time.Duration
	// LateAudio is how long after the caller's turn audio of an interrupted reply may still come:
	// 300 ms.
	LateAudio time.Duration
	// AckTimeout is how long after its end audio counts as played without an acknowledgement: 2 s.
	AckTimeout time.Duration
	// TurnEndTimeout is how long the net waits for the end of an earlier model turn: 3 s.
	TurnEndTimeout time.Duration
	// SilentTurn is how long a model may be silent in mid-reply, without ending its turn, before
	// the net ends the reply: 5 s.
	SilentTurn time.Duration

	// When the model gives no reply, the net asks it again after NudgeAfter (4 s), replaces the
	// connection RenewAfter later (4 s) and plays the fallback prompt FallbackAfter later (4 s).
	// ReplyDeadline is the longest a caller's turn waits: 30 s. Nothing restarts it.
	NudgeAfter, RenewAfter, FallbackAfter, ReplyDeadline time.Duration
	// RepromptAfter is how long a caller may be silent before the net plays the reprompt; 0 waits
	// for ever. GoodbyeAfter is how long after the reprompt the call ends: 15 s.
	RepromptAfter, GoodbyeAfter time.Duration
	// ConsentWait is how long the net waits for the caller's consent: 60 s.
	ConsentWait time.Duration
	// ToolTimeout is the longest a tool may take: 15 s. The net plays Filler when a tool has taken
	// FillerAfter: 1.5 s.
	ToolTimeout, FillerAfter time.Duration
	// Backoff is the wait before the first, second and third retry in a row: 500 ms, 1 s, 2 s.
	// The count starts again when a connection has lasted for Stable: 10 s.
	Backoff [3]time.Duration
	Stable  time.Duration
	// DialsMax is how many dials may begin at once: 4, at most 16. After that, one dial may begin
	// each DialEvery: 1 s.
	DialsMax  int
	DialEvery time.Duration
	// RotateAfter is the age at which a connection is due for replacement: 9 min. A connection
	// whose end the model has announced is due too. The net replaces it at a quiet moment, or when
	// the model has not begun its reply after RotateSoon (2 s). At the latest it does so after
	// RotateWithin (45 s), or after RotateSoon if the announced end is near, even while the model
	// speaks.
	RotateAfter, RotateWithin, RotateSoon time.Duration
	// DigitGap is the pause after the last key that ends an entry of digits: 3 s.
	DigitGap time.Duration
	// DrainWithin is how long a call may go on after a request to drain: 60 s. Farewell is the
	// longest the last prompt of a call may take: 10 s.
	DrainWithin, Farewell time.Duration
	// MaxDuration is the longest a call may last: 30 min, at most 24 h.
	MaxDuration time.Duration

	// Parts replaces subnets by name. A nil function leaves the subnet out. Session also leaves out
	// transitions that can then never fire.
	Parts map[Part]func(Config) *petri.Net
}

// Prompts is a set of prompts.
type Prompts uint8

// With returns the set with p in it.
func (s Prompts) With(p Prompt) Prompts { return s | 1<<p }

// Has reports whether p is in the set.
func (s Prompts) Has(p Prompt) bool { return s>>p&1 == 1 }

// HeldFramesMax is the most caller audio, in frames, that waits for a decision: 1.2 s. At this
// limit the oldest frame is dropped.
const HeldFramesMax = 60

// Kind describes the kind of session that c makes, such as "gateway VAD" or "model VAD, half-duplex".
func (c Config) Kind() string {
	kind := "gateway VAD"
	if !c.gatewayVAD() {
		kind = "model VAD"
	}
	if c.HalfDuplex {
		kind += ", half-duplex"
	}
	return kind
}

// Filled returns c with defaults in place of zero values. It returns an error if a value is out of
// range.
func (c Config) Filled() (Config, error) {
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
	if c.LeavesOut(PartTools) {
		c.ToolSlots = 0
	}
	if c.LeavesOut(PartCallerSilence) {
		c.RepromptAfter = 0
	}
	c.Prompts = c.asked()
	return c, c.check()
}

// LeavesOut reports whether Parts leaves out a part.
func (c Config) LeavesOut(p Part) bool {
	own, ok := c.Parts[p]
	return ok && own == nil
}

// timing is a duration of a Config with its default and its limits.
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
		{"TurnEndTimeout", &c.TurnEndTimeout, 3 * time.Second, 500 * ms, time.Minute},
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

// Budget returns BudgetFrames, or its default.
func (c Config) Budget() int { return orInt(c.BudgetFrames, 20) }

// Longest returns MaxDuration, or its default.
func (c Config) Longest() time.Duration { return orTime(c.MaxDuration, 30*time.Minute) }

// gatewayVAD reports whether the gateway decides about turns.
func (c Config) gatewayVAD() bool { return c.Detection == GatewayVAD }

// pauses reports whether the caller's speech may pause a reply.
func (c Config) pauses() bool { return !c.HalfDuplex }
