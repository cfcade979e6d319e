package witness

import (
	"time"

	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/walk"
)

// SetStory sets Story to the first firings of a witness. It leaves out the times of a slice,
// because projected moves may happen at any time.
func (w *Witness) SetStory(firings int) {
	var at []time.Duration
	for _, f := range w.Firings {
		if w.Timed && !w.model.Timeless() && w.model.Program().Whole() == nil {
			at = append(at, f.At)
		}
	}
	w.Story = walk.TimedStory(w.model, w.Steps()[:firings], at)
}

// Witness is a run of the net that shows something, firing by firing.
type Witness struct {
	Net     string   `json:"net"`
	Firings []Firing `json:"firings"`
	// Timed reports that the times are exact; otherwise the run is one without time and all times
	// are zero.
	Timed bool `json:"timed"`
	// Ends states what the last marking shows.
	Ends string `json:"ends"`
	// Replayed reports that a petri.Machine took exactly this run.
	Replayed bool `json:"replayed"`
	// Story is the run in words, one line per firing, until it shows what it should. It has a
	// column of times where time counts, and no places of an observer.
	Story string `json:"-"`

	model *netmodel.Model // the model of the run, with an observer if there was one
}

// Firing is one step of a witness.
type Firing struct {
	At   time.Duration `json:"at"` // nanoseconds of net time
	Name string        `json:"name"`
	Step netmodel.Step `json:"-"`
}

// New makes a witness of a firing sequence without times.
func New(m *netmodel.Model, steps []netmodel.Step, ends string) *Witness {
	w := &Witness{Net: m.Program().Name(), Ends: ends, Story: walk.Story(m, steps), model: m}
	for _, s := range steps {
		w.Firings = append(w.Firings, Firing{Name: m.Name(s), Step: s})
	}
	return w
}

// Model is the model of the run, with an observer if there was one; nil if the witness was read
// from JSON.
func (w *Witness) Model() *netmodel.Model { return w.model }

// Steps returns the firings without names and times.
func (w *Witness) Steps() []netmodel.Step {
	var out []netmodel.Step
	for _, f := range w.Firings {
		out = append(out, f.Step)
	}
	return out
}
