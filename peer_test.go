package voicegw_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
)

// TestBadHello is refused in words and code; the lines stay free.
func TestBadHello(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{gw: voicegw.Config{CallsMax: 1}}, func(w *world) {
		h := hello()
		h.InputRateHz = 1000
		if r := w.refused(h); r.Reason != transport.ReasonBadHello || !strings.Contains(r.Message, "1000") {
			t.Errorf("refused by %v", r)
		}
		w.settled()
		if n := len(w.model.Connections()); n != 0 {
			t.Errorf("the model was dialled %d times", n)
		}
		w.call(hello(), manner{})
	})
}

// TestPeerErrors breaks the protocol in every way a client can.
func TestPeerErrors(t *testing.T) {
	tests := []struct {
		name   string
		opcode byte
		bytes  []byte
		reason transport.Reason
		words  string
	}{
		{"odd audio", opBinary, make([]byte, 321), transport.ReasonBadAudio, "321 bytes"},
		{"long audio", opBinary, make([]byte, 2*16002), transport.ReasonBadAudio, "16002 samples"},
		{"long message", opText, []byte(strings.Repeat(" ", 200<<10)), transport.ReasonMessageTooBig, ""},
		{"no JSON", opText, []byte("hello?"), transport.ReasonBadJSON, ""},
		{"second hello", opText, []byte(`{"type":"hello","version":1,"input_rate":16000,"output_rate":24000}`),
			transport.ReasonSecondHello, ""},
		{"bad ack", opText, []byte(`{"type":"ack","generation":-1,"played_ms":100}`), transport.ReasonBadJSON, "generation"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, plan{gw: greets()}, func(w *world) {
				p := w.call(hello(), manner{})
				p.turn(transport.StateStart)
				if err := p.tap.raw(test.opcode, test.bytes); err != nil {
					w.t.Fatal(err)
				}
				p.over(test.reason, test.words)
				w.settled()
				w.greeted()
			})
		})
	}
}

// TestTyped answers typed text, and keys of a phone, as turns of the caller.
func TestTyped(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{}, func(w *world) {
		p := w.call(hello(), manner{})
		for _, ev := range []transport.Event{{Kind: transport.EventText, Text: "hi"},
			{Kind: transport.EventDTMF, Text: "12#"}, {Kind: transport.EventDTMF, Text: "7"}} {
			p.send(ev)
			p.turn(transport.StateStart)
			p.turn(transport.StateEnd)
		}
		p.send(transport.Event{Kind: transport.EventToolResult, ID: "t", Text: "1"})
		if h := p.kind(transport.MessageError); h.Code != "no_tool_call" || h.Fatal {
			t.Errorf("a result that nobody asked for is answered by %+v", h.Message)
		}
		var texts []string
		for _, text := range w.model.Connections()[0].Texts {
			texts = append(texts, text.Text)
		}
		want := []string{"hi", "The caller pressed 12# on the phone.", "The caller pressed 7 on the phone."}
		if !slices.Equal(texts, want) {
			t.Errorf("the model was told %q, want %q", texts, want)
		}
	})
}

// slow is a model whose dial waits until it is let through.
type slow struct {
	live.Dialer
	begun, gate chan struct{}
}

