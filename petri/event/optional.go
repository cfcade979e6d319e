package event

import "github.com/voicegw/voicegw/petri"

// Optional is a store whose failure holds nothing up: a durable output waits for
// it while it works, and no longer once it has failed (see Failer). Optional
// itself never fails. Whoever owns the store finds out from its own Err.
func Optional(s Store) Store { return optional{s} }

type optional struct{ next Store }

func (o optional) Append(events []petri.Event) { o.next.Append(events) }

func (o optional) Stored() uint64 {
	if Failure(o.next) != nil {
		return ^uint64(0)
	}
	return o.next.Stored()
}

func (o optional) Notify(fn func()) {
	if n, ok := o.next.(Notifier); ok {
		n.Notify(fn)
	}
}

func (o optional) Note(n Note) { SendNote(o.next, n) }

func (o optional) Incomplete() { markIncomplete(o.next) }
