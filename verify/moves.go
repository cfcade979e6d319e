package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// Move is a claim about what one move of a net does: a token that comes from
// outside or a timer, with everything that fires at once after it. The start of
// the net is its first move.
//
// An event is the name of a transition that fires, or +P, a token that a firing
// puts into place P or that leaves through it; what must happen may have
// alternatives, +P|+Q, and a ! before what must not. Conditions are those of ParseExpr. A place or a
// transition that the net does not have holds no token and never fires, so that
// a claim about a whole may be asked of its parts; Strict finds misspelt names.
type Move struct {
	Name, Doc string
	// On are the events of which one happens in the move; none: any move.
	On []string
	// Changed, if not "", is a place that holds more or fewer tokens after the
	// move.
	Changed string
	// When is the marking before the move; "" means any. The claim is about
	// moves that end the run too only if Final says so.
	When  string
	Final bool
	// From is what the marking before must have been then, Says are events that
	// must happen, Then is what the marking after must be, and Keeps are places
	// that must hold as many tokens as before.
	From  string
	Says  []string
	Then  string
	Keeps []string
}

// Property is the claim as a property.
func (c Move) Property() *Property {
	p := &Property{Name: c.Name, Doc: c.Doc, Claim: c.claim(), Moves: c.bind, move: &c}
	p.Check = func(ctx context.Context, pass *Pass) (Verdict, error) {
		claim, err := c.bind(pass.Model())
		if err != nil {
			return Verdict{}, err
		}
		g, err := pass.Graph(ctx)
		if err != nil {
			return Verdict{}, err
		}
		return pass.seek(ctx, g, "it breaks the claim", claim.Bad, g.whole("no move of %d markings breaks it", g.States()))
	}
	return p
}

// claim is exactly what is claimed, for certificates.
func (c Move) claim() string {
	text := "each move"
	for _, part := range []struct{ word, what string }{
		{"with", strings.Join(c.On, "|")}, {"that changes", c.Changed}, {"when", c.When}, {"comes from", c.From},
		{"does", strings.Join(c.Says, " and ")}, {"leads to", c.Then}, {"keeps", strings.Join(c.Keeps, " ")},
	} {
		if part.what != "" {
			text += ", " + part.word + " " + part.what
		}
	}
	if c.Final {
		text += ", at the end too"
	}
	return text
}

// Strict reports a name that a net does not have.
func (c Move) Strict(m *Model) error {
	for _, text := range []string{c.When, c.From, c.Then} {
		if text == "" {
			continue
		}
		if _, err := m.bind(text); err != nil {
			return err
		}
	}
	names := &binder{m: m}
	for _, p := range append(slices.Clone(c.Keeps), strings.Fields(c.Changed)...) {
		names.slots(p)
	}
	for _, e := range slices.Concat(c.On, c.Says) {
		for _, one := range strings.Split(strings.TrimPrefix(e, "!"), "|") {
			if !slices.Contains(m.happens(one), true) {
				names.fail("event", one, "never happens in claim "+c.Name)
			}
		}
	}
	return names.err
}

// MoveClaim is a Move whose names were found in a net. It is not safe for
// concurrent use.
type MoveClaim struct {
	m                *Model
	on               []bool // by step; nil: any
	changed          []int
	when, from, then holds
	says, never      [][]bool
	kept             [][]int
	final            bool
}

func (c Move) bind(m *Model) (*MoveClaim, error) { return c.boundBy(m, m.bindLoosely) }

// boundBy binds the conditions with a function, which leaves alone what it is
// given if the text is "".
func (c Move) boundBy(m *Model, condition func(text string, to *holds) error) (*MoveClaim, error) {
	b := &MoveClaim{m: m, final: c.Final}
	for _, x := range []struct {
		text string
		to   *holds
	}{{c.When, &b.when}, {c.From, &b.from}, {c.Then, &b.then}} {
		if err := condition(x.text, x.to); err != nil {
			return nil, err
		}
	}
	for _, e := range c.Says {
		if not, found := strings.CutPrefix(e, "!"); found {
			b.never = append(b.never, m.happens(not))
		} else {
			b.says = append(b.says, m.happens(e))
		}
	}
	names := &binder{m: m, loose: true}
	for _, p := range c.Keeps {
		b.kept = append(b.kept, names.slots(p))
	}
	if len(c.On) > 0 {
		b.on = m.happens(strings.Join(c.On, "|"))
	}
	if c.Changed != "" {
		b.changed = append([]int{}, names.slots(c.Changed)...)
		if b.on == nil {
			b.on = m.touching(b.changed)
		}
	}
	return b, names.err
}

