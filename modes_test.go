package voicegw_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// withSession is a configuration whose sessions come out of the channel.
func withSession(cfg voicegw.Config) (voicegw.Config, <-chan *voicegw.Session) {
	ch := make(chan *voicegw.Session, 8)
	cfg.Hooks.Running = func(s *voicegw.Session) { ch <- s }
	return cfg, ch
}

// heardOf is how many samples the model heard on its first connection.
func (w *world) heardOf() int64 { return w.connection(1).Samples }

// TestHold pauses the reply, hears nothing of what is said meanwhile, and goes on where it stopped.
func TestHold(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{gw: greets()}, func(w *world) {
		p := w.call(hello(), manner{})
		p.say(speech("long", 16000))
		p.turn(transport.StateEnd) // the greeting, interrupted or not
		reply := p.turn(transport.StateStart)
		p.played(reply.Generation, 2*time.Second)
		p.send(transport.Event{Kind: transport.EventHold, On: true})
		p.state(transport.MessageHold, transport.StateStart)
		p.turn(transport.StatePause)
		before := w.heardOf()
		p.say(speech("question", 16000))
		time.Sleep(8 * time.Second)
		if after := w.heardOf(); after != before {
			t.Errorf("the model heard %d samples during the hold", after-before)
		}
		p.send(transport.Event{Kind: transport.EventHold})
		p.state(transport.MessageHold, transport.StateStop)
		p.turn(transport.StateResume)
		p.ended(transport.TurnComplete)
		p.hears(reply.Generation, speech("long", 24000))
	})
}

// TestConsent does not listen to a caller who has not agreed, and ends the call of one who does
// not.
func TestConsent(t *testing.T) {
	t.Parallel()
	cfg := voicegw.Config{}
	cfg.Net.Consent = true
	cfg.Net.ConsentWait = 20 * time.Second
	inBubble(t, plan{gw: cfg}, func(w *world) {
		p := w.call(hello(), manner{})
		p.state(transport.MessageConsent, transport.StateStart)
		p.say(speech("question", 16000))
		time.Sleep(6 * time.Second)
		if n := w.heardOf(); n != 0 {
			t.Errorf("the model heard %d samples before the caller agreed", n)
		}
		p.send(transport.Event{Kind: transport.EventConsent, On: true})
		p.state(transport.MessageConsent, transport.StateStop)
		p.say(speech("hello", 16000))
		reply := p.turn(transport.StateStart)
		p.turn(transport.StateEnd)
		p.hears(reply.Generation, speech("hello", 24000))
		p.send(transport.Event{Kind: transport.EventConsent})
		p.state(transport.MessageConsent, transport.StateStart)
		p.over(transport.ReasonNoConsent, "")
	})
}

// TestHostConsents: a host agrees for a caller who cannot, and withdraws that, as in a telephone call.
func TestHostConsents(t *testing.T) {
	t.Parallel()
	cfg, sessions := withSession(voicegw.Config{})
	cfg.Net.Consent = true
	inBubble(t, plan{gw: cfg}, func(w *world) {
		p := w.call(hello(), manner{})
		s := <-sessions
		p.state(transport.MessageConsent, transport.StateStart)
		p.say(speech("question", 16000))
		time.Sleep(6 * time.Second)
		if n := w.heardOf(); n != 0 {
			t.Errorf("the model heard %d samples before the host agreed", n)
		}
		if err := s.Consent(true); err != nil {
			t.Fatal(err)
		}
		p.state(transport.MessageConsent, transport.StateStop)
		p.say(speech("hello", 16000))
		p.turn(transport.StateStart)
		p.turn(transport.StateEnd)
		heard := w.heardOf()
		if err := s.Consent(false); err != nil {
			t.Fatal(err)
		}
		p.state(transport.MessageConsent, transport.StateStart)
		p.say(speech("question", 16000))
		time.Sleep(6 * time.Second)
		if n := w.heardOf(); n != heard {
			t.Errorf("the model heard %d samples after the host withdrew consent", n-heard)
		}
	})
}

