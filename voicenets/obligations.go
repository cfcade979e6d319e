package voicenets

import (
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// obligations are everything that is proved of one session: the one list that
// Prover works off, for a gateway that starts and for an auditor alike.
type obligations struct {
	config  Config         // with its defaults
	closed  *petri.Program // in a hostile environment, with the waits that run
	relaxed *petri.Program // the same with every wait open; the slices are of this one

	each       []*verify.Property // of every slice
	parts      []verify.Part      // by exploration, slice by slice
	structure  []*verify.Property // by the structure of the closed net
	deadlines  []deadline         // by state classes
	rehearsals []rehearsal        // by a run of the machine
}

// obligationsOf lists what is proved of a session of a configuration: of the
// one that Session composes, or of a mutant of it.
func obligationsOf(session *petri.Net, c Config) (*obligations, error) {
	full, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	hostile, err := CloseHostile(session, c)
	if err != nil {
		return nil, err
	}
	o := &obligations{config: full, each: []*verify.Property{Capacity()}}
	if o.closed, err = petri.Compile(hostile); err == nil {
		o.relaxed, err = petri.Compile(relaxed(hostile))
	}
	if err != nil {
		return nil, fmt.Errorf("voicenets: prove: %w", err)
	}
	if open := verify.NewModel(o.closed, verify.RunToCompletion).OpenPlaces(); len(open) > 0 {
		return nil, fmt.Errorf("voicenets: prove: nothing fills %s", strings.Join(open, ", "))
	}
	gone := c.gone(o.closed)
	o.parts = proofsOf(c, o.relaxed)
	o.structure = slices.Concat(Structure(c), notReplaced(c))
	for _, w := range waits(full) {
		if o.has(w.transition, gone) {
			o.structure = append(o.structure, w.property())
		}
	}
	for _, d := range deadlines(full) {
		if !slices.ContainsFunc(d.names(), func(name string) bool { return gone[name] }) {
			o.deadlines = append(o.deadlines, d)
		}
	}
	o.rehearsals = slices.DeleteFunc(rehearsals(full.alone()), func(r rehearsal) bool {
		return slices.ContainsFunc(append(r.expect, r.before), func(name string) bool { return gone[name] })
	})
	return o, nil
}

// has reports whether the session should have a transition: unless it is one of
// a stage that its configuration does not have, or of a part that is left out.
func (o *obligations) has(transition string, gone map[string]bool) bool {
	if _, err := verify.NewModel(o.closed, verify.RunToCompletion).Named(transition); err == nil {
		return true
	}
	return o.config.replaces() && !gone[transition] && o.config.ours(transition)
}

// ours reports whether a session without parts of others' has a transition.
func (c Config) ours(transition string) bool {
	return slices.ContainsFunc(parts(c), func(p part) bool {
		return slices.ContainsFunc(p.net(c).Transitions, func(t petri.Transition) bool { return t.Name == transition })
	})
}

// replaces reports whether one of some parts, or any if none is named, is not ours.
func (c Config) replaces(some ...Part) bool {
	for p, own := range c.Parts {
		if own != nil && (len(some) == 0 || slices.Contains(some, p)) {
			return true
		}
	}
	return false
}

// notReplaced are the claims about payload of those parts that are ours; see
// unseen.
func notReplaced(c Config) []*verify.Property {
	var list []*verify.Property
	if !c.replaces(PartWords) {
		list = append(list, shown())
	}
	if !c.replaces(PartSpeech, PartTurns, PartHints, PartUplink, PartEars) {
		list = append(list, dropped(c), sentUp(c))
	}
	return list
}

// names are the places and transitions that a deadline speaks of.
func (d deadline) names() []string {
	events := strings.Fields(d.start + " " + d.stop)
	for i, e := range events {
		e, _, _ = strings.Cut(e, "[")
		events[i] = lastPart(strings.TrimLeft(e, "+-"))
	}
	return slices.Concat(strings.Fields(d.keep), strings.Fields(d.places), events)
}

// relaxed is a net in which whatever waits may fire at any time, or never. It
// does all that the net does, whatever its waits: what is proved of it needs no
// other proof for other timings.
func relaxed(n *petri.Net) *petri.Net {
	out := *n
	out.Nets = nil
	for _, part := range n.Nets {
		out.Nets = append(out.Nets, relaxed(part))
	}
	out.Transitions = slices.Clone(n.Transitions)
	for i := range out.Transitions {
		if t := &out.Transitions[i]; !t.When.AtOnce() {
			t.When = petri.Anytime()
		}
	}
	return &out
}
