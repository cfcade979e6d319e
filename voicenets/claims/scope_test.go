package claims

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/voicenets"
)

// structural is a property of Structure or Unseen by its name.
func structural(t *testing.T, c voicenets.Config, name string) *verify.Property {
	t.Helper()
	list := slices.Concat(Structure(c), Unseen(c))
	i := slices.IndexFunc(list, func(p *verify.Property) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("there is no property %q", name)
	}
	return list[i]
}

// TestImpossibleClaims: a claim about a transition or a place that no net has is refused, and names
// it.
func TestImpossibleClaims(t *testing.T) {
	c := voicenets.Config{RepromptAfter: 15 * time.Second}
	s := scopeOf(c)
	const noSuchPlace petri.Place[petri.Unit] = "no_such_place"
	for want, p := range map[string]*verify.Property{
		"no transition no_such_transition": s.waitsFor("no_such_transition", []petri.AnyPlace{voicenets.Replying}, nil),
		"no place no_such_place":           s.waitsFor("nudge", []petri.AnyPlace{noSuchPlace}, nil),
		"no transition no_such_clock":      s.ignoresNoise("no_such_clock"),
	} {
		v := structureOf(t, p, c, "model_silence/nudge", func(*petri.Transition) {})
		if v.Outcome == verify.Proved || !strings.Contains(v.Reason, want) {
			t.Errorf("%s: %s: %s, want %q", p.Name, v.Outcome, v.Reason, want)
		}
	}
}

// TestNothingIsProvedOfNothing: of a net without the places and transitions that structural claims
// are about, none is proved, except those that go through everything a net has.
func TestNothingIsProvedOfNothing(t *testing.T) {
	c := everything()
	const here, there petri.Place[petri.Unit] = "here", "there"
	n := &petri.Net{Name: "session", Init: []petri.Token{here.Token(petri.Unit{})}, Sinks: []petri.AnyPlace{there},
		Transitions: []petri.Transition{{Name: "go", In: petri.Arcs{here}, Out: petri.And(there)}}}
	pass, err := verify.NewPass(compile(t, n, nil), verify.Config{})
	if err != nil {
		t.Fatal(err)
	}
	full, err := c.Filled()
	if err != nil {
		t.Fatal(err)
	}
	list := slices.Concat(Structure(c), Unseen(c))
	for _, w := range waits(full) {
		list = append(list, w.property())
	}
	var proved []string
	for _, p := range list {
		if v, err := p.Check(context.Background(), pass); err == nil && v.Outcome == verify.Proved {
			proved = append(proved, p.Name)
		}
	}
	if want := []string{"V1-answered", "V1-outputs", "V1-chains"}; !slices.Equal(proved, want) {
		t.Errorf("of a net with nothing in it is proved: %q, want %q", proved, want)
	}
}

// TestAbsentPlaces: what a configuration excuses a session from having, the session does not have.
func TestAbsentPlaces(t *testing.T) {
	list := variants()
	for _, name := range []string{"zero", "everything", "all prompts", "model VAD half-duplex"} {
		for _, part := range []voicenets.Part{"", voicenets.PartSpeech, voicenets.PartText, voicenets.PartContext,
			voicenets.PartTranscript, voicenets.PartDigits, voicenets.PartPrompts, voicenets.PartTools,
			voicenets.PartModelSilence, voicenets.PartCallerSilence} {
			c := list[name]
			c.Parts = map[voicenets.Part]func(voicenets.Config) *petri.Net{part: nil}
			n, err := voicenets.Session(c)
			if err != nil {
				t.Fatal(err)
			}
			absent := absentPlaces(scopeOf(c).config)
			for _, sub := range n.Nets {
				for place := range mentions(sub) {
					if absent[place] {
						t.Errorf("%s without %q: %s uses %s, and no claim has to find it", name, part, sub.Name, place)
					}
				}
			}
		}
	}
}

// renamed is a session in which one transition has another name.
func renamed(t *testing.T, c voicenets.Config, from, to string) *petri.Net {
	t.Helper()
	n, err := voicenets.Session(c)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for i, sub := range n.Nets {
		own := *sub
		own.Transitions = slices.Clone(sub.Transitions)
		for k := range own.Transitions {
			if own.Transitions[k].Name == from {
				own.Transitions[k].Name, found = to, true
			}
		}
		n.Nets[i] = &own
	}
	if !found {
		t.Fatalf("a session has no transition %s", from)
	}
	return n
}

// TestRenamedTimers: a session whose timer has another name than the claim about its wait is
// refused.
func TestRenamedTimers(t *testing.T) {
	c := voicenets.Config{ToolSlots: 1, RepromptAfter: 15 * time.Second, Consent: true,
		Prompts: voicenets.Prompts(0).With(voicenets.Filler)}
	full, err := c.Filled()
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range waits(full) {
		o, err := obligationsOf(renamed(t, c, w.transition, "renamed"), c)
		if err != nil {
			t.Fatal(err)
		}
		pass, err := verify.NewPass(o.closed, verify.Config{})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(o.structure, func(p *verify.Property) bool { return p.Name == w.property().Name })
		if i < 0 {
			t.Errorf("without %s nothing is claimed of its wait", w.transition)
			continue
		}
		if v, err := o.structure[i].Check(context.Background(), pass); err != nil || v.Outcome == verify.Proved ||
			!strings.Contains(v.Reason, w.transition) {
			t.Errorf("without %s: %s, %s, %v", w.transition, v.Outcome, v.Reason, err)
		}
	}
}

// TestPatienceByName: the slice of the conversation leaves out the transitions that decide how long
// a turn lingers, and no others; a session that lacks one of them is refused.
func TestPatienceByName(t *testing.T) {
	c := voicenets.Config{Adaptive: true}
	for _, name := range patience(c) {
		if _, err := obligationsOf(renamed(t, c, name, "renamed"), c); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
	}
	o, err := obligationsOf(renamed(t, c, "note_speech", "relearn_speech"), c)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(o.parts[0].Slice.Keep, "session/turns/relearn_speech") {
		t.Errorf("%s does not keep relearn_speech", o.parts[0].Name)
	}
}
