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
	c := voicenets.Config{ToolSlots: 2, RepromptAfter: 15 * time.Second}
	of := func(name string) *verify.Property { return structural(t, c, name) }
	rename := func(t *petri.Transition) { t.Name += "_renamed" }
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
		{of("V5-nudge online"), "model_silence/nudge", "", func(*petri.Transition) {}},
		{of("V5-nudge online"), "model_silence/nudge", "no transition nudge", rename},
		{of("V5-renew_link online"), "model_silence/renew_link", "no transition renew_link", rename},
		{of("V5-play_fallback "), "model_silence/play_fallback", "no transition play_fallback", rename},
		{of("V5-play_fallback_at_deadline "), "model_silence/play_fallback_at_deadline",
			"no transition play_fallback_at_deadline", rename},
		{of("V6-certain"), "model_silence/reach_deadline", "no transition reach_deadline", rename},
		{of("V8-notes"), "context/give_notes", "no transition give_notes", rename},
		{of("V10-requests"), "context/make_request", "no transition make_request", rename},
		{of("V5-reprompt online"), "caller_silence/reprompt", "no transition reprompt", rename},
		{of("V5-reprompt quiet"), "caller_silence/reprompt", "no transition reprompt", rename},
		{of("V5-give_up_on_caller online"), "caller_silence/give_up_on_caller", "no transition give_up", rename},
		{of("V5-give_up_on_caller quiet"), "caller_silence/give_up_on_caller", "no transition give_up", rename},
		{of("V5-notice_silence noise"), "caller_silence/notice_silence", "no transition notice_silence", rename},
		{of("V5-notice_silence_again noise"), "caller_silence/notice_silence_again",
			"no transition notice_silence_again", rename},
		{of("V7-ends-tool_running_1"), "tools/compare_call_1", "no transition compare_call_1", rename},
		{of("V11-stuck"), "call/end_longest_call", "no end_longest_call", rename},
	} {
		v := structureOf(t, test.prop, c, test.transition, test.change)
		if proved := v.Outcome == verify.Proved; proved != (test.want == "") || !strings.Contains(v.Reason, test.want) {
			t.Errorf("%s of %s: %s: %s, want %q", test.prop.Name, test.transition, v.Outcome, v.Reason, test.want)
		}
	}
}
