package verify

import (
	"time"

	"github.com/voicegw/voicegw/petri"
)

// Witness is a run of the net that shows something, firing by firing.
type Witness struct {
	Net     string   `json:"net"`
	Firings []Firing `json:"firings"`
	// Timed reports that the times are exact; otherwise the run is one
	// without time and the times are all zero.
	Timed bool `json:"timed"`
	// Ends says what the last marking shows.
	Ends string `json:"ends"`
	// Replayed reports that a petri.Machine took this very run.
	Replayed bool `json:"replayed"`
	// Story is the run in words, one line a firing, until it shows what it should:
	// with a column of times where time counts, and without an observer's places.
	Story string `json:"-"`

	model *Model // it is a run of: with an observer, if there was one
}

// Firing is one step of a witness.
type Firing struct {
	At   time.Duration `json:"at"` // nanoseconds of net time
	Name string        `json:"name"`
	Step Step          `json:"-"`
}

// Witness makes a witness of a path.
func (g *Graph) Witness(p Path, ends string) *Witness { return g.Model.Witness(p.Steps, ends) }

// Witness makes a witness of a firing sequence without times.
func (m *Model) Witness(steps []Step, ends string) *Witness {
	w := &Witness{Net: m.prog.Name(), Ends: ends, Story: m.Story(steps), model: m}
	for _, s := range steps {
		w.Firings = append(w.Firings, Firing{Name: m.Name(s), Step: s})
	}
	return w
}

// Steps returns the firings without names and times.
func (w *Witness) Steps() []Step {
	var out []Step
	for _, f := range w.Firings {
		out = append(out, f.Step)
	}
	return out
}

// timeless reports whether every wait of the net is [0,inf), so that a run
// without time is a run.
func (m *Model) timeless() bool {
	for _, t := range m.timed {
		if w := m.transitions[t].When; w.Earliest != 0 || w.Latest != petri.Forever {
			return false
		}
	}
	return true
}
