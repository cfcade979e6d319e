package verify

import (
	"fmt"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// Script renders a witness as a petritest script of the open net: what its
// environment injects, and when, then the time that passes and the marking at
// the end. The traces are left empty; go test -rewrite fills them in. A token
// is given by its key; one that carries more, or is stale, has to be completed
// by hand, and a comment says so.
func (m *Model) Script(w *Witness, open *petri.Program) (string, error) {
	if w.model != nil && w.model.prog == m.prog {
		m = w.model
	}
	at, ok := m.schedule(w.Steps(), m.ownership(open))
	if !ok {
		return "", fmt.Errorf("verify: script of %s: no machine takes the run", w.Net)
	}
	own := m.ownership(open)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s\n", w.Net, w.Ends)
	end := time.Duration(0)
	for i, f := range w.Firings {
		end = at[i]
		if own[f.Step.Transition] < 0 {
			m.scriptStep(&b, f, end, open)
		}
	}
	fmt.Fprintf(&b, "\nadvance %v\n----\n\nmarking\n----\n", end)
	return b.String(), nil
}

// scriptStep writes what one firing of the environment injects.
func (m *Model) scriptStep(b *strings.Builder, f Firing, at time.Duration, open *petri.Program) {
	br := &m.modeOf(f.Step).branches[f.Step.Branch]
	for i := range br.put {
		p := &br.put[i]
		place := open.Place(m.places[p.place].Name)
		if place < 0 || !open.Places()[place].Env {
			continue
		}
		info := &open.Places()[place]
		key := int(p.slot - p.first)
		fmt.Fprintf(b, "\n# %s\n", f.Name)
		if info.Gen {
			fmt.Fprintf(b, "# the token is %s\n", m.slotName[p.slot])
			key /= 2
		}
		value := ""
		if info.Keys != nil {
			value = " " + info.Keys[key]
		}
		for range p.n {
			fmt.Fprintf(b, "inject %s%s @%v\n----\n", info.Name, value, at)
		}
	}
}
