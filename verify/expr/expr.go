package expr

import (
	"slices"
	"strconv"
	"strings"
)

// Expr is a condition on markings, such as `on_1 >= 1 && closed == 0`. See Parse for the language.
type Expr struct {
	text  string
	Root  Node
	Words []string // bare words and numbers that may also be names of places
}

// String returns the text the expression was parsed from.
func (e *Expr) String() string { return e.text }

// Names returns the names of places and of transitions in the expression, as written: with kinds of
// tokens in brackets, and possibly without their first parts.
func (e *Expr) Names() (places, transitions []string) {
	var visit func(n Node)
	visit = func(n Node) {
		switch n := n.(type) {
		case Not:
			visit(n.Of)
		case Pair:
			visit(n.Left)
			visit(n.Right)
		case Can:
			transitions = append(transitions, n.Name)
		case Compare:
			for _, t := range slices.Concat(n.Left.Terms, n.Right.Terms) {
				places = append(places, t.Name)
			}
		}
	}
	visit(e.Root)
	return places, transitions
}

// Node is part of an expression: a Const, Not, Pair, Compare, Can or State.
type Node interface{ node() }

// Const is true or false.
type Const struct{ Value bool }

// Not is true where its operand is false.
type Not struct{ Of Node }

// Pair is true where both operands are (And), or where at least one is.
type Pair struct {
	And         bool
	Left, Right Node
}

// Compare compares two sums. Op is one of < <= > >= == = !=.
type Compare struct {
	Left, Right Sum
	Op          string
}

// Can is true where a transition is enabled.
type Can struct{ Name string }

// State is true where the net is in the state that Word names: dead or ended.
type State struct{ Word string }

func (Const) node() {}

func (Not) node() {}

func (Pair) node() {}

func (Compare) node() {}

func (Can) node() {}

func (State) node() {}

// Sum is a constant plus names with factors.
type Sum struct {
	Add   int64
	Terms []Term
}

// Term is the token count of a place times a factor.
type Term struct {
	Factor int64
	Name   string
}

// SumLimit is the largest value that a sum may have when each place holds as many tokens as it can.
const SumLimit = int64(1) << 62

// Parse parses an expression over place counts:
//
//	on_1 >= 1 && closed == 0
//	!(idle || 2*chunk + played <= 4) && can(send_frame)
//
// Comparisons are < <= > >= == !=, between sums of numbers, places and numbers times places. A
// place alone means that it is marked. can(T) is true where transition T is enabled or, if T moves
// frames, would fire when a frame arrived. dead means that nothing is enabled and the run has not
// ended. ended means that the final place is marked.
//
// A name that holds other characters than letters, digits and _ . / - : # @ ' [ ] , needs double
// quotes. So does a name that looks like a number or is a word of the language: "3" and "dead" are
// places, 03 is the number and dead() the word, whatever the net's places are called. Numbers have
// no sign and at most 18 digits. Errors name the column.
func Parse(text string) (*Expr, error) {
	p := &parser{text: text}
	p.next()
	root := p.or(0)
	if p.err == nil && p.kind != endOfText {
		p.fail("unexpected %q", p.token)
	}
	if p.err != nil {
		return nil, p.err
	}
	return &Expr{text: strings.TrimSpace(text), Root: root, Words: p.words}, nil
}

// Number parses an integer of at most 18 digits.
func Number(s string) (int64, bool) {
	if len(s) > 18 {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}
