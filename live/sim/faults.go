package sim

import (
	"fmt"
	"time"
)

// Faults are ways in which a model, or the way to it, has been seen to misbehave. The zero value is none; they can be
// combined. "After n chunks" counts the audio messages of the connection's first reply; n = 0 is never.
type Faults struct {
	// Connections is how many connections misbehave, from the first; the later ones are sound. 0 means all.
	Connections int

	// RefuseUpgrade answers the upgrade with this HTTP status.
	RefuseUpgrade int
	// RefuseKey closes with the refusal of an invalid key, whatever the key.
	RefuseKey bool
	// NoSetupComplete never answers the setup.
	NoSetupComplete bool
	// CloseAt closes; nil is never.
	CloseAt *CloseAt
	// DropTCPAfterChunks breaks the connection without a close frame.
	DropTCPAfterChunks int
	// GarbageAfterChunks sends, once, a message that is no JSON, and goes on.
	GarbageAfterChunks int
	// StallWritesAfterChunks sends nothing more, no pong either, but keeps reading: a half-open connection.
	StallWritesAfterChunks int
	// StallReadsAfterMessages stops reading after so many client messages, and so answers no ping.
	StallReadsAfterMessages int
	// LateAudioChunks is how many audio messages still follow an interrupted.
	LateAudioChunks int
	// AudioWithInterrupted puts a chunk into the same message as interrupted.
	AudioWithInterrupted bool
	// PhantomAfterChunks sends, once, an interrupted that nobody caused, and goes on speaking.
	PhantomAfterChunks int
	// FreezeAfterChunks goes silent in mid-sentence for good; pings are still answered.
	FreezeAfterChunks int
	// FreezeAfterInterrupted goes silent for good after the first interrupted.
	FreezeAfterInterrupted bool
	// NoTurnComplete never ends a turn.
	NoTurnComplete bool
	// EmptyTurns is how many turns, from the first, get a turn complete without audio.
	EmptyTurns int
	// GoAwayAt announces the end of the connection this long after the setup; 0 is never. The close, 1011, follows
	// GoAwayTimeLeft later.
	GoAwayAt, GoAwayTimeLeft time.Duration
	// NeverResumable gives out no handles.
	NeverResumable bool
	// OversizeAfterChunks sends, once, a message of 5 MiB.
	OversizeAfterChunks int
	// UnknownFields adds fields nobody knows, and messages with nothing else.
	UnknownFields bool
}

// CloseAt is a close at a certain point.
type CloseAt struct {
	// Messages is how many client messages after the setup come first. 0 closes in place of the setup's answer.
	Messages int
	Code     int
	Reason   string // at most 123 bytes
}

func (f *Faults) check() error {
	if c := f.CloseAt; c != nil && (c.Code < 1000 || c.Code > 4999 || len(c.Reason) > reasonBytesMax) {
		return fmt.Errorf("sim: Faults.CloseAt is %d %.40q; want 1000 to 4999 and a reason up to 123 bytes", c.Code,
			c.Reason)
	}
	if s := f.RefuseUpgrade; s != 0 && (s < 400 || s > 599) {
		return fmt.Errorf("sim: Faults.RefuseUpgrade is %d; want 400 to 599", s)
	}
	return nil
}

// forConnection returns the faults of connection id, counted from 1.
func (f Faults) forConnection(id int) Faults {
	if f.Connections > 0 && id > f.Connections {
		return Faults{}
	}
	return f
}
