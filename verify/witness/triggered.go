package witness

import (
	"fmt"
	"strconv"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/walk"
)

// Triggered compiles a copy of a net in which each transition that has a clock waits for a token in
// an environment place instead, so that a machine can run it although the net waits for intervals.
// The place is fire_NAME, or fire_ and the number of the transition if its name is not a plain
// word. It refuses nets that distinguish tokens.
func Triggered(m *netmodel.Model) (*petri.Program, error) {
	net, err := driven(m)
	if err != nil {
		return nil, fmt.Errorf("verify: trigger %s: a machine runs only nets without keys and generations",
			m.Program().Name())
	}
	taken := map[string]bool{}
	for i := range m.Program().Places() {
		taken[m.Places[i].Name] = true
	}
	net.Env = nil
	for i := range net.Transitions {
		if m.Clocks[i] < 0 {
			continue
		}
		name := triggerPlace(m, int32(i))
		if taken[name] {
			return nil, fmt.Errorf("verify: trigger %s: there is another place %s", m.Program().Name(), name)
		}
		taken[name] = true
		trigger := petri.Place[petri.Unit](name)
		net.Env = append(net.Env, petri.Env{Place: trigger})
		in := net.Transitions[i].In
		in[len(in)-1] = trigger // the last arc, as driven guarantees
	}
	return petri.Compile(net)
}

// triggerPlace is the place that lets a transition fire.
func triggerPlace(m *netmodel.Model, t int32) string {
	if name := m.Transitions[t].Name; plainWord(name) {
		return "fire_" + name
	}
	return "fire_" + strconv.Itoa(int(t))
}

// Program is the net of the witness; nil if it was read from JSON.
func (w *Witness) Program() *petri.Program {
	if w.model == nil {
		return nil
	}
	return w.model.Program()
}

// Markings are the initial marking of Program and those after each firing.
func (w *Witness) Markings() [][]int32 {
	if w.model == nil {
		return nil
	}
	slots := w.model.Program().Slots() // an observer's places come after them
	out := [][]int32{w.model.Program().Initial()}
	walk.Along(w.model, w.Steps(), func(_ int, marking []int32) {
		out = append(out, append([]int32(nil), marking[:slots]...))
	})
	return out
}
