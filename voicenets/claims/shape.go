package claims

import (
	"errors"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets"
	"github.com/voicegw/voicegw/voicenets/internal/prune"
)

// Shape is the part of a session that a view has.
type Shape struct {
	View
	dead  map[string]bool // transitions, prefixed by the name of their subnet, that can never fire
	alive map[string]bool // transitions that may fire
	made  map[string]bool // places that may be marked
	ports map[string][]petri.AnyPlace
}

// Shape finds the part of a session, or of a mutant of it, that the view has.
func (v View) Shape(session *petri.Net) (*Shape, error) {
	s := &Shape{View: v, dead: map[string]bool{}}
	if !s.uses(voicenets.LinkDown) { // the view has one dial only, so no other dial waits for its credit
		s.dead["link/regain_dial"] = true
	}
	for {
		s.look(session)
		open, err := s.Open(session)
		if err == nil {
			_, err = petri.Compile(open)
		}
		var problems *petri.Error
		if err == nil || !errors.As(err, &problems) || !s.bury(problems.Problems) {
			return s, err
		}
	}
}

// look finds what may happen, leaving out the transitions already known to be dead.
func (s *Shape) look(session *petri.Net) {
	s.alive, s.ports = map[string]bool{}, map[string][]petri.AnyPlace{}
	var nets []*petri.Net
	for _, n := range session.Nets {
		small := s.narrow(n)
		small.Transitions = prune.Keep(n.Transitions, func(t petri.Transition) bool { return !s.dead[n.Name+"/"+t.Name] })
		nets = append(nets, small)
	}
	nets = prune.Prune(nets)
	s.made = prune.Marked(nets)
	for _, n := range nets {
		s.ports[n.Name] = n.Ports
		for _, t := range n.Transitions {
			s.alive[n.Name+"/"+t.Name] = true
		}
	}
}

// bury notes the transitions that never fire because their keys never come. It reports whether the
// problems consist of those only.
func (s *Shape) bury(problems []petri.Problem) bool {
	for _, p := range problems {
		if p.Kind != petri.NeverFires {
			return false
		}
		s.dead[p.Transition] = true
	}
	return true
}

// Has reports whether a transition, prefixed by the name of its subnet, may fire in the view.
func (s *Shape) Has(transition string) bool { return s.alive[transition] }

// narrow reduces the environment of a subnet to that of the view.
func (s *Shape) narrow(n *petri.Net) *petri.Net {
	small := *n
	small.Env = prune.Keep(n.Env, func(e petri.Env) bool { return s.uses(e.Place) })
	return &small
}

func (s *Shape) uses(p petri.AnyPlace) bool {
	return slices.ContainsFunc(s.env, func(e petri.AnyPlace) bool { return e.String() == p.String() })
}

// Open is the part of a session, or of a mutant of it, that the view has.
func (s *Shape) Open(session *petri.Net) (*petri.Net, error) {
	var nets []*petri.Net
	for _, n := range session.Nets {
		small := s.narrow(n)
		small.Transitions = prune.Keep(n.Transitions, func(t petri.Transition) bool { return s.alive[n.Name+"/"+t.Name] })
		small = prune.Forget(small, s.made)
		small.Ports = s.ports[n.Name]
		if used := mentions(small); len(small.Transitions) > 0 {
			small.Init = prune.Keep(n.Init, func(t petri.Token) bool { return used[t.Place()] })
		}
		nets = append(nets, small)
	}
	nets = settle(nets)
	looked := map[string]bool{}
	for _, n := range nets {
		for _, t := range n.Transitions {
			for _, a := range slices.Concat(t.In, t.Inhibit, t.Read) {
				looked[prune.PlaceName(n, petri.ArcPlace(a))] = true
			}
		}
	}
	for _, n := range nets {
		used := mentions(n)
		n.Caps = prune.Keep(n.Caps, func(c petri.Cap) bool { return used[c.Place.String()] })
		n.Sinks = prune.Keep(n.Sinks, func(p petri.AnyPlace) bool { return used[p.String()] })
		for _, t := range n.Transitions {
			n.Sinks = append(n.Sinks, prune.Keep(placesOf(t.Out.Arcs()), func(p petri.AnyPlace) bool {
				return !looked[prune.PlaceName(n, p)] && !slices.ContainsFunc(n.Out, func(o petri.Output) bool {
					return o.Place.String() == p.String()
				})
			})...)
		}
	}
	return petri.Compose("session", nets...)
}

