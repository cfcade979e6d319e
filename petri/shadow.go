package petri

import "reflect"

// Shadow returns a program that decides exactly as p does, without payloads. Its tokens carry only
// key, generation and length. Its actions do nothing but produce such tokens. Where p has a Free
// output, choose returns the branch for the firing with the given event number.
//
// Replay uses it: injecting the tokens of ShadowToken, at the times of a recorded run of p, gives
// the same events again, because payloads decide nothing.
func (p *Program) Shadow(choose func(seq uint64) int) *Program {
	s := *p
	s.places = append([]PlaceInfo(nil), p.places...)
	for i := range s.places {
		s.places[i].col = s.places[i].col.shadow()
	}
	s.transitions = append([]TransitionInfo(nil), p.transitions...)
	for i := range s.transitions {
		t := &s.transitions[i]
		t.action = func(f *Firing) { f.actAsShadow(choose) }
	}
	s.init = nil
	for _, tok := range p.init {
		s.init = append(s.init, s.shadowOf(p, tok))
	}
	return &s
}

// shadow is the key, the generation and the length of a token.
type shadow struct {
	key  Key
	gen  Gen
	size int32
}

// Key returns the key of the original token.
func (s shadow) Key() Key { return s.key }

// Generation returns the generation of the original token.
func (s shadow) Generation() Gen { return s.gen }

// Size returns the length of the payload of the original token.
func (s shadow) Size() int { return int(s.size) }

// shadow returns a colour that distinguishes the same kinds of token.
func (c *colour) shadow() *colour {
	if c.unit {
		return c
	}
	s := *c
	s.typ = reflect.TypeFor[shadow]()
	s.enum, s.direct, s.secret = false, false, false
	s.newValues = newValues[shadow]
	return &s
}

// shadowOf returns the shadow of an initial token.
func (p *Program) shadowOf(original *Program, t Token) Token {
	pl := &original.places[original.byName[t.place]]
	if pl.col.unit {
		return t
	}
	kind := pl.col.slotOfValue(t.value, 0)
	return Token{place: t.place, value: pl.shadowValue(kind, 0, 0)}
}

// shadowValue returns a token of kind i of the place, in generation now.
func (p *PlaceInfo) shadowValue(i int, now Gen, size int32) shadow {
	s := shadow{key: Key(i), gen: now, size: size}
	if p.Gen {
		s.key = Key(i / 2)
		if i%2 == 1 {
			s.gen-- // any other generation is stale
		}
	}
	return s
}

// ShadowToken returns the token for an Injected or Refused event, to be injected while the current
// generation is gen. p must be the result of Shadow.
func (p *Program) ShadowToken(e Event, gen Gen) Token {
	pl := &p.places[e.Index]
	if pl.col.unit {
		return Token{place: pl.Name, value: Unit{}}
	}
	return Token{place: pl.Name, value: pl.shadowValue(int(e.Slot), gen, e.Size)}
}

// actAsShadow produces the declared tokens.
func (f *Firing) actAsShadow(choose func(seq uint64) int) {
	if f.t.Free {
		f.Choose(choose(f.Seq()))
	}
	b := &f.mode.Branches[f.branch]
	for i := range b.outs {
		o := &b.outs[i]
		q := f.m.queues[o.place]
		if q == nil {
			continue
		}
		for range o.n {
			c := q.put()
			q.values.(*valuesOf[shadow]).cells[c] = f.m.prog.places[o.place].shadowValue(int(o.ring), f.m.gen, 0)
			f.puts++
		}
	}
}
