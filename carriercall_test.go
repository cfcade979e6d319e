package voicegw_test

import (
	"context"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/transport"
)

// TestCarrierCall has the carrier's own id of a call in the log lines of its beginning and its end, and in its record,
// which has the model, its tokens, and what they cost.
func TestCarrierCall(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zapcore.InfoLevel)
	records := make(chan voicegw.Record, 1)
	p := plan{gw: greets()}
	p.gw.Log, p.gw.Model.Name = zap.New(core), "live"
	p.gw.Price = func(model string, u transport.Usage) (float64, bool) {
		return float64(u.Response) / 100, model == "live"
	}
	p.gw.Hooks.Begin = func(_ context.Context, h *transport.Hello) (*voicegw.Plan, error) {
		h.CarrierCall = "CA17"
		return nil, nil
	}
	p.gw.Hooks.Ended = func(r voicegw.Record) { records <- r }
	inBubble(t, p, func(w *world) {
		p := w.call(hello(), manner{})
		p.ended(transport.TurnComplete)
		p.hangUp()
		w.settled()
	})
	for _, line := range []string{"call began", "call ended"} {
		if e := logs.FilterMessage(line).All(); len(e) != 1 || e[0].ContextMap()["carrier_call"] != "CA17" {
			t.Errorf("%s: %+v", line, e)
		}
	}
	r := <-records
	if r.CarrierCall != "CA17" || r.Model != "live" || r.Tokens.Output == 0 || r.CostDollars == nil ||
		*r.CostDollars != float64(r.Tokens.Output)/100 {
		t.Errorf("the record is %+v", r)
	}
}
