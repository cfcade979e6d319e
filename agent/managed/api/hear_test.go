package api

import (
	"testing"

	"github.com/voicegw/voicegw/agent/managed"
)

// TestPartsHaveNoHoles: of a message with a part that was left out, a reader gets no later part.
func TestPartsHaveNoHoles(t *testing.T) {
	parts := make(chan *managed.Event, 1)
	f := hear(parts)
	part := func(id string) *managed.Event { return &managed.Event{Type: managed.EventDelta, EventID: id} }
	f(&managed.Event{Type: managed.EventStart, Event: &managed.EventRef{ID: "a"}})
	f(part("a")) // no room
	<-parts
	f(part("a"))
	if n := len(parts); n != 0 {
		t.Errorf("%d parts come behind one that was left out", n)
	}
	f(part("b"))
	if n := len(parts); n != 1 {
		t.Errorf("the next message has %d parts", n)
	}
}
