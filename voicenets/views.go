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

// view is a session of which only some environment places are used, and those
// perhaps not for all that may come there: what can then never happen is left
// out, so that all of it can be explored.
type view struct {
	name string
	env  []petri.AnyPlace
	// without names moves of the automata that are left out.
	without string
	// frames is how many frames of the model's audio come, and of a prompt's; 0: any
	// number.
	frames int
	// small is what comes besides where the session has small counts (Views).
	small []petri.AnyPlace
}

// dialsFresh leaves only dials that succeed, with a conversation that begins.
const dialsFresh = "dialled_resumed dialled_unreachable dialled_turned_away dialled_withheld"

// views cover a session between them, the largest last. Who must agree to be
// listened to may do so in each.
func views(c Config) []view {
	list := []view{
		{name: "talk", env: []petri.AnyPlace{SpeechEdge, ModelAudio, ModelSignal, PeerAck}},
		{name: "text", env: []petri.AnyPlace{CallerText, ModelAudio, ModelSignal, Hold, Protect}},
		{name: "text over speech", env: []petri.AnyPlace{CallerText, SpeechEdge, ModelAudio}},
		{name: "ears", env: []petri.AnyPlace{PeerMute, Hold, Protect, Consent, SpeechEdge, CallerAudio, Dialled},
			without: dialsFresh},
		{name: "hold", env: []petri.AnyPlace{Hold, SpeechEdge, ModelAudio, PeerAck}},
		{name: "digits", env: []petri.AnyPlace{CallerDigit, Protect, Hold, ModelSignal}},
		{name: "tools", env: []petri.AnyPlace{ToolCalled, ToolDone, ToolCancelled, Dialled, LinkDown, GoAway}},
		{name: "tools in talk", env: []petri.AnyPlace{Dialled, ToolCalled, ToolDone, SpeechEdge, ModelAudio},
			without: dialsFresh, frames: 1},
		{name: "tools and text", env: []petri.AnyPlace{Dialled, ToolCalled, ToolDone, CallerText, SpeechEdge, ModelAudio},
			without: dialsFresh, frames: 1},
		{name: "link", env: []petri.AnyPlace{Dialled, LinkDown, GoAway, Handle, CallerText}},
		{name: "text online", env: []petri.AnyPlace{CallerText, ModelAudio, Dialled}, frames: 2},
		{name: "call", env: []petri.AnyPlace{Over, Drain, HandOff, Dialled, LinkDown, PromptEnd}},
		{name: "leaving", env: []petri.AnyPlace{Drain, Dialled, SpeechEdge}},
		{name: "silence", env: []petri.AnyPlace{Dialled, CallerText, ModelSignal, PromptEnd, Hold}},
		{name: "words", env: []petri.AnyPlace{Transcript, CallerText, ModelAudio, SpeechEdge}, frames: 2},
		{name: "going away in speech", env: []petri.AnyPlace{Dialled, GoAway, SpeechEdge, ModelAudio},
			without: "dialled_turned_away dialled_withheld", frames: 1},
		{name: "going away after a loss", env: []petri.AnyPlace{Dialled, GoAway, LinkDown, ModelAudio}, frames: 1},
		{name: "going away on hold", env: []petri.AnyPlace{Dialled, GoAway, Hold, ModelAudio, ModelSignal}, frames: 2},
		{name: "going away from text", env: []petri.AnyPlace{Dialled, GoAway, SpeechEdge, CallerText},
			without: "dialled_turned_away dialled_withheld"},
		{name: "talk with prompts", env: []petri.AnyPlace{SpeechEdge, ModelAudio, Dialled, PromptAudio, PromptEnd},
			without: dialsFresh, frames: 1},
		{name: "link and speech", env: []petri.AnyPlace{Dialled, LinkDown, SpeechEdge, CallerAudio},
			without: "dialled_turned_away dialled_withheld", small: []petri.AnyPlace{ModelAudio}},
	}
	for i := range list {
		v := &list[i]
		if c.Consent && v.name != "ears" {
			v.env, v.without = append(v.env, Consent), v.without+" consent_off"
		}
		if (c.Adaptive || c.RepromptAfter > 0) && v.name == "link and speech" { // it has many more markings then
			v.without += " dialled_resumed dialled_unreachable speech_edge_confirm"
		}
	}
	return list
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
func (s *shape) bury(problems []petri.Problem) bool {
	for _, p := range problems {
		if p.Kind != petri.NeverFires {
			return false
		}
		s.dead[p.Transition] = true
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
		list[i] = s.narrowed(a)
	}
	list = keep(list, func(a *petri.Net) bool { return len(a.Transitions) > 0 })
	return petri.Close("hostile", open, append(list, watcher(c), auditor())...)
}

// narrowed is an automaton with the moves that the view has.
func (s *shape) narrowed(a *petri.Net) *petri.Net {
	small := *a
	left := strings.Fields(s.without)
	small.Transitions = keep(a.Transitions, func(t petri.Transition) bool {
		return !slices.Contains(left, t.Name) &&
			!slices.ContainsFunc(t.Out.Arcs(), func(a petri.AnyArc) bool { return !s.uses(petri.ArcPlace(a)) })
	})
	used := mentions(&small)
	small.Ports = keep(a.Ports, func(p petri.AnyPlace) bool { return used[p.String()] })
	small.Init = keep(a.Init, func(t petri.Token) bool { return used[t.Place()] })
	if s.frames > 0 {
		for i, t := range small.Transitions {
			if t.Name == string(ModelAudio) || t.Name == string(PromptAudio) {
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

// Views are ways to look at a session of small counts, closed with hostile
// automata, that are small enough to be explored in full and that the real
// machine runs. Together they have every transition. Their properties are those of
// Proofs, of Structure and of Claims.
func Views(c Config) ([]mutate.Closure, error) {
	list := views(c)
	for i := range list {
		v := &list[i]
		v.env, v.without, v.frames = append(v.env, v.small...), "", 0
	}
	return closures(c, list)
}

// closures are views of a session, for mutants of it.
func closures(c Config, list []view) ([]mutate.Closure, error) {
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
	var out []mutate.Closure
	for _, v := range list {
		cl, err := v.closure(session, closed, c)
		if err != nil {
			return nil, fmt.Errorf("voicenets: view %s: %w", v.name, err)
		}
		out = append(out, cl)
	}
	return out, nil
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
		if ok, err := p.Fits(m); err != nil {
			return cl, err
		} else if ok {
			cl.Properties = append(cl.Properties, p)
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
