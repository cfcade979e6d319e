package agent

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/adk/v2/session"

	"github.com/voicegw/voicegw/agent/provider"
)

// TestBeginning begins sessions with another agent, and refuses one that no session can begin with.
func TestBeginning(t *testing.T) {
	says := func(text string) *provider.Script {
		return &provider.Script{Turns: []provider.ScriptTurn{{Text: text}}}
	}
	next := func(context.Context, *Turn) (*session.Event, error) { return nil, nil }
	p, err := New(Config{KeepsMessage: true, Agents: []Agent{
		{Name: "host", Model: says("I am the host."), TransferTo: []string{"cook", "guest"}},
		{Name: "cook", Model: says("I am the cook.")}, {Name: "guest", Work: Work{Next: next}}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"host": "I am the host.", "cook": "I am the cook."} {
		own, err := p.Beginning(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Start(own, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		_, err = s.Run(t.Context(), &Turn{ID: "1", Emit: func(ev *session.Event, _ EventKind) error {
			got += ev.Content.Parts[0].Text
			return nil
		}})
		if err != nil || got != want {
			t.Errorf("%s says %q, %v", name, got, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"guest", "nobody", ""} {
		if _, err := p.Beginning(name); err == nil || !strings.Contains(err.Error(), "the agents are: host, cook") {
			t.Errorf("%q: the error is %v", name, err)
		}
	}
}
