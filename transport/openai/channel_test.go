package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/transport"
)

// channel returns a channel that is greeted with events and ready, and the types of what it told.
func channel(t testing.TB, session string, events ...string) (*Channel, string) {
	t.Helper()
	c, err := NewChannel([]byte(session))
	if err != nil {
		t.Fatal(err)
	}
	out := c.Welcome()
	for _, ev := range events {
		more, over, err := c.Greet([]byte(ev))
		if out = append(out, more...); err != nil || over {
			t.Fatalf("%s: %v, %v", ev, over, err)
		}
	}
	h := transport.Hello{Version: transport.Version, InputRateHz: 16000, OutputRateHz: 16000}
	if c.Begin(&h); h.InputRateHz != 16000 || h.OutputRateHz != 16000 {
		t.Errorf("the rates are %d and %d", h.InputRateHz, h.OutputRateHz)
	}
	return c, kinds(append(out, c.Ready(transport.Ready{Call: "c-1"})...))
}

// kinds are the types of events, without those of items.
func kinds(list [][]byte) string {
	var all []string
	for _, b := range list {
		var m struct{ Type string }
		_ = json.Unmarshal(b, &m)
		if !strings.Contains(m.Type, "item") && !strings.Contains(m.Type, "part") {
			all = append(all, m.Type)
		}
	}
	return strings.Join(all, " ")
}

// saying wants that what was told has these types.
func saying(t *testing.T, what string, list [][]byte, want string) {
	t.Helper()
	if got := kinds(list); got != want {
		t.Errorf("%s: told %q, want %q", what, got, want)
	}
}

func ack(generation uint64, ms int64, cleared bool) *transport.Event {
	return &transport.Event{Kind: transport.EventAck, Generation: generation, PlayedMS: ms, Cleared: cleared}
}

// markOf is the mark behind a reply whose tokens are known.
func markOf(generation uint64) transport.Message {
	return transport.Message{Kind: transport.MessageMark, Generation: generation, ID: "m",
		Usage: transport.Usage{Total: 1}}
}

// replies begins a reply and sends frames of it.
func replies(t *testing.T, c *Channel, generation uint64, frames int) {
	t.Helper()
	m := turn(generation, transport.StateStart, "")
	c.Message(&m)
	for i := range frames {
		audible, out := c.Frame(generation)
		if want := i == 0; !audible || want != (kinds(out) == "output_audio_buffer.started") {
			t.Fatalf("frame %d: %v, %s", i, audible, kinds(out))
		}
	}
}

// TestChannelGreeting: the session of the request is in session.created, and updates of it are
// answered when the call is up.
func TestChannelGreeting(t *testing.T) {
	c, told := channel(t, `{"type":"realtime","instructions":"first","prompt":"x"}`,
		update(`{"type":"realtime","instructions":"second"}`))
	if told != "session.created error session.updated" || c.codec.session.instructions != "second" {
		t.Errorf("told %q, instructions %q", told, c.codec.session.instructions)
	}
	if _, over, err := c.Greet([]byte(`{"type":"response.create"}`)); !over || err != nil {
		t.Errorf("response.create is of the greeting: %v, %v", over, err)
	}
	if _, _, err := c.Greet([]byte(`{`)); err == nil {
		t.Error("no JSON is taken")
	}
	if _, err := NewChannel([]byte(`[]`)); err == nil {
		t.Error("a list is taken as a session")
	}
}

// TestChannelStops: the output buffer stops when the response is done and all of it is played.
func TestChannelStops(t *testing.T) {
	c, _ := channel(t, "")
	replies(t, c, 1, 5)
	saying(t, "played before it is done", c.Acked(ack(1, 100, false)), "")
	done := markOf(1)
	saying(t, "done", c.Message(&done), "response.output_audio.done response.output_audio_transcript.done response.done "+
		"output_audio_buffer.stopped")
	replies(t, c, 2, 5)
	done = markOf(2)
	saying(t, "done and not played", c.Message(&done), "response.output_audio.done "+
		"response.output_audio_transcript.done response.done")
	saying(t, "played in part", c.Acked(ack(2, 80, false)), "")
	saying(t, "played", c.Acked(ack(2, 100, false)), "output_audio_buffer.stopped")
}

// TestChannelClears: a caller who interrupts clears the output buffer, and the item is truncated
// where the playout was.
func TestChannelClears(t *testing.T) {
	c, _ := channel(t, "")
	replies(t, c, 1, 10)
	m := transport.Message{Kind: transport.MessageClear, Generation: 1}
	saying(t, "clear", c.Message(&m), "output_audio_buffer.cleared response.output_audio.done "+
		"response.output_audio_transcript.done response.done")
	out := c.Acked(ack(1, 140, true))
	if len(out) != 1 || !strings.Contains(string(out[0]), `"conversation.item.truncated"`) ||
		!strings.Contains(string(out[0]), `"audio_end_ms":140`) {
		t.Errorf("told %s", out)
	}
	resumed := turn(1, transport.StateResume, "") // it was a cough
	c.Message(&resumed)
	if audible, out := c.Frame(1); !audible || kinds(out) != "output_audio_buffer.started" {
		t.Errorf("the rest: %v, %s", audible, kinds(out))
	}
	c.Message(&m)
	if out := c.Acked(ack(1, 160, true)); len(out) != 1 || !strings.Contains(string(out[0]), `"audio_end_ms":20`) {
		t.Errorf("told %s", out)
	}
}

