package voicegw_test

import (
	"testing"
	"time"

	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
)

// TestReplacedInReply replaces the connection in the middle of a reply for which there is no room:
// the rest of it is not taken for the next answer.
func TestReplacedInReply(t *testing.T) {
	t.Parallel()
	p := plan{model: sim.Config{Scenario: scenario(t, "speed 20\nconnection 1\non chunk 1 of reply 1: go_away 0s silent")}}
	p.gw.Net.ReplyFramesMax, p.gw.Net.RotateSoon = 5, 50*time.Millisecond
	inBubble(t, p, func(w *world) {
		p := w.call(hello(), manner{})
		p.say(speech("question", 16000))
		p.state(transport.MessageModel, transport.StateBack)
		p.send(transport.Event{Kind: transport.EventText, Text: "stop"})
		answer := p.turn(transport.StateStart)
		p.turn(transport.StateEnd)
		p.hears(answer.Generation, speech("hello", 24000))
		const most = 2 * 480 // a frame that waited in the net already, and what fills up the last one
		if more := len(p.sound(answer.Generation)) - len(speech("hello", 24000)); more > most {
			t.Errorf("the answer begins with %d samples of something else", more)
		}
	})
}
