package event

import "github.com/voicegw/voicegw/petri"

// Optional returns a store that passes events to s and never fails. A durable output waits for s
// while s works. Once s has failed (see Failer), no output waits for it. The owner of s must check
// its Err.
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
