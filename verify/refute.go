package verify

import "fmt"

// Refute makes the verdict on a bad end that a firing sequence leads to: Refuted
// with times, or Unknown if no timing allows the sequence.
func (m *Model) Refute(method string, steps []Step, states int, format string, args ...any) Verdict {
	w := m.Witness(steps, fmt.Sprintf(format, args...))
	at, ok := m.Schedule(steps)
	if !ok {
		v := unknown(method, Spurious, "%s, but time forbids the way there that was found", w.Ends)
		v.States = states
		return v
	}
	for i := range w.Firings {
		w.Firings[i].At = at[i]
	}
	w.Timed = true
	w.tell(len(steps))
	v := refuted(method, "%s", w.Ends)
	v.Witness, v.States = w, states
	return v
}

// Verdicts that other packages make.

// Prove makes a proof with a reason.
func Prove(method string, states int, format string, args ...any) Verdict {
	v := proved(method, format, args...)
	v.States = states
	return v
}

// Doubt makes an Unknown verdict with a cause and a reason.
func Doubt(method string, cause Cause, states int, format string, args ...any) Verdict {
	v := unknown(method, cause, format, args...)
	v.States = states
	return v
}

// Deny makes a refutation that needs no witness, such as of Reach.
func Deny(method string, states int, format string, args ...any) Verdict {
	v := refuted(method, format, args...)
	v.States = states
	return v
}

// Describe renders a fault.
func (m *Model) Describe(f Fault) string { return m.describe(f) }

// Place returns the name of a place.
func (m *Model) Place(i int) string { return m.places[i].Name }
