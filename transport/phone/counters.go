package phone

import (
	"errors"
	"sync/atomic"
)

// Fault is a deviation of the far end that the call survives.
type Fault uint8

// The counted faults. Limits.FaultsMax limits FaultMalformed.
const (
	FaultMalformed Fault = iota // a message that cannot be read
	FaultUnknown                // an event of an unknown type
	FaultForeign                // a message of another stream or another track, dropped
	FaultGap                    // media missing, filled with silence up to 200 ms
	FaultRepeated               // media that came before, or too late; dropped
	FaultEmpty                  // media without samples
	FaultRestart                // a repeated start of the stream
	faultCount
)

// String returns a word for logs.
func (f Fault) String() string {
	return [...]string{"malformed", "unknown", "foreign", "gap", "repeated", "empty", "restart", "none"}[min(f,
		faultCount)]
}

// Counters is a snapshot of the traffic of one connection.
type Counters struct {
	AudioIn, AudioOut uint64 // audio messages in, frames out
	MarksOut          uint64
	MarksDropped      uint64 // returned marks of audio that a clear dropped
	MarksUnknown      uint64 // returned marks that were never set, or that returned twice
	Faults            map[Fault]uint64
}

// counters are the live values behind Counters.
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