// TestChannelIsSilenced by response.cancel and by output_audio_buffer.clear, before and after the
// response is done.
func TestChannelIsSilenced(t *testing.T) {
	for _, tt := range []struct {
		event, told string
		done        bool
	}{
		{`{"type":"output_audio_buffer.clear"}`, "response.output_audio.done response.output_audio_transcript.done " +
			"response.done output_audio_buffer.cleared", false},
		{`{"type":"response.cancel"}`, "response.output_audio.done response.output_audio_transcript.done " +
			"response.done output_audio_buffer.cleared", false},
		{`{"type":"output_audio_buffer.clear"}`, "output_audio_buffer.cleared", true},
	} {
		c, _ := channel(t, "")
		replies(t, c, 1, 5)
		if tt.done {
			done := markOf(1)
			c.Message(&done)
		}
		_, out, err := c.Read([]byte(tt.event))
		if saying(t, tt.event, out, tt.told); err != nil || !c.Silent(1) {
			t.Errorf("%s: %v, silent %v", tt.event, err, c.Silent(1))
		}
		if audible, _ := c.Frame(1); audible {
			t.Errorf("%s: the caller hears the rest", tt.event)
		}
		_, out, _ = c.Read([]byte(`{"type":"output_audio_buffer.clear"}`))
		saying(t, "again", out, "")
	}
}

// TestChannelText: a reply of text is not heard.
func TestChannelText(t *testing.T) {
	c, _ := channel(t, `{"type":"realtime","output_modalities":["text"]}`)
	m := turn(1, transport.StateStart, "")
	c.Message(&m)
	if audible, out := c.Frame(1); audible || len(out) > 0 {
		t.Errorf("a frame is audible: %v, told %s", audible, out)
	}
}

// TestChannelCaller: audio passes while the gateway detects turns, and carries results of functions
// with it; else it waits for response.create, which sends it as one turn.
func TestChannelCaller(t *testing.T) {
	frame := audiotest.Speech("hello").Samples[:320]
	c, _ := channel(t, "")
	if kept, events, out := c.Caller(frame); kept || len(events)+len(out) > 0 {
		t.Errorf("kept %v, %v, %s", kept, events, out)
	}
	c.codec.tools.open = []string{"t-1"}
	_, _, err := c.Read([]byte(`{"type":"conversation.item.create","item":{"type":"function_call_output",` +
		`"call_id":"t-1","output":"{}"}}`))
	if err != nil {
		t.Fatal(err)
	}
	c.Message(&transport.Message{Kind: transport.MessageSpeech, State: transport.StateStart})
	if _, events, _ := c.Caller(frame); len(events) != 1 || events[0].Kind != transport.EventToolResult {
		t.Errorf("the caller speaks: %v", events)
	}

	c, _ = channel(t, `{"type":"realtime","audio":{"input":{"turn_detection":null}}}`)
	for range 10 {
		if kept, _, _ := c.Caller(frame); !kept {
			t.Fatal("the audio passes")
		}
	}
	_, out, _ := c.Read([]byte(`{"type":"input_audio_buffer.commit"}`))
	saying(t, "commit", out, "input_audio_buffer.committed")
	events, _, _ := c.Read([]byte(`{"type":"response.create"}`))
	var got []string
	for _, ev := range events {
		got = append(got, fmt.Sprint(ev.Kind, ev.On, len(ev.PCM)))
	}
	if s := strings.Join(got, " "); s != "talk true 0 audio false 3200 talk false 0" {
		t.Errorf("the model gets %s", s)
	}
}

// FuzzChannel reads events of the data channel; whatever comes, the channel goes on or ends the call.
func FuzzChannel(f *testing.F) {
	f.Add([]byte(update(transcribed)), []byte(`{"type":"output_audio_buffer.clear"}`))
	f.Add([]byte(`{"type":"response.create"}`), []byte(`{"type":"response.cancel"}`))
	f.Fuzz(func(t *testing.T, first, then []byte) {
		c, err := NewChannel(first)
		if err != nil {
			c, _ = NewChannel()
		}
		if _, _, err := c.Greet(first); err != nil {
			return
		}
		h := transport.Hello{Version: transport.Version, InputRateHz: 16000, OutputRateHz: 16000}
		c.Begin(&h)
		c.Ready(transport.Ready{})
		m := turn(1, transport.StateStart, "")
		c.Message(&m)
		c.Frame(1)
		if _, _, err := c.Read(then); err != nil {
			return
		}
		c.Caller(make([]int16, 320))
		c.Message(&transport.Message{Kind: transport.MessageClear, Generation: 1})
		c.Acked(ack(1, 20, true))
	})
}
