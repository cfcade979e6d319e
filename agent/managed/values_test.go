package managed

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestValues keeps the state that answers leave, lets a turn see that of its beginning, and finds both in a snapshot.
func TestValues(t *testing.T) {
	s := newState()
	for i, r := range []*record{
		{Kind: recordSession, Session: &sessionInfo{ID: "s"}},
		{Kind: recordBegin, Turn: &turnInfo{Number: 1}},
		{Kind: recordStep, State: map[string]any{"a": "one"}},
		{Kind: recordEvents, Events: []*Event{{Type: StatusIdle, StopReason: &StopReason{Type: EndTurn}}}},
		{Kind: recordBegin, Turn: &turnInfo{Number: 2}},
		{Kind: recordStep, State: map[string]any{"a": "two", "b": true}},
	} {
		if err := s.apply(uint64(i+1), r); err != nil {
			t.Fatal(err)
		}
	}
	check := func(s *state) {
		t.Helper()
		if now, then := s.values, s.turn.values; !reflect.DeepEqual(now, map[string]any{"a": "two", "b": true}) ||
			!reflect.DeepEqual(then, map[string]any{"a": "one"}) {
			t.Errorf("the state is %v, and was %v when the turn began", now, then)
		}
	}
	check(s)
	b, err := json.Marshal(s.image())
	if err != nil {
		t.Fatal(err)
	}
	again, err := decodeImage(b)
	if err != nil {
		t.Fatal(err)
	}
	check(again)
}
