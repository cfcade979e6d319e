package netmodel

import (
	"fmt"
	"slices"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/expr"
)

// Cond is an Expr whose names are resolved in a net.
type Cond struct {
	text string
	m    *Model
	look *look
	Pred
}

// String returns the text of the expression.
func (c *Cond) String() string { return c.text }

// Holds reports whether the condition is true of a tangible marking. It may change marking
// temporarily and restores it. It is not safe for concurrent use.
func (c *Cond) Holds(marking []int32) bool { return c.Pred(marking) }

// Pred reports whether a condition is true of a marking.
type Pred func(marking []int32) bool

// Names resolves names and collects errors.
type Names struct {
	Model *Model
	Err   error
	look  look
	Loose bool // a missing name is not an error

	Missing int // number of missing names

	Read  []int   // slots that were resolved
	Asked []int32 // transitions
	Dead  bool    // the expression asks whether the net is dead
}

// BindExpr resolves the names of an expression in a net. A place is named in full or by a last part
// that is unique: `core/idle` or `idle`. `place[key]`, `place[fresh]` and `place[key,stale]` count
// only such tokens. An unknown name is an error that lists the nearest names.
func (m *Model) BindExpr(e *expr.Expr) (*Cond, error) {
	b := &Names{Model: m}
	h := b.Expr(e)
	if b.Err != nil {
		return nil, b.Err
	}
	return &Cond{text: e.String(), m: m, look: &b.look, Pred: h}, nil
}

// Expr binds an expression. An ambiguous expression is an error.
func (b *Names) Expr(e *expr.Expr) Pred {
	if err := b.Model.Unambiguous(e); err != nil && b.Err == nil {
		b.Err = err
	}
	return b.node(e.Root)
}

// Unambiguous returns an error if a bare word or number of the expression is also the full name of
// a place. The error explains how to write each meaning. In a net with a final place, ended is
// always the word. A word or number is never read as the last part of a name.
func (m *Model) Unambiguous(e *expr.Expr) error {
	for _, w := range e.Words {
		i := slices.IndexFunc(m.Places, func(p petri.PlaceInfo) bool { return p.Name == w })
		if i < 0 || w == "ended" && m.Final >= 0 {
			continue
		}
		other := "0" + w + " for the number"
		if _, ok := expr.Number(w); !ok {
			other = w + "() for the word"
		}
		return &NameError{Net: m.prog.Name(), What: "place", Name: w,
			Problem: fmt.Sprintf("is also a word of expressions: write %q for the place, %s", w, other)}
	}
	return nil
}

// node binds a node of an expression.
func (b *Names) node(n expr.Node) Pred {
	switch n := n.(type) {
	case expr.Const:
		return func([]int32) bool { return n.Value }
	case expr.Not:
		of := b.node(n.Of)
		return func(m []int32) bool { return !of(m) }
	case expr.Pair:
		return b.pair(n)
	case expr.Compare:
		return b.compare(n)
	case expr.Can:
		return b.can(n)
	case expr.State:
		return b.state(n)
	}
	panic(fmt.Sprintf("verify: an expression has a part %T", n))
}

func (b *Names) pair(n expr.Pair) Pred {
	l, r := b.node(n.Left), b.node(n.Right)
	if n.And {
		return func(m []int32) bool { return l(m) && r(m) }
	}
	return func(m []int32) bool { return l(m) || r(m) }
}

func (b *Names) compare(n expr.Compare) Pred {
	l, r := b.sum(n.Left), b.sum(n.Right)
	op := n.Op
	return func(m []int32) bool {
		x, y := l(m), r(m)
		switch op {
		case "<":
			return x < y
		case "<=":
			return x <= y
		case ">":
			return x > y
		case ">=":
			return x >= y
		case "!=":
			return x != y
		default:
			return x == y
		}
	}
}

func (b *Names) sum(s expr.Sum) func([]int32) int64 {
	type part struct {
		factor int64
		slot   int
	}
	var parts []part
	most := s.Add
	for _, t := range s.Terms {
		for _, slot := range b.Slots(t.Name) {
			parts = append(parts, part{t.Factor, slot})
			if t.Factor > (expr.SumLimit-most)/petri.MaxTokens {
				b.tooLarge(t)
				return nil
			}
			most += t.Factor * petri.MaxTokens
		}
	}
	return func(m []int32) int64 {
		n := s.Add
		for _, p := range parts {
			n += p.factor * int64(m[p.slot])
		}
		return n
	}
}

func (b *Names) tooLarge(t expr.Term) {
	if b.Err == nil {
		b.Err = fmt.Errorf("verify: net %s: a sum with %d*%s may exceed %d, as a place holds up to %d tokens; "+
			"use smaller factors", b.Model.prog.Name(), t.Factor, t.Name, expr.SumLimit, petri.MaxTokens)
	}
}

func (b *Names) can(n expr.Can) Pred {
	if b.Loose && b.NeverCan(n.Name) {
		b.Missing++
		return func([]int32) bool { return false }
	}
	t := b.Transition(n.Name)
	if b.Err != nil {
		return nil
	}
	m := b.Model
	if m.Transitions[t].Frame {
		l := &b.look
		l.frames = true
		return func(marking []int32) bool {
			if l.passing {
				return m.passes(l, t, marking)
			}
			return m.FrameMoves(t, marking)
		}
	}
	return func(marking []int32) bool { return m.Enabled(t, marking) }
}

func (b *Names) state(n expr.State) Pred {
	m := b.Model
	if n.Word == "ended" {
		return m.Ended
	}
	b.Dead = true
	if m.prog.Whole() != nil {
		b.Fail("word", n.Word, "says nothing in a slice, which may move where the whole net is dead")
	}
	return m.Dead
}

// Bind parses an expression and resolves its names.
func (m *Model) Bind(text string) (*Cond, error) {
	e, err := expr.Parse(text)
	if err != nil {
		return nil, err
	}
	return m.BindExpr(e)
}

// BindLoosely binds a condition in which names may be missing; for "" it leaves to unchanged.
func (m *Model) BindLoosely(text string, to *Pred) error {
	if text == "" {
		return nil
	}
	e, err := expr.Parse(text)
	if err != nil {
		return err
	}
	b := &Names{Model: m, Loose: true}
	*to = b.Expr(e)
	return b.Err
}
