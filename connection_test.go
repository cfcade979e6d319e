package voicegw_test

import (
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
)

// TestLateReader loses a connection while its reader is busy with the news that the model will end
// it. The next connection is not taken for the one that ends.
func TestLateReader(t *testing.T) {
	busy := func(e zapcore.Entry) error {
		if e.Message == "the model announced the end" {
			time.Sleep(3 * time.Second)
		}
		return nil
	}
	script := "connection 1\non ready +2s: go_away 0s\non ready +2500ms: drop"
	core, _ := observer.New(zapcore.InfoLevel)
	pl := plan{model: sim.Config{Scenario: scenario(t, script)}}
	pl.gw.Log = zap.New(core, zap.Hooks(busy))
	inBubble(t, pl, func(w *world) {
		p := w.call(hello(), manner{})
		p.utters("long") // the gateway notices by what it cannot send
		p.state(transport.MessageModel, transport.StateBack)
		time.Sleep(20 * time.Second)
		if n := len(w.model.Connections()); n != 2 {
			t.Errorf("%d connections, want the one that was lost and the next", n)
		}
	})
}
