package sim

import (
	"fmt"
	"time"
)

// Faults are ways in which real models and networks have misbehaved. They can be combined; the zero
// value has none. Fields with AfterChunks count the audio messages of the first reply of the
// connection; 0 means never.
type Faults struct {
	// Connections is how many connections have the faults, from the first; 0 means all.
	Connections int

	// RefuseUpgrade refuses the upgrade with this HTTP status, 400 to 599.
	RefuseUpgrade int
	// RefuseKey refuses every key.
	RefuseKey bool
	// NoSetupComplete never answers the setup.
	NoSetupComplete bool
	// CloseAt closes the connection at a certain message; nil means never.
	CloseAt *CloseAt
	// DropTCPAfterChunks breaks the connection without a close frame.
	DropTCPAfterChunks int
	// GarbageAfterChunks sends one message that is not JSON, and goes on.
	GarbageAfterChunks int
	// StallWritesAfterChunks sends nothing more, not even a pong, but keeps reading: a half-open
	// connection.
	StallWritesAfterChunks int
	// StallReadsAfterMessages stops reading after so many messages of the client, and so answers no
	// ping.
	StallReadsAfterMessages int
	// LateAudioChunks is how many audio messages follow each interrupted.
	LateAudioChunks int
	// AudioWithInterrupted sends audio in the same message as interrupted.
	AudioWithInterrupted bool
	// PhantomAfterChunks sends one interrupted without a cause, and continues the reply.
	PhantomAfterChunks int
	// FreezeAfterChunks stops all messages but pongs, in the middle of the reply.
	FreezeAfterChunks int
	// FreezeAfterInterrupted stops all messages but pongs after the first interrupted.
	FreezeAfterInterrupted bool
	// NoTurnComplete never ends a turn.
	NoTurnComplete bool
	// EmptyTurns is how many turns, from the first, get turn complete without audio.
	EmptyTurns int
	// GoAwayAt is how long after the setup the model sends go away; 0 means never.
	GoAwayAt time.Duration
	// GoAwayTimeLeft is how long after go away it closes the connection (1011).
	GoAwayTimeLeft time.Duration
	// NeverResumable sends no handles.
	NeverResumable bool
	// OversizeAfterChunks sends one message of 5 MiB.
	OversizeAfterChunks int
	// UnknownFields sends unknown fields, also as the only content of a message.
	UnknownFields bool
}

// CloseAt is a close after a number of messages.
type CloseAt struct {
	// Messages is how many messages of the client come first, after the setup. 0 closes in place of
	// the answer to the setup.
	Messages int
	Code     int    // 1000 to 4999
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

// forConnection returns the faults of a connection; ids count from 1.
func (f Faults) forConnection(id int) Faults {
	if f.Connections > 0 && id > f.Connections {
		return Faults{}
	}
	return f
}
