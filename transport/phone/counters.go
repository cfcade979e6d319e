package phone

import (
	"errors"
	"sync/atomic"
)

// Fault is something odd that a far end did and a call survives.
type Fault uint8

// The faults that are counted. FaultMalformed is limited by Limits.FaultsMax.
const (
	FaultMalformed Fault = iota // a message that cannot be read
	FaultUnknown                // an event of a type that is not known
	FaultForeign                // of another stream or of another track, dropped
	FaultGap                    // media missing, filled with silence up to 200 ms
	FaultRepeated               // media that came before, or too late, dropped
	FaultEmpty                  // media without sound
	FaultRestart                // the start of the stream, said again
	faultCount
)

// String is a word for logs.
func (f Fault) String() string {
	return [...]string{"malformed", "unknown", "foreign", "gap", "repeated", "empty", "restart", "none"}[min(f,
		faultCount)]
}

// Counters is a snapshot of what went over one connection.
type Counters struct {
	AudioIn, AudioOut uint64 // audio messages in, frames out
	MarksOut          uint64
	MarksDropped      uint64 // marks that came back for audio which a clear dropped
	MarksUnknown      uint64 // marks that came back and were never set, or twice
	Faults            map[Fault]uint64
}

// counters are what a Counters is read from.
type counters struct {
	audioIn, audioOut, marksOut, marksDropped, marksUnknown atomic.Uint64
	faults                                                  [faultCount]atomic.Uint64
}

func (c *counters) snapshot() Counters {
	out := Counters{AudioIn: c.audioIn.Load(), AudioOut: c.audioOut.Load(), MarksOut: c.marksOut.Load(),
		MarksDropped: c.marksDropped.Load(), MarksUnknown: c.marksUnknown.Load(), Faults: map[Fault]uint64{}}
	for f := range c.faults {
		if n := c.faults[f].Load(); n > 0 {
			out.Faults[Fault(f)] = n
		}
	}
	return out
}

var errDigit = errors.New("a digit must be one of 0-9, *, #, A-D")
