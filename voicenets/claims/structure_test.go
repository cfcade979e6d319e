package claims

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/voicenets"
)

// structureOf asks a structural property of a session of which one transition was changed.
func structureOf(t *testing.T, p *verify.Property, c voicenets.Config, transition string,
	change func(*petri.Transition)) verify.Verdict {
	t.Helper()
	n, err := voicenets.Session(c)
	if err != nil {
		t.Fatal(err)
	}
	part, name, _ := strings.Cut(transition, "/")
	for i, sub := range n.Nets {
		if k := slices.IndexFunc(sub.Transitions,
			func(t petri.Transition) bool { return t.Name == name }); sub.Name == part {
			own := *sub
			own.Transitions = slices.Clone(sub.Transitions)
			own.Transitions[k].Action = func(*petri.Firing) {} // it never runs
			change(&own.Transitions[k])
			n.Nets[i] = &own
		}
	}
	prog := compile(t, n, nil)
	pass, err := verify.NewPass(prog, verify.Config{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.Check(context.Background(), pass)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestStructureNotices: what the structure of a session tells is refuted where one of its arcs is
// another.
func TestStructureNotices(t *testing.T) {
	c := voicenets.Config{ToolSlots: 2}
	reply := func(t *petri.Transition) { t.Out = petri.And(voicenets.ToolReply.Is(voicenets.Slot(0))) }
	for _, test := range []struct {
		prop             *verify.Property
		transition, want string // "" is proved
		change           func(*petri.Transition)
	}{
		{ends(0), "tools/answer_call_0", "", func(*petri.Transition) {}},
		{ends(1), "tools/answer_call_0", "", func(*petri.Transition) {}},
		{ends(0), "tools/answer_call_0", "ends a call without a notice",
			func(t *petri.Transition) { t.Out = petri.And(voicenets.SlotFree(0)) }},
		{ends(0), "tools/end_drain_0", "drops a call",
			func(t *petri.Transition) { t.Reset = petri.Arcs{voicenets.ToolRunning(0)} }},
		{ends(0), "tools/ignore_result_0", "that has ended", reply},
		{ends(1), "tools/ignore_result_0", "", reply},
		{outdated(0), "turns/start_turn", "", func(*petri.Transition) {}},
		{outdated(0), "turns/start_turn", "leaves calls", func(t *petri.Transition) { t.Reset = t.Reset[:1] }},
		{outdated(1), "text/type_when_quiet", "leaves calls", func(t *petri.Transition) {
			t.Reset = petri.Arcs{voicenets.ToolCurrent(0)}
		}},
		{outdated(1), "text/type_in_turn", "", func(t *petri.Transition) { t.Reset = nil }},
		{settled(), "link/lose_link", "", func(*petri.Transition) {}},
		{settled(), "link/lose_link", "keeps discarding",
			func(t *petri.Transition) { t.Reset = petri.Arcs{voicenets.TurnEndPending} }},
		{shown(), "transcript/show_caller", "", func(*petri.Transition) {}},
		{shown(), "transcript/show_caller", "keeps a transcript from the page",
			func(t *petri.Transition) { t.Out = petri.And() }},
		{sentUp(c), "uplink/send_frame_up", "", func(*petri.Transition) {}},
		{neverStuck(), "call/end_longest_call", "", func(*petri.Transition) {}},
		{neverStuck(), "call/end_longest_call", "waits for replying", func(t *petri.Transition) {
			t.Inhibit = petri.Arcs{voicenets.Replying}
		}},
		{neverStuck(), "call/end_longest_call", "waits for speaking", func(t *petri.Transition) {
			t.Read = petri.Arcs{voicenets.Speaking}
		}},
		{neverStuck(), "call/end_longest_call", "does not end", func(t *petri.Transition) {
			t.Out = petri.And(voicenets.Hangup.Is(voicenets.MaxDuration))
		}},
		{sentUp(c), "uplink/trim_pre_roll", "drops what comes before", func(t *petri.Transition) { t.Read = t.Read[:1] }},
	} {
		v := structureOf(t, test.prop, c, test.transition, test.change)
		if proved := v.Outcome == verify.Proved; proved != (test.want == "") || !strings.Contains(v.Reason, test.want) {
			t.Errorf("%s of %s: %s: %s, want %q", test.prop.Name, test.transition, v.Outcome, v.Reason, test.want)
		}
	}
}
