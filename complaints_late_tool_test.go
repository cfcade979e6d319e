//go:build !race

package voicegw_test

import (
	"testing"
	"time"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
)

// TestComplaintResultNeverSpoken: the reply a tool was called in may be over when its result comes.
// As long as the caller said nothing since, the model speaks of it.
func TestComplaintResultNeverSpoken(t *testing.T) {
	tool := lookUp(12*time.Second, nil)
	tool.NonBlocking, tool.Scheduling = true, live.ScheduleWhenIdle
	pl := tooled(t, tool, "on turn 1: call look_up {}")
	pl.gw.Setup.Model = sim.ModelName
	inBubble(t, pl, func(w *world) {
		p := w.call(hello(), manner{})
		p.answered("hello", time.Second)
		p.ended(transport.TurnComplete)
		p.replied(w)
		if r := w.connection(1).ToolReplies; r[0].Scheduling != "WHEN_IDLE" {
			t.Errorf("nobody spoke, and the result is %+v", r)
		}
		p.turn(transport.StateStart)
	})
}
