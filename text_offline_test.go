//go:build !race

package voicegw_test

import (
	"slices"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/transport"
)

// TestTextWithoutConnection types several texts while there is no connection to the model. The next
// connection gets each of them, once, in order.
func TestTextWithoutConnection(t *testing.T) {
	for name, speaks := range map[string]bool{"quiet": false, "speaking": true} {
		t.Run(name, func(t *testing.T) {
			d := &dialBook{}
			cfg, sessions := withSession(voicegw.Config{Dialer: d})
			cfg.Net.Backoff[0] = 3 * time.Second
			inBubble(t, plan{gw: cfg}, func(w *world) {
				p := w.call(hello(), manner{})
				s := <-sessions
				if speaks {
					p.say(speech("long", 16000))
					time.Sleep(time.Second)
				}
				_ = d.newest().Close(0, "")
				p.state(transport.MessageModel, transport.StateLost)
				want := []string{"one", "two", "three"}
				for _, text := range want {
					if err := s.Text(text); err != nil {
						t.Errorf("Text %s: %v", text, err)
					}
				}
				p.state(transport.MessageModel, transport.StateBack)
				time.Sleep(2 * time.Second)
				if texts, _ := d.newest().heard(); !slices.Equal(texts, want) {
					t.Errorf("the next connection was told %q, want %q", texts, want)
				}
			})
		})
	}
}
