package adkagent

import (
	"encoding/json"
	"slices"
	"testing"

	"google.golang.org/adk/v2/session"
)

// FuzzHistory reads sessions that others have written: what is stored, and what the user answers, may be
// anything.
func FuzzHistory(f *testing.F) {
	f.Add([]byte(`[{"author":"user","content":{"role":"user","parts":[{"text":"hi"}]}},
		{"author":"host","content":{"role":"model","parts":[{"functionCall":{"id":"a","name":"pay"}}]}},
		{"author":"host","content":{"role":"model","parts":[{"functionCall":{"id":"b","name":"adk_request_confirmation",
		"args":{"originalFunctionCall":{"id":"a","name":"pay"}}}}]}},
		{"author":"user","content":{"role":"user","parts":[{"functionResponse":{"id":"b","name":"adk_request_confirmation",
		"response":{"confirmed":true}}}]}}]`))
	f.Add([]byte(`[{"author":"x","content":{"parts":[null,{}]}},null,{"inputTranscription":{"text":"a"}}]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var events []*session.Event
		if json.Unmarshal(b, &events) != nil {
			return
		}
		events = slices.DeleteFunc(events, func(e *session.Event) bool { return e == nil }) // as eventsOf does
		before, _ := json.Marshal(events)
		v := view{own: func(author string) bool { return author == "host" }, branch: "a.b"}
		contents, err := v.contents(v.thisTurn(events))
		if err == nil {
			for _, c := range contents {
				if c == nil || len(c.Parts) == 0 {
					t.Errorf("an empty content: %s", b)
				}
			}
		}
		if _, err := v.contents(events); err != nil {
			_ = err // an answer to a call that nobody made
		}
		calls, said, _ := confirmedCalls(events)
		for _, c := range calls {
			if said[c.ID] == nil {
				t.Errorf("the call %s is resumed without an answer", c.ID)
			}
		}
		if len(events) > 0 {
			answeredAuthor(events, events[0].Content)
		}
		if after, _ := json.Marshal(events); string(after) != string(before) {
			t.Errorf("the session is changed: %s to %s", before, after)
		}
	})
}
