package voicenets

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/mutate"
)

// view is a session of which only some environment places are used: what can
// then never happen is left out, so that all of it can be explored.
type view struct {
	name string
	env  []petri.AnyPlace
}

// views cover a session between them, the largest last.
func views() []view {
	return []view{
		{"talk", []petri.AnyPlace{SpeechEdge, ModelAudio, ModelSignal, PeerAck}},
		{"text", []petri.AnyPlace{CallerText, ModelAudio, ModelSignal, Hold, Protect}},
		{"text over speech", []petri.AnyPlace{CallerText, SpeechEdge, ModelAudio}},
		{"ears", []petri.AnyPlace{PeerMute, Hold, Protect, Consent, SpeechEdge, CallerAudio, Dialled}},
		{"hold", []petri.AnyPlace{Hold, SpeechEdge, ModelAudio, PeerAck}},
		{"digits", []petri.AnyPlace{CallerDigit, Protect, Hold, ModelSignal}},
		{"tools", []petri.AnyPlace{ToolCalled, ToolDone, ToolCancelled, Dialled, LinkDown, GoAway}},
		{"tools in talk", []petri.AnyPlace{Dialled, ToolCalled, ToolDone, SpeechEdge, ModelAudio}},
		{"tools and text", []petri.AnyPlace{Dialled, ToolCalled, ToolDone, CallerText, SpeechEdge, ModelAudio}},
		{"link", []petri.AnyPlace{Dialled, LinkDown, GoAway, Handle, CallerText}},
		{"text online", []petri.AnyPlace{CallerText, ModelAudio, Dialled}},
		{"call", []petri.AnyPlace{Over, Drain, HandOff, Dialled, LinkDown, PromptEnd}},
		{"leaving", []petri.AnyPlace{Drain, Dialled, SpeechEdge}},
		{"silence", []petri.AnyPlace{Dialled, CallerText, ModelSignal, PromptEnd, Hold}},
		{"words", []petri.AnyPlace{Transcript, CallerText, ModelAudio, SpeechEdge}},
		{"going away in speech", []petri.AnyPlace{Dialled, GoAway, SpeechEdge, ModelAudio}},
		{"going away after a loss", []petri.AnyPlace{Dialled, GoAway, LinkDown, ModelAudio}},
		{"going away on hold", []petri.AnyPlace{Dialled, GoAway, Hold, ModelAudio, ModelSignal}},
		{"going away from text", []petri.AnyPlace{Dialled, GoAway, SpeechEdge, CallerText}},
		{"talk with prompts", []petri.AnyPlace{SpeechEdge, ModelAudio, Dialled, PromptAudio, PromptEnd}},
		{"link and speech", []petri.AnyPlace{Dialled, LinkDown, SpeechEdge, CallerAudio, ModelAudio}},
	}
}

// shape is what a session has in a view.
type shape struct {
	view
	dead  map[string]bool // transitions, after their subnet's name, that can never fire
	alive map[string]bool // those that may
	made  map[string]bool // places that may be marked
	ports map[string][]petri.AnyPlace
}

// shapeOf finds out what of a session a view has.
func shapeOf(session *petri.Net, v view) (*shape, error) {
	s := &shape{view: v, dead: map[string]bool{}}
	if !s.uses(LinkDown) { // one dial is all there is, and no other waits for its credit
		s.dead["link/regain_dial"] = true
	}
	for {
		s.look(session)
		open, err := s.open(session)
		if err == nil {
			_, err = petri.Compile(open)
		}
		var problems *petri.Error
		if err == nil || !errors.As(err, &problems) || !s.bury(problems.Problems) {
			return s, err
		}
	}
}

// look finds what may happen, but for what is known never to.
func (s *shape) look(session *petri.Net) {
	s.alive, s.ports = map[string]bool{}, map[string][]petri.AnyPlace{}
	var nets []*petri.Net
	for _, n := range session.Nets {
		small := s.narrow(n)
		small.Transitions = keep(n.Transitions, func(t petri.Transition) bool { return !s.dead[n.Name+"/"+t.Name] })
		nets = append(nets, small)
	}
	nets = prune(nets)
	s.made = marked(nets)
	for _, n := range nets {
		s.ports[n.Name] = n.Ports
		for _, t := range n.Transitions {
			s.alive[n.Name+"/"+t.Name] = true
		}
	}
}

