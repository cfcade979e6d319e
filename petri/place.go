package petri

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// Unit is the colour of a token that carries no data.
type Unit = struct{}

// Place is the name of a place whose tokens have colour T. Declare it as a constant:
//
//	const chunk petri.Place[*Chunk] = "chunk"
//
// A place belongs to the Net whose arcs or lists name it. Other nets share it only if Net.Ports
// lists it.
type Place[T any] string

// AnyPlace is a Place of any colour. Only Place implements it.
type AnyPlace interface {
	AnyArc
	// String returns the name of the place.
	String() string
	colour() *colour
	typ() reflect.Type
}

// colour describes the Go type of a place's tokens to the net.
type colour struct {
	typ       reflect.Type
	keys      []string // nil: no keys
	gen       bool
	secret    bool
	unit      bool
	enum      bool // the type is an unsigned integer whose value is its key
	direct    bool // boxing a value in an interface does not allocate
	newValues func() values
}

// String returns the name of the place.
func (p Place[T]) String() string { return string(p) }

func (p Place[T]) typ() reflect.Type { return reflect.TypeFor[T]() }

func (p Place[T]) colour() *colour {
	var zero T
	return newColour(reflect.TypeFor[T](), zero, newValues[T])
}

func newColour(typ reflect.Type, zero any, newValues func() values) *colour {
	c := &colour{typ: typ, unit: typ == reflect.TypeFor[Unit](), newValues: newValues}
	if k, ok := zero.(Keyed); ok {
		c.keys = k.KeyNames()
	}
	switch typ.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Chan, reflect.Func:
		c.direct = true
	}
	_, c.gen = zero.(Generational)
	_, c.secret = zero.(Secret)
	c.enum = c.isEnum()
	return c
}

func (c *colour) decode(b []byte) (any, error) {
	v := reflect.New(c.typ)
	if err := json.Unmarshal(b, v.Interface()); err != nil {
		return nil, fmt.Errorf("petri: decode %s as %s: %w", b, c.typ, err)
	}
	return v.Elem().Interface(), nil
}

func (c *colour) fromKey(k Key) any { return reflect.ValueOf(k).Convert(c.typ).Interface() }

// isEnum reports whether the type is an unsigned integer whose value is its key.
func (c *colour) isEnum() bool {
	if c.keys == nil || c.typ.Kind() < reflect.Uint || c.typ.Kind() > reflect.Uint64 {
		return false
	}
	for i := range min(len(c.keys), maxKeys) {
		if c.fromKey(Key(i)).(HasKey).Key() != Key(i) {
			return false
		}
	}
	return true
}

// slots returns the number of token kinds that the colour distinguishes: one for each key, and
// twice as many if the colour has a generation (fresh, stale).
func (c *colour) slots() int {
	n := max(len(c.keys), 1)
	if c.gen {
		n *= 2
	}
	return n
}

// slotOf returns the index of a token kind within its place.
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

// Token is a value together with its place, on its way into or out of a net. The zero value is of
// no use; make tokens with Place.Token.
type Token struct {
	place  string
	value  any
	cancel bool
	seq    uint64
}

// Token returns a token with value v, to inject at p or to list in Net.Init.
func (p Place[T]) Token(v T) Token { return Token{place: string(p), value: v} }

// From returns the value of t. It reports false if t belongs to another place or announces the
// cancellation of a task.
func (p Place[T]) From(t Token) (v T, ok bool) {
	if t.place != string(p) || t.cancel {
		return v, false
	}
	v, ok = t.value.(T)
	return v, ok
}

// Place returns the qualified name of the token's place, such as "caller/edge".
func (t Token) Place() string { return t.place }

// Value returns the value of the token. It returns nil if the token announces the cancellation of a
// task.
func (t Token) Value() any { return t.value }

// Seq returns the number of the event that emitted t. A durable output may be acted on once every
// event up to that number is stored.
func (t Token) Seq() uint64 { return t.seq }

// Cancel reports whether t announces the cancellation of a task instead of carrying a value. Its
// place is then the in-flight place of the task.
func (t Token) Cancel() bool { return t.cancel }

// String returns the name of the place, followed by the value if it is a fmt.Stringer, or else by
// its key if it is Keyed.
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

// Get returns the token that this firing consumed from p through its input arc. If p has no input
// arc, Get returns the token that the firing reads at p, and otherwise the token that its reset
// removed. If there are several tokens, Get returns the oldest one. It panics if p is not an input,
// read or reset place of the transition.
func (p Place[T]) Get(f *Firing) (v T) {
	if q, slot := f.input(string(p)); q != nil {
		if c := q.front(slot); c != none {
			v = q.values.(*valuesOf[T]).cells[c]
		}
	}
	return v
}

// Count returns the number of tokens that this firing removed from p through its input arc and its
// reset.
func (p Place[T]) Count(f *Firing) int {
	q, _ := f.input(string(p))
	if q == nil {
		return f.takenUnits(string(p))
	}
	return q.taken()
}

// Each calls fn for each token that this firing removed from p: first the tokens of the input arc,
// then the tokens of the reset, both from the oldest to the newest.
func (p Place[T]) Each(f *Firing, fn func(T)) {
	if q, _ := f.input(string(p)); q != nil {
		for _, c := range q.got {
			fn(q.values.(*valuesOf[T]).cells[c])
		}
	}
}

// Put produces v at p. It panics if p is not an output place of the transition. The machine
// compares the number of tokens with the declaration when the action returns, and then places all
// of them or none.
func (p Place[T]) Put(f *Firing, v T) {
	if q := f.output(string(p)); q != nil {
		c := q.put()
		q.values.(*valuesOf[T]).cells[c] = v
	}
}

// Key returns the key of the token that the firing would consume or read at p. Compile refuses the
// net unless each firing of the transition consumes or reads exactly one kind of token there.
func (p Place[T]) Key(k *Keys) Key {
	return k.key(string(p))
}

// IsFresh reports whether the token that the firing would consume or read at p belongs to the
// current generation. Compile refuses the net in the same cases as for Key.
func (p Place[T]) IsFresh(k *Keys) bool {
	return k.isFresh(string(p))
}
