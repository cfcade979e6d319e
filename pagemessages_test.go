package voicegw_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
)

// withMessages is a configuration whose sessions, and whose pages' messages, come out of channels.
func withMessages() (cfg voicegw.Config, sessions <-chan *voicegw.Session, messages chan string) {
	messages = make(chan string, 200)
	cfg.Hooks.Message = func(_ *voicegw.Session, name string, data json.RawMessage) {
		messages <- name + " " + string(data)
	}
	cfg, sessions = withSession(cfg)
	return cfg, sessions, messages
}

func message(name, data string) transport.Event {
	return transport.Event{Kind: transport.EventMessage, Name: name, Text: data}
}

// TestPageMessages go both ways in order, also on hold and without consent, and the model gets none.
func TestPageMessages(t *testing.T) {
	t.Parallel()
	cfg, sessions, messages := withMessages()
	inBubble(t, plan{gw: cfg}, func(w *world) {
		p := w.call(hello(), manner{})
		s := <-sessions
		if err := s.Hold(true); err != nil {
			t.Fatal(err)
		}
		p.state(transport.MessageHold, transport.StateStart)
		want := []string{`cart {"items":3}`, "none null", `long "` + strings.Repeat("x", transport.MessageDataLenMax-2) + `"`}
		for _, m := range want {
			name, data, _ := strings.Cut(m, " ")
			p.send(message(name, data))
		}
		for _, m := range want {
			if got := <-messages; got != m {
				t.Errorf("the application got %.60q, want %.60q", got, m)
			}
		}
		for i := range 3 {
			if err := s.Send(context.Background(), fmt.Sprint("step.", i), map[string]int{"n": i}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 3 {
			if m := p.kind(transport.MessageMessage); m.Name != fmt.Sprint("step.", i) || m.Text != fmt.Sprintf(`{"n":%d}`, i) {
				t.Errorf("the page got %+v", m.Message)
			}
		}
		if n := len(w.model.Connections()[0].Texts); n != 0 {
			t.Errorf("the model was told %d texts", n)
		}
		p.hangUp()
		w.settled()
		if err := s.Send(context.Background(), "late", nil); !errors.Is(err, voicegw.ErrOver) {
			t.Errorf("after the call: %v", err)
		}
	})
}

// TestPageMessagesRefused: a message that is out of range is refused with a reason, and the call
// goes on.
func TestPageMessagesRefused(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"no name":       `{"type":"message","data":1}`,
		"a number":      `{"type":"message","name":7}`,
		"two words":     `{"type":"message","name":"two words"}`,
		"a long name":   `{"type":"message","name":"` + strings.Repeat("x", 65) + `"}`,
		"too much data": `{"type":"message","name":"x","data":"` + strings.Repeat("x", transport.MessageDataLenMax-1) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, _, messages := withMessages()
			inBubble(t, plan{gw: cfg}, func(w *world) {
				p := w.call(hello(), manner{})
				if err := p.tap.raw(opText, []byte(raw)); err != nil {
					t.Fatal(err)
				}
				m := p.kind(transport.MessageError)
				if m.Code != "message_lost" || m.Fatal || !strings.Contains(m.Text, "it must be") {
					t.Errorf("refused by %+v", m.Message)
				}
				p.send(message("good", "1"))
				if got := <-messages; got != "good 1" {
					t.Errorf("the application got %.60q", got)
				}
			})
		})
	}
	inBubble(t, plan{}, func(w *world) {
		p := w.call(hello(), manner{})
		p.send(message("cart", "1"))
		if m := p.kind(transport.MessageError); m.Code != "message_lost" || !strings.Contains(m.Text, "takes no messages") {
			t.Errorf("without a hook refused by %+v", m.Message)
		}
	})
}

