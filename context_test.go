package voicegw_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// takesContent is a model that takes content during a call.
const takesContent = "gemini-2.5-flash-native-audio-latest"

// texts are what a connection to the model got in words.
func texts(c sim.Connection) string {
	var list []string
	for _, text := range c.Texts {
		list = append(list, text.Kind+" "+text.Role+": "+text.Text)
	}
	return strings.Join(list, "\n")
}

// repliesTo is how many replies a peer heard begin.
func repliesTo(p *phone) (n int) {
	for _, h := range p.all() {
		if h.Kind == transport.MessageTurn && h.State == transport.StateStart {
			n++
		}
	}
	return n
}

// TestContext lets the model know something and does not have it answer, at once when it is idle.
func TestContext(t *testing.T) {
	t.Parallel()
	cfg, sessions := withSession(voicegw.Config{Setup: live.Setup{Model: takesContent}})
	inBubble(t, plan{gw: cfg}, func(w *world) {
		p := w.call(hello(), manner{})
		s := <-sessions
		for _, role := range []transport.Role{transport.RoleSystem, transport.RoleUser, transport.RoleAssistant} {
			if err := s.Context(context.Background(), role, "words of the "+string(role)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(10 * time.Second)
		const want = "content user: (Instructions, which the caller did not say and which need no answer: words of the " +
			"system)\ncontent user: words of the user\ncontent model: words of the assistant"
		if got := texts(w.connection(1)); got != want {
			t.Errorf("the model got\n%s\nwant\n%s", got, want)
		}
		if n := repliesTo(p); n != 0 {
			t.Errorf("it answered %d times", n)
		}
		p.say(speech("question", 16000))
		p.ended(transport.TurnComplete)
	})
}

// TestContextWaits: what the model is to know interrupts no reply, stays before the text that comes
// after it, and goes with the next turn to a model that takes no content in a call.
func TestContextWaits(t *testing.T) {
	for _, model := range []string{takesContent, "gemini-3.1-flash-live"} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			cfg, sessions := withSession(greets())
			cfg.Setup.Model = model
			inBubble(t, plan{gw: cfg, model: long()}, func(w *world) {
				p := w.call(hello(), manner{})
				s := <-sessions
				p.ended(transport.TurnComplete)
				p.say(speech("question", 16000))
				p.turn(transport.StateStart)
				if err := s.Context(context.Background(), transport.RoleUser, "a note"); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				if textsOf(w, "a note") != 0 {
					t.Error("the model was told amid its reply")
				}
				p.ended(transport.TurnComplete)
				time.Sleep(5 * time.Second)
				idle := textsOf(w, "a note")
				p.send(transport.Event{Kind: transport.EventText, Text: "a question"})
				p.turn(transport.StateStart)
				got := texts(w.connection(1))
				switch {
				case model == takesContent && (idle != 1 || !strings.Contains(got, "content user: a note\ntext user: a question")):
					t.Errorf("the idle model got %d notes; at last\n%s", idle, got)
				case model != takesContent && (idle != 0 || !strings.Contains(got,
					"text user: (Context, which needs no answer: a note)\na question")):
					t.Errorf("the model that takes no content got %d notes; at last\n%s", idle, got)
				}
			})
		})
	}
}

// TestContextInTurn tells the model something in the caller's turn: at its beginning if it came
// before, and at once if it comes while the caller speaks.
func TestContextInTurn(t *testing.T) {
	t.Parallel()
	cfg, sessions := withSession(voicegw.Config{Setup: live.Setup{Model: "gemini-3.1-flash-live"}})
	inBubble(t, plan{gw: cfg}, func(w *world) {
		p := w.call(hello(), manner{})
		s := <-sessions
		note := func(text string) {
			if err := s.Context(context.Background(), transport.RoleSystem, text); err != nil {
				t.Fatal(err)
			}
		}
		note("one")
		p.say(speech("long", 16000))
		p.state(transport.MessageSpeech, transport.StateStart)
		time.Sleep(500 * time.Millisecond)
		note("two")
		time.Sleep(100 * time.Millisecond)
		var order []string
		for _, m := range w.connection(1).Messages {
			for _, what := range []string{"activityStart", "activityEnd", ": one)", ": two)"} {
				if strings.Contains(string(m), what) {
					order = append(order, what)
				}
			}
		}
		if got := strings.Join(order, " "); got != "activityStart : one) : two)" {
			t.Errorf("the model got %s", got)
		}
		p.ended(transport.TurnComplete)
	})
}

