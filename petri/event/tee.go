package event

import "github.com/voicegw/voicegw/petri"

// Tee gives every event to each store, in the order of the arguments. Events
// are stored when all stores have them, so Tee fails as soon as one store fails;
// wrap a store that may fail without consequence in Optional. nil stores are left out; Tee of one is
// that store, and of none nil, which costs nothing.
func Tee(stores ...Store) Store {
	var t tee
	for _, s := range stores {
		if s != nil {
			t = append(t, s)
		}
	}
	switch len(t) {
	case 0:
		return nil
	case 1:
		return t[0]
	}
	return t
}

type tee []Store

func (t tee) Append(events []petri.Event) {
	for _, s := range t {
		s.Append(events)
	}
}

func (t tee) Stored() uint64 {
	least := ^uint64(0)
	for _, s := range t {
		least = min(least, s.Stored())
	}
	return least
}

func (t tee) Err() error {
	for _, s := range t {
		if err := Failure(s); err != nil {
			return err
		}
	}
	return nil
}

func (t tee) Notify(fn func()) {
	for _, s := range t {
		if n, ok := s.(Notifier); ok {
			n.Notify(fn)
		}
	}
}

func (t tee) Note(n Note) {
	for _, s := range t {
		SendNote(s, n)
	}
}

func (t tee) Incomplete() {
	for _, s := range t {
		markIncomplete(s)
	}
}
