package claims

import (
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/structure"
	"github.com/voicegw/voicegw/voicenets"
)

// obligations is the one list of everything that is proved of a session. Prover works through it,
// for a gateway that starts and for an auditor alike.
type obligations struct {
	config  voicenets.Config // with its defaults filled in
	closed  *petri.Program   // in a hostile environment, with the real waits
	relaxed *petri.Program   // the same with every wait open; slices are made of this one

	each       []*verify.Property // proved of every slice
	parts      []verify.Part      // decided by exploration, slice by slice
	structure  []*verify.Property // decided by the structure of the closed net
	deadlines  []deadline         // decided by state classes
	rehearsals []rehearsal        // decided by a run of the machine
}

// obligationsOf lists what is proved of a session of a configuration. The session is the one that
// Session composes, or a mutant of it.
func obligationsOf(session *petri.Net, c voicenets.Config) (*obligations, error) {
	full, err := c.Filled()
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
		return nil, fmt.Errorf("claims: prove: %w", err)
	}
	m := netmodel.New(o.closed, netmodel.RunToCompletion)
	if open := structure.OpenPlaces(m); len(open) > 0 {
		return nil, fmt.Errorf("claims: prove: nothing fills %s", strings.Join(open, ", "))
	}
	if list := scopeOf(c).missing(o.closed, patience(full)); len(list) > 0 {
		return nil, fmt.Errorf("claims: prove: %s", strings.Join(list, ", "))
	}
	gone := gone(c, o.closed)
	o.parts = proofsOf(c, o.relaxed)
	o.structure = slices.Concat(Structure(c), notReplaced(c))
	for _, w := range waits(full) {
		o.structure = append(o.structure, w.property())
	}
	for _, d := range deadlines(full) {
		if !slices.ContainsFunc(d.names(), func(name string) bool { return gone[name] }) {
			o.deadlines = append(o.deadlines, d)
		}
	}
	o.rehearsals = slices.DeleteFunc(rehearsals(idle(full)), func(r rehearsal) bool {
		return slices.ContainsFunc(append(r.expect, r.before), func(name string) bool { return gone[name] })
	})
	return o, nil
}

// replaces reports whether the configuration replaces one of the named parts, or any part if none
// is named.
func replaces(c voicenets.Config, some ...voicenets.Part) bool {
	for p, own := range c.Parts {
		if own != nil && (len(some) == 0 || slices.Contains(some, p)) {
			return true
		}
	}
	return false
}

// notReplaced lists the claims about payload of the parts that are neither replaced nor left out;
// see Unseen.
func notReplaced(c voicenets.Config) []*verify.Property {
	var list []*verify.Property
	s := scopeOf(c)
	if !replaces(c, voicenets.PartTranscript) && !c.LeavesOut(voicenets.PartTranscript) {
		list = append(list, s.transcriptShown())
	}
	if !replaces(c) && !c.LeavesOut(voicenets.PartTranscript) { // any part may drop a reply
		list = append(list, s.transcriptDropped())
	}
	if !replaces(c, voicenets.PartSpeech, voicenets.PartTurns, voicenets.PartHints, voicenets.PartUplink,
		voicenets.PartInputGate) {
		list = append(list, s.unseenAudio()...)
	}
	return list
}

// names lists the places and transitions that a deadline names.
func (d deadline) names() []string {
	events := strings.Fields(d.start + " " + d.stop)
	for i, e := range events {
		e, _, _ = strings.Cut(e, "[")
		events[i] = lastPart(strings.TrimLeft(e, "+-"))
	}
	return slices.Concat(strings.Fields(d.keep), strings.Fields(d.places), events)
}

// relaxed returns a net in which every waiting transition may fire at any time, or never. It has
// every behaviour of the original net for any waits, so what is proved of it holds for all timings.
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
