package voicegw_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
)

// TestModelCannotBeHad meets a model that does not take the call. The next call, to a model that is
// sound again, works.
func TestModelCannotBeHad(t *testing.T) {
	tests := []struct {
		name   string
		faults sim.Faults
		reason transport.Reason
		words  string
	}{
		{"key", sim.Faults{RefuseKey: true}, transport.ReasonModelRefused, "refused the API key"},
		{"401", sim.Faults{RefuseUpgrade: 401}, transport.ReasonModelRefused, "refused the API key"},
		{"503", sim.Faults{RefuseUpgrade: 503}, transport.ReasonModelLost, "service failed"},
		{"1008", sim.Faults{CloseAt: &sim.CloseAt{Code: 1008, Reason: "Operation is not implemented."}},
			transport.ReasonModelRefused, "is not available"},
		{"1011", sim.Faults{CloseAt: &sim.CloseAt{Code: 1011, Reason: "Internal error encountered."}},
			transport.ReasonModelLost, "service failed"},
		{"silent", sim.Faults{NoSetupComplete: true}, transport.ReasonModelTimeout, "did not answer the setup within 10s"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.faults.Connections = 1
			inBubble(t, plan{gw: greets(), model: sim.Config{Faults: test.faults}}, func(w *world) {
				_, tap, err := w.try(hello())
				r, ok := asRefused(err)
				if !ok || r.Reason != test.reason || !strings.Contains(r.Message, test.words) {
					t.Errorf("the call ended by %v, want %s in the words %q", err, test.reason, test.words)
				}
				if ok && (r.Message[:1] != strings.ToUpper(r.Message[:1]) || !strings.HasSuffix(r.Message, ".")) {
					t.Errorf("%q is no sentence", r.Message)
				}
				if code := tap.closeCode(); code != test.reason.Code() {
					t.Errorf("close code %d, want %d", code, test.reason.Code())
				}
				w.settled()
				w.greeted()
			})
		})
	}
}

// greeted makes a call that works from greeting to reply.
func (w *world) greeted() {
	w.t.Helper()
	p := w.call(hello(), manner{})
	p.turn(transport.StateStart)
	p.ended(transport.TurnComplete)
	p.say(speech("over", 16000))
	p.turn(transport.StateStart)
	p.ended(transport.TurnComplete)
	p.hangUp()
}