// TestPageMessagesBeforeReady wait, and so does the refusal of a bad one.
func TestPageMessagesBeforeReady(t *testing.T) {
	t.Parallel()
	cfg, _, messages := withMessages()
	p, model := slowly()
	p.gw = cfg
	inBubble(t, p, func(w *world) {
		tap := &tap{dial: w.dial}
		go func() {
			<-model.begun
			_ = tap.raw(opText, []byte(`{"type":"message","name":"early"}`))
			_ = tap.raw(opText, []byte(`{"type":"message","name":"two words"}`))
			time.Sleep(time.Second)
			if len(messages) > 0 {
				t.Error("the application got a message of a call that is not up")
			}
			close(model.gate)
		}()
		c, err := ws.Dial(context.Background(), w.url, hello(), ws.DialConfig{DialContext: tap.connect})
		if err != nil {
			t.Fatal(err)
		}
		var m transport.Message
		if err := c.Recv(context.Background(), &m); err != nil || m.Code != "message_lost" {
			t.Errorf("a bad message before ready is answered by %+v, %v", m, err)
		}
		if got := <-messages; got != "early null" {
			t.Errorf("the application got %q", got)
		}
		_ = c.Close()
	})
}

// TestPageMessagesAreLimited: a page that sends without end gets so many messages through as the
// limit says, and is told of the rest; an application that is slow has so many wait.
func TestPageMessagesAreLimited(t *testing.T) {
	t.Parallel()
	lost := func(p *phone, words string) (n int) {
		for _, m := range p.all() {
			if m.Code == "message_lost" && strings.Contains(m.Text, words) {
				n++
			}
		}
		return n
	}
	cfg, _, messages := withMessages()
	inBubble(t, plan{gw: cfg}, func(w *world) {
		p := w.call(hello(), manner{})
		for range 120 {
			p.send(message("cart", "1"))
		}
		time.Sleep(100 * time.Millisecond)
		if taken, told := len(messages), lost(p, "within a second"); taken < 50 || taken > 52 || taken+told != 120 {
			t.Errorf("%d of 120 were taken at once, %d were refused", taken, told)
		}
		time.Sleep(time.Second)
		before := len(messages)
		for range 20 {
			p.send(message("cart", "1"))
		}
		time.Sleep(50 * time.Millisecond)
		if more := len(messages) - before; more < 10 || more > 12 {
			t.Errorf("%d of 20 were taken a second later", more)
		}
	})
	var block chan struct{} // of the bubble
	slow := voicegw.Config{Hooks: voicegw.Hooks{Message: func(*voicegw.Session, string, json.RawMessage) { <-block }}}
	inBubble(t, plan{gw: slow, before: func() { block = make(chan struct{}) }}, func(w *world) {
		p := w.call(hello(), manner{})
		for range 80 {
			p.send(message("cart", "1"))
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond)
		if told := lost(p, "wait for the application"); told != 80-64-1 {
			t.Errorf("%d of 80 were refused, want those beyond 64 that wait and one in the hook", told)
		}
		close(block)
	})
}

// TestSendRefuses what no page could take, for a page that takes nothing, and for a phone.
func TestSendRefuses(t *testing.T) {
	t.Parallel()
	cfg, sessions := withSession(voicegw.Config{})
	inBubble(t, plan{gw: cfg}, func(w *world) {
		w.call(hello(), manner{})
		s := <-sessions
		for _, bad := range []struct {
			name string
			data any
		}{{"", 1}, {"two words", 1}, {"x", strings.Repeat("x", transport.MessageDataLenMax)}, {"x", func() {}}} {
			if err := s.Send(context.Background(), bad.name, bad.data); err == nil {
				t.Errorf("%q was sent", bad.name)
			}
		}
		over, cancel := context.WithCancel(context.Background())
		cancel()
		sent := 0
		for range 20000 {
			if s.Send(over, "x", 1) != nil {
				break
			}
			sent++
		}
		if sent == 20000 {
			t.Error("Send never waits for a page")
		}
	})
	inBubble(t, plan{gw: cfg}, func(w *world) {
		phone := newPeer(hello())
		go func() { _ = w.gw.Call(context.Background(), phone) }()
		s := <-sessions
		if err := s.Send(context.Background(), "x", 1); !errors.Is(err, voicegw.ErrNoMessages) {
			t.Errorf("a phone: %v", err)
		}
		_ = s.HangUp()
	})
}
