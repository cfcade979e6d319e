package petri

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// Unit is the colour of a token that carries no data.
type Unit = struct{}

// Place is a place whose tokens have colour T. It is only a typed name, so it
// is declared as a constant:
//
//	const chunk petri.Place[*Chunk] = "chunk"
//
// A place named in a Net belongs to that net alone unless Ports lists it.
type Place[T any] string

// AnyPlace is a Place of any colour.
type AnyPlace interface {
	AnyArc
	// String returns the name of the place.
	String() string
	colour() *colour
	typ() reflect.Type
}

// colour is what the net must know of the Go type of a place.
type colour struct {
	typ      reflect.Type
	keys     []string // nil: not keyed
	gen      bool
	secret   bool
	unit     bool
	enum     bool // an unsigned integer that is its own key
	direct   bool // a value fits an interface without an allocation
	newStore func(rings int) store
	decode   func([]byte) (any, error)
	fromKey  func(Key) any
}

// String is the name of the place.
func (p Place[T]) String() string { return string(p) }

func (p Place[T]) typ() reflect.Type { return reflect.TypeFor[T]() }

func (p Place[T]) colour() *colour {
	typ := reflect.TypeFor[T]()
	c := &colour{typ: typ, unit: typ == reflect.TypeFor[Unit]()}
	var zero T
	if k, ok := any(zero).(Keyed); ok {
		c.keys = k.KeyNames()
	}
	switch typ.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Chan, reflect.Func:
		c.direct = true
	}
	_, c.gen = any(zero).(Generational)
	_, c.secret = any(zero).(Secret)
	c.newStore = func(rings int) store { return newQueue[T](rings, c) }
	c.decode = func(b []byte) (any, error) {
		var v T
		if err := json.Unmarshal(b, &v); err != nil {
			return nil, fmt.Errorf("petri: decode %s as %s: %w", b, typ, err)
		}
		return v, nil
	}
	c.fromKey = func(k Key) any {
		return reflect.ValueOf(k).Convert(typ).Interface()
	}
	c.enum = c.isEnum()
	return c
}

// isEnum tells a colour that is an unsigned integer and its own key.
func (c *colour) isEnum() bool {
	if c.keys == nil || c.typ.Kind() < reflect.Uint || c.typ.Kind() > reflect.Uint64 {
		return false
	}
	for i := range min(len(c.keys), MaxKeys) {
		if c.fromKey(Key(i)).(HasKey).Key() != Key(i) {
			return false
		}
	}
	return true
}

// slots is the number of kinds of token a place of this colour tells apart:
// keys times generations (fresh, stale).
func (c *colour) slots() int {
	n := max(len(c.keys), 1)
	if c.gen {
		n *= 2
	}
	return n
}

// slotOf is the index of a kind of token within its place.
func (c *colour) slotOf(k Key, stale bool) int {
	if !c.gen {
		return int(k)
	}
	i := int(k) * 2
	if stale {
		i++
	}
	return i
}

func (c *colour) slotName(i int) string {
	name := ""
	k := i
	if c.gen {
		k = i / 2
	}
	if c.keys != nil {
		name = c.keys[k]
	}
	if !c.gen {
		return name
	}
	if name != "" {
		name += ","
	}
	if i%2 == 1 {
		return name + "stale"
	}
	return name + "fresh"
}

// Token is a value on its way into or out of a net: a place and what lies
// there.
type Token struct {
	place  string
	value  any
	cancel bool
	seq    uint64
}

// Token makes a token to inject at p, or to put there at the start.
func (p Place[T]) Token(v T) Token { return Token{place: string(p), value: v} }

// From returns the value of t if it came from p.
func (p Place[T]) From(t Token) (v T, ok bool) {
	if t.place != string(p) || t.cancel {
		return v, false
	}
	v, ok = t.value.(T)
	return v, ok
}

// Place returns the qualified name of the token's place.
func (t Token) Place() string { return t.place }

// Value returns what the token carries; nil for the cancellation of a task.
func (t Token) Value() any { return t.value }

// Seq is the sequence number of the event that put out t: a durable output
// may be acted on when every event up to it is stored.
func (t Token) Seq() uint64 { return t.seq }

// Cancel reports whether t says that the task whose in-flight place it names
// was cancelled, rather than carrying a value.
func (t Token) Cancel() bool { return t.cancel }

// String names the place and, for values that print themselves, the value.
func (t Token) String() string {
	switch v := t.value.(type) {
	case nil, Unit:
		return t.place
	case fmt.Stringer:
		return t.place + "=" + v.String()
	case Keyed:
		return t.place + "=" + v.KeyNames()[v.Key()]
	default:
		return t.place
	}
}

// Get returns what this firing consumed from p by its input arc, or else what
// it reads there, or else what its reset removed. With several tokens it is the
// oldest. It panics if p is not an input, read
// or reset place of the transition.
func (p Place[T]) Get(f *Firing) T {
	q, slot := f.input(string(p))
	if q == nil {
		var zero T
		return zero
	}
	return q.(*queue[T]).front(slot)
}

// Count returns how many tokens this firing consumed from p (by input arcs and
// resets).
func (p Place[T]) Count(f *Firing) int {
	q, _ := f.input(string(p))
	if q == nil {
		return f.takenUnits(string(p))
	}
	return q.(*queue[T]).taken()
}

// Each calls fn for each token that this firing consumed from p: those of its
// input arc, oldest first, then those that its reset removed, oldest first.
func (p Place[T]) Each(f *Firing, fn func(T)) {
	if q, _ := f.input(string(p)); q != nil {
		q.(*queue[T]).each(fn)
	}
}

// Put produces v at p. It panics if p is not an output of the transition; how
// many tokens an output takes is checked when the action returns, and then all
// of them are placed or none.
func (p Place[T]) Put(f *Firing, v T) {
	if q := f.output(string(p)); q != nil {
		q.(*queue[T]).put(v)
	}
}

// Key returns the key of the token that a firing consumes or reads at p.
func (p Place[T]) Key(k *Keys) Key {
	info, i, ok := k.find(string(p))
	if ok && info.Gen {
		i /= 2
	}
	return Key(i)
}

// Fresh reports whether the token that a firing consumes or reads at p belongs
// to the current generation.
func (p Place[T]) IsFresh(k *Keys) bool {
	info, i, ok := k.find(string(p))
	return ok && (!info.Gen || i%2 == 0)
}