// TestDialTimeout gives up a model that does not even answer the upgrade.
func TestDialTimeout(t *testing.T) {
	t.Parallel()
	hang := dialer(func(ctx context.Context, _ live.Setup) (live.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	inBubble(t, plan{gw: voicegw.Config{Dialer: hang, DialTimeout: 3 * time.Second}}, func(w *world) {
		began := time.Now()
		if r := w.refused(hello()); r.Reason != transport.ReasonModelTimeout {
			t.Errorf("the call ended by %v", r)
		}
		if took := time.Since(began); took < 3*time.Second || took > 4*time.Second {
			t.Errorf("after %v", took)
		}
	})
}

// dialer is a live.Dialer of one function.
type dialer func(context.Context, live.Setup) (live.Conn, error)

func (d dialer) Dial(ctx context.Context, s live.Setup) (live.Conn, error) { return d(ctx, s) }

// TestWrongSettings tells whose settings are wrong: the gateway's, or what the hello asked for.
func TestWrongSettings(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{gw: voicegw.Config{Setup: live.Setup{Voice: "no voice!"}}}, func(w *world) {
		if r := w.refused(hello()); r.Reason != transport.ReasonModelRefused || !strings.Contains(r.Message, "Setup.Voice") {
			t.Errorf("the call ended by %v", r)
		}
	})
	inBubble(t, plan{}, func(w *world) {
		h := hello()
		h.Language = "x-klingon"
		if r := w.refused(h); r.Reason != transport.ReasonBadHello || !strings.Contains(r.Message, `"x-klingon"`) {
			t.Errorf("the call ended by %v", r)
		}
	})
	inBubble(t, plan{gw: voicegw.Config{Dialer: dialer(func(context.Context, live.Setup) (live.Conn, error) {
		return nil, errors.New("the moon is full")
	})}}, func(w *world) {
		r := w.refused(hello())
		if r.Reason != transport.ReasonModelLost || !strings.Contains(r.Message, "The moon is full.") {
			t.Errorf("the call ended by %v", r)
		}
	})
}

// TestSetup asks the model for what the hello and the configuration say.
func TestSetup(t *testing.T) {
	t.Parallel()
	p := plan{}
	p.gw.Instructions = map[string]string{"support": "Help them."}
	p.gw.Setup = live.Setup{SystemInstruction: "Be brief.", Language: "en-US"}
	inBubble(t, p, func(w *world) {
		w.call(hello(), manner{})
		h := hello()
		h.Instructions, h.Language, h.Detection = "support", "de-DE", transport.DetectionModelVAD
		w.call(h, manner{})
		for i, want := range [][]string{{"Be brief.", "en-US", `"disabled":true`}, {"Help them.", "de-DE"}} {
			setup := string(w.connection(i + 1).Setup)
			for _, s := range want {
				if !strings.Contains(setup, s) {
					t.Errorf("setup %d has no %s: %s", i+1, s, setup)
				}
			}
			if automatic := !strings.Contains(setup, `"disabled":true`); automatic != (i == 1) {
				t.Errorf("setup %d: %s", i+1, setup)
			}
		}
		h.Instructions = "sales"
		if r := w.refused(h); r.Reason != transport.ReasonBadHello || !strings.Contains(r.Message, `"support"`) {
			t.Errorf("instructions that are not there: %v", r)
		}
	})
}

// breaks are ways in which a model is lost in the middle of its first reply.
func breaks() map[string]string {
	return map[string]string{
		"line":     "on chunk 3: drop",
		"1011":     "on chunk 3: close 1011 Internal error encountered.",
		"1007":     "on chunk 3: close 1007 Request contains an invalid argument.",
		"oversize": "on chunk 3: pad 5242880",
		"orderly":  "on chunk 3: close 1000",
	}
}

// TestModelLost loses the model, which does not come back. The caller is told so in words.
func TestModelLost(t *testing.T) {
	for name, how := range breaks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := "connection 1\n" + how + "\nconnection 2-\non setup: close 1011 Internal error encountered."
			inBubble(t, plan{gw: greets(), model: sim.Config{Scenario: scenario(t, script)}}, func(w *world) {
				p := w.call(hello(), manner{})
				p.say(speech("long", 16000))
				p.over(transport.ReasonModelLost, "service failed")
				if n := len(w.model.Connections()); n != 4 {
					t.Errorf("%d connections, want the first and three tries", n)
				}
			})
		})
	}
}

// TestModelComesBack loses the model in its greeting, and gets it back: the caller is told, and the
// turn is heard whole by the next connection. The greeting that it begins anew is not heard over
// that turn.
func TestModelComesBack(t *testing.T) {
	for name, how := range breaks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, plan{gw: greets(), model: sim.Config{Scenario: scenario(t, "connection 1\n"+how)}}, func(w *world) {
				p := w.call(hello(), manner{})
				p.say(speech("long", 16000))
				p.state(transport.MessageModel, transport.StateLost)
				p.state(transport.MessageModel, transport.StateBack)
				again := p.ended(transport.TurnInterrupted)
				if heard := p.sound(again.Generation); len(heard) > 0 {
					t.Errorf("%d samples of the greeting were heard over the caller", len(heard))
				}
				reply := p.turn(transport.StateStart)
				p.ended(transport.TurnComplete)
				p.hears(reply.Generation, speech("long", 24000))
			})
		})
	}
}

