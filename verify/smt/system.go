package smt

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// system is a net, or a slice of one, and what it must never reach, as formulas over the variables
// of one marking.
type system struct {
	slots  []int32
	params int
	init   term
	rules  []rule
	bad    term
	// grows are places outside the slice that decide about it.
	grows []int
	flows []term // invariants of the rules, added to every body
}

// rule is a firing: a transition, its mode and branch.
type rule struct {
	name  string
	guard term
	next  []term          // by variable
	delta map[int32]int64 // the most that the firing adds to each slot, without resets
	bump  bool
}

// system writes the slice of the places in keep.
func (e *encoder) system(expr string) (*system, error) {
	clear(e.needs)
	bad, err := e.expression(expr)
	if err != nil {
		return nil, err
	}
	if f := e.prog.FinalSlot(); f >= 0 {
		e.needs[e.prog.SlotPlace(f)] = true
	}
	for p, needed := range e.needs {
		e.keep[p] = e.keep[p] || needed
	}
	s := &system{params: len(e.params)}
	for slot := range e.prog.Slots() {
		if e.keep[e.prog.SlotPlace(slot)] {
			s.slots = append(s.slots, int32(slot))
		}
	}
	s.bad = conj(bad, e.rests())
	clear(e.needs) // places that only the bad states depend on are no reason to grow
	s.init = e.initial(s)
	e.rules(s)
	for p, needed := range e.needs {
		if needed && !e.keep[p] {
			s.grows = append(s.grows, p)
		}
	}
	s.flows = e.flows(s)
	return s, nil
}

// vars lists the variables in order: counts, then parameters.
func (s *system) vars() []term {
	var out []term
	for _, slot := range s.slots {
		out = append(out, slotVar(slot))
	}
	for i := range s.params {
		out = append(out, paramVar(i))
	}
	return out
}

func (e *encoder) initial(s *system) term {
	var ts []term
	start := e.prog.Initial()
	for _, slot := range s.slots {
		n := num(int64(start[slot]))
		if p, ok := e.marks.initial[slot]; ok {
			n = paramVar(p)
		}
		ts = append(ts, app("=", slotVar(slot), n))
	}
	for i, p := range e.params {
		ts = append(ts, app(">=", paramVar(i), num(int64(p.Min))))
	}
	return conj(ts...)
}

// rules writes every firing that changes something in the slice.
func (e *encoder) rules(s *system) {
	for t := range e.prog.Transitions() {
		for k := range e.prog.Transitions()[t].Modes {
			e.modeRules(s, t, k, e.before(t))
		}
	}
}

// before lists the transitions that a transition waits for: an immediate transition waits for those
// before it, a projected move for those it yields to, and every other transition for all immediate
// ones.
func (e *encoder) before(t int) []int32 {
	if r := slices.Index(e.order, int32(t)); r >= 0 {
		return e.order[:r]
	}
	if info := &e.prog.Transitions()[t]; info.Projected {
		return e.order[:min(info.Yields, len(e.order))]
	}
	return e.order
}

func (e *encoder) modeRules(s *system, t, k int, before []int32) {
	info := &e.prog.Transitions()[t]
	mode := &info.Modes[k]
	for b := range mode.Branches {
		if c := mode.Choice(); c >= 0 && c != b {
			continue
		}
		f := e.fire(info, mode, b)
		if !f.changes(s) {
			continue
		}
		guard, _ := e.enabled(t, k, everywhere())
		guard = append(guard, e.running())
		for _, u := range before {
			needs := slices.Clone(e.needs)
			guard = append(guard, e.idle(int(u), everywhere()))
			copy(e.needs, needs) // priorities are no reason to grow either
		}
		s.rules = append(s.rules, rule{
			name:  fmt.Sprintf("%s %d.%d", info.Name, k, b),
			guard: conj(guard...), next: f.next(s), delta: f.delta, bump: info.Bump,
		})
	}
}

// firing computes the marking after a firing, in the machine's order: consume, empty, bump,
// produce.
type firing struct {
	e     *encoder
	count map[int32]term
	delta map[int32]int64
}

func (e *encoder) fire(t *petri.TransitionInfo, mode *petri.Mode, branch int) *firing {
	f := &firing{e: e, count: map[int32]term{}, delta: map[int32]int64{}}
	for _, c := range mode.Take {
		f.count[c.Slot] = app("-", f.at(c.Slot), num(int64(c.N)))
		f.delta[c.Slot] -= int64(c.N)
	}
	for _, slot := range slices.Concat(mode.Drain, mode.Reset) {
		f.count[slot] = num(0)
		f.delta[slot] = min(f.delta[slot], -atLeast(mode, slot))
	}
	if t.Bump {
		f.bump()
	}
	for _, c := range mode.Branches[branch].Put {
		f.put(c, t.Outside)
	}
	return f
}

