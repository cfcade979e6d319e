package transport

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// TestKindsHaveNames: each kind has the name it has on the wire, and no two have the same.
func TestKindsHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for k := EventAudio; k <= EventBack; k++ {
		if s := k.String(); s == "none" || seen[s] {
			t.Errorf("event kind %d is %q", k, s)
		} else {
			seen[s] = true
		}
	}
	clear(seen)
	for k := MessageSpeech; k <= MessageAudio; k++ {
		if s := k.String(); s == "none" || seen[s] {
			t.Errorf("message kind %d is %q", k, s)
		} else {
			seen[s] = true
		}
	}
	if EventNone.String() != "none" || MessageNone.String() != "none" {
		t.Error("nothing has a name")
	}
}

// TestResetKeepsMemoryOnly: nothing of the last event shows in the next one but the room for its
// samples.
func TestResetKeepsMemoryOnly(t *testing.T) {
	ev := Event{Kind: EventAck, PCM: make([]int16, 3, 8), Generation: 1, PlayedMS: 2, Mark: "m", Cleared: true, On: true,
		ID: "i", Name: "n", Text: "t", Failed: true}
	ev.Reset()
	if cap(ev.PCM) != 8 || len(ev.PCM) != 0 {
		t.Errorf("PCM has %d of %d", len(ev.PCM), cap(ev.PCM))
	}
	if ev.PCM = nil; !reflect.DeepEqual(ev, Event{}) {
		t.Errorf("left over: %+v", ev)
	}
	m := Message{Kind: MessageNet, Text: "t", Fired: make([]string, 2), Marking: make([]PlaceCount, 3),
		PCM: make([]int16, 4)}
	m.Reset()
	if len(m.Fired)+len(m.Marking)+len(m.PCM) != 0 || cap(m.Fired) != 2 || cap(m.Marking) != 3 || cap(m.PCM) != 4 {
		t.Errorf("slices after Reset: %+v", m)
	}
	if m.Fired, m.Marking, m.PCM = nil, nil, nil; !reflect.DeepEqual(m, Message{}) {
		t.Errorf("left over: %+v", m)
	}
}

func TestWordsForPeople(t *testing.T) {
	e := &Ended{Reason: ReasonModelLost, Message: "The model is gone.", Err: errors.New("reset")}
	if s := e.Error(); !strings.Contains(s, "The model is gone.") || !strings.Contains(s, "model_lost") ||
		!strings.Contains(s, "reset") {
		t.Errorf("Ended says %q", s)
	}
	for r, want := range map[Reason]bool{ReasonNone: false, ReasonCallerHungUp: false, ReasonDone: false,
		ReasonGoingAway:   false,
		ReasonMaxDuration: false, ReasonBadAudio: true, ReasonBusy: true, ReasonModelLost: true, ReasonIdleTimeout: true} {
		if r.Failure() != want {
			t.Errorf("%s: failure %v", r, r.Failure())
		}
	}
}
