package petri

import "reflect"

// Shadow returns a program that decides everything as p does, without payloads:
// its tokens carry only key, generation and length, its actions do nothing but
// produce such tokens, and where p chooses freely, choose is asked for the
// branch of the firing with the given number. Injections of a run of p, stamped
// and placed as its events say (ShadowToken), give the same events again, which
// is sound because payloads decide nothing.
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

// shadow is a token's key, generation and length.
type shadow struct {
	key  Key
	gen  Gen
	size int32
}

// Key returns the key of the token this one stands for.
func (s shadow) Key() Key { return s.key }

// Generation returns the generation of the token this one stands for.
func (s shadow) Generation() Gen { return s.gen }

// Size returns the length of the payload of the token this one stands for.
func (s shadow) Size() int { return int(s.size) }

// shadow is a colour that tells the same kinds of token apart.
func (c *colour) shadow() *colour {
	if c.unit {
		return c
	}
	s := *c
	s.typ = reflect.TypeFor[shadow]()
	s.enum, s.direct, s.secret = false, false, false
	s.newStore = func(rings int) store { return newQueue[shadow](rings, &s) }
	return &s
}

// shadowOf turns an initial token into one of a shadow.
func (p *Program) shadowOf(original *Program, t Token) Token {
	pl := &original.places[original.byName[t.place]]
	if pl.col.unit {
		return t
	}
	kind := pl.col.slotOfValue(t.value, 0)
	return Token{place: t.place, value: pl.shadowValue(kind, 0, 0)}
}

// shadowValue is a token of kind i of the place in generation now.
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

// ShadowToken makes the token that stands for an Injected or Refused event, to
// be injected when the generation is gen. p must be a Shadow.
func (p *Program) ShadowToken(e Event, gen Gen) Token {
	pl := &p.places[e.Index]
	if pl.col.unit {
		return Token{place: pl.Name, value: Unit{}}
	}
	return Token{place: pl.Name, value: pl.shadowValue(int(e.Slot), gen, e.Size)}
}

// actAsShadow produces what the declaration says.
func (f *Firing) actAsShadow(choose func(seq uint64) int) {
	if f.t.Free {
		f.Choose(choose(f.Seq()))
	}
	b := &f.mode.Branches[f.branch]
	for i := range b.outs {
		o := &b.outs[i]
		q, ok := f.m.stores[o.place].(*queue[shadow])
		if !ok {
			continue
		}
		for range o.n {
			q.put(f.m.prog.places[o.place].shadowValue(int(o.ring), f.m.gen, 0))
			f.puts++
		}
	}
}
