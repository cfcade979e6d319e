package rtc_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pion/rtp"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
)

// read waits until the model was sent a text that holds these words, and returns all texts.
func (w *world) read(words string) (all string) {
	w.t.Helper()
	w.eventually("the model reads "+words, func() bool {
		all = ""
		for _, c := range w.model.Connections() {
			for _, text := range c.Texts {
				all += text.Text + "\n"
			}
		}
		return strings.Contains(all, words)
	})
	return all
}

// press presses keys of a phone in RTP (RFC 4733), each in six packets; moment tells keys apart.
func (c *caller) press(moment uint32, keys string) {
	var packets []rtp.Packet
	for i, key := range []byte(keys) {
		event := byte(strings.IndexByte("0123456789*#", key))
		for n := range 6 {
			end := byte(0)
			if n >= 3 {
				end = 0x80
			}
			packets = append(packets, rtp.Packet{
				Header:  rtp.Header{PayloadType: 126, Timestamp: moment + uint32(i)*1000, Marker: n == 0},
				Payload: []byte{event, end | 10, byte(n), 160}})
		}
	}
	c.change(func() { c.packets = append(c.packets, packets...) })
}

// TestKeysReachTheModel as a text, whether they come in the sound or as an event. Those of
// protected input reach the integrator's code alone, and the page is told of it.
func TestKeysReachTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sessions, entered := make(chan *voicegw.Session, 1), make(chan string, 1)
		cfg := voicegw.Config{Hooks: voicegw.Hooks{Running: func(s *voicegw.Session) { sessions <- s },
			Digits: func(_ *voicegw.Session, digits string) { entered <- digits }}}
		bubble(t, sim.Config{}, cfg, func(t *testing.T, w *world) { pressKeys(t, w, sessions, entered) })
	})
}

// pressKeys is the story of TestKeysReachTheModel.
func pressKeys(t *testing.T, w *world, sessions chan *voicegw.Session, entered chan string) {
	t.Helper()
	c := w.call(manner{})
	session := <-sessions
	c.listenFor(1)
	c.press(1000, "42#")
	w.read("pressed 42")
	c.send(transport.Event{Kind: transport.EventDTMF, Text: "0815#"})
	w.read("pressed 0815")
	if err := session.Protect(true); err != nil {
		t.Fatal(err)
	}
	c.kind(transport.MessageProtected)
	c.press(100000, "5105#")
	if got := <-entered; strings.TrimSuffix(got, "#") != "5105" {
		t.Errorf("the integrator's code got %q", got)
	}
	if err := session.Protect(false); err != nil {
		t.Fatal(err)
	}
	c.kind(transport.MessageProtected)
	c.press(200000, "7#")
	if all := w.read("pressed 7"); strings.Contains(all, "5105") {
		t.Errorf("the model read %q", all)
	}
}

// TestFunctionsAndWords over the data channel: the caller writes, the model calls a function of the
// caller's side, and another one of the gateway's, which has somebody else take the call.
func TestFunctionsAndWords(t *testing.T) {
	script, err := sim.ParseScenario("a story", "on text 1: call weather {\"city\":\"Oslo\"}\non text 2: call transfer {}")
	if err != nil {
		t.Fatal(err)
	}
	tools := []voicegw.Tool{{Name: "weather", Description: "tells the weather of a city"},
		{Name: "transfer", Description: "has somebody else take the call",
			Call: func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
				s, _ := voicegw.SessionOf(ctx)
				return nil, s.HandOff("+4930123")
			}}}
	synctest.Test(t, func(t *testing.T) {
		bubble(t, sim.Config{Scenario: script}, voicegw.Config{Tools: tools}, functionsAndWords)
	})
}

// functionsAndWords is the story of TestFunctionsAndWords.
func functionsAndWords(t *testing.T, w *world) {
	t.Helper()
	c := w.call(manner{})
	c.send(transport.Event{Kind: transport.EventText, Text: "What is the weather in Oslo?"})
	call := c.kind(transport.MessageToolCall)
	if call.Name != "weather" || call.Text != `{"city":"Oslo"}` {
		t.Errorf("the caller's side is asked %s of %s", call.Name, call.Text)
	}
	c.send(transport.Event{Kind: transport.EventToolResult, ID: "of nobody", Text: "1"})
	if m := c.kind(transport.MessageError); m.Fatal {
		t.Errorf("a result of nobody's call: %+v", m.Message)
	}
	c.send(transport.Event{Kind: transport.EventToolResult, ID: call.ID, Text: `{"celsius":21.5}`})
	c.turn(transport.StateEnd)
	if got := w.model.Connections()[0].ToolReplies; len(got) != 1 || got[0].Response != `{"output":{"celsius":21.5}}` {
		t.Errorf("the model got %+v", got)
	}
	c.send(transport.Event{Kind: transport.EventText, Text: "I want a person."})
	if m := c.kind(transport.MessageTransfer); m.Text != "+4930123" {
		t.Errorf("the caller is sent to %q", m.Text)
	}
	if bye := c.kind(transport.MessageBye); bye.Reason != transport.ReasonTransferred {
		t.Errorf("the call ended by %s", bye.Reason)
	}
	w.read("I want a person.")
}