func (s *slow) Dial(ctx context.Context, setup live.Setup) (live.Conn, error) {
	s.begun <- struct{}{}
	select {
	case <-s.gate:
		return s.Dialer.Dial(ctx, setup)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// slowly is a plan whose model is slow.
func slowly() (plan, *slow) {
	s := &slow{}
	return plan{
		before:  func() { s.begun, s.gate = make(chan struct{}, 9), make(chan struct{}) }, // the bubble's own
		between: func(d live.Dialer) live.Dialer { s.Dialer = d; return s },
	}, s
}

// TestLeavesWhileDialling gives up the dial, however the caller leaves.
func TestLeavesWhileDialling(t *testing.T) {
	for name, leave := range map[string]func(*tap) error{
		"bye":  func(t *tap) error { return t.raw(opText, []byte(`{"type":"bye"}`)) },
		"line": func(t *tap) error { t.cut(); return nil },
		"odd":  func(t *tap) error { return t.raw(opBinary, []byte{1}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, model := slowly()
			inBubble(t, p, func(w *world) {
				tap := &tap{dial: w.dial}
				failed := make(chan error, 1)
				go func() {
					_, err := ws.Dial(context.Background(), w.url, hello(), ws.DialConfig{DialContext: tap.connect})
					failed <- err
				}()
				<-model.begun
				began := time.Now()
				if err := leave(tap); err != nil {
					w.t.Fatal(err)
				}
				w.settled()
				if took := time.Since(began); took > 3*time.Second {
					t.Errorf("the dial was given up after %v", took)
				}
				if err := <-failed; err == nil {
					t.Error("the call was accepted")
				}
			})
		})
	}
}

// TestMutedEarly mutes while the model is dialled: nothing goes up from the first frame.
func TestMutedEarly(t *testing.T) {
	t.Parallel()
	p, model := slowly()
	inBubble(t, p, func(w *world) {
		tap := &tap{dial: w.dial}
		h := hello()
		h.Detection = transport.DetectionModelVAD
		go func() {
			<-model.begun
			_ = tap.raw(opText, []byte(`{"type":"mute","on":true}`))
			_ = tap.raw(opText, []byte(`{"type":"text","text":"hello?"}`))
			time.Sleep(time.Second)
			close(model.gate)
		}()
		c, err := ws.Dial(context.Background(), w.url, h, ws.DialConfig{DialContext: tap.connect})
		if err != nil {
			w.t.Fatal(err)
		}
		var m transport.Message
		if err := c.Recv(context.Background(), &m); err != nil || m.Kind != transport.MessageTurn {
			t.Errorf("what was asked before ready was answered by %+v, %v", m, err)
		}
		if err := c.SendAudio(context.Background(), make([]int16, 16000)); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(time.Second)
		if n := w.connection(1).Samples; n != 0 {
			t.Errorf("%d samples went to the model", n)
		}
		if err := c.SendEvent(context.Background(), &transport.Event{Kind: transport.EventMute}); err != nil {
			w.t.Fatal(err)
		}
		if err := c.SendAudio(context.Background(), make([]int16, 16000)); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(time.Second)
		if n := w.connection(1).Samples; n != 16000 {
			t.Errorf("%d samples went to the model, want 16000", n)
		}
		_ = c.Close()
	})
}

// TestLeavesInReply hangs up, or breaks, in the middle of a reply.
func TestLeavesInReply(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*phone){
		"bye":   func(p *phone) { p.send(transport.Event{Kind: transport.EventBye}) },
		"line":  func(p *phone) { p.tap.cut() },
		"close": func(p *phone) { _ = p.client.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, plan{gw: greets(), model: long()}, func(w *world) {
				p, other := w.call(hello(), manner{}), w.call(hello(), manner{})
				p.played(p.turn(transport.StateStart).Generation, time.Second)
				leave(p)
				w.eventually("one call is left", func() bool { return w.gw.Calls() == 1 })
				w.eventually("its model is let go", func() bool {
					return !w.connection(1).Open || !w.connection(2).Open
				})
				other.ended(transport.TurnComplete)
				other.hears(1, speech("long", 24000))
			})
		})
	}
}

// stopsReading is a peer that takes nothing more, and says it heard it all.
func stopsReading(w *world) {
	line := w.dial
	if !w.bubble {
		w.dial = narrowly
	}
	p := w.call(hello(), manner{noRead: true, blind: true})
	w.dial = line
	began := time.Now()
	other := w.call(hello(), manner{})
	other.turn(transport.StateStart)
	w.eventually("the stalled call is over", func() bool { return w.gw.Calls() == 1 })
	w.t.Logf("noticed after %v", time.Since(began).Round(time.Millisecond))
	other.ended(transport.TurnComplete)
	if w.bubble {
		other.hears(1, speech("long", 24000))
	}
	p.hangUp()
}

// TestStopsReading ends the call of a peer that takes nothing more; the other call does not notice.
func TestStopsReading(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{gw: greets(), model: long(), narrow: true}, stopsReading)
}

// TestStopsReadingOnLoopback is the same over real sockets.
func TestStopsReadingOnLoopback(t *testing.T) {
	p := plan{gw: greets(), model: long(), narrow: true}
	p.gw.WS.WriteTimeout = 2 * time.Second
	stopsReading(onLoopback(t, p))
}

// TestAcks hears the reply to its end whatever is acknowledged, and never gets more than the budget
// ahead.
func TestAcks(t *testing.T) {
	lie := func(events ...transport.Event) func(*phone) {
		return func(p *phone) {
			for range 50 {
				for _, ev := range events {
					ev.Kind = transport.EventAck
					p.send(ev)
				}
				time.Sleep(100 * time.Millisecond)
			}
		}
	}
	for name, test := range map[string]struct {
		manner manner
		lies   func(*phone)
	}{
		"never":           {manner{noAcks: true}, lie()},
		"never sent":      {manner{}, lie(transport.Event{Generation: 7, PlayedMS: 5000}, transport.Event{Generation: 0})},
		"more than sent":  {manner{}, lie(transport.Event{Generation: 1, PlayedMS: transport.PlayedMSMax})},
		"nothing, always": {manner{}, lie(transport.Event{Generation: 1})},
		"cleared unasked": {manner{}, lie(transport.Event{Generation: 1, PlayedMS: 20, Cleared: true})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, plan{gw: greets()}, func(w *world) {
				p := w.call(hello(), test.manner)
				p.turn(transport.StateStart)
				test.lies(p)
				p.ended(transport.TurnComplete)
				p.say(speech("over", 16000))
				gen := p.turn(transport.StateStart).Generation
				test.lies(p) // of a generation that is stale now
				p.ended(transport.TurnComplete)
				if test.manner.noAcks {
					p.spread(gen, 20)
				} else {
					p.hears(gen, speech("over", 24000))
				}
			})
		})
	}
}

