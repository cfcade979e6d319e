package smt

import (
	"fmt"
	"strings"
)

// k-induction (Sheeran, Singh and Stalmarck 2000): no run of fewer than k firings reaches a bad
// state, and no k firings lead from states that are not bad to one that is.

const (
	induction    = "k-induction"
	inductionMax = 64 // steps
)

// proof is the content of a certificate: an invariant that excludes the bad states or, with steps,
// one that need not, and the number of steps of induction.
type proof struct {
	invariant term
	steps     int
}

// kept lists all obligations except the last: the known formulas are an invariant, whether or not
// it suffices.
func (s *system) kept() []obligation {
	todo := s.obligations()
	return todo[:len(todo)-1]
}

// induction lists the base and the step of a proof. None of them may be satisfiable.
func (s *system) induction(found proof) []obligation {
	var out []obligation
	for i := range found.steps {
		out = append(out, obligation{name: fmt.Sprintf("after %d firings", i), where: s.base(i)})
	}
	last := obligation{name: fmt.Sprintf("after %d more", found.steps), where: s.step(found.steps, found.invariant)}
	return append(out, last)
}

// unroll writes the induction as questions to a solver process.
func (s *system) unroll(found proof) (script string, names []string) {
	var b strings.Builder
	b.WriteString("(set-logic QF_LIA)\n")
	for _, v := range s.unrolled(found.steps) {
		fmt.Fprintf(&b, "(declare-fun %s () Int)\n", v)
	}
	for _, o := range s.induction(found) {
		names = append(names, o.name)
		fmt.Fprintf(&b, "(push 1)\n(assert %s)\n(check-sat)\n(pop 1)\n", o.where)
	}
	return b.String(), names
}

// base states that i firings from the start lead to a bad state.
func (s *system) base(i int) term {
	ts := []term{s.at(0, s.init)}
	for j := range i {
		ts = append(ts, s.fires(j))
	}
	return conj(append(ts, s.at(i, s.bad))...)
}

// step states that k firings from some state lead to the first bad one, and that known holds in
// every state on the way.
func (s *system) step(k int, known term) term {
	ts := []term{s.at(k, s.bad), s.at(k, known)}
	for i := range k {
		ts = append(ts, s.at(i, known), s.at(i, negate(s.bad)), s.fires(i))
	}
	return conj(ts...)
}

// fires states that one firing leads from the marking of step i to the next.
func (s *system) fires(i int) term {
	var ways []term
	for _, r := range s.rules {
		ts := []term{s.at(i, r.guard)}
		for j, v := range s.vars() {
			ts = append(ts, app("=", s.at(i+1, v), s.at(i, r.next[j])))
		}
		ways = append(ways, conj(ts...))
	}
	return disj(ways...)
}

// at writes a formula about the marking of step i.
func (s *system) at(i int, t term) term {
	names := map[string]term{}
	for _, v := range s.vars() {
		names[v.atom] = sym(fmt.Sprintf("%s_%d", v.atom, i))
	}
	return rename(t, names)
}

// unrolled lists the variables of the markings of steps 0 to k.
func (s *system) unrolled(k int) []term {
	var out []term
	for i := range k + 1 {
		for _, v := range s.vars() {
			out = append(out, s.at(i, v))
		}
	}
	return out
}
