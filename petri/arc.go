package petri

// AnyArc is an Arc, or a Place, which represents an arc of one token. Only Arc and Place implement
// it.
type AnyArc interface{ asArc() Arc }

// Arcs is a list of arcs, such as petri.Arcs{edge.Is(Start), quiet, budget.Exactly(2)}.
type Arcs []AnyArc

// Arc connects a place to a transition. Methods of Place make it, and may narrow it to some keys or
// to one age of tokens:
//
//	chunk                  one token
//	chunk.Exactly(3)       three tokens
//	chunk.AtLeast(2)       input: all tokens, if there are two; read: two tokens
//	chunk.All()            input: all tokens, if there is one
//	edge.Is(Start)         one token with this key
//	chunk.Fresh()          one token of the current generation
//
// In Transition.Inhibit an arc disables the transition while the tokens are present: one token for
// a Place, n tokens for AtLeast(n) and Exactly(n). In Transition.Reset the number is ignored.
// Transition.Out allows only One and Exactly.
type Arc struct {
	place AnyPlace
	kind  countKind
	n     int
	keys  keySet // 0: any key
	age   age
	from  AnyPlace        // output: the place whose token is passed on
	keyBy func(*Keys) Key // output: computes the key

	badKey bool // Is received a key that no colour can have
}

type countKind uint8

const (
	exactly countKind = iota
	atLeast
	all
)

// ArcPlace returns the place of an arc.
func ArcPlace(a AnyArc) AnyPlace { return a.asArc().place }

func (a Arc) asArc() Arc      { return a }
func (p Place[T]) asArc() Arc { return arcOf(p) }

// The compiler makes the methods of Place once for each colour of a program. They stay small, and
// packages with nets compile faster, because what they share is not inlined into them.

//go:noinline
func arcOf(p AnyPlace) Arc { return Arc{place: p, n: 1} }

// One returns an arc of one token. A bare Place means the same.
func (p Place[T]) One() Arc { return p.asArc() }

// Exactly returns an arc of n tokens.
func (p Place[T]) Exactly(n int) Arc { return p.asArc().Exactly(n) }

// AtLeast returns an arc that needs n tokens. As an input it takes all tokens of the place.
func (p Place[T]) AtLeast(n int) Arc { return p.asArc().AtLeast(n) }

// All returns an arc that needs one token. As an input it takes all tokens of the place.
func (p Place[T]) All() Arc { return p.asArc().All() }

// Is returns an arc of one token that has one of the given keys. As an output it states the key of
// the token produced.
func (p Place[T]) Is(keys ...HasKey) Arc { return p.asArc().Is(keys...) }

// Fresh returns an arc of one token of the current generation. As an output it states that the
// token produced belongs to the current generation (see Firing.Gen).
func (p Place[T]) Fresh() Arc { return p.asArc().Fresh() }

// Stale returns an arc of one token of an earlier generation.
func (p Place[T]) Stale() Arc { return p.asArc().Stale() }

// Passing returns an output arc that passes on the token consumed or read at q, with its key and
// its generation.
func (p Place[T]) Passing(q Place[T]) Arc { return p.asArc().passing(q) }

// KeyBy returns an output arc whose key is computed by fn from the keys of the tokens consumed and
// read. Compile tabulates fn, which must be a pure function.
func (p Place[T]) KeyBy(fn func(*Keys) Key) Arc {
	return p.asArc().byKey(fn)
}

// Exactly sets the number of tokens to n.
//
//go:noinline
func (a Arc) Exactly(n int) Arc { a.kind, a.n = exactly, n; return a }

// AtLeast makes the arc need n tokens and, as an input, take all tokens of the place.
//
//go:noinline
func (a Arc) AtLeast(n int) Arc { a.kind, a.n = atLeast, n; return a }

// All makes the arc need one token and, as an input, take all tokens of the place.
//
//go:noinline
func (a Arc) All() Arc { a.kind, a.n = all, 1; return a }

// Fresh narrows the arc to tokens of the current generation.
//
//go:noinline
func (a Arc) Fresh() Arc { a.age = freshOnly; return a }

// Stale narrows the arc to tokens of earlier generations.
//
//go:noinline
func (a Arc) Stale() Arc { a.age = staleOnly; return a }

// Is narrows the arc to tokens that have one of the given keys.
//
//go:noinline
func (a Arc) Is(keys ...HasKey) Arc {
	a.keys = 0
	for _, k := range keys {
		if k.Key() >= maxKeys {
			a.badKey = true
			continue
		}
		a.keys |= 1 << k.Key()
	}
	return a
}

//go:noinline
func (a Arc) passing(q AnyPlace) Arc { a.from = q; return a }

//go:noinline
func (a Arc) byKey(fn func(*Keys) Key) Arc { a.keyBy = fn; return a }
