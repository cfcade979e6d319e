package verify

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
)

const structure = "structure"

// structural makes a property that lists what is wrong in the text of a net.
func structural(name, doc string, problems func(m *Model) ([]string, error)) *Property {
	return &Property{Name: name, Doc: doc, OpenWorld: true,
		Check: func(_ context.Context, pass *Pass) (Verdict, error) {
			list, err := problems(pass.Model())
			if err != nil {
				return Verdict{}, err
			}
			if len(list) > 0 {
				return refuted(structure, "%s", strings.Join(list, "; ")), nil
			}
			return proved(structure, "nothing found"), nil
		}}
}

// FreshCommits says that each of the transitions takes or reads a token of the
// current generation, so that none commits what belongs to an earlier turn.
func FreshCommits(names ...string) *Property {
	return structural("fresh commits", "what commits looks at the turn generation", func(m *Model) ([]string, error) {
		ts, err := m.Named(names...)
		if err != nil {
			return nil, err
		}
		var out []string
		for _, t := range ts {
			if !slices.ContainsFunc(m.transitions[t].Arcs, looksFresh) {
				out = append(out, m.transitions[t].Name+" neither takes nor reads a fresh token")
			}
		}
		return out, nil
	})
}

func looksFresh(a petri.ArcInfo) bool {
	return (a.Kind == petri.InArc || a.Kind == petri.ReadArc) && slices.Contains(strings.Split(a.Label, ","), "fresh")
}

// SingleWriter says that at most one transition produces at each of the places.
func SingleWriter(places ...string) *Property {
	return structural("single writer", "each of the places is filled by one transition", func(m *Model) ([]string, error) {
		b := &binder{m: m}
		var out []string
		for _, name := range places {
			i, problem := lookup(b.placeNames(), name)
			if i < 0 {
				b.fail("place", name, problem)
				return nil, b.err
			}
			if w := m.writers(i); len(w) > 1 {
				out = append(out, fmt.Sprintf("%s is filled by %s", m.places[i].Name, strings.Join(w, " and ")))
			}
		}
		return out, nil
	})
}

func (m *Model) writers(place int) []string {
	var out []string
	for t := range m.transitions {
		if slices.ContainsFunc(m.transitions[t].Arcs, func(a petri.ArcInfo) bool {
			return a.Kind == petri.OutArc && a.Place == place
		}) {
			out = append(out, m.transitions[t].Name)
		}
	}
	return out
}

// TasksEnd says that each task of the net has an answer to success, to failure
// and to cancellation, and a time-out: a timed transition that takes from its
// in-flight place.
func TasksEnd() *Property {
	return structural("tasks end", "each task can fail, be cancelled and time out", func(m *Model) ([]string, error) {
		var out []string
		for _, task := range m.prog.Tasks() {
			name := m.places[task.Start].Name
			done := &m.places[task.Done]
			for k, outcome := range done.Keys {
				if !m.takes(int32(done.Slot+k), false) {
					out = append(out, fmt.Sprintf("nothing takes the result %s of task %s", outcome, name))
				}
			}
			if !m.takes(int32(m.places[task.InFlight].Slot), true) {
				out = append(out, "task "+name+" has no time-out")
			}
		}
		return out, nil
	})
}

// takes reports whether some transition, a timed one if so asked, takes from a
// slot.
func (m *Model) takes(slot int32, timed bool) bool {
	for i := range m.modes {
		md := &m.modes[i]
		if timed && m.clock[md.t] < 0 {
			continue
		}
		if md.takes(slot) {
			return true
		}
	}
	return false
}

// BranchesTaken says that each branch of each output with several is produced
// on somewhere.
func BranchesTaken() *Property {
	return &Property{Name: "branches taken", Doc: "every branch of an Xor or Free output is taken somewhere",
		Check: func(ctx context.Context, pass *Pass) (Verdict, error) {
			g, err := pass.Graph(ctx)
			if err != nil {
				return Verdict{}, err
			}
			never := g.untaken()
			switch {
			case len(never) == 0:
				return g.sized(proved(explicit, "all branches are taken")), nil
			case g.Complete:
				return g.sized(refuted(explicit, "never taken: %s", strings.Join(never, ", "))), nil
			}
			return g.sized(unknown(explicit, Capped, "not seen: %s", strings.Join(never, ", "))), nil
		}}
}

// untaken lists branches, of outputs with several, that no mode produces on.
func (g *Graph) untaken() []string {
	var out []string
	m := g.Model
	for t := range m.transitions {
		taken := map[int]bool{}
		branches := 0
		for i := m.first[t]; i < m.first[t+1]; i++ {
			branches = max(branches, len(m.modes[i].branches))
			for b := range m.modes[i].branches {
				taken[b] = taken[b] || g.FiresStep(Step{int32(t), m.modes[i].k, int32(b)})
			}
		}
		for b := range branches {
			if branches > 1 && !taken[b] {
				out = append(out, fmt.Sprintf("%s branch %d", m.transitions[t].Name, b))
			}
		}
	}
	return out
}

// InputsTaken says that no environment place that decides something holds a
// token when the net rests, the end of the run excepted: whatever comes is
// answered at once, by a fallback if by nothing else.
func InputsTaken() *Property {
	p := &Property{Name: "inputs taken", Doc: "whatever comes from outside is answered at once", Claim: "inputs taken",
		Safety: true, Local: true,
		Bad: func(m *Model) (func([]int32) bool, error) {
			var slots []int
			for _, p := range m.places {
				for s := p.Slot; p.Env && !p.Payload && s < p.Slot+p.Slots; s++ {
					slots = append(slots, s)
				}
			}
			return func(marking []int32) bool {
				return !m.Ended(marking) && slices.ContainsFunc(slots, func(s int) bool { return marking[s] > 0 })
			}, nil
		}}
	return p.explicitly()
}

