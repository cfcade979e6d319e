package voicegw_test

import (
	"context"
	"strings"
	"testing"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
)

// TestReadyNamesTheModelOfThePlan tells the peer of the model that its call has, and of the
// gateway's where the plan leaves that open.
func TestReadyNamesTheModelOfThePlan(t *testing.T) {
	t.Parallel()
	p := plan{gw: voicegw.Config{Model: transport.Model{Name: "the house's"}}}
	p.gw.Hooks.Begin = func(_ context.Context, h *transport.Hello) (*voicegw.Plan, error) {
		return &voicegw.Plan{Setup: &live.Setup{Model: h.Token}}, nil
	}
	inBubble(t, p, func(w *world) {
		for token, want := range map[string]string{"gemini-own": "gemini-own", "": "the house's"} {
			h := hello()
			h.Token = token
			if got := w.call(h, manner{}).client.Ready().Model.Name; got != want {
				t.Errorf("with the model %q the peer is told of %q, want %q", token, got, want)
			}
		}
	})
}

// TestSessionsOfAGateway finds the calls that are up, and no others.
func TestSessionsOfAGateway(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{}, func(w *world) {
		if list := w.gw.Sessions(); len(list) != 0 {
			t.Errorf("%d sessions before the first call", len(list))
		}
		a, b := w.call(hello(), manner{}), w.call(hello(), manner{})
		list := w.gw.Sessions()
		if len(list) != 2 || list[0].ID() >= list[1].ID() {
			t.Fatalf("%d sessions of two calls", len(list))
		}
		id := a.client.Ready().Call
		s, ok := w.gw.Session(id)
		if !ok || s.ID() != id {
			t.Fatalf("the session of %s is %v", id, s)
		}
		if err := s.HangUp(); err != nil {
			t.Error(err)
		}
		a.over(transport.ReasonDone, "")
		if _, ok := w.gw.Session(id); ok {
			t.Error("the session of a call that has ended is found")
		}
		if list := w.gw.Sessions(); len(list) != 1 || list[0].ID() != b.client.Ready().Call {
			t.Errorf("%d sessions of one call", len(list))
		}
	})
}

// TestInstructionsOfThePlan gives a call the named instructions of its plan in place of the gateway's.
func TestInstructionsOfThePlan(t *testing.T) {
	t.Parallel()
	p := plan{gw: voicegw.Config{Instructions: map[string]string{"desk": "the gateway's"}}}
	own := map[string]string{"desk": "the plan's"}
	p.gw.Hooks.Begin = func(_ context.Context, h *transport.Hello) (*voicegw.Plan, error) {
		if h.Token == "" {
			return nil, nil
		}
		return &voicegw.Plan{Instructions: own}, nil
	}
	inBubble(t, p, func(w *world) {
		for token, want := range map[string]string{"own": "the plan's", "": "the gateway's"} {
			h := hello()
			h.Token, h.Instructions = token, "desk"
			w.call(h, manner{})
			all := w.model.Connections()
			if setup := string(all[len(all)-1].Setup); !strings.Contains(setup, want) {
				t.Errorf("with the token %q the model is told %s, want %q", token, setup, want)
			}
		}
	})
}
