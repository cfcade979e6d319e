package verify

import (
	"cmp"
	"math/bits"
	"slices"
)

// broken tells the markings that break a claim. One that is "never" and an
// expression the checker evaluates by code of its own, with sums of 128 bits; it
// shares the parser, the look-up of names, and which frames would move.
func (k *checker) broken(p *Property) (func([]int32) bool, error) {
	if p.Expr == "" || p.Claim != "never "+p.Expr {
		return p.Bad(k.m)
	}
	if p.loose {
		var h holds
		named, err := k.bindLoosely(p.Expr, &h)
		k.says[len(k.bad)] = named
		return h, err
	}
	if _, err := k.m.bind(p.Expr); err != nil {
		return nil, err
	}
	e, err := ParseExpr(p.Expr)
	if err != nil {
		return nil, err
	}
	return k.judge(e.root, &binder{m: k.m}), nil
}

// condition binds a condition of a claim about moves: places and transitions that
// the net does not have are never marked or enabled.
func (k *checker) condition(text string, to *holds) error {
	_, err := k.bindLoosely(text, to)
	return err
}

// bindLoosely is condition, and reports whether the net has anything of what the
// text names.
func (k *checker) bindLoosely(text string, to *holds) (named bool, err error) {
	if text == "" {
		return false, nil
	}
	e, err := ParseExpr(text)
	if err == nil {
		err = k.m.bindLoosely(text, to) // for what is wrong with it
	}
	if err != nil {
		return false, err
	}
	names := &binder{m: k.m, loose: true}
	*to = k.judge(e.root, names)
	return len(names.read)+len(names.asked) > 0, nil
}

// judge makes the test of a node, whose names were looked up before.
func (k *checker) judge(n node, names *binder) func([]int32) bool {
	switch n := n.(type) {
	case constant:
		return func([]int32) bool { return n.value }
	case not:
		of := k.judge(n.of, names)
		return func(m []int32) bool { return !of(m) }
	case pair:
		left, right := k.judge(n.left, names), k.judge(n.right, names)
		return func(m []int32) bool {
			if is := left(m); is != n.and {
				return is
			}
			return right(m)
		}
	case can:
		if names.loose && names.neverCan(n.name) {
			return func([]int32) bool { return false }
		}
		t := names.transition(n.name)
		if k.p.Transitions()[t].Frame {
			return func(m []int32) bool { return k.m.FrameMoves(t, m) }
		}
		return func(m []int32) bool { return k.on(t, m) }
	case state:
		if n.word == "ended" {
			return k.ended
		}
		return func(m []int32) bool {
			return !k.ended(m) && !slices.ContainsFunc(k.timed, func(t int32) bool { return k.on(t, m) })
		}
	}
	c := n.(compare)
	left, right := k.total(c.left, names), k.total(c.right, names)
	return func(m []int32) bool { return c.orders(left(m).compare(right(m))) }
}

// orders reports whether a comparison holds of two sums that compare so.
func (n compare) orders(c int) bool {
	switch n.op {
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

// wide is a sum that does not overflow: of at most 2^16 terms, each of a factor
// below 2^60 and a count below 2^31.
type wide struct{ high, low uint64 }

func (w wide) compare(o wide) int {
	return cmp.Or(cmp.Compare(w.high, o.high), cmp.Compare(w.low, o.low))
}

// total adds up a sum.
func (k *checker) total(s sum, names *binder) func([]int32) wide {
	type part struct {
		factor uint64
		slot   int
	}
	var parts []part
	plain := true
	for _, t := range s.terms {
		for _, slot := range names.slots(t.name) {
			parts = append(parts, part{uint64(t.factor), slot})
			plain = plain && t.factor == 1
		}
	}
	if plain { // a number below 10^18 and at most 2^16 counts
		return func(m []int32) wide {
			low := uint64(s.add)
			for i := range parts {
				low += uint64(m[parts[i].slot])
			}
			return wide{low: low}
		}
	}
	return func(m []int32) wide {
		w := wide{low: uint64(s.add)}
		for _, p := range parts {
			high, low := bits.Mul64(p.factor, uint64(m[p.slot]))
			var carry uint64
			w.low, carry = bits.Add64(w.low, low, 0)
			w.high += high + carry
		}
		return w
	}
}
