package petri

// Key is the finite part of a token that decides: guards, relations between
// tokens and choices see keys and nothing else. A colour has at most MaxKeys.
type Key uint8

// MaxKeys is the most keys one colour may declare.
const MaxKeys = 32

// Key returns k itself, so that a bare Key can be given to Place.Is.
func (k Key) Key() Key { return k }

// HasKey is anything that carries a key: a Key, or a token value of a Keyed
// colour.
type HasKey interface{ Key() Key }

// Keyed is implemented by colours with a finite key. KeyNames is called on the
// zero value and must always return the same 1 to MaxKeys names; Key must be
// an index into them. A colour that is itself an unsigned integer and whose
// value equals its key (an enum) can be produced without an action.
type Keyed interface {
	HasKey
	KeyNames() []string
}

// Gen is a turn generation. A net has one current generation, which starts at
// 0 and which a transition with Bump advances. A Gen can be copied and be
// compared with the current one, nothing else, so for a proof it has two
// values: fresh and stale, and what is stale never becomes fresh again.
type Gen uint64

// Generational is implemented by colours whose tokens belong to a generation.
type Generational interface{ Generation() Gen }

// Secret marks colours whose payload must never be recorded (card digits,
// audio of protected input): events carry neither its length nor a hash.
type Secret interface{ Secret() }

// Sized is implemented by colours that can tell the length of their payload
// (bytes, samples: the colour's own unit). Events record the length, never the
// payload.
type Sized interface{ Size() int }

// keySet is a set of keys as bits.
type keySet uint32

func (s keySet) has(k Key) bool { return s&(1<<k) != 0 }

// age selects tokens by generation.
type age uint8

const (
	anyAge age = iota
	freshOnly
	staleOnly
)

// Keys gives a guard, a choice or a computed output key what it may look at:
// the keys of the tokens a firing would consume or read. Compile calls it for
// every combination and stores the answers; it is never called while a net
// runs.
type Keys struct {
	t    *TransitionInfo
	mode *Mode
	prog *Program
	bad  string
}

// find returns the slot of the token that this mode takes or reads at a place.
func (k *Keys) find(name string) (PlaceInfo, int, bool) {
	for i := range k.t.arcs {
		a := &k.t.arcs[i]
		if a.local != name || a.kind == ResetArc || a.kind == InhibitArc {
			continue
		}
		if s := k.mode.arcSlot[i]; s >= 0 {
			p := k.prog.places[a.place]
			return p, int(s) - p.Slot, true
		}
	}
	k.bad = name
	return PlaceInfo{}, 0, false
}