func scenario(t *testing.T, text string) *sim.Scenario {
	t.Helper()
	s, err := sim.ParseScenario(t.Name(), text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestModelStopsReading ends the call when what goes up is not taken.
func TestModelStopsReading(t *testing.T) {
	w := onLoopback(t, plan{between: func(d live.Dialer) live.Dialer {
		first := true
		return dialer(func(ctx context.Context, s live.Setup) (live.Conn, error) {
			c, err := d.Dial(ctx, s)
			if err == nil && first {
				first, c = false, &hungConn{Conn: c, closed: make(chan struct{})}
			}
			return c, err
		})
	}})
	h := hello()
	h.Detection = transport.DetectionModelVAD // every frame goes up
	p := w.call(h, manner{noMic: true})
	go func() {
		second := make([]int16, 16000)
		for p.client.SendAudio(context.Background(), second) == nil {
		}
	}()
	other := w.call(hello(), manner{})
	other.say(speech("over", 16000))
	other.turn(transport.StateStart)
	p.over(transport.ReasonModelLost, "The model stopped taking what was sent to it.")
	other.ended(transport.TurnComplete)
}

// hungConn is a connection whose writes hang until it is closed.
type hungConn struct {
	live.Conn
	closed chan struct{}
}

func (d *hungConn) SendAudio(context.Context, []int16) error {
	<-d.closed
	return errors.New("closed")
}

func (d *hungConn) Close(code int, reason string) error {
	close(d.closed)
	return d.Conn.Close(code, reason)
}

// TestModelMisbehaves goes on with a model that is odd: the call lives, and the next turn is
// answered.
func TestModelMisbehaves(t *testing.T) {
	tests := []struct {
		name   string
		faults sim.Faults
		det    transport.Detection
		whole  bool // the first reply is heard in full
	}{
		{"garbage", sim.Faults{GarbageAfterChunks: 2}, transport.DetectionGatewayVAD, true},
		{"unknown fields", sim.Faults{UnknownFields: true}, transport.DetectionGatewayVAD, true},
		{"phantom interrupted", sim.Faults{PhantomAfterChunks: 2}, transport.DetectionGatewayVAD, true},
		{"no turn complete", sim.Faults{NoTurnComplete: true}, transport.DetectionGatewayVAD, true},
		{"never resumable", sim.Faults{NeverResumable: true}, transport.DetectionGatewayVAD, true},
		{"phantom interrupted, believed", sim.Faults{PhantomAfterChunks: 2}, transport.DetectionModelVAD, false},
		{"no turn complete", sim.Faults{NoTurnComplete: true}, transport.DetectionModelVAD, true},
	}
	for _, test := range tests {
		t.Run(test.name+" "+string(test.det), func(t *testing.T) {
			t.Parallel()
			inBubble(t, plan{model: sim.Config{Faults: test.faults}}, func(w *world) {
				h := hello()
				h.Detection = test.det
				p := w.call(h, manner{})
				p.say(speech("question", 16000))
				gen := p.turn(transport.StateStart).Generation
				if test.whole {
					p.ended(transport.TurnComplete)
					p.hears(gen, speech("question", 24000))
				} else {
					p.turn(transport.StateEnd)
				}
				p.quietly()
				p.say(speech("over", 16000))
				p.turn(transport.StateStart)
				p.turn(transport.StateEnd)
			})
		})
	}
}

// quietly waits until a second passed without audio.
func (p *phone) quietly() {
	p.t.Helper()
	for n := -1; n != len(p.after(transport.MessageAudio)); {
		n = len(p.after(transport.MessageAudio))
		time.Sleep(time.Second)
	}
}

// TestEmptyTurns answers nothing twice; the third turn is answered.
func TestEmptyTurns(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{model: sim.Config{Faults: sim.Faults{EmptyTurns: 2}}}, func(w *world) {
		p := w.call(hello(), manner{})
		for range 2 {
			p.say(speech("over", 16000))
			time.Sleep(5 * time.Second)
		}
		if n := len(p.after(transport.MessageTurn)); n != 0 {
			t.Errorf("%d turns were announced\n%s", n, p.story())
		}
		p.say(speech("question", 16000))
		gen := p.turn(transport.StateStart).Generation
		p.ended(transport.TurnComplete)
		p.hears(gen, speech("question", 24000))
	})
}

// TestLateAudio sends more of a reply that was interrupted: it is not heard.
func TestLateAudio(t *testing.T) {
	for name, faults := range map[string]sim.Faults{
		"behind": {LateAudioChunks: 5}, "beside": {AudioWithInterrupted: true},
	} {
		for _, d := range []transport.Detection{transport.DetectionGatewayVAD, transport.DetectionModelVAD} {
			t.Run(name+" "+string(d), func(t *testing.T) {
				t.Parallel()
				inBubble(t, plan{model: sim.Config{Faults: faults}}, func(w *world) {
					h := hello()
					h.Detection = d
					p := w.call(h, manner{})
					p.say(speech("long", 16000))
					gen := p.turn(transport.StateStart).Generation
					p.played(gen, 2*time.Second)
					p.say(speech("over", 16000))
					p.ended(transport.TurnInterrupted)
					next := p.turn(transport.StateStart).Generation
					p.ended(transport.TurnComplete)
					p.hears(next, speech("over", 24000))
					want := len(speech("over", 24000))
					if got := len(p.sound(next)); got > want+24000 {
						t.Errorf("the second reply has %d samples, and should have %d and some silence", got, want)
					}
				})
			})
		}
	}
}

// TestFrozenModel stops in mid-sentence for good: the reply is ended, the call is not, and the
// caller may still hang up.
func TestFrozenModel(t *testing.T) {
	for name, faults := range map[string]sim.Faults{
		"in a reply": {FreezeAfterChunks: 3}, "when interrupted": {FreezeAfterInterrupted: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, plan{model: sim.Config{Faults: faults, FixedReply: speech("long", 24000)}}, func(w *world) {
				p := w.call(hello(), manner{})
				p.say(speech("question", 16000))
				gen := p.turn(transport.StateStart).Generation
				if faults.FreezeAfterInterrupted {
					p.played(gen, 2*time.Second)
					p.say(speech("over", 16000))
				}
				p.turn(transport.StateEnd)
				p.say(speech("over", 16000))
				time.Sleep(10 * time.Second)
				p.send(transport.Event{Kind: transport.EventBye})
				p.over(transport.ReasonCallerHungUp, "")
			})
		})
	}
}

