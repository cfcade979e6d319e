package event

import "github.com/voicegw/voicegw/petri"

// Tee returns a store that passes every event to each of stores, in their order. An event is stored
// when all of them have stored it, so the tee fails as soon as one of them fails; wrap a store in
// Optional if its failure does not matter. Tee ignores nil stores. It returns the store itself if
// there is only one, and nil if there is none.
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
