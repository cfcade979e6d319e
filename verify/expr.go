package verify

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// Expr is a condition on markings, such as `on_1 >= 1 && closed == 0`. See
// ParseExpr for the language.
type Expr struct {
	text  string
	root  node
	words []string // bare words and numbers that could be meant as names of places
}

// String returns the text the expression was parsed from.
func (e *Expr) String() string { return e.text }

// Cond is an Expr whose names were found in a net.
type Cond struct {
	text string
	m    *Model
	look *look
	holds
}

// String returns the text of the expression.
func (c *Cond) String() string { return c.text }

// Holds reports whether the condition is true of a tangible marking. It may
// change marking for a moment, and restores it. It is not safe for concurrent
// use.
func (c *Cond) Holds(marking []int32) bool { return c.holds(marking) }

type holds func(marking []int32) bool

// node is part of an expression.
type node interface{ bind(b *binder) holds }

type (
	constant struct{ value bool }
	not      struct{ of node }
	pair     struct {
		and         bool
		left, right node
	}
	compare struct {
		left, right sum
		op          string
	}
	can   struct{ name string }
	state struct{ word string } // dead, ended
)

// sum is a constant and names with factors.
type sum struct {
	add   int64
	terms []term
}

type term struct {
	factor int64
	name   string
}

// binder resolves names and collects what is wrong.
type binder struct {
	m     *Model
	err   error
	look  look
	loose bool // names that the net does not have are no error

	missing int // of these, how many

	read  []int   // slots that were looked up
	asked []int32 // transitions
	dead  bool    // asks whether the net is dead
}

// Bind looks up the names of an expression in a net. A place is named in full
// or by a last part that is its alone: `core/idle` or `idle`. `place[key]`,
// `place[fresh]` and `place[key,stale]` count only such tokens. An unknown
// name is an error that lists the nearest ones.
func (e *Expr) Bind(m *Model) (*Cond, error) {
	b := &binder{m: m}
	h := b.expr(e)
	if b.err != nil {
		return nil, b.err
	}
	return &Cond{text: e.text, m: m, look: &b.look, holds: h}, nil
}

// expr binds an expression that does not leave open what it means.
func (b *binder) expr(e *Expr) holds {
	if err := e.Unambiguous(b.m); err != nil && b.err == nil {
		b.err = err
	}
	return e.root.bind(b)
}

// Unambiguous returns an error if a bare word or number of the expression is also
// the full name of a place: then it tells how to write either. Where a net has a
// final place, ended is always the word. A word or number is never read as the
// last part of a name.
func (e *Expr) Unambiguous(m *Model) error {
	for _, w := range e.words {
		i := slices.IndexFunc(m.places, func(p petri.PlaceInfo) bool { return p.Name == w })
		if i < 0 || w == "ended" && m.final >= 0 {
			continue
		}
		other := "0" + w + " for the number"
		if _, ok := number(w); !ok {
			other = w + "() for the word"
		}
		return &NameError{Net: m.prog.Name(), What: "place", Name: w,
			Problem: fmt.Sprintf("is also a word of expressions: write %q for the place, %s", w, other)}
	}
	return nil
}

func (n constant) bind(*binder) holds { return func([]int32) bool { return n.value } }

func (n not) bind(b *binder) holds {
	of := n.of.bind(b)
	return func(m []int32) bool { return !of(m) }
}

func (n pair) bind(b *binder) holds {
	l, r := n.left.bind(b), n.right.bind(b)
	if n.and {
		return func(m []int32) bool { return l(m) && r(m) }
	}
	return func(m []int32) bool { return l(m) || r(m) }
}

func (n compare) bind(b *binder) holds {
	l, r := b.sum(n.left), b.sum(n.right)
	op := n.op
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

func (b *binder) sum(s sum) func([]int32) int64 {
	type part struct {
		factor int64
		slot   int
	}
	var parts []part
	most := s.add
	for _, t := range s.terms {
		for _, slot := range b.slots(t.name) {
			parts = append(parts, part{t.factor, slot})
			if t.factor > (sumLimit-most)/petri.MaxTokens {
				b.tooLarge(t)
				return nil
			}
			most += t.factor * petri.MaxTokens
		}
	}
	return func(m []int32) int64 {
		n := s.add
		for _, p := range parts {
			n += p.factor * int64(m[p.slot])
		}
		return n
	}
}

// sumLimit is the most that a sum may come to when each place holds as many
// tokens as it can.
const sumLimit = int64(1) << 62

func (b *binder) tooLarge(t term) {
	if b.err == nil {
		b.err = fmt.Errorf("verify: net %s: a sum with %d*%s may exceed %d, as a place holds up to %d tokens; "+
			"use smaller factors", b.m.prog.Name(), t.factor, t.name, sumLimit, petri.MaxTokens)
	}
}

func (n can) bind(b *binder) holds {
	if b.loose && b.neverCan(n.name) {
		b.missing++
		return func([]int32) bool { return false }
	}
	t := b.transition(n.name)
	if b.err != nil {
		return nil
	}
	m := b.m
	if m.transitions[t].Frame {
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

func (n state) bind(b *binder) holds {
	m := b.m
	if n.word == "ended" {
		return m.Ended
	}
	b.dead = true
	if m.prog.Whole() != nil {
		b.fail("word", n.word, "says nothing in a slice, which may move where the whole net is dead")
	}
	return m.dead
}

// ParseExpr reads an expression over place counts:
//
//	on_1 >= 1 && closed == 0
//	!(idle || 2*chunk + played <= 4) && can(send_frame)
//
// Comparisons are < <= > >= == !=, of sums of numbers, places and numbers
// times places. A place alone means that it is marked. can(T) is true where
// transition T is enabled or, if it moves frames, would fire when one arrived.
// dead: nothing is enabled and the run has not ended; ended: the final place is
// marked. Names that hold other characters than letters, digits and _ . / - :
// # @ ' [ ] , stand in double quotes, and so do names that look like a number or
// are a word of the language: "3" and "dead" are places, 03 is the number and
// dead() the word, whatever places there are. Numbers have no sign and at most 18
// digits. Errors name the column.
func ParseExpr(text string) (*Expr, error) {
	p := &parser{text: text}
	p.next()
	root := p.or(0)
	if p.err == nil && p.kind != endOfText {
		p.fail("unexpected %q", p.token)
	}
	if p.err != nil {
		return nil, p.err
	}
	return &Expr{text: strings.TrimSpace(text), root: root, words: p.words}, nil
}

// number reads an integer of at most 18 digits.
func number(s string) (int64, bool) {
	if len(s) > 18 {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}
