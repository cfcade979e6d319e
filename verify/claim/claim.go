package claim

import (
	"fmt"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/expr"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// Claim is a statement of a property about a net. The kinds of claims are the types of this package
// that implement it.
type Claim interface {
	// Text is the claim as certificates write it; "" if no certificate carries it.
	Text() string
	// Scope says what a proof about a slice implies for the whole net.
	Scope() Scope
}

// Scope says what a proof about a slice of a net implies for the whole net.
type Scope uint8

// The scopes of claims.
const (
	// Whole claims are about the net as it is. A proof about a slice implies nothing.
	Whole Scope = iota
	// Runs claims are about each run by itself. A net with fewer runs keeps them too, so a proof
	// about a slice holds for the whole net.
	Runs
	// Local claims are like Runs, but a slice decides them only for the transitions that it has
	// exactly.
	Local
	// Structure claims are about the text of the net and need no environment.
	Structure
)

// Marking is a claim about every marking in which the net rests.
type Marking interface {
	Claim
	// Bad binds the claim to a net. The function it returns reports the markings that violate the
	// claim.
	Bad(m *netmodel.Model) (func(marking []int32) bool, error)
}

// Moving is a claim about every move of the net.
type Moving interface {
	Claim
	Bind(m *netmodel.Model) (*BoundMove, error)
}

// AboutMoves reports whether a claim is about moves.
func AboutMoves(c Claim) bool {
	_, moves := c.(Moving)
	return moves
}

// BadMarkings binds a claim about markings; nil if the claim is of another kind.
func BadMarkings(c Claim, m *netmodel.Model) (func(marking []int32) bool, error) {
	if c, ok := c.(Marking); ok {
		return c.Bad(m)
	}
	return nil, nil
}

// BadMoves binds a claim about moves; nil if the claim is of another kind.
func BadMoves(c Claim, m *netmodel.Model) (*BoundMove, error) {
	if c, ok := c.(Moving); ok {
		return c.Bind(m)
	}
	return nil, nil
}

// BadPassing binds a claim about markings to the markings that a chain of firings passes; nil if
// the claim does not cover them. waits reports the kinds of frame that wait in some marking.
func BadPassing(c Claim, m *netmodel.Model, waits func(slot int32) bool) (netmodel.PassingCond, error) {
	never, ok := c.(Never)
	if !ok || never.Loose {
		return nil, nil
	}
	cond, err := m.Bind(never.Expr)
	if err != nil {
		return nil, err
	}
	return cond.Passing(waits), nil
}

// TextOf is the text of a claim; "" if there is none.
func TextOf(c Claim) string {
	if c == nil {
		return ""
	}
	return c.Text()
}

// ScopeOf is the scope of a claim; Whole if there is none.
func ScopeOf(c Claim) Scope {
	if c == nil {
		return Whole
	}
	return c.Scope()
}

// ExprOf is the expression of a claim; "" if it has none.
func ExprOf(c Claim) string {
	switch c := c.(type) {
	case Never:
		return c.Expr
	case Reach:
		return c.Expr
	case After:
		return "(" + c.First + ") && (" + c.Then + ")"
	}
	return ""
}

// Names are the last parts of the names in the expression of a claim, without kinds of tokens; none
// if the claim has no expression.
func Names(c Claim) []string {
	e, err := expr.Parse(ExprOf(c))
	if err != nil {
		return nil
	}
	places, transitions := e.Names()
	var out []string
	for _, n := range append(places, transitions...) {
		n, _, _ = strings.Cut(n, "[")
		out = append(out, n[strings.LastIndexByte(n, '/')+1:])
	}
	return out
}

// Fits reports whether a net has what a claim is about: some event of a claim about moves, all
// names of an expression, or some of them if the claim is loose. It is true of other claims.
func Fits(c Claim, m *netmodel.Model) (bool, error) {
	if c, ok := c.(Moving); ok {
		claim, err := c.Bind(m)
		return err == nil && !claim.vacuous(), err
	}
	text := ExprOf(c)
	if text == "" {
		return true, nil
	}
	e, err := expr.Parse(text)
	if err != nil {
		return false, err
	}
	b := &netmodel.Names{Model: m, Loose: true}
	b.Expr(e)
	never, _ := c.(Never)
	return (never.Loose || b.Missing == 0) && len(b.Read)+len(b.Asked) > 0, b.Err
}

// Never says that no marking in which the net rests satisfies an expression, and that no waiting
// frame moves in a passing marking that satisfies it.
type Never struct {
	Expr string
	// Loose lets the expression name things that the net does not have. A missing place holds no
	// token. A transition that is missing or that fires at once is never enabled. Passing markings
	// do not count.
	Loose bool
}

// Text is "never" and the expression.
func (c Never) Text() string { return "never " + c.Expr }

// Scope is Runs.
func (Never) Scope() Scope { return Runs }

// Bad reports the markings that satisfy the expression.
func (c Never) Bad(m *netmodel.Model) (func(marking []int32) bool, error) {
	if c.Loose {
		var h netmodel.Pred
		err := m.BindLoosely(c.Expr, &h)
		return h, err
	}
	cond, err := m.Bind(c.Expr)
	if err != nil {
		return nil, err
	}
	return cond.Holds, nil
}

// DeadlockFree says that the net comes to rest only in its final place or with all tokens in
// declared sinks.
type DeadlockFree struct{}

// Text is "deadlock-free".
func (DeadlockFree) Text() string { return "deadlock-free" }

// Scope is Whole: a slice may move where the whole net is dead.
func (DeadlockFree) Scope() Scope { return Whole }

// Bad reports the dead markings that are not a proper rest.
func (DeadlockFree) Bad(m *netmodel.Model) (func(marking []int32) bool, error) {
	return func(marking []int32) bool { return m.Dead(marking) && !m.AtRest(marking) }, nil
}

// Capacity says that no firing exceeds the capacity of a place, that no chain of firings at one
// instant is endless, and that no environment place that decides something refuses a token.
type Capacity struct {
	// MayRefuse lists environment places that may refuse tokens, in full or by their last parts.
	MayRefuse []string
}

// Text is "capacity" and the places that may refuse.
func (c Capacity) Text() string {
	return strings.Join(append([]string{"capacity"}, c.MayRefuse...), " ")
}

// Scope is Local.
func (Capacity) Scope() Scope { return Local }

// Allows reports whether a place may refuse a token.
func (c Capacity) Allows(place string) bool { return netmodel.NamedBy(c.MayRefuse, place) }

// Reach says that some marking in which the net rests satisfies an expression.
type Reach struct{ Expr string }

// Text is "": its witness proves it.
func (Reach) Text() string { return "" }

// Scope is Whole.
func (Reach) Scope() Scope { return Whole }

// After says that once a marking has satisfied the first expression, no marking satisfies the
// second, including that same marking.
type After struct{ First, Then string }

// Text is "".
func (After) Text() string { return "" }

// Scope is Runs.
func (After) Scope() Scope { return Runs }

// LeadsTo says that whenever the first expression is true, the second is true then or later.
type LeadsTo struct{ First, Then string }

// Text is "".
func (LeadsTo) Text() string { return "" }

// Scope is Whole.
func (LeadsTo) Scope() Scope { return Whole }

// TimeDiverges says that time can go on for ever from every state.
type TimeDiverges struct{}

// Text is "".
func (TimeDiverges) Text() string { return "" }

// Scope is Whole.
func (TimeDiverges) Scope() Scope { return Whole }

// Structural is a claim about the text of the net.
type Structural struct{}

// Text is "".
func (Structural) Text() string { return "" }

// Scope is Structure.
func (Structural) Scope() Scope { return Structure }

// Parametric says that no marking satisfies an expression, for all values of the parameters that
// the expression names.
type Parametric struct{ Expr string }

// Text is "": an invariant proves it, in a format of its own.
func (Parametric) Text() string { return "" }

// Scope is Runs.
func (Parametric) Scope() Scope { return Runs }

// Wait says that a transition fires exactly when it has been enabled for some time without a break,
// neither sooner nor later.
type Wait struct {
	Transition string
	Wait       time.Duration
}

// Text is "".
func (Wait) Text() string { return "" }

// Scope is Whole.
func (Wait) Scope() Scope { return Whole }

// Bind forbids every firing of the transition, unless its interval is the wait.
func (c Wait) Bind(m *netmodel.Model) (*BoundMove, error) {
	exact, err := c.Exact(m)
	if err != nil {
		return nil, err
	}
	if exact {
		return &BoundMove{m: m, on: make([]bool, m.StepCount())}, nil // forbids no move
	}
	return Move{On: []string{c.Transition}, Does: []string{"!" + c.Transition}, Final: true}.Bind(m)
}

// Exact reports whether the interval of the transition is the wait.
func (c Wait) Exact(m *netmodel.Model) (bool, error) {
	ts, err := m.Named(c.Transition)
	if err != nil {
		return false, err
	}
	return m.Transitions[ts[0]].When == petri.After(c.Wait), nil
}

// Given returns a model that leaves out the markings at rest that violate any of the claims. These
// claims are already proved for the whole net: on the whole net itself or on other slices, whose
// proofs must not rest on this one. It refuses claims that are not about markings alone.
func Given(m *netmodel.Model, claims ...Claim) (*netmodel.Model, error) {
	for _, c := range claims {
		about, ok := c.(Marking)
		if !ok || about.Scope() == Whole {
			return nil, fmt.Errorf("verify: given %q: it is not about markings alone", TextOf(c))
		}
		bad, err := about.Bad(m)
		if err != nil {
			return nil, err
		}
		m = m.Assume(about.Text(), bad)
	}
	return m, nil
}
