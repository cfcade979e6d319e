package check

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/expr"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// never reports the markings that satisfy an expression. The checker evaluates the expression with
// its own code, with sums of 128 bits. It shares with exploration the parser, the resolution of
// names, and the rule for which frames would move.
func (k *checker) never(c claim.Never) (func([]int32) bool, error) {
	if c.Loose {
		var h netmodel.Pred
		named, err := k.bindLoosely(c.Expr, &h)
		k.applied[len(k.bad)] = named
		return h, err
	}
	if _, err := k.m.Bind(c.Expr); err != nil {
		return nil, err
	}
	e, err := expr.Parse(c.Expr)
	if err != nil {
		return nil, err
	}
	return k.judge(e.Root, &netmodel.Names{Model: k.m}), nil
}

// when binds a condition of a claim about moves. A place that the net does not have is never
// marked, and a transition that it does not have is never enabled.
func (k *checker) when(text string, to *netmodel.Pred) error {
	_, err := k.bindLoosely(text, to)
	return err
}

// bindLoosely is when, and reports whether the net has anything that the text names.
func (k *checker) bindLoosely(text string, to *netmodel.Pred) (named bool, err error) {
	if text == "" {
		return false, nil
	}
	e, err := expr.Parse(text)
	if err == nil {
		err = k.m.BindLoosely(text, to) // to get its error
	}
	if err != nil {
		return false, err
	}
	names := &netmodel.Names{Model: k.m, Loose: true}
	*to = k.judge(e.Root, names)
	return len(names.Read)+len(names.Asked) > 0, nil
}

// judge makes the test of a node whose names are already resolved.
func (k *checker) judge(n expr.Node, names *netmodel.Names) func([]int32) bool {
	switch n := n.(type) {
	case expr.Const:
		return func([]int32) bool { return n.Value }
	case expr.Not:
		of := k.judge(n.Of, names)
		return func(m []int32) bool { return !of(m) }
	case expr.Pair:
		left, right := k.judge(n.Left, names), k.judge(n.Right, names)
		return func(m []int32) bool {
			if is := left(m); is != n.And {
				return is
			}
			return right(m)
		}
	case expr.Can:
		if names.Loose && names.NeverCan(n.Name) {
			return func([]int32) bool { return false }
		}
		t := names.Transition(n.Name)
		if k.p.Transitions()[t].Frame {
			return func(m []int32) bool { return k.m.FrameMoves(t, m) }
		}
		return func(m []int32) bool { return k.on(t, m) }
	case expr.State:
		if n.Word == "ended" {
			return k.ended
		}
		return func(m []int32) bool {
			return !k.ended(m) && !slices.ContainsFunc(k.timed, func(t int32) bool { return k.on(t, m) })
		}
	}
	return k.comparison(n.(expr.Compare), names)
}

// comparison makes the test of a comparison. Most compare the tokens of one slot with a number.
func (k *checker) comparison(c expr.Compare, names *netmodel.Names) func([]int32) bool {
	holds := [...]bool{orders(c, -1), orders(c, 0), orders(c, 1)}
	left, slot := k.total(c.Left, names)
	right, _ := k.total(c.Right, names)
	if slot >= 0 && len(c.Right.Terms) == 0 {
		number := uint64(c.Right.Add)
		return func(m []int32) bool { return holds[1+cmp.Compare(uint64(m[slot]), number)] }
	}
	return func(m []int32) bool { return holds[1+left(m).compare(right(m))] }
}

// orders reports whether a comparison holds if its two sums compare as c.
func orders(n expr.Compare, c int) bool {
	switch n.Op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	case ">=":
		return c >= 0
	case "!=":
		return c != 0
	}
	return c == 0
}

// wide is a sum that does not overflow: at most 2^16 terms, each with a factor below 2^60 and a
// count below 2^31.
type wide struct{ high, low uint64 }

func (w wide) compare(o wide) int {
	return cmp.Or(cmp.Compare(w.high, o.high), cmp.Compare(w.low, o.low))
}

// total adds up a sum. A sum that is the count of one slot has that slot; all others have -1.
func (k *checker) total(s expr.Sum, names *netmodel.Names) (sum func([]int32) wide, slot int) {
	type part struct {
		factor uint64
		slot   int
	}
	var parts []part
	plain := true
	for _, t := range s.Terms {
		for _, slot := range names.Slots(t.Name) {
			parts = append(parts, part{uint64(t.Factor), slot})
			plain = plain && t.Factor == 1
		}
	}
	slot = -1
	if plain && s.Add == 0 && len(parts) == 1 {
		slot = parts[0].slot
	}
	if plain { // a number below 10^18 and at most 2^16 counts
		return func(m []int32) wide {
			low := uint64(s.Add)
			for i := range parts {
				low += uint64(m[parts[i].slot])
			}
			return wide{low: low}
		}, slot
	}
	return func(m []int32) wide {
		w := wide{low: uint64(s.Add)}
		for _, p := range parts {
			high, low := bits.Mul64(p.factor, uint64(m[p.slot]))
			var carry uint64
			w.low, carry = bits.Add64(w.low, low, 0)
			w.high += high + carry
		}
		return w
	}, slot
}
