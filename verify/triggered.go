package verify

import (
	"fmt"
	"strconv"

	"github.com/voicegw/voicegw/petri"
)

// Triggered compiles a copy of a net in which each transition that has a clock
// waits for a token in an environment place instead, so that a machine can run
// it although the net waits for intervals. The place is fire_NAME, or fire_ and
// the number of the transition if its name is no plain word. It refuses nets
// that tell tokens apart.
func (m *Model) Triggered() (*petri.Program, error) {
	net, err := m.driven()
	if err != nil {
		return nil, fmt.Errorf("verify: trigger %s: a machine runs only nets without keys and generations", m.prog.Name())
	}
	taken := map[string]bool{}
	for i := range m.prog.Places() {
		taken[m.places[i].Name] = true
	}
	net.Env = nil
	for i := range net.Transitions {
		if m.clock[i] < 0 {
			continue
		}
		name := m.triggerPlace(int32(i))
		if taken[name] {
			return nil, fmt.Errorf("verify: trigger %s: there is another place %s", m.prog.Name(), name)
		}
		taken[name] = true
		trigger := petri.Place[petri.Unit](name)
		net.Env = append(net.Env, petri.Env{Place: trigger})
		in := net.Transitions[i].In
		in[len(in)-1] = trigger // of which driven says it is the last
	}
	return petri.Compile(net)
}

// triggerPlace is the place that lets a transition fire.
func (m *Model) triggerPlace(t int32) string {
	if name := m.transitions[t].Name; plainWord(name) {
		return "fire_" + name
	}
	return "fire_" + strconv.Itoa(int(t))
}

// Program is the net of the witness; nil if it was read from JSON.
func (w *Witness) Program() *petri.Program {
	if w.model == nil {
		return nil
	}
	return w.model.prog
}

// Markings are the initial marking of Program and those that the firings leave.
func (w *Witness) Markings() [][]int32 {
	if w.model == nil {
		return nil
	}
	slots := w.model.prog.Slots() // an observer's places come after them
	out := [][]int32{w.model.prog.Initial()}
	w.model.Along(w.Steps(), func(_ int, marking []int32) {
		out = append(out, append([]int32(nil), marking[:slots]...))
	})
	return out
}