// TestProtectedInput gives what is pressed to the host alone.
func TestProtectedInput(t *testing.T) {
	t.Parallel()
	cfg, sessions := withSession(voicegw.Config{})
	entered := make(chan string, 4)
	cfg.Hooks.Digits = func(_ *voicegw.Session, digits string) { entered <- digits }
	inBubble(t, plan{gw: cfg}, func(w *world) {
		p := w.call(hello(), manner{})
		s := <-sessions
		if err := s.Protect(true); err != nil {
			t.Fatal(err)
		}
		p.state(transport.MessageProtected, transport.StateStart)
		p.send(transport.Event{Kind: transport.EventDTMF, Text: "4111#"})
		if got := <-entered; got != "4111#" {
			t.Errorf("the host got %q", got)
		}
		p.say(speech("hello", 16000))
		p.send(transport.Event{Kind: transport.EventText, Text: "my number is 4111"})
		time.Sleep(5 * time.Second)
		p.send(transport.Event{Kind: transport.EventDTMF, Text: "42"}) // not finished when the protection ends
		time.Sleep(time.Second)
		if err := s.Protect(false); err != nil {
			t.Fatal(err)
		}
		p.state(transport.MessageProtected, transport.StateStop)
		time.Sleep(10 * time.Second)
		c := w.connection(1)
		if len(c.Texts) != 0 || c.Samples != 0 {
			t.Errorf("the model was told %v and heard %d samples", c.Texts, c.Samples)
		}
		p.send(transport.Event{Kind: transport.EventDTMF, Text: "5#"})
		p.turn(transport.StateStart)
		if c := w.connection(1); len(c.Texts) != 1 || !strings.Contains(c.Texts[0].Text, "5#") {
			t.Errorf("after it the model was told %v", c.Texts)
		}
	})
}

// TestTypedOverReply interrupts the reply.
func TestTypedOverReply(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{gw: greets(), model: long()}, func(w *world) {
		p := w.call(hello(), manner{noMic: true})
		greeting := p.turn(transport.StateStart)
		p.played(greeting.Generation, time.Second)
		p.send(transport.Event{Kind: transport.EventText, Text: "stop"})
		p.ended(transport.TurnInterrupted)
		if next := p.turn(transport.StateStart); next.Generation <= greeting.Generation {
			t.Errorf("the answer is generation %d after %d", next.Generation, greeting.Generation)
		}
	})
}

// TestFirmGreeting cannot be interrupted; what was said over it is heard then.
func TestFirmGreeting(t *testing.T) {
	t.Parallel()
	cfg := greets()
	cfg.Net.GreetingFirm = true
	inBubble(t, plan{gw: cfg, model: long()}, func(w *world) {
		p := w.call(hello(), manner{})
		greeting := p.turn(transport.StateStart)
		p.say(speech("over", 16000))
		p.ended(transport.TurnComplete)
		p.hears(greeting.Generation, speech("long", 24000))
		for _, h := range p.all() {
			if h.Kind == transport.MessageTurn && h.State == transport.StatePause {
				t.Errorf("the greeting was paused at %v", h.at)
			}
		}
	})
}

type city struct {
	City string `json:"city" jsonschema:"the name of the city"`
}

type sky struct {
	Celsius float64 `json:"celsius"`
}

// TestTool lets the model call a typed function, which knows its session.
func TestTool(t *testing.T) {
	t.Parallel()
	call := func(ctx context.Context, in city) (sky, error) {
		if s, ok := voicegw.SessionOf(ctx); !ok || s.ID() == "" {
			t.Error("the function does not know its session")
		}
		return sky{float64(len(in.City))}, nil
	}
	tool, err := voicegw.NewTool("weather", "tells the weather of a city", call)
	if err != nil {
		t.Fatal(err)
	}
	script := scenario(t, `on turn 1: call weather {"city":"Oslo"}`)
	cfg := voicegw.Config{Tools: []voicegw.Tool{tool}}
	inBubble(t, plan{gw: cfg, model: sim.Config{Scenario: script}}, func(w *world) {
		p := w.call(hello(), manner{})
		p.say(speech("question", 16000))
		p.turn(transport.StateStart)
		p.turn(transport.StateEnd)
		c := w.connection(1)
		if len(c.ToolReplies) != 1 || !strings.Contains(string(c.ToolReplies[0].Response), `"celsius":4`) {
			t.Errorf("the model was told %+v", c.ToolReplies)
		}
		if !strings.Contains(string(c.Setup), "the name of the city") {
			t.Errorf("the setup does not describe the argument: %s", c.Setup)
		}
	})
}

// TestPeerTool lets the caller's side answer.
func TestPeerTool(t *testing.T) {
	t.Parallel()
	cfg := voicegw.Config{Tools: []voicegw.Tool{{Name: "get_time", Description: "tells the time"}}}
	inBubble(t, plan{gw: cfg, model: sim.Config{Scenario: scenario(t, "on turn 1: call get_time {}")}}, func(w *world) {
		p := w.call(hello(), manner{})
		p.say(speech("question", 16000))
		call := p.kind(transport.MessageToolCall)
		if call.Name != "get_time" || call.Text != "{}" {
			t.Errorf("the peer is asked %+v", call.Message)
		}
		p.send(transport.Event{Kind: transport.EventToolResult, ID: call.ID, Text: `"noon"`})
		p.turn(transport.StateStart)
		if c := w.connection(1); len(c.ToolReplies) != 1 || !strings.Contains(string(c.ToolReplies[0].Response), "noon") {
			t.Errorf("the model was told %+v", c.ToolReplies)
		}
	})
}

