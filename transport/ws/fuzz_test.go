package ws

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/voicegw/voicegw/transport"
)

// seed adds the fixture's events of one side, and pieces of them.
func seed(f *testing.F, from string) {
	for _, e := range fixture(f) {
		if e.From == from {
			f.Add([]byte(e.Event))
			f.Add([]byte(e.Event)[:len(e.Event)/2])
		}
	}
	f.Add([]byte(`{"type":"ack","generation":01,"played_ms":1}`))
	f.Add([]byte(`{"type":"ack","generation":1,"played_ms":1,"generation":2}`))
	f.Add([]byte(`{"type":"ack","type":"bye","generation":1,"played_ms":1}`))
	f.Add([]byte("{\"type\":\"ack\",\"mark\":\"\x7f\",\"generation\":1,\"played_ms\":1}"))
	f.Add([]byte("{\"type\":\"mute\",\"on\":true}\x00"))
	f.Add(bytes.Repeat([]byte(`{"type":`), 2000))
}

// FuzzClientEvent: the two ways of reading an acknowledgement agree, and what was read can be
// written and read again.
func FuzzClientEvent(f *testing.F) {
	seed(f, "client")
	f.Fuzz(func(t *testing.T, b []byte) {
		var fast, slow, again transport.Event
		took := decodeAck(b, &fast)
		err := decodeAny(b, &slow)
		if took && (err != nil || !reflect.DeepEqual(fast, slow)) {
			t.Fatalf("%q: the fast path read %+v, the other %+v, %v", b, fast, slow, err)
		}
		if err != nil {
			if err.Error() == "" || len(err.Error()) > 300 {
				t.Fatalf("the error is empty or too long: %v", err)
			}
			return
		}
		if !json.Valid(b) {
			t.Fatalf("%q is not JSON and was taken", b)
		}
		out, err := appendEvent(nil, &slow)
		if err != nil {
			t.Fatalf("%+v cannot be written: %v", slow, err)
		}
		if err := decodeEvent(out, &again); err != nil || !reflect.DeepEqual(slow, again) {
			t.Fatalf("%q was read as %+v, written as %q and read as %+v, %v", b, slow, out, again, err)
		}
	})
}

// FuzzServerEvent: what the client reads of a gateway can be written and read again.
func FuzzServerEvent(f *testing.F) {
	seed(f, "server")
	f.Fuzz(func(t *testing.T, b []byte) {
		var m, again transport.Message
		if decodeMessage(b, &m) != nil || m.Kind == transport.MessageBye {
			return
		}
		out, err := appendMessage(nil, &m)
		if err != nil {
			t.Fatalf("%+v cannot be written: %v", m, err)
		}
		if err := decodeMessage(out, &again); err != nil {
			t.Fatalf("%q was written as %q: %v", b, out, err)
		}
		normalise(&m)
		normalise(&again)
		if !reflect.DeepEqual(m, again) {
			t.Fatalf("%q was read as %+v, written as %q and read as %+v", b, m, out, again)
		}
	})
}

// normalise makes equal what means the same.
func normalise(m *transport.Message) {
	if m.State != transport.StateEnd {
		m.TurnEnd = "" // only an end has one
	}
	if m.Kind == transport.MessageToolCall && m.Text == "" {
		m.Text = "{}"
	}
	if len(m.Fired) == 0 {
		m.Fired = nil
	}
}

// FuzzHello: a hello that is taken can be written and read again; one that is not gives an error
// for people.
func FuzzHello(f *testing.F) {
	seed(f, "client")
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := decodeHello(b)
		if err == nil {
			err = h.Check(testOffer)
		}
		if err != nil {
			if err.Error() == "" || len(err.Error()) > 400 {
				t.Fatalf("the error is empty or too long: %v", err)
			}
			return
		}
		again, err := decodeHello(appendHello(nil, h))
		if err != nil || !reflect.DeepEqual(again, h) {
			t.Fatalf("%q was read as %+v and again as %+v, %v", b, h, again, err)
		}
	})
}