// TestHastyEnds announces the end of every connection as it begins: the model is not dialled
// without a pause, and turns are answered all the same: a reply that a connection does not live to
// give is given on by the next.
func TestHastyEnds(t *testing.T) {
	var counted *countedDialer
	p := plan{model: sim.Config{Scenario: scenario(t, `on ready: send {"goAway":{"timeLeft":"3s"}}`)},
		between: func(d live.Dialer) live.Dialer {
			counted = &countedDialer{Dialer: d}
			return counted
		}}
	inBubble(t, p, func(w *world) {
		p := w.call(hello(), manner{})
		for range 3 {
			p.answered("hello", 8*time.Second)
			for p.turn(transport.StateEnd).TurnEnd != transport.TurnComplete {
				p.turn(transport.StateStart)
			}
		}
		n, took := counted.n.Load(), p.now()
		if most := 4 + int64(took/time.Second); n < 5 || n > most {
			t.Errorf("the model was dialled %d times in %v, want 5 to %d", n, took, most)
		}
	})
}

// countedDialer counts dials, and has no more after too many.
type countedDialer struct {
	live.Dialer
	n atomic.Int64
}

func (d *countedDialer) Dial(ctx context.Context, s live.Setup) (live.Conn, error) {
	if d.n.Add(1) > 1000 {
		return nil, errors.New("enough")
	}
	return d.Dialer.Dial(ctx, s)
}