// Vacuous reports whether the net has nothing that the claim is about.
func (b *MoveClaim) Vacuous() bool { return b.on != nil && !slices.Contains(b.on, true) }

// Triggers tells, by index, the steps of which a move must have one for the claim
// to say anything of it; nil: any.
func (b *MoveClaim) Triggers() []bool { return b.on }

// bindLoosely binds a condition in which names may be missing; "" is nil.
func (m *Model) bindLoosely(text string, to *holds) error {
	if text == "" {
		return nil
	}
	e, err := ParseExpr(text)
	if err != nil {
		return err
	}
	b := &binder{m: m, loose: true}
	*to = b.expr(e)
	return b.err
}

// eachStep calls fn for every step.
func (m *Model) eachStep(fn func(s Step)) {
	for i := range m.modes {
		for b := range m.modes[i].branches {
			fn(Step{Transition: m.modes[i].t, Mode: m.modes[i].k, Branch: int32(b)})
		}
	}
}

// happens tells the steps that are an event, or one of several, by their index.
func (m *Model) happens(events string) []bool {
	out := make([]bool, m.StepCount())
	for _, e := range strings.Split(events, "|") {
		place, puts := strings.CutPrefix(e, "+")
		if !puts {
			for _, t := range m.endings().transitions[e] {
				from, to := m.StepsOf(t)
				for i := from; i < to; i++ {
					out[i] = true
				}
			}
			continue
		}
		base, kind, _ := strings.Cut(strings.TrimSuffix(place, "]"), "[")
		for _, d := range m.endings().puts[base] {
			if kind == "" || d.label == "" || isKind(d.label, kind) {
				out[d.step] = true
			}
		}
	}
	return out
}

// endings finds transitions, and steps that put tokens somewhere, by full names
// and by all their last parts.
type endings struct {
	transitions map[string][]int32
	places      map[string][]int
	puts        map[string][]deed
}

// place finds the place that a name means, if exactly one has it in full, or as
// its last parts where none has it in full.
func (e *endings) place(m *Model, name string) (int, bool) {
	list := e.places[name]
	i := slices.IndexFunc(list, func(i int) bool { return m.places[i].Name == name })
	switch {
	case i >= 0:
		return list[i], true
	case len(list) == 1:
		return list[0], true
	}
	return -1, false
}

// deed is a step and the kind of token it puts somewhere; "" if any.
type deed struct {
	step  int
	label string
}

// eachEnding calls fn for a name and all its last parts.
func eachEnding(name string, fn func(string)) {
	for fn(name); ; fn(name) {
		_, rest, found := strings.Cut(name, "/")
		if !found {
			return
		}
		name = rest
	}
}

// endings are made when they are first asked for.
func (m *Model) endings() *endings {
	m.ends.once.Do(func() {
		e := &endings{map[string][]int32{}, map[string][]int{}, map[string][]deed{}}
		for t := range m.transitions {
			eachEnding(m.transitions[t].Name, func(n string) { e.transitions[n] = append(e.transitions[n], int32(t)) })
		}
		for i := range m.places {
			eachEnding(m.places[i].Name, func(n string) { e.places[n] = append(e.places[n], i) })
		}
		m.eachStep(func(s Step) {
			m.eachPut(s, func(place int, label string) {
				eachEnding(m.places[place].Name, func(n string) { e.puts[n] = append(e.puts[n], deed{m.StepIndex(s), label}) })
			})
		})
		m.ends.found = e
	})
	return m.ends.found
}

// lazyEndings are shared by copies of a model with observers, which have only
// more places than it.
type lazyEndings struct {
	once  sync.Once
	found *endings
}