// TestAckPaths holds the fast path to what it is for: it takes what clients write and leaves
// everything odd alone.
func TestAckPaths(t *testing.T) {
	tests := []struct {
		in   string
		fast bool
	}{
		{`{"type":"ack","generation":1,"played_ms":100}`, true},
		{`{"type":"ack","generation":12,"played_ms":86400000,"mark":"12:end","cleared":true}`, true},
		{` { "played_ms" : 0 , "generation" : 0 , "type" : "ack" } `, true},
		{`{"type":"ack","generation":1,"played_ms":100.5}`, false},
		{`{"type":"ack","generation":1,"played_ms":100,"more":1}`, false},
		{`{"type":"ack","generation":1}`, false},
		{`{"type":"ack","generation":1,"played_ms":100,"played_ms":120}`, false},
		{`{"type":"ack","generation":1,"played_ms":0100}`, false},
		{`{"type":"ack","generation":1,"played_ms":86400001}`, false},
		{`{"type":"ack","generation":1234567890123456,"played_ms":1}`, false},
		{`{"type":"ack","generation":1,"played_ms":1,"mark":"\u0031"}`, false},
		{`{"type":"ack","generation":1,"played_ms":1,"mark":"é"}`, false},
		{`{"type":"bye","generation":1,"played_ms":1}`, false},
		{`{"type":"ack","generation":1,"played_ms":1}x`, false},
		{`{"type":"ack","generation":1,"played_ms":1,}`, false},
		{`{"type":"ack","generation":1,"played_ms":1`, false},
		{`{"type":"ack","generation":1,"played_ms":1,"cleared":truefalse}`, false},
		{``, false},
	}
	for _, tt := range tests {
		var fast, slow transport.Event
		if got := decodeAck([]byte(tt.in), &fast); got != tt.fast {
			t.Errorf("%s: taken %v, want %v", tt.in, got, tt.fast)
		}
		err := decodeAny([]byte(tt.in), &slow)
		if tt.fast && (err != nil || !reflect.DeepEqual(fast, slow)) {
			t.Errorf("%s: %+v, the other path %+v, %v", tt.in, fast, slow, err)
		}
		if !tt.fast && !reflect.DeepEqual(fast, transport.Event{}) {
			t.Errorf("%s: not taken, but the event was changed: %+v", tt.in, fast)
		}
	}
}

func TestAppendString(t *testing.T) {
	for _, s := range []string{"", "plain", "\"quoted\\", "\x00\x1f\n\t", "Grüße 安 🎙", "\u2028</script>"} {
		var back string
		if err := json.Unmarshal(appendString(nil, s), &back); err != nil || back != s {
			t.Errorf("%q came back as %q, %v", s, back, err)
		}
	}
	var back string
	if err := json.Unmarshal(appendString(nil, "a\xffb\xc3"), &back); err != nil || back != "a\ufffdb\ufffd" {
		t.Errorf("bytes that are not UTF-8 came back as %q, %v", back, err)
	}
}

func TestMessagesThatCannotBeSent(t *testing.T) {
	for _, m := range []transport.Message{
		{}, {Kind: transport.MessageBye}, {Kind: transport.MessageAudio}, {Kind: 200},
		{Kind: transport.MessageToolCall, Text: "{"},
	} {
		if b, err := appendMessage(nil, &m); err == nil {
			t.Errorf("%+v was written as %s", m, b)
		}
	}
	for _, ev := range []transport.Event{
		{}, {Kind: transport.EventAudio}, {Kind: transport.EventToolResult, ID: "1", Text: "{"},
	} {
		if b, err := appendEvent(nil, &ev); err == nil {
			t.Errorf("%+v was written as %s", ev, b)
		}
	}
	if err := decodeAny([]byte(`{"type":"hello"}`), new(transport.Event)); !errors.Is(err, errHello) {
		t.Errorf("a second hello is %v", err)
	}
}
