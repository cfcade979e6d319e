package voicegw_test

import (
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
)

// TestTwoLinesACall: an ordinary call is two lines of the log, at its beginning and at its end, whoever ends it; a
// connection to the model that breaks in mid-call is one more.
func TestTwoLinesACall(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script string
		end    func(w *world, p *phone)
		lines  []string
	}{
		"the caller hangs up": {"", func(_ *world, p *phone) { p.hangUp() }, []string{"call began", "call ended"}},
		"the caller is lost":  {"", func(_ *world, p *phone) { p.tap.cut() }, []string{"call began", "call ended"}},
		"the gateway closes":  {"", func(w *world, _ *phone) { _ = w.gw.Close() }, []string{"call began", "call ended"}},
		"the model breaks": {"connection 1\non turn_complete 1: drop", func(_ *world, p *phone) {
			p.kind(transport.MessageModel)
			p.hangUp()
		}, []string{"call began", "connection to the model lost", "call ended"}},
	} {
		t.Run(name, func(t *testing.T) {
			core, logs := observer.New(zapcore.InfoLevel)
			p := plan{gw: greets()}
			p.gw.Log = zap.New(core)
			var err error
			if p.model.Scenario, err = sim.ParseScenario("log", test.script); err != nil {
				t.Fatal(err)
			}
			inBubble(t, p, func(w *world) {
				p := w.call(hello(), manner{})
				p.ended(transport.TurnComplete)
				test.end(w, p)
				w.settled()
			})
			var lines []string
			for _, e := range logs.All() {
				lines = append(lines, e.Message)
			}
			if len(lines) != len(test.lines) {
				t.Fatalf("the log has %q, want %q", lines, test.lines)
			}
			for i, line := range lines {
				if line != test.lines[i] {
					t.Errorf("line %d is %q, want %q", i+1, line, test.lines[i])
				}
			}
		})
	}
}