// TestBadTools ends every call of a function, whatever the function does.
func TestBadTools(t *testing.T) {
	big := json.RawMessage(`"` + strings.Repeat("x", 10<<20) + `"`)
	gives := func(out json.RawMessage) func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return func(context.Context, json.RawMessage) (json.RawMessage, error) { return out, nil }
	}
	tests := map[string]struct {
		call func(context.Context, json.RawMessage) (json.RawMessage, error)
		want string
	}{
		"panics": {func(context.Context, json.RawMessage) (json.RawMessage, error) { panic("oh") }, "failed"},
		"blocks": {func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			<-ctx.Done()
			time.Sleep(time.Second)
			return nil, nil
		}, "too long"},
		"10 MB":    {gives(big), "bytes"},
		"not JSON": {gives(json.RawMessage("{")), "not JSON"},
		"nothing":  {gives(nil), "{}"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := voicegw.Config{Tools: []voicegw.Tool{{Name: "weather", Description: "x", Call: test.call}}}
			inBubble(t, plan{gw: cfg, model: sim.Config{Scenario: scenario(t, "on turn 1: call weather {}")}}, func(w *world) {
				p := w.call(hello(), manner{})
				p.say(speech("question", 16000))
				p.turn(transport.StateStart)
				c := w.connection(1)
				if len(c.ToolReplies) != 1 || !strings.Contains(string(c.ToolReplies[0].Response), test.want) {
					t.Errorf("the model was told %+v, want %q", c.ToolReplies, test.want)
				}
			})
		})
	}
}

// TestToolBargedOver ends a call over which the caller speaks: the model cancels it, or it is
// answered all the same.
func TestToolBargedOver(t *testing.T) {
	t.Parallel()
	cfg := voicegw.Config{Tools: []voicegw.Tool{{Name: "weather", Description: "x",
		Call: func(context.Context, json.RawMessage) (json.RawMessage, error) {
			time.Sleep(6 * time.Second)
			return json.RawMessage(`{}`), nil
		}}}}
	inBubble(t, plan{gw: cfg, model: sim.Config{Scenario: scenario(t, "on turn 1: call weather {}")}}, func(w *world) {
		p := w.call(hello(), manner{})
		p.say(speech("question", 16000))
		p.state(transport.MessageSpeech, transport.StateStop)
		time.Sleep(time.Second)
		p.say(speech("hello", 16000))
		time.Sleep(12 * time.Second)
		c := w.connection(1)
		if len(c.Calls) != 1 || c.Calls[0].Ended == "" {
			t.Errorf("the call of the tool ended as %+v", c.Calls)
		}
	})
}

// TestHandOff tells the peer who takes the call.
func TestHandOff(t *testing.T) {
	t.Parallel()
	cfg, sessions := withSession(voicegw.Config{})
	inBubble(t, plan{gw: cfg}, func(w *world) {
		p := w.call(hello(), manner{})
		s := <-sessions
		if err := s.HandOff("a\r\nb"); err == nil {
			t.Error("an address with a line break was taken")
		}
		if err := s.HandOff("+4912345"); err != nil {
			t.Fatal(err)
		}
		if to := p.kind(transport.MessageTransfer); to.Text != "+4912345" {
			t.Errorf("the peer is sent to %q", to.Text)
		}
		p.over(transport.ReasonTransferred, "")
		<-s.Done()
		if err := s.Hold(true); err != voicegw.ErrOver {
			t.Errorf("a hold of a call that is over: %v", err)
		}
	})
}

// TestSilentCaller is asked whether anybody is there, and then the call ends.
func TestSilentCaller(t *testing.T) {
	t.Parallel()
	cfg := able()
	cfg.Greeting = ""
	cfg.Net.RepromptAfter = 10 * time.Second
	cfg.Prompts[voicenets.Reprompt] = voicegw.Prompt{PCM: audiotest.Speech("question").Samples, RateHz: 16000}
	inBubble(t, plan{gw: cfg}, func(w *world) {
		p := w.call(hello(), manner{})
		ask := p.turn(transport.StateStart)
		if ask.at < 9*time.Second || ask.at > 12*time.Second {
			t.Errorf("the caller was asked after %v", ask.at)
		}
		p.turn(transport.StateEnd)
		p.hears(ask.Generation, speech("question", 24000))
		bye := p.turn(transport.StateStart)
		p.over(transport.ReasonCallerSilent, "")
		p.hears(bye.Generation, speech("hello", 24000))
	})
}

