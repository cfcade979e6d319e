package endpointtest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live/sim"
)

// Asking is a world's plan in which the model calls the tool weather, as these lines of a scenario
// say. The caller's side answers.
func Asking(tb testing.TB, script ...string) Plan {
	tb.Helper()
	s, err := sim.ParseScenario("a story", strings.Join(script, "\n"))
	if err != nil {
		tb.Fatal(err)
	}
	return Plan{Model: sim.Config{Scenario: s}, Gateway: voicegw.Config{Tools: []voicegw.Tool{{Name: "weather",
		Description: "tells the weather of a city", Parameters: json.RawMessage(
			`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)}}}}
}

// Sessions are the calls that stand, as the integrator's code gets them.
func (p *Plan) Sessions() <-chan *voicegw.Session {
	ch := make(chan *voicegw.Session, 8)
	p.Gateway.Hooks.Running = func(s *voicegw.Session) { ch <- s }
	return ch
}

// Read waits until the model was sent a text that holds these words.
func (w *World) Read(words string) {
	w.tb.Helper()
	w.Eventually("the model reads "+words, func() bool {
		for _, text := range w.Connection().Texts {
			if strings.Contains(text.Text, words) {
				return true
			}
		}
		return false
	})
}

// Results waits until the model got the results of n calls of tools, and returns all it got, as
// JSON.
func (w *World) Results(n int) (results []string) {
	w.tb.Helper()
	w.Eventually("the model gets results", func() bool { return len(w.Connection().ToolReplies) >= n })
	for _, r := range w.Connection().ToolReplies {
		results = append(results, r.Response)
	}
	return results
}
