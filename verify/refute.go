package verify

import (
	"fmt"

	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/walk"
	"github.com/voicegw/voicegw/verify/witness"
)

// Refute makes the verdict on a firing sequence that leads to a bad end: Refuted, with times, or
// Unknown if no timing allows the sequence.
func Refute(m *netmodel.Model, method string, steps []netmodel.Step, states int, format string, args ...any) Verdict {
	w := witness.New(m, steps, fmt.Sprintf(format, args...))
	at, ok := walk.Schedule(m, steps)
	if !ok {
		v := unknown(method, Spurious, "%s, but time forbids the way there that was found", w.Ends)
		v.States = states
		return v
	}
	for i := range w.Firings {
		w.Firings[i].At = at[i]
	}
	w.Timed = true
	w.SetStory(len(steps))
	v := refuted(method, "%s", w.Ends)
	v.Witness, v.States = w, states
	return v
}

// By makes a verdict with this outcome, a method, the number of states visited and a reason. For
// Unknown use Cause.By.
func (o Outcome) By(method string, states int, format string, args ...any) Verdict {
	return Verdict{Outcome: o, Method: method, States: states, Reason: fmt.Sprintf(format, args...)}
}

// By makes an Unknown verdict with this cause.
func (c Cause) By(method string, states int, format string, args ...any) Verdict {
	return Verdict{Cause: c, Method: method, States: states, Reason: fmt.Sprintf(format, args...)}
}