// bury notes the transitions that never fire because of keys that never come. It
// reports whether that is all that is wrong.
func (s *shape) bury(problems []string) bool {
	for _, p := range problems {
		name, found := strings.CutPrefix(p, `transition "`)
		name, rest, _ := strings.Cut(name, `"`)
		if !found || !strings.Contains(rest, "can never fire") {
			return false
		}
		s.dead[name] = true
	}
	return true
}

// narrow leaves a subnet only the view's environment.
func (s *shape) narrow(n *petri.Net) *petri.Net {
	small := *n
	small.Env = keep(n.Env, func(e petri.Env) bool { return s.uses(e.Place) })
	return &small
}

func (s *shape) uses(p petri.AnyPlace) bool {
	return slices.ContainsFunc(s.env, func(e petri.AnyPlace) bool { return e.String() == p.String() })
}

// open is a session, or a mutant of it, as far as the view has it.
func (s *shape) open(session *petri.Net) (*petri.Net, error) {
	var nets []*petri.Net
	for _, n := range session.Nets {
		small := s.narrow(n)
		small.Transitions = keep(n.Transitions, func(t petri.Transition) bool { return s.alive[n.Name+"/"+t.Name] })
		small = forget(small, s.made)
		small.Ports = s.ports[n.Name]
		if used := mentions(small); len(small.Transitions) > 0 {
			small.Init = keep(n.Init, func(t petri.Token) bool { return used[t.Place()] })
		}
		nets = append(nets, small)
	}
	nets = settle(nets)
	looked := map[string]bool{}
	for _, n := range nets {
		for _, t := range n.Transitions {
			for _, a := range slices.Concat(t.In, t.Inhibit, t.Read) {
				looked[placeName(n, petri.ArcPlace(a))] = true
			}
		}
	}
	for _, n := range nets {
		used := mentions(n)
		n.Caps = keep(n.Caps, func(c petri.Cap) bool { return used[c.Place.String()] })
		n.Sinks = keep(n.Sinks, func(p petri.AnyPlace) bool { return used[p.String()] })
		for _, t := range n.Transitions {
			n.Sinks = append(n.Sinks, keep(placesOf(t.Out.Arcs()), func(p petri.AnyPlace) bool {
				return !looked[placeName(n, p)] && !slices.ContainsFunc(n.Out, func(o petri.Output) bool {
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

// mentions are the places that transitions of a subnet have arcs to.
func mentions(n *petri.Net) map[string]bool {
	used := map[string]bool{}
	for _, t := range n.Transitions {
		for _, a := range slices.Concat(t.In, t.Inhibit, t.Read, t.Reset, t.Out.Arcs()) {
			used[petri.ArcPlace(a).String()] = true
		}
	}
	return used
}

// settle drops subnets without transitions, and gives the tokens that they start
// with at ports to others that have those.
func settle(nets []*petri.Net) []*petri.Net {
	left := keep(nets, func(n *petri.Net) bool { return len(n.Transitions) > 0 })
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

// close closes a session, or a mutant of it, with those hostile automata that
// the view has, and with the watchers.
func (s *shape) close(session *petri.Net, c Config) (*petri.Net, error) {
	open, err := s.open(session)
	if err != nil {
		return nil, err
	}
	list := automata(c)
	for i, a := range list {
		small := *a
		small.Transitions = keep(a.Transitions, func(t petri.Transition) bool {
			return !slices.ContainsFunc(t.Out.Arcs(), func(a petri.AnyArc) bool { return !s.uses(petri.ArcPlace(a)) })
		})
		used := mentions(&small)
		small.Ports = keep(a.Ports, func(p petri.AnyPlace) bool { return used[p.String()] })
		small.Init = keep(a.Init, func(t petri.Token) bool { return used[t.Place()] })
		list[i] = &small
	}
	list = keep(list, func(a *petri.Net) bool { return len(a.Transitions) > 0 })
	return petri.Close("hostile", open, append(list, watcher(c), auditor())...)
}

// Small is c with counts so small that whole views of its session can be explored, for each of many mutants.
func (c Config) Small() Config {
	c.BudgetFrames, c.ReplyFramesMax, c.PreRollFrames, c.DialsMax = 1, 2, 1, 1
	return c
}

// Basic names the properties of V1 and V2 in views, which every net should keep: nothing is too much, and nothing is
// left lying.
func Basic(views []mutate.Closure) []string {
	names := []string{"capacity"}
	for _, cl := range views {
		for _, p := range cl.Properties {
			basic := strings.HasPrefix(p.Name, "answered/") || strings.HasPrefix(p.Name, "V1-")
			if basic && !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
		}
	}
	return names
}

// Views are ways to look at a session, closed with hostile automata, that are
// small enough to be explored in full and that the real machine runs. Together
// they have every transition. Their properties are those of Proofs.
func Views(c Config) ([]mutate.Closure, error) {
	session, err := Session(c)
	if err != nil {
		return nil, err
	}
	hostile, err := CloseHostile(session, c)
	if err != nil {
		return nil, err
	}
	closed, err := petri.Compile(hostile)
	if err != nil {
		return nil, fmt.Errorf("voicenets: views: %w", err)
	}
	var list []mutate.Closure
	for _, v := range views() {
		cl, err := v.closure(session, closed, c)
		if err != nil {
			return nil, fmt.Errorf("voicenets: view %s: %w", v.name, err)
		}
		list = append(list, cl)
	}
	return list, nil
}

// closure is the view of a session, for mutants of it.
func (v view) closure(session *petri.Net, closed *petri.Program, c Config) (mutate.Closure, error) {
	cl := mutate.Closure{Name: v.name}
	s, err := shapeOf(session, v)
	if err != nil {
		return cl, err
	}
	n, err := s.close(session, c)
	if err != nil {
		return cl, err
	}
	prog, err := petri.Compile(n)
	if err != nil {
		return cl, err
	}
	cl.Properties = []*verify.Property{Capacity()}
	m := verify.NewModel(prog, verify.RunToCompletion)
	for _, part := range Proofs(c, closed) {
		for _, p := range part.Props {
			if _, err := p.Bad(m); err == nil {
				cl.Properties = append(cl.Properties, p)
			}
		}
	}
	for _, p := range Claims(c) {
		if p.Bad != nil {
			_, err = p.Bad(m)
		} else {
			_, err = p.Moves(m)
		}
		var absent *verify.NameError
		switch {
		case err == nil:
			cl.Properties = append(cl.Properties, p)
		case !errors.As(err, &absent):
			return cl, err
		}
	}
	timed := append(Waits(c), windows(c)[v.name]...)
	for _, p := range timed {
		if _, err := m.Named(p.Waits...); err == nil {
			cl.Timed = append(cl.Timed, p)
		}
	}
	for _, p := range append(Structure(c), unseen(c)...) {
		if holds, err := structural(prog, p); err != nil {
			return cl, err
		} else if holds {
			cl.Structure = append(cl.Structure, p)
		}
	}
	cl.Has = func(transition string) bool { return s.alive[transition] }
	cl.Open = func(n *petri.Net) (*petri.Net, error) { return s.of(n).open(n) }
	cl.Close = func(n *petri.Net) (*petri.Net, error) { return s.of(n).close(n, c) }
	return cl, nil
}

// structural reports whether the structure of a view proves a property, and has
// what it names.
func structural(p *petri.Program, prop *verify.Property) (bool, error) {
	pass, err := verify.NewPass(p, verify.Config{})
	if err != nil {
		return false, err
	}
	v, err := prop.Check(context.Background(), pass)
	var absent *verify.NameError
	if errors.As(err, &absent) {
		return false, nil
	}
	return v.Outcome == verify.Proved, err
}

// of is the shape of a mutant: its own if something happens no more in it.
func (s *shape) of(mutant *petri.Net) *shape {
	open, err := s.open(mutant)
	if err == nil {
		_, err = petri.Compile(open)
	}
	if err == nil {
		return s
	}
	if own, err := shapeOf(mutant, s.view); err == nil {
		return own
	}
	return s
}