// atLeast is how many tokens of a slot an enabled mode finds at least.
func atLeast(m *petri.Mode, slot int32) int64 {
	n := int32(0)
	for _, c := range m.Conds {
		if len(c.Slots) == 1 && c.Slots[0] == slot {
			n = max(n, c.Min)
		}
	}
	return int64(n)
}

func (f *firing) at(slot int32) term {
	if t, ok := f.count[slot]; ok {
		return t
	}
	return slotVar(slot)
}

func (f *firing) bump() {
	for _, p := range f.e.prog.Places() {
		for s := int32(p.Slot); p.Gen && s < int32(p.Slot+p.Slots); s += 2 {
			f.count[s+1] = plus(f.at(s), f.at(s+1))
			f.count[s] = num(0)
		}
	}
}

// put produces tokens. A full place of the net refuses tokens from automata of the environment.
func (f *firing) put(c petri.Count, outside bool) {
	n := int64(c.N)
	f.delta[c.Slot] += n
	before := f.at(c.Slot)
	after := plus(before, num(n))
	place := f.e.prog.SlotPlace(int(c.Slot))
	info := &f.e.prog.Places()[place]
	if info.Env && outside {
		limit := num(int64(info.Max))
		if p, ok := f.e.max[place]; ok {
			limit = paramVar(p)
		}
		var all []term
		for s := info.Slot; s < info.Slot+info.Slots; s++ {
			all = append(all, f.at(int32(s)))
		}
		total := plus(append(all, num(n))...)
		room := app("-", limit, plus(all...))
		after = app("ite", app("<=", total, limit), after,
			app("ite", app(">", room, num(0)), plus(before, room), before))
	}
	f.count[c.Slot] = after
}

func (f *firing) changes(s *system) bool {
	for _, slot := range s.slots {
		if t, ok := f.count[slot]; ok && t.atom != slotVar(slot).atom {
			return true
		}
	}
	return false
}

func (f *firing) next(s *system) []term {
	var out []term
	for _, slot := range s.slots {
		out = append(out, f.at(slot))
	}
	for i := range s.params {
		out = append(out, paramVar(i))
	}
	return out
}

// invariants is what every marking satisfies before anything is proved: counts are not negative,
// and the flows hold.
func (s *system) invariants() term {
	var ts []term
	for _, slot := range s.slots {
		ts = append(ts, app(">=", slotVar(slot), num(0)))
	}
	return conj(append(ts, s.flows...)...)
}

// horn is the system as constrained Horn clauses: satisfiable if and only if the bad states are not
// reached (Bjorner, Gurfinkel, McMillan and Rybalchenko 2015). It uses the functional form, without
// variables for the next marking, because that is smaller.
func (s *system) horn() string {
	var b strings.Builder
	vars := s.vars()
	sorts := make([]term, len(vars))
	var bound []term
	for i, v := range vars {
		sorts[i] = sym("Int")
		bound = append(bound, list(v, sym("Int")))
	}
	reached := func(args []term) term {
		if len(args) == 0 {
			return sym("R")
		}
		return app("R", args...)
	}
	clause := func(body, head term) {
		holds := app("=>", body, head)
		if len(bound) > 0 { // SMT-LIB knows no quantifier without a variable
			holds = app("forall", list(bound...), holds)
		}
		fmt.Fprintf(&b, "(assert %s)\n", holds)
	}
	b.WriteString("(set-option :error-behavior immediate-exit)\n(set-logic HORN)\n")
	fmt.Fprintf(&b, "(declare-fun R %s Bool)\n", list(sorts...))
	clause(s.init, reached(vars))
	known := s.invariants()
	for _, r := range s.rules {
		clause(conj(known, r.guard, reached(vars)), reached(r.next))
	}
	clause(conj(known, s.bad, reached(vars)), sym("false"))
	b.WriteString("(check-sat)\n")
	return b.String()
}

// hash identifies the system that a certificate is about.
func (s *system) hash() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", list(s.vars()...), s.init)
	for _, r := range s.rules {
		fmt.Fprintf(&b, "%s\n%s\n", r.guard, list(r.next...))
	}
	b.WriteString(s.bad.String())
	sum := sha256.Sum256([]byte(b.String()))
	return "sha256:" + hex.EncodeToString(sum[:])
}
