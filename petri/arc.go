package petri

// AnyArc is an Arc, or a Place, which stands for an arc of one token.
type AnyArc interface{ asArc() Arc }

// Arcs is a list of arcs: petri.Arcs{edge.Is(Start), quiet, budget.Exactly(2)}.
type Arcs []AnyArc

// Arc connects a place to a transition. Made by a Place, it may be narrowed to
// some keys or one age of tokens:
//
//	chunk                  one token
//	chunk.Exactly(3)       three
//	chunk.AtLeast(2)       as an input: all, if there are two; read: a threshold
//	chunk.All()            as an input: all, if there is one
//	edge.Is(Start)         one token with this key
//	chunk.Fresh()          one token of the current generation
//
// Under Inhibit the transition is disabled while the tokens are there: a Place
// disables at one, AtLeast(n) or Exactly(n) at n. Under Reset the count is
// ignored. Under Out only One and Exactly are allowed.
type Arc struct {
	place AnyPlace
	kind  countKind
	n     int
	keys  keySet // 0: any
	age   age
	from  AnyPlace        // out: pass on what came from there
	keyBy func(*Keys) Key // out: computed key

	badKey bool // Is was given a key that no colour can have
}

type countKind uint8

const (
	exactly countKind = iota
	atLeast
	all
)

// ArcPlace returns the place an arc is connected to.
func ArcPlace(a AnyArc) AnyPlace { return a.asArc().place }

func (a Arc) asArc() Arc      { return a }
func (p Place[T]) asArc() Arc { return Arc{place: p, n: 1} }

// One is an arc of one token; a bare Place means the same.
func (p Place[T]) One() Arc { return p.asArc() }

// Exactly is an arc of n tokens.
func (p Place[T]) Exactly(n int) Arc { return p.asArc().Exactly(n) }

// AtLeast needs n tokens and, as an input, takes all there are.
func (p Place[T]) AtLeast(n int) Arc { return p.asArc().AtLeast(n) }

// All needs one token and takes all there are.
func (p Place[T]) All() Arc { return p.asArc().All() }

// Is narrows an arc to tokens with one of the given keys. Under Out it states
// the key of what is produced.
func (p Place[T]) Is(keys ...HasKey) Arc { return p.asArc().Is(keys...) }

// Fresh narrows an arc to tokens of the current generation. Under Out it
// states that what is produced belongs to it (Firing.Gen).
func (p Place[T]) Fresh() Arc { return p.asArc().Fresh() }

// Stale narrows an arc to tokens of earlier generations.
func (p Place[T]) Stale() Arc { return p.asArc().Stale() }

// Passing, under Out, passes on the token consumed or read at q, which must
// have the same colour; key and generation are copied with it.
func (p Place[T]) Passing(q Place[T]) Arc { return p.asArc().passing(q) }

// KeyBy, under Out, computes the key of what is produced from the keys of what
// is consumed and read.
func (p Place[T]) KeyBy(fn func(*Keys) Key) Arc {
	a := p.asArc()
	a.keyBy = fn
	return a
}

// Exactly sets the number of tokens.
func (a Arc) Exactly(n int) Arc { a.kind, a.n = exactly, n; return a }

// AtLeast sets the threshold of an arc that takes all tokens.
func (a Arc) AtLeast(n int) Arc { a.kind, a.n = atLeast, n; return a }

// All makes the arc take all tokens, at least one.
func (a Arc) All() Arc { a.kind, a.n = all, 1; return a }

// Fresh narrows a to the current generation.
func (a Arc) Fresh() Arc { a.age = freshOnly; return a }

// Stale narrows a to earlier generations.
func (a Arc) Stale() Arc { a.age = staleOnly; return a }

// Is narrows a to tokens with one of the given keys.
func (a Arc) Is(keys ...HasKey) Arc {
	a.keys = 0
	for _, k := range keys {
		if k.Key() >= MaxKeys {
			a.badKey = true
			continue
		}
		a.keys |= 1 << k.Key()
	}
	return a
}

func (a Arc) passing(q AnyPlace) Arc { a.from = q; return a }
