package voicegw_test

import (
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
)

// greets is a gateway whose model speaks first.
func greets() voicegw.Config { return voicegw.Config{Greeting: greetCaller} }

// TestGreeting hears the model first, in full, and hangs up.
func TestGreeting(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{gw: greets()}, greeting)
}

// TestGreetingOnLoopback is the same over real sockets.
func TestGreetingOnLoopback(t *testing.T) {
	greeting(onLoopback(t, plan{gw: greets()}))
}

func greeting(w *world) {
	p := w.call(hello(), manner{})
	r := p.client.Ready()
	if !r.Greeting || r.Detection != transport.DetectionGatewayVAD || r.Budget != 400*time.Millisecond || r.Call == "" ||
		r.CallMax != 30*time.Minute {
		w.t.Errorf("ready %+v", r)
	}
	if h := p.turn(transport.StateStart); h.Generation != 1 {
		w.t.Errorf("the greeting is generation %d", h.Generation)
	}
	p.kind(transport.MessageMark)
	p.ended(transport.TurnComplete)
	if w.bubble { // where nothing is ever late
		p.hears(1, speech("hello", 24000))
	}
	if n := w.count(1, "text"); n != 1 {
		w.t.Errorf("the model was asked to speak %d times", n)
	}
	p.send(transport.Event{Kind: transport.EventBye})
	p.over(transport.ReasonCallerHungUp, "hung up")
	w.settled()
	if c := w.connection(1); c.Code != 1000 || !c.ByClient {
		w.t.Errorf("the model's connection was closed with %d %q, by us %v", c.Code, c.Reason, c.ByClient)
	}
}

// TestTurns speaks three times and is answered each time, in both ways of detecting speech.
func TestTurns(t *testing.T) {
	for _, d := range []transport.Detection{transport.DetectionGatewayVAD, transport.DetectionModelVAD} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			inBubble(t, plan{}, func(w *world) {
				h := hello()
				h.Detection = d
				p := w.call(h, manner{})
				last := uint64(0)
				for i, name := range []string{"hello", "question", "over"} {
					p.say(speech(name, 16000))
					h := p.turn(transport.StateStart)
					if h.Generation < last || h.Generation == last && d == transport.DetectionGatewayVAD {
						t.Errorf("turn %d has generation %d after %d", i, h.Generation, last)
					}
					last = h.Generation
					p.ended(transport.TurnComplete)
					p.hears(last, speech(name, 24000))
				}
				c := w.connection(1)
				if len(c.Turns) != 3 {
					w.t.Fatalf("the model heard %d turns", len(c.Turns))
				}
				for i, turn := range c.Turns {
					if !turn.Answered || turn.OverReply {
						t.Errorf("turn %d: %+v", i, turn)
					}
				}
			})
		})
	}
}

// TestTranscripts shows the words of both sides.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{model: sim.Config{CallerText: "how are you"}}, func(w *world) {
		p := w.call(hello(), manner{})
		p.say(speech("hello", 16000))
		for _, who := range []transport.Who{transport.WhoCaller, transport.WhoModel} {
			said := ""
			p.wait("the words of the "+string(who), func(h heard) bool {
				if h.Kind == transport.MessageTranscript && h.Who == who {
					said += h.Text
				}
				return said == "how are you"
			})
		}
	})
}

// TestRates answers peers of other rates.
func TestRates(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{gw: greets()}, func(w *world) {
		for _, hz := range []int{8000, 44100, 48000, 11025} {
			p := w.call(transport.Hello{InputRateHz: hz, OutputRateHz: hz}, manner{})
			p.ended(transport.TurnComplete)
			want := len(speech("hello", hz))
			if got := len(p.sound(1)); got < want || got > want+hz/40 {
				t.Errorf("at %d Hz %d samples were heard, want %d and the rest of a frame", hz, got, want)
			}
			p.say(speech("over", hz))
			p.turn(transport.StateStart)
			p.ended(transport.TurnComplete)
			p.hangUp()
		}
	})
}

