package petri

import (
	"strings"
	"testing"
)

// TestRestartRefused checks that one firing cannot cancel work and begin it anew.
func TestRestartRefused(t *testing.T) {
	task := Task[int, int]{Start: "start", InFlight: "in_flight", Done: "done"}
	const again = Place[int]("again")
	begin := func(name string, in Arcs, reset Arcs) Transition {
		return Transition{Name: name, In: in, Reset: reset, Out: And(task.Start, task.InFlight),
			Action: func(f *Firing) { task.Start.Put(f, again.Get(f)) }}
	}
	net := func(restart Transition) *Net {
		return &Net{Name: "n", Env: []Env{{Place: again}}, Tasks: []AnyTask{task}, Transitions: []Transition{
			begin("begin", Arcs{again}, nil), restart,
			{Name: "end", In: Arcs{task.Done, task.InFlight}},
		}}
	}
	for name, restart := range map[string]Transition{
		"reset": begin("restart", Arcs{again}, Arcs{task.InFlight}),
		"take":  begin("restart", Arcs{again, task.InFlight}, nil),
	} {
		_, err := Compile(net(restart))
		if err == nil || !strings.Contains(err.Error(), "in one firing") || !strings.Contains(err.Error(), `"restart"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// With the result the slot is free.
	if _, err := Compile(net(begin("restart", Arcs{again, task.Done}, Arcs{task.InFlight}))); err != nil {
		t.Error(err)
	}
}