// TestContextMayNotLeave: context obeys the input gate as typed text does, in each of its ways to
// the model.
func TestContextMayNotLeave(t *testing.T) {
	for name, way := range waysToClose() {
		if name == "mute" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, sessions := withSession(voicegw.Config{Setup: live.Setup{Model: "gemini-3.1-flash-live"}})
			cfg.Net.Consent = way.never
			inBubble(t, plan{gw: cfg}, func(w *world) {
				p := w.call(hello(), manner{})
				s := <-sessions
				if way.never {
					p.send(transport.Event{Kind: transport.EventConsent, On: true})
					time.Sleep(time.Second)
				}
				for _, role := range []transport.Role{transport.RoleUser, transport.RoleAssistant} { // they wait for a turn
					if err := s.Context(context.Background(), role, "before"); err != nil {
						t.Fatal(err)
					}
				}
				way.shut(p, s)
				time.Sleep(time.Second)
				if err := s.Context(context.Background(), transport.RoleSystem, "meanwhile"); !errors.Is(err, voicegw.ErrTextLost) {
					t.Errorf("Context: %v", err)
				}
				if err := s.Prompt(context.Background(), "meanwhile"); !errors.Is(err, voicegw.ErrTextLost) {
					t.Errorf("Prompt: %v", err)
				}
				p.say(speech("question", 16000))
				time.Sleep(20 * time.Second)
				if got := textsOf(w, "before") + textsOf(w, "meanwhile"); got != 0 {
					t.Errorf("meanwhile the model got %s", texts(w.connection(1)))
				}
				way.open(p, s)
				time.Sleep(time.Second)
				p.say(speech("question", 16000))
				p.ended(transport.TurnComplete)
				want := 1 // message with both
				if way.never {
					want = 0
				}
				if got := textsOf(w, "before"); got != want || textsOf(w, "meanwhile") != 0 {
					t.Errorf("in the end the model got what came before %d times, want %d", got, want)
				}
			})
		})
	}
}

// TestContextIsRecalled: a connection that begins the conversation anew gets what the model was told
// as history, and not once more; what it was not told yet it gets then.
func TestContextIsRecalled(t *testing.T) {
	t.Parallel()
	cfg, sessions := withSession(voicegw.Config{Setup: live.Setup{Model: takesContent}})
	m := sim.Config{Scenario: scenario(t, "handles never\nconnection 1\non content 1 +1s: drop")}
	inBubble(t, plan{gw: cfg, model: m}, func(w *world) {
		p := w.call(hello(), manner{})
		s := <-sessions
		if err := s.Context(context.Background(), transport.RoleUser, "told"); err != nil {
			t.Fatal(err)
		}
		p.state(transport.MessageModel, transport.StateBack)
		time.Sleep(time.Second)
		c := w.connection(2)
		if len(c.History) != 1 || c.History[0].Text != "told" {
			t.Errorf("the new connection knows %v", c.History)
		}
	})
}

// TestContextLimits: a note of a wrong role or length is refused, and so is the one after 64.
func TestContextLimits(t *testing.T) {
	t.Parallel()
	cfg, sessions := withSession(voicegw.Config{Setup: live.Setup{Model: "gemini-3.1-flash-live"}})
	inBubble(t, plan{gw: cfg}, func(w *world) {
		p := w.call(hello(), manner{})
		s := <-sessions
		for _, c := range []struct {
			role transport.Role
			text string
		}{{"user", ""}, {"model", "x"}, {"user", strings.Repeat("x", transport.TextCharsMax+1)}, {"user", "\xff"}} {
			if err := s.Context(context.Background(), c.role, c.text); err == nil || errors.Is(err, voicegw.ErrTextLost) {
				t.Errorf("Context(%q, %d bytes): %v", c.role, len(c.text), err)
			}
		}
		for i := range 64 {
			if err := s.Context(context.Background(), "user", fmt.Sprint("note ", i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Context(context.Background(), "user", "one more"); !errors.Is(err, voicegw.ErrTextLost) {
			t.Errorf("the 65th: %v", err)
		}
		p.send(transport.Event{Kind: transport.EventText, Text: "a question"})
		p.ended(transport.TurnComplete)
		if got := texts(w.connection(1)); strings.Count(got, "note ") != 64 {
			t.Errorf("the model got %s", got)
		}
		if err := s.Context(context.Background(), "user", "one more"); err != nil {
			t.Errorf("after the others went: %v", err)
		}
		p.hangUp()
		<-s.Done()
		for _, err := range []error{s.Context(context.Background(), "user", "late"), s.Prompt(context.Background(), "late")} {
			if !errors.Is(err, voicegw.ErrOver) {
				t.Errorf("after the call: %v", err)
			}
		}
	})
}

// TestPrompt has the model speak: at once when it is quiet, and otherwise after the reply that is
// played, which goes on.
func TestPrompt(t *testing.T) {
	t.Parallel()
	cfg, sessions := withSession(voicegw.Config{})
	inBubble(t, plan{gw: cfg}, func(w *world) {
		p := w.call(hello(), manner{})
		s := <-sessions
		if err := s.Prompt(context.Background(), "Say number 0"); err != nil {
			t.Fatal(err)
		}
		p.turn(transport.StateStart)
		for i := range voicenets.RequestsMax {
			if err := s.Prompt(context.Background(), fmt.Sprint("Say number ", i+1)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Prompt(context.Background(), "one too many"); !errors.Is(err, voicegw.ErrTextLost) {
			t.Errorf("behind %d others: %v", voicenets.RequestsMax, err)
		}
		for range voicenets.RequestsMax + 1 {
			p.ended(transport.TurnComplete)
		}
		if got := texts(w.connection(1)); strings.Count(got, "Say number") != voicenets.RequestsMax+1 ||
			strings.Contains(got, "too many") {
			t.Errorf("the model got %s", got)
		}
	})
}
