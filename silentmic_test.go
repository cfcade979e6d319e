package voicegw_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
)

// TestSilentMicrophone talks by clients whose microphone sends nothing while a reply plays, and for
// a while after it. The model hears every question whole, also a quiet one after a loud reply.
func TestSilentMicrophone(t *testing.T) {
	opens := map[string]func(p *phone, on bool){
		"own detection": func(*phone, bool) {},
		"mute":          func(p *phone, on bool) { p.send(transport.Event{Kind: transport.EventMute, On: !on}) },
		"push to talk":  func(p *phone, on bool) { p.send(transport.Event{Kind: transport.EventTalk, On: on}) },
	}
	for name, open := range opens {
		for _, gap := range []time.Duration{0, 200 * time.Millisecond, time.Second, 10 * time.Second} {
			t.Run(fmt.Sprint(name, " ", gap), func(t *testing.T) {
				t.Parallel()
				inBubble(t, plan{model: sim.Config{RepliesMax: -1}}, func(w *world) {
					h := hello()
					if name == "push to talk" {
						h.Detection = transport.DetectionPush
					}
					p := w.call(h, manner{})
					p.stick(true)
					for i, words := range []string{"long", "german", "question", "over", "german", "question"} {
						volume := []int{100, 15}[i%2]
						said := quieter(speech(words, 16000), volume)
						p.stick(false)
						open(p, true)
						p.say(said)
						time.Sleep(time.Duration(len(said)) * time.Second / 16000)
						p.stick(true)
						open(p, false)
						reply := p.turn(transport.StateStart)
						p.ended(transport.TurnComplete)
						p.hears(reply.Generation, quieter(speech(words, 24000), volume))
						time.Sleep(gap)
					}
				})
			})
		}
	}
}

// quieter is pcm at a volume in percent.
func quieter(pcm []int16, percent int) []int16 {
	for i, v := range pcm {
		pcm[i] = int16(int(v) * percent / 100)
	}
	return pcm
}