// eachPut calls fn for the tokens that a step puts into places, or lets leave.
func (m *Model) eachPut(s Step, fn func(place int, label string)) {
	for _, p := range m.branchOf(s).put {
		if int(p.place) < len(m.places) {
			fn(int(p.place), m.slotName[p.slot][len(m.places[p.place].Name):])
		}
	}
	for _, a := range m.transitions[s.Transition].Arcs {
		if a.Kind == petri.OutArc && a.Branch == int(s.Branch) && m.places[a.Place].Out {
			fn(a.Place, a.Label)
		}
	}
}

// touching tells the steps that put tokens into some slots or take some out.
func (m *Model) touching(slots []int) []bool {
	out := make([]bool, m.StepCount())
	m.eachStep(func(s Step) {
		md := m.modeOf(s)
		has := func(slot int32) bool { return slices.Contains(slots, int(slot)) }
		out[m.StepIndex(s)] = md.bump || slices.ContainsFunc(md.empty, has) ||
			slices.ContainsFunc(md.take, func(c petri.Count) bool { return has(c.Slot) }) ||
			slices.ContainsFunc(m.branchOf(s).put, func(p put) bool { return has(p.slot) })
	})
	return out
}

func (b *MoveClaim) any(event []bool, chain []Step) bool {
	return slices.ContainsFunc(chain, func(s Step) bool { return event[b.m.StepIndex(s)] })
}

// Bad reports whether a move breaks the claim: the marking before it, its
// firings, the marking after it.
func (b *MoveClaim) Bad(from []int32, chain []Step, to []int32) bool {
	return b.Applies(from, chain, to) && b.breaks(from, chain, to)
}

// breaks reports whether a move that the claim is about breaks it.
func (b *MoveClaim) breaks(from []int32, chain []Step, to []int32) bool {
	happens := func(e []bool) bool { return b.any(e, chain) }
	if b.from != nil && !b.from(from) || b.then != nil && !b.then(to) || slices.ContainsFunc(b.never, happens) {
		return true
	}
	for _, e := range b.says {
		if !happens(e) {
			return true
		}
	}
	return slices.ContainsFunc(b.kept, func(slots []int) bool { return count(from, slots) != count(to, slots) })
}

// Applies reports whether the claim says anything of a move.
func (b *MoveClaim) Applies(from []int32, chain []Step, to []int32) bool {
	switch {
	case b.on != nil && !b.any(b.on, chain):
		return false
	case b.changed != nil && count(from, b.changed) == count(to, b.changed):
		return false
	}
	return (b.final || !b.m.Ended(to)) && (b.when == nil || b.when(from))
}

func count(marking []int32, slots []int) (n int32) {
	for _, s := range slots {
		n += marking[s]
	}
	return n
}

// EachMove calls fn for every move of a graph, until it returns false; from is
// -1 for the start of the net. fn must not keep what it is given.
func (g *Graph) EachMove(ctx context.Context, fn func(state int, from []int32, chain []Step, to []int32) bool) error {
	state, from, going := -1, g.Model.Initial(), true
	var w *Walker
	w = g.Model.NewWalker(func() { going = going && fn(state, from, w.Chain, w.Marking) }, nil)
	w.Record = true
	w.Start()
	var steps []Step
	for state = 0; state < len(g.firstE) && going; state++ {
		if state%progressEvery == 0 && ctx.Err() != nil {
			return fmt.Errorf("verify: moves: %w", ctx.Err())
		}
		if from = g.Marking(state, from); g.Model.Ended(from) {
			continue
		}
		for _, t := range g.Model.timed {
			steps = g.Model.Steps(t, from, steps[:0])
			for _, s := range steps {
				w.Fire(from, s)
			}
		}
	}
	return nil
}

// CheckMoves checks claims about moves together, in one look at the graph.
func CheckMoves(ctx context.Context, pass *Pass, props ...*Property) ([]Verdict, error) {
	g, err := pass.Graph(ctx)
	if err != nil {
		return nil, err
	}
	claims := make([]*MoveClaim, len(props))
	out := make([]Verdict, len(props))
	for i, p := range props {
		if claims[i], err = p.Moves(g.Model); err != nil {
			return nil, err
		}
		out[i] = g.whole("no move of %d markings breaks it", g.States())
	}
	look := newMoveIndex(g.Model, claims)
	err = g.EachMove(ctx, func(state int, from []int32, chain []Step, to []int32) bool {
		look.broken(from, chain, to, func(i int) {
			way := Path{State: -1}
			if state >= 0 {
				way = g.PathTo(state)
			}
			way.Steps = append(way.Steps, chain...)
			out[i] = g.counterexample(way, "a move to %s", g.Model.Format(to))
			look.drop(i)
		})
		return look.open > 0
	})
	return out, err
}

