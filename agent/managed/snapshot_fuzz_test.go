package managed

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"google.golang.org/genai"
)

// newNoise returns a maker of texts that do not compress.
func newNoise() func(n int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-"
	r := rand.New(rand.NewPCG(1, 2))
	return func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = letters[r.IntN(len(letters))]
		}
		return string(b)
	}
}

// FuzzSnapshot: no document breaks the reader of snapshots, and what it takes for a state survives being stored.
func FuzzSnapshot(f *testing.F) {
	const id = "sesn_x"
	at := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	s, message := newState(), Text("Hi")
	message.ID = "sevt_1"
	for i, r := range []*record{
		{Kind: recordSession, Session: &sessionInfo{ID: id, Agent: Agent{ID: "agent_x"}}},
		{Kind: recordInput, Events: []*Event{&message}, Key: "one", Hash: "h"},
		{Kind: recordInput, Events: []*Event{&message, {Type: UserInterrupt}}},
		{Kind: recordBegin, Turn: &turnInfo{Number: 1, Message: "sevt_1"}},
		{Kind: recordStart, Effect: &effectInfo{Key: "model/agent/1", Kind: modelEffect}},
		{Kind: recordStep, Content: []*genai.Content{genai.NewContentFromText("Yes", genai.RoleModel)},
			Calls:  []*openCall{{Event: "sevt_2", ID: "c1", Kind: customCall, Answer: &message}},
			Events: []*Event{{ID: "sevt_2", Type: AgentCustomToolUse, CallID: "c1"}}},
		{Kind: recordTools, Bound: []*boundName{{Name: "look"}}},
	} {
		r.At = at
		if err := s.apply(uint64(i)+2, r); err != nil {
			f.Fatal(err)
		}
	}
	whole, err := json.Marshal(s.image())
	if err != nil {
		f.Fatal(err)
	}
	doc, _, _, err := s.image().encode(whole)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(doc)
	f.Add([]byte("x\n"))
	f.Add([]byte(`{"info":{"id":"s"},"records":1,"closed":{},"uses":{},"bound":{},"recent":[7]}`))
	f.Add([]byte(`{"info":{"id":"s"},"records":1,"closed":{},"uses":{},"bound":{},"turn":{"base":1},"messages":[null]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, blob, err := decodeSnapshotHead(id, b); err == nil {
			_, _ = h.decodeState(blob)
		}
		s, err := decodeImage(b)
		if err != nil {
			return
		}
		stored, err := json.Marshal(s.image())
		if err != nil {
			t.Fatal(err)
		}
		again, err := decodeImage(stored)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := json.Marshal(again.image())
		if err != nil || !bytes.Equal(stored, twice) {
			t.Errorf("stored\n\t%s, and read back\n\t%s, %v", stored, twice, err)
		}
		for _, m := range again.messages {
			_ = m.Type
		}
		_ = again.session()
		_ = again.lifeState(3)
		_, _ = again.admit(64, []Event{Text("x"), {Type: UserConfirmation, ToolUseID: "x"}}, again.began)
	})
}
