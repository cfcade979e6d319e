package voicegw_test

import (
	"context"
	"testing"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
)

// TestReadyNamesTheModelOfThePlan tells the peer of the model that its call has,
// and of the gateway's where the plan leaves that open.
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