// TestMute holds back what is said while the microphone is off, although it is sent, and hears
// again afterwards, in the middle of a word.
func TestMute(t *testing.T) {
	for _, d := range []transport.Detection{transport.DetectionGatewayVAD, transport.DetectionModelVAD} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			inBubble(t, plan{}, func(w *world) {
				h := hello()
				h.Detection = d
				p := w.call(h, manner{})
				p.say(speech("hello", 16000))
				p.turn(transport.StateStart)
				p.ended(transport.TurnComplete)
				p.send(transport.Event{Kind: transport.EventMute, On: true})
				time.Sleep(100 * time.Millisecond) // what was on its way has arrived
				before := w.connection(1).Samples
				p.say(speech("long", 16000)) // eight seconds
				time.Sleep(4 * time.Second)
				if after := w.connection(1).Samples; after != before {
					t.Errorf("%d samples went to the model while the microphone was off", after-before)
				}
				p.send(transport.Event{Kind: transport.EventMute})
				p.turn(transport.StateStart)
				turns := w.connection(1).Turns
				if len(turns) != 2 || turns[1].Loud < 2*time.Second || turns[1].Loud > 5*time.Second {
					t.Errorf("the model heard %+v, want the second half of the second turn", turns)
				}
			})
		})
	}
}

// TestMuteInSpeech ends the turn with what was said before.
func TestMuteInSpeech(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{}, func(w *world) {
		p := w.call(hello(), manner{})
		p.say(speech("long", 16000))
		time.Sleep(3 * time.Second)
		p.send(transport.Event{Kind: transport.EventMute, On: true})
		p.turn(transport.StateStart)
		turns := w.connection(1).Turns
		if len(turns) != 1 || turns[0].Samples < 2*16000 || turns[0].Samples > 3*16000 {
			t.Errorf("the model heard %+v, want three seconds", turns)
		}
	})
}

// TestHalfDuplex does not listen while a reply plays.
func TestHalfDuplex(t *testing.T) {
	for _, d := range []transport.Detection{transport.DetectionGatewayVAD, transport.DetectionModelVAD} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			inBubble(t, plan{model: sim.Config{FixedReply: speech("long", 24000)}}, func(w *world) {
				h := hello()
				h.Detection, h.HalfDuplex = d, true
				p := w.call(h, manner{})
				p.say(speech("hello", 16000))
				gen := p.turn(transport.StateStart).Generation
				p.played(gen, time.Second)
				before := w.connection(1).Samples
				p.say(speech("over", 16000))
				p.played(gen, 5*time.Second)
				if after := w.connection(1).Samples; after != before {
					t.Errorf("%d samples went to the model over its reply", after-before)
				}
				p.ended(transport.TurnComplete)
				p.hears(gen, speech("long", 24000))
			})
		})
	}
}

// TestFramesStop ends speech when its frames stop coming, and hears it go on in the middle of a
// word.
func TestFramesStop(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{}, func(w *world) {
		p := w.call(hello(), manner{})
		p.say(speech("long", 16000))
		time.Sleep(3 * time.Second)
		p.stick(true)
		p.turn(transport.StateStart)
		p.ended(transport.TurnComplete)
		p.stick(false)
		time.Sleep(time.Second)
		p.stick(true)
		p.turn(transport.StateStart)
		if n := w.count(1, "activity_start"); n != 2 {
			t.Errorf("the model heard %d turns", n)
		}
	})
}

// TestRaisedThreshold is hard to convince while a reply plays, and only then.
func TestRaisedThreshold(t *testing.T) {
	t.Parallel()
	p := plan{model: long()}
	p.gw.Activity.RaisedThreshold = 1e9
	inBubble(t, p, func(w *world) {
		p := w.call(hello(), manner{})
		for range 2 {
			p.reply(time.Second)
			p.say(speech("over", 16000))
			p.ended(transport.TurnComplete)
		}
		for _, h := range p.all() {
			if h.State == transport.StatePause {
				t.Error("the reply was paused")
			}
		}
	})
}
