package petri

import (
	"strings"
	"testing"
)

// lamp is a part: it lights in the dark while the power is on, and reports it.
func lamp() *Net {
	const (
		dark     = Place[Unit]("dark")
		power    = Place[Unit]("power")
		old      = Place[Unit]("old")
		lit      = Place[Unit]("lit")
		spare    = Place[Unit]("spare")
		reported = Place[Unit]("reported")
		other    = Place[Unit]("other")
	)
	return &Net{
		Name:  "lamp",
		Ports: []AnyPlace{dark, power, old, lit, reported},
		Env:   []Env{{Place: dark, Capacity: 3}},
		Out:   []Output{{Place: reported}, {Place: other}},
		Init:  []Token{spare.Token(Unit{})},
		Caps:  []Cap{{Place: power, Max: 2}, {Place: spare, Max: 1}, {Place: other, Max: 5}},
		Transitions: []Transition{
			{Name: "light", In: Arcs{dark, spare}, Read: Arcs{power}, Reset: Arcs{old}, Out: And(lit, reported)},
		},
	}
}

// TestAlone checks that the ports at which a part looks can be filled from outside, that the ports
// which it only fills are outputs, and that what its transitions do not use is left out.
func TestAlone(t *testing.T) {
	part := lamp()
	p, err := Compile(Alone(part))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, pl := range p.Places() {
		s := pl.Name
		switch {
		case pl.Env:
			s += " in"
		case pl.Out:
			s += " out"
		}
		got = append(got, s)
		if want := map[string]int{"power": 2, "dark": 3, "old": alonePortMax}[pl.Name]; want > 0 && pl.Max != want {
			t.Errorf("%s holds %d", pl.Name, pl.Max)
		}
	}
	if s := strings.Join(got, ", "); s != "dark in, spare, power in, old in, lit out, reported out" {
		t.Errorf("alone it has %s", s)
	}
	if len(part.Ports) != 5 || len(part.Env) != 1 || len(part.Out) != 2 || len(part.Caps) != 3 || part.Sinks != nil {
		t.Errorf("the part was changed: %+v", part)
	}
}

// TestAloneWithTask checks that a part whose own part has a task stands alone: the places of the task stay
// as they are, and the ports of the inner part count.
func TestAloneWithTask(t *testing.T) {
	const job, result Place[Unit] = "job", "result"
	work := Task[Unit, Unit]{Start: "start", InFlight: "in_flight", Done: "done"}
	ports := []AnyPlace{job, result, work.Start, work.InFlight, work.Done}
	part := &Net{Name: "part", Ports: ports, Nets: []*Net{{Name: "inner", Ports: ports, Tasks: []AnyTask{work},
		Transitions: []Transition{
			{Name: "begin", In: Arcs{job}, Out: And(work.Start, work.InFlight)},
			{Name: "end", In: Arcs{work.Done, work.InFlight}, Out: And(result)},
		}}}}
	p, err := Compile(Alone(part))
	if err != nil {
		t.Fatal(err)
	}
	if in, out := p.Places()[p.Place("job")], p.Places()[p.Place("result")]; !in.Env || !out.Out || len(p.Tasks()) != 1 {
		t.Errorf("job %+v, result %+v, %d tasks", in, out, len(p.Tasks()))
	}
	if got := strings.Join(Shared(part), " "); got != "job result" {
		t.Errorf("it shares %s", got)
	}
}

// TestAloneFinal checks that a part with the final place ends the run alone.
func TestAloneFinal(t *testing.T) {
	const stop, over Place[Unit] = "stop", "over"
	p, err := Compile(Alone(&Net{Name: "end", Ports: []AnyPlace{over}, Env: []Env{{Place: stop}}, Final: over,
		Transitions: []Transition{{Name: "end", In: Arcs{stop}, Out: And(over)}}}))
	if err != nil {
		t.Fatal(err)
	}
	m := p.Start()
	m.Advance(0)
	if err := m.Inject(0, stop.Token(Unit{})); err != nil {
		t.Fatal(err)
	}
	if !m.Advance(0).Ended {
		t.Error("it goes on")
	}
}
