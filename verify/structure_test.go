package verify

import (
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
)

func TestStructure(t *testing.T) {
	const held = petri.Place[turn]("held")
	stale := imported([]petri.Token{held.Token(0)}, petri.Transition{Name: "commit", In: petri.Arcs{held},
		Out: outs("done"), When: petri.After(1)},
		petri.Transition{Name: "careful", In: petri.Arcs{held.Fresh()}, Out: outs("done"), When: petri.After(2)})
	closed, err := petri.Close("closed", worker(), sender(3))
	if err != nil {
		t.Fatal(err)
	}
	xor := imported(tokens("A"), petri.Transition{Name: "pick", In: arcs("A"), When: petri.After(1),
		Out: petri.Xor(arcs("B"), arcs("C")).By(func(*petri.Keys) int { return 0 })})
	two := imported(many("A", 2), petri.Transition{Name: "wait", In: arcs("A"), Out: outs("B"), When: petri.After(1)})
	for _, c := range []struct {
		net  *petri.Net
		prop *Property
		want Outcome
		has  string
	}{
		{stale, FreshCommits("careful"), Proved, ""}, {stale, FreshCommits("careful", "commit"), Refuted, "commit neither"},
		{stale, SingleWriter("held"), Proved, ""}, {stale, SingleWriter("done"), Refuted,
			"done is filled by commit and careful"},
		{closed, InputsTaken(), Refuted, "in"}, {closed, TimersSingle(), Proved, ""}, {two, TimersSingle(), Refuted, "A*2"},
		{xor, BranchesTaken(), Refuted, "pick branch 1"}, {stale, BranchesTaken(), Proved, ""}, {two, TasksEnd(), Proved, ""},
	} {
		v := check(t, c.net, Config{}, c.prop).Results[0]
		if v.Outcome != c.want || !strings.Contains(v.Reason, c.has) {
			t.Errorf("%s: %s (%s), want %s (%s)", c.prop.Name, v.Outcome, v.Reason, c.want, c.has)
		}
	}
}

func TestTasksEnd(t *testing.T) {
	task := petri.Task[int, int]{Start: "ask", InFlight: "asking", Done: "answer"}
	n := func(timeout, failure bool) *petri.Net {
		n := &petri.Net{Name: "task", Tasks: []petri.AnyTask{task}, Init: tokens("idle"), Transitions: []petri.Transition{
			{Name: "begin", In: arcs("idle"), Out: petri.And(task.Start, task.InFlight), When: petri.After(1),
				Action: func(f *petri.Firing) { task.Start.Put(f, 1) }},
			{Name: "hear", In: petri.Arcs{task.Done.Is(petri.Succeeded, petri.Cancelled), task.InFlight}, Out: outs("idle")},
		}}
		if failure {
			n.Transitions[1].In[0] = task.Done
		}
		if timeout {
			n.Transitions = append(n.Transitions, petri.Transition{Name: "give_up", In: petri.Arcs{task.InFlight},
				Out:  outs("idle"),
				When: petri.After(time.Second)})
		}
		return n
	}
	for _, c := range []struct {
		timeout, failure bool
		has              string
	}{{true, true, ""}, {false, true, "task ask has no time-out"}, {true, false,
		"nothing takes the result failed of task ask"}} {
		v := check(t, n(c.timeout, c.failure), Config{}, TasksEnd()).Results[0]
		if (v.Outcome == Proved) != (c.has == "") || !strings.Contains(v.Reason, c.has) {
			t.Errorf("%+v: %s %s", c, v.Outcome, v.Reason)
		}
	}
}

func TestConflictsAndRestarts(t *testing.T) {
	n := imported(tokens("A", "P", "Q"), petri.Transition{Name: "one", In: arcs("A"), Read: arcs("P"), Out: outs("B")},
		petri.Transition{Name: "other", In: arcs("A"), Inhibit: arcs("P"), Out: outs("C")},
		petri.Transition{Name: "third", In: arcs("A"), Out: outs("D")},
		petri.Transition{Name: "first", In: arcs("A"), Read: arcs("B"), Priority: 1},
		petri.Transition{Name: "timer", In: arcs("Q"), Out: outs("R"), When: petri.After(time.Second)},
		petri.Transition{Name: "touch", In: arcs("B", "Q"), Out: outs("Q")})
	m := NewModel(compile(t, n), RunToCompletion)
	var have []string
	for _, c := range m.OrderOnlyConflicts() {
		have = append(have, c.First+"-"+c.Second+"-"+c.Place)
	}
	if s := strings.Join(have, " "); s != "one-third-A other-third-A" {
		t.Errorf("conflicts %s", s)
	}
	r := m.Restarts()
	if len(r) != 1 || r[0] != (Restart{"touch", "timer", time.Second}) {
		t.Errorf("restarts %v", r)
	}
}
