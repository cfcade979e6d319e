package walk

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// Unroll repeats the loop at the end of a firing sequence, if there is one, until the sequence is
// longer than any chain may be.
func Unroll(m *netmodel.Model, steps []netmodel.Step) []netmodel.Step {
	if len(steps) == 0 {
		return steps
	}
	w := NewWalker(m, func() {}, nil)
	copy(w.Marking, m.Initial())
	var seen [][]int32
	for _, s := range steps {
		seen = append(seen, slices.Clone(w.Marking))
		w.Apply(s)
	}
	for i := len(seen) - 1; i >= 0; i-- {
		if !slices.Equal(seen[i], w.Marking) {
			continue
		}
		out := slices.Clone(steps)
		for k := i; len(out) <= len(steps)+petri.MaxChain; k++ {
			out = append(out, steps[i+(k-i)%(len(steps)-i)])
		}
		return out
	}
	return steps
}

// Settled appends firings to a sequence from the start until the net rests: the transitions that
// fire at once, each in its first possible way.
func Settled(m *netmodel.Model, steps []netmodel.Step) []netmodel.Step {
	w := NewWalker(m, func() {}, nil)
	copy(w.Marking, m.Initial())
	alive := true
	for _, s := range steps {
		alive = w.Apply(s)
	}
	for n := 0; alive && n < petri.MaxChain && !m.Ended(w.Marking); n++ {
		i := slices.IndexFunc(m.Order, func(t int32) bool { return m.Ready(t, w.Marking) })
		if i < 0 {
			break
		}
		s := m.Steps(m.Order[i], w.Marking, nil)[0]
		steps, alive = append(steps, s), w.Apply(s)
	}
	return steps
}

// Along calls fn after each firing of a sequence from the start of the net, with the resulting
// marking. fn must not keep the marking.
func Along(m *netmodel.Model, steps []netmodel.Step, fn func(i int, marking []int32)) {
	w := NewWalker(m, func() {}, nil)
	copy(w.Marking, m.Initial())
	for i, s := range steps {
		w.Apply(s)
		fn(i, w.Marking)
	}
}

// storyMax is the most firings that a story lists.
const storyMax = 200

// Story renders firings from the start of the net, one per line, each with the resulting marking.
func Story(m *netmodel.Model, steps []netmodel.Step) string { return TimedStory(m, steps, nil) }

// TimedStory is Story with a column of times, if there are any.
func TimedStory(m *netmodel.Model, steps []netmodel.Step, at []time.Duration) string {
	var b strings.Builder
	w := NewWalker(m, func() {}, func(Fault) {})
	copy(w.Marking, m.Initial())
	fmt.Fprintf(&b, "start: %s\n", m.Format(w.Marking))
	for i, s := range steps {
		if i == storyMax {
			fmt.Fprintf(&b, "... and %d firings more\n", len(steps)-i)
			break
		}
		ok := w.Apply(s)
		name, clock := m.Name(s), ""
		if int(s.Transition) >= len(m.Program().Transitions()) {
			name = "the limit has passed" // the transition of an observer
		}
		if at != nil {
			clock = fmt.Sprintf("%10v ", at[i])
		}
		fmt.Fprintf(&b, "%3d %s%s: %s", i+1, clock, name, m.Format(w.Marking))
		if !ok {
			b.WriteString(" (beyond capacity)")
		}
		for _, r := range w.Refused {
			fmt.Fprintf(&b, " (%s refused)", m.Places[r.Place].Name)
		}
		w.Refused = w.Refused[:0]
		b.WriteByte('\n')
	}
	return b.String()
}
