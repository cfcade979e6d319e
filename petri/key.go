package petri

// Key is the part of a token on which a net may decide. Guards, choices and computed keys see keys
// only. A colour has at most 32 keys.
type Key uint8

// maxKeys limits the keys of one colour.
const maxKeys = 32

// Key returns k. It makes Key a HasKey, so that Place.Is accepts a bare Key.
func (k Key) Key() Key { return k }

// HasKey is a value that has a key: a Key, or a token value of a Keyed colour.
type HasKey interface{ Key() Key }

// Keyed is implemented by colours whose tokens have a key. KeyNames is called on the zero value. It
// must always return the same 1 to 32 distinct names, and Key must return an index into them. If
// the colour is an unsigned integer whose value is its key (an enum), a firing can produce it
// without an action.
type Keyed interface {
	HasKey
	KeyNames() []string
}

// Gen is a generation, such as the number of a turn. A net has one current generation. It starts at
// 0, and each firing of a transition with Bump advances it. A net can copy a Gen and compare it
// with the current one, and nothing else. So a proof distinguishes two values, fresh and stale. A
// stale token never becomes fresh again.
type Gen uint64

// Generational is implemented by colours whose tokens belong to a generation.
type Generational interface{ Generation() Gen }

// Secret marks colours whose payload must never be recorded, such as card digits or the audio of
// protected input. Events do not contain the length of such a payload.
type Secret interface{ Secret() }

// Sized is implemented by colours that know the length of their payload, in a unit of their own
// such as bytes or samples. Events contain that length, never the payload.
type Sized interface{ Size() int }

// keySet is a set of keys, one bit for each.
type keySet uint32

func (s keySet) has(k Key) bool { return s&(1<<k) != 0 }

// age selects tokens by their generation.
type age uint8

const (
	anyAge age = iota
	freshOnly
	staleOnly
)

// Keys gives a guard, a choice or a computed key access to the keys of the tokens that a firing
// would consume or read. Compile calls these functions once for every combination of keys and
// stores the results. A running net never calls them.
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

func (k *Keys) key(place string) Key {
	info, i, ok := k.find(place)
	if ok && info.Gen {
		i /= 2
	}
	return Key(i)
}

func (k *Keys) isFresh(place string) bool {
	info, i, ok := k.find(place)
	return ok && (!info.Gen || i%2 == 0)
}