func placesOf(arcs []petri.AnyArc) []petri.AnyPlace {
	var out []petri.AnyPlace
	for _, a := range arcs {
		out = append(out, petri.ArcPlace(a))
	}
	return out
}

// mentions lists the places that the transitions of a subnet have arcs to.
func mentions(n *petri.Net) map[string]bool {
	used := map[string]bool{}
	for _, t := range n.Transitions {
		for _, a := range slices.Concat(t.In, t.Inhibit, t.Read, t.Reset, t.Out.Arcs()) {
			used[petri.ArcPlace(a).String()] = true
		}
	}
	return used
}

// settle drops subnets without transitions. It moves their initial tokens at ports to other subnets
// that have those ports.
func settle(nets []*petri.Net) []*petri.Net {
	left := prune.Keep(nets, func(n *petri.Net) bool { return len(n.Transitions) > 0 })
	for _, n := range nets {
		if len(n.Transitions) > 0 {
			continue
		}
		for _, t := range n.Init {
			i := slices.IndexFunc(left, func(l *petri.Net) bool {
				return slices.ContainsFunc(l.Ports, func(p petri.AnyPlace) bool { return p.String() == t.Place() })
			})
			if i >= 0 {
				left[i].Init = append(slices.Clone(left[i].Init), t)
			}
		}
	}
	return left
}

// Close closes a session, or a mutant of it, with the watchers and with those hostile automata that
// the view has.
func (s *Shape) Close(session *petri.Net, c voicenets.Config) (*petri.Net, error) {
	open, err := s.Open(session)
	if err != nil {
		return nil, err
	}
	list := voicenets.Environment(c)
	for i, a := range list {
		list[i] = s.narrowed(a)
	}
	list = prune.Keep(list, func(a *petri.Net) bool { return len(a.Transitions) > 0 })
	return petri.Close("hostile", open, append(list, watcher(c), auditor())...)
}

// narrowed is an automaton with only the moves that the view has.
func (s *Shape) narrowed(a *petri.Net) *petri.Net {
	small := *a
	left := strings.Fields(s.without)
	small.Transitions = prune.Keep(a.Transitions, func(t petri.Transition) bool {
		return !slices.Contains(left, t.Name) &&
			!slices.ContainsFunc(t.Out.Arcs(), func(a petri.AnyArc) bool { return !s.uses(petri.ArcPlace(a)) })
	})
	used := mentions(&small)
	small.Ports = prune.Keep(a.Ports, func(p petri.AnyPlace) bool { return used[p.String()] })
	small.Init = prune.Keep(a.Init, func(t petri.Token) bool { return used[t.Place()] })
	if s.frames > 0 {
		for i, t := range small.Transitions {
			if t.Name == string(voicenets.ModelAudio) || t.Name == string(voicenets.PromptAudio) {
				supply := petri.Place[petri.Unit](t.Name + "_supply")
				small.Transitions[i].In = append(slices.Clone(t.In), supply)
				for range s.frames {
					small.Init = append(small.Init, supply.Token(petri.Unit{}))
				}
			}
		}
	}
	return &small
}

// Of is the shape of a mutant. A mutant gets a shape of its own if something can no longer happen
// in it.
func (s *Shape) Of(mutant *petri.Net) *Shape {
	open, err := s.Open(mutant)
	if err == nil {
		_, err = petri.Compile(open)
	}
	if err == nil {
		return s
	}
	if own, err := s.Shape(mutant); err == nil {
		return own
	}
	return s
}