// TestPushToTalk listens while the button is pressed.
func TestPushToTalk(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{}, func(w *world) {
		h := hello()
		h.Detection = transport.DetectionPush
		p := w.call(h, manner{})
		if got := p.client.Ready().Detection; got != h.Detection {
			t.Errorf("ready says %q", got)
		}
		p.say(speech("question", 16000))
		time.Sleep(6 * time.Second)
		if n := w.heardOf(); n != 0 {
			t.Errorf("the model heard %d samples while the button was not pressed", n)
		}
		p.send(transport.Event{Kind: transport.EventTalk, On: true})
		p.say(speech("hello", 16000))
		time.Sleep(3 * time.Second)
		p.send(transport.Event{Kind: transport.EventTalk})
		reply := p.turn(transport.StateStart)
		p.turn(transport.StateEnd)
		p.hears(reply.Generation, speech("hello", 24000))
	})
}

// TestReadyNamesTheDetection wants ready to name the detection that the call has: what the hello
// asks for, or else what the gateway is set to.
func TestReadyNamesTheDetection(t *testing.T) {
	t.Parallel()
	const none, gateway, model, push = transport.DetectionDefault, transport.DetectionGatewayVAD,
		transport.DetectionModelVAD,
		transport.DetectionPush
	for _, c := range []struct {
		set         voicenets.Detection
		hello, want transport.Detection
	}{
		{voicenets.GatewayVAD, none, gateway}, {voicenets.GatewayVAD, gateway, gateway}, {voicenets.GatewayVAD, model, model},
		{voicenets.GatewayVAD, push, push},
		{voicenets.ModelVAD, none, model}, {voicenets.ModelVAD, gateway, gateway}, {voicenets.ModelVAD, model, model},
		{voicenets.ModelVAD, push, push},
	} {
		inBubble(t, plan{gw: voicegw.Config{Detection: c.set}}, func(w *world) {
			h := hello()
			h.Detection = c.hello
			if got := w.call(h, manner{}).client.Ready().Detection; got != c.want {
				t.Errorf("set to %v and asked for %q, ready says %q; want %q", c.set, c.hello, got, c.want)
			}
		})
	}
}

// TestRecordOfCall tells what became of a call, to whoever asked.
func TestRecordOfCall(t *testing.T) {
	t.Parallel()
	records := make(chan voicegw.Record, 2)
	cfg := voicegw.Config{Hooks: voicegw.Hooks{
		Begin: func(_ context.Context, h *transport.Hello) (*voicegw.Plan, error) {
			if h.Params["customer"] == "" {
				return nil, &transport.Refused{Reason: transport.ReasonUnauthorized, Message: "Who are you?"}
			}
			return &voicegw.Plan{Labels: map[string]string{"customer": h.Params["customer"]}}, nil
		},
		Ended: func(r voicegw.Record) { records <- r },
	}}
	inBubble(t, plan{gw: cfg}, func(w *world) {
		if r := w.refused(hello()); r.Reason != transport.ReasonUnauthorized || !strings.Contains(r.Message, "Who are you?") {
			t.Errorf("a caller who says nothing is refused by %+v", r)
		}
		h := hello()
		h.Params = map[string]string{"customer": "12"}
		p := w.call(h, manner{})
		p.say(speech("hello", 16000))
		p.turn(transport.StateStart)
		p.turn(transport.StateEnd)
		p.send(transport.Event{Kind: transport.EventBye})
		p.over(transport.ReasonCallerHungUp, "")
		r := <-records
		if r.Labels["customer"] != "12" || r.Replies != 1 || r.Reason != "caller_hung_up" || r.HeardMS < 1000 ||
			r.Endpoint != "ws" {
			t.Errorf("the record is %+v", r)
		}
		if slices.Contains([]string{r.Call, r.Client}, "hello") {
			t.Error("the record has words")
		}
	})
}

// able is a gateway with everything that helps a caller: prompts and tools.
func able() voicegw.Config {
	cfg := greets()
	cfg.Prompts = map[voicenets.Prompt]voicegw.Prompt{
		voicenets.Fallback: {PCM: speech("cough", 16000), RateHz: 16000},
		voicenets.Goodbye:  {PCM: speech("hello", 16000), RateHz: 16000},
	}
	cfg.Tools = []voicegw.Tool{{Name: "weather", Description: "tells the weather",
		Call: func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(`{"sky":"blue"}`), nil
		}}}
	return cfg
}
