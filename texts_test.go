package voicegw_test

import (
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/transport"
)

// TestTypedTurnsAreLimited: a caller who types without end, at any endpoint, gets so many turns of
// the model as the setting says, and is told of the rest.
func TestTypedTurnsAreLimited(t *testing.T) {
	t.Parallel()
	const most = 5
	long := strings.Repeat("x", transport.TextCharsMax)
	for name, ev := range map[string]transport.Event{
		"text": {Kind: transport.EventText, Text: long}, "digits": {Kind: transport.EventDTMF, Text: "1#"}} {
		inBubble(t, plan{gw: voicegw.Config{TypedPerMinute: most}}, func(w *world) {
			p := w.call(hello(), manner{})
			const sent = 40
			for range sent {
				p.send(ev)
				time.Sleep(50 * time.Millisecond)
			}
			p.send(transport.Event{Kind: transport.EventMute, On: true}) // what is no turn goes on
			time.Sleep(time.Minute / most)
			told := 0
			for _, m := range p.all() {
				if m.Kind == transport.MessageError && m.Code == "too_fast" && !m.Fatal && strings.Contains(m.Text, "again in") {
					told++
				}
			}
			if taken := sent - told; taken < most || taken > most+1 {
				t.Errorf("%s: %d of %d were taken within two seconds, want %d", name, taken, sent, most)
			}
			p.send(ev)
			time.Sleep(time.Second)
			after := 0
			for _, m := range p.all() {
				if m.Code == "too_fast" {
					after++
				}
			}
			if after != told {
				t.Errorf("%s: another one %v later is not taken", name, time.Minute/most)
			}
			p.hangUp()
		})
	}
}