// TimersSingle says that no place that feeds a timed transition of the net
// itself holds two tokens, so that there is no question which of them a wait
// belongs to.
func TimersSingle() *Property {
	p := &Property{Name: "timers single", Doc: "a place that feeds a timer holds one token at most",
		Claim: "timers single", Safety: true, Local: true,
		Bad: func(m *Model) (func([]int32) bool, error) {
			places := m.timerPlaces()
			return func(marking []int32) bool {
				return slices.ContainsFunc(places, func(p int) bool { return m.Marked(p, marking) > 1 })
			}, nil
		}}
	return p.explicitly()
}

// timerPlaces lists the places from which a transition with a point wait takes.
func (m *Model) timerPlaces() []int {
	var out []int
	for _, t := range m.timed {
		if w := m.transitions[t].When; !w.Point() || m.transitions[t].Outside {
			continue
		}
		for _, a := range m.transitions[t].Arcs {
			if a.Kind == petri.InArc {
				out = append(out, a.Place)
			}
		}
	}
	sort.Ints(out)
	return slices.Compact(out)
}

// explicitly gives a property with Bad the check that exploration without time
// finds no bad marking.
func (p *Property) explicitly() *Property {
	p.Check = func(ctx context.Context, pass *Pass) (Verdict, error) {
		bad, err := p.Bad(pass.Model())
		if err != nil {
			return Verdict{}, err
		}
		g, err := pass.Graph(ctx)
		if err != nil {
			return Verdict{}, err
		}
		found := -1
		g.Each(func(i int, m []int32) bool {
			if bad(m) {
				found = i
			}
			return found < 0
		})
		if found >= 0 {
			return g.counterexample(g.PathTo(found), "reached: %s", g.Model.Format(g.Marking(found, nil))), nil
		}
		return g.whole("none of %d markings satisfies it", g.States()), nil
	}
	return p
}

// Restart is a firing that starts a wait anew: it takes and gives back what a
// timed transition needs.
type Restart struct {
	Transition, Timer string
	Wait              time.Duration
}

// Restarts lists the firings that restart waits of the net by taking and giving
// back. That may be meant, as in a debounce, or a mistake.
func (m *Model) Restarts() []Restart {
	var out []Restart
	for i := range m.modes {
		md := &m.modes[i]
		for _, c := range md.lowers {
			u := m.timed[c]
			if u == md.t || m.transitions[u].Outside || !m.refills(md, u) {
				continue
			}
			out = append(out, Restart{m.transitions[md.t].Name, m.transitions[u].Name, m.transitions[u].When.Earliest})
		}
	}
	return slices.Compact(out)
}

// refills reports whether a mode gives back a slot that it takes and u needs.
func (m *Model) refills(md *mode, u int32) bool {
	for _, k := range md.take {
		back := slices.ContainsFunc(md.branches, func(b branch) bool {
			return slices.ContainsFunc(b.put, func(p put) bool { return p.slot == k.Slot })
		})
		for i := m.first[u]; back && i < m.first[u+1]; i++ {
			if slices.ContainsFunc(m.modes[i].needs.Bounds, func(c petri.Bound) bool { return c.Slot == k.Slot && c.Min > 0 }) {
				return true
			}
		}
	}
	return false
}

// Conflict is a pair of transitions that can be enabled at once in the same
// marking, take from one place, and are ordered by declaration alone.
type Conflict struct {
	First, Second, Place string
}

// OrderOnlyConflicts lists the conflicts between at-once transitions that only
// the order of declaration decides, as far as the conditions of the transitions
// tell: their modes take from one slot and do not exclude each other. Give a
// priority, or declare a free choice.
func (m *Model) OrderOnlyConflicts() []Conflict {
	var out []Conflict
	for i, a := range m.order {
		for _, b := range m.order[i+1:] {
			ta, tb := &m.transitions[a], &m.transitions[b]
			if ta.Priority != tb.Priority || ta.Frame || tb.Frame {
				continue
			}
			if slot := m.contested(a, b); slot >= 0 {
				out = append(out, Conflict{ta.Name, tb.Name, m.slotName[slot]})
			}
		}
	}
	return out
}

// contested is a slot that modes of both transitions take from while the
// conditions of neither exclude the other; -1 if there is none.
func (m *Model) contested(a, b int32) int32 {
	for i := m.first[a]; i < m.first[a+1]; i++ {
		for j := m.first[b]; j < m.first[b+1]; j++ {
			if excludes(&m.modes[i], &m.modes[j]) {
				continue
			}
			for _, k := range m.modes[i].take {
				if slices.ContainsFunc(m.modes[j].take, func(c petri.Count) bool { return c.Slot == k.Slot }) {
					return k.Slot
				}
			}
		}
	}
	return -1
}

// excludes reports whether two modes are never enabled together: one needs what
// forbids the other.
func excludes(a, b *mode) bool {
	for _, x := range a.needs.Bounds {
		for _, y := range b.needs.Bounds {
			if x.Slot == y.Slot && (x.Min >= y.Max || y.Min >= x.Max) {
				return true
			}
		}
		if sumExcludes(x, b.needs.Sums) {
			return true
		}
	}
	return slices.ContainsFunc(b.needs.Bounds, func(y petri.Bound) bool { return sumExcludes(y, a.needs.Sums) })
}

// sumExcludes reports whether needing a slot breaks an upper bound of a sum.
func sumExcludes(x petri.Bound, sums []petri.Cond) bool {
	return slices.ContainsFunc(sums, func(s petri.Cond) bool {
		return s.Max > 0 && x.Min >= s.Max && slices.Contains(s.Slots, x.Slot)
	})
}