// spread wants never more than budget frames of a generation within two seconds: what is not
// acknowledged counts as played after that.
func (p *phone) spread(generation uint64, budget int) {
	p.t.Helper()
	var frames []heard
	for _, h := range p.all() {
		if h.Kind == transport.MessageAudio && h.Generation == generation {
			frames = append(frames, h)
		}
	}
	if len(frames) <= budget {
		p.t.Fatalf("only %d frames", len(frames))
	}
	for i := budget; i < len(frames); i++ {
		if d := frames[i].at - frames[i-budget].at; d < 2*time.Second {
			p.t.Fatalf("%d frames came within %v", budget+1, d)
		}
	}
}

// floods are what a client may send without end.
func floods() map[string]func(p *phone, n int) error {
	second := make([]int16, 16000)
	event := func(p *phone, ev transport.Event) error { return p.client.SendEvent(context.Background(), &ev) }
	return map[string]func(p *phone, n int) error{
		"audio":   func(p *phone, _ int) error { return p.client.SendAudio(context.Background(), second) },
		"mute":    func(p *phone, n int) error { return event(p, transport.Event{Kind: transport.EventMute, On: n%2 == 0}) },
		"text":    func(p *phone, _ int) error { return event(p, transport.Event{Kind: transport.EventText, Text: "x"}) },
		"unknown": func(p *phone, _ int) error { return p.tap.raw(opText, []byte(`{"type":"spam"}`)) },
	}
}

// TestFlood sends faster than anybody speaks. It is read at its own expense: the other call does
// not notice, and the flood itself ends well.
func TestFlood(t *testing.T) {
	for name, send := range floods() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, plan{gw: greets(), model: long()}, func(w *world) {
				p, other := w.call(hello(), manner{noMic: true}), w.call(hello(), manner{})
				messages := 10_000
				if name == "audio" || name == "text" {
					messages = 100
				}
				for n := range messages {
					if err := send(p, n); err != nil {
						w.t.Fatal(err)
					}
				}
				other.ended(transport.TurnComplete)
				other.hears(1, speech("long", 24000))
				p.send(transport.Event{Kind: transport.EventBye})
				p.over(transport.ReasonCallerHungUp, "")
			})
		})
	}
}

// TestFloodOnLoopback floods a real socket with sound for as long as another call needs to be
// greeted and answered.
func TestFloodOnLoopback(t *testing.T) {
	w := onLoopback(t, plan{gw: greets()})
	p := w.call(hello(), manner{noMic: true})
	var flooding sync.WaitGroup
	flooding.Go(func() {
		for n := 0; floods()["audio"](p, n) == nil; n++ {
		}
	})
	w.greeted()
	p.hangUp()
	flooding.Wait()
}

// TestFloodIsPaced reads a hundred seconds of sound, sent at once, in
// (100 - 10) / 4 seconds.
func TestFloodIsPaced(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{}, func(w *world) {
		p := w.call(hello(), manner{noMic: true})
		began := time.Now()
		for range 100 {
			if err := p.client.SendAudio(context.Background(), make([]int16, 16000)); err != nil {
				w.t.Fatal(err)
			}
		}
		p.send(transport.Event{Kind: transport.EventBye})
		p.over(transport.ReasonCallerHungUp, "")
		if took := time.Since(began); took < 22*time.Second || took > 24*time.Second {
			t.Errorf("100 s of sound were taken in %v", took)
		}
	})
}

// TestSilence ends a call from which nothing comes, and one that lasts too long; one whose
// microphone sends silence goes on meanwhile.
func TestSilence(t *testing.T) {
	t.Parallel()
	p := plan{}
	p.gw.Net.MaxDuration = 2 * time.Minute
	inBubble(t, p, func(w *world) {
		silent, quiet := w.call(hello(), manner{noMic: true, noAcks: true}), w.call(hello(), manner{})
		began := time.Now()
		silent.over(transport.ReasonIdleTimeout, "Nothing was heard from your side")
		if took := time.Since(began); took < time.Minute || took > 70*time.Second {
			t.Errorf("silence was ended after %v", took)
		}
		quiet.over(transport.ReasonMaxDuration, "longest duration")
		if took := time.Since(began); took < 2*time.Minute || took > 125*time.Second {
			t.Errorf("the longest call lasted %v", took)
		}
	})
}