// Loosely says of an expression what Never says, but that a place the net does
// not have holds no token and a transition that it does not have, or that fires
// at once, is never enabled: so a claim about a whole may be asked of its parts.
func Loosely(expr string) *Property {
	p := Never(expr)
	p.Bad = func(m *Model) (func([]int32) bool, error) {
		var h holds
		err := m.bindLoosely(expr, &h)
		return h, err
	}
	p.BadPassing, p.loose = nil, true
	return p.explicitly()
}

// Fits reports whether a net has what a claim is about: some event of one about
// moves, all that an expression names, or some of it if Loosely made the claim. Of
// other claims it reports true.
func (p *Property) Fits(m *Model) (bool, error) {
	if p.Moves != nil {
		claim, err := p.Moves(m)
		return err == nil && !claim.Vacuous(), err
	}
	if p.Expr == "" {
		return true, nil
	}
	e, err := ParseExpr(p.Expr)
	if err != nil {
		return false, err
	}
	b := &binder{m: m, loose: true}
	b.expr(e)
	return (p.loose || b.missing == 0) && len(b.read)+len(b.asked) > 0, b.err
}

// Waits says that a transition fires once it was enabled for some time without
// a break, and neither sooner nor later. Its structure proves that; a run in
// which it fires at another time refutes it.
func Waits(transition string, wait time.Duration) *Property {
	p := &Property{Name: transition + " after " + wait.String(), Waits: []string{transition},
		Doc: transition + " fires when it was possible for " + wait.String()}
	p.Moves = func(m *Model) (*MoveClaim, error) {
		ts, err := m.named([]string{transition})
		if err != nil {
			return nil, err
		}
		if m.transitions[ts[0]].When == petri.After(wait) {
			return &MoveClaim{m: m, on: make([]bool, m.StepCount())}, nil // of no move
		}
		return Move{On: []string{transition}, Says: []string{"!" + transition}, Final: true}.bind(m)
	}
	p.Check = func(ctx context.Context, pass *Pass) (Verdict, error) {
		m := pass.Model()
		ts, err := m.named([]string{transition})
		if err != nil {
			return Verdict{}, err
		}
		if m.transitions[ts[0]].When == petri.After(wait) {
			return proved("structure", "its interval is that"), nil
		}
		g, err := pass.Graph(ctx)
		if err != nil {
			return Verdict{}, err
		}
		fires := func(_ []int32, chain []Step, _ []int32) bool {
			return slices.ContainsFunc(chain, func(s Step) bool { return s.Transition == ts[0] })
		}
		return pass.seek(ctx, g, "it fires at another time", fires,
			unknown(explicit, Spurious, "%s was not seen to fire", transition))
	}
	return p
}

// waysMax is how many moves are given to the machine.
const waysMax = 1000

// seek looks for a move that the machine takes. Without one that time forbids
// the verdict is otherwise.
func (p *Pass) seek(ctx context.Context, g *Graph, ends string, is func([]int32, []Step, []int32) bool,
	otherwise Verdict) (Verdict, error) {
	v, tries := otherwise, 0
	err := g.EachMove(ctx, func(state int, from []int32, chain []Step, to []int32) bool {
		if !is(from, chain, to) {
			return true
		}
		way := Path{State: -1}
		if state >= 0 {
			way = g.PathTo(state)
		}
		way.Steps = append(way.Steps, chain...)
		r := g.counterexample(way, "%s: %s", ends, g.Model.Format(to))
		if r.Outcome == Refuted && p.Takes(r.Witness) {
			v = r
			return false
		}
		if v.Outcome == Proved {
			v = unknown(explicit, Spurious, "%s, but time forbids the ways there that were found", ends)
		}
		tries++
		return tries < waysMax
	})
	return v, err
}
