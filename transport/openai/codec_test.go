package openai

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsdoor"
)

// greet gives a codec its first events.
func greet(t testing.TB, events ...string) (*codec, transport.Hello, []map[string]any, error) {
	t.Helper()
	c := newCodec(httptest.NewRequest(http.MethodGet, "/v1/realtime?model=m", nil))
	h := transport.Hello{Version: 1, InputRateHz: 16000, OutputRateHz: 24000}
	var out wsdoor.Outbox
	err := c.Greet(&h, func() (wsdoor.Inbound, error) {
		if len(events) == 0 {
			return wsdoor.Inbound{}, wsdoor.End(transport.ReasonHelloTimeout, "", nil)
		}
		b := []byte(events[0])
		events = events[1:]
		return wsdoor.Inbound{Data: b}, nil
	}, &out)
	if err == nil || errors.Is(err, wsdoor.ErrUnread) {
		c.Ready(transport.Ready{Call: "c-1"}, &out)
		err = nil
	}
	return c, h, told(t, &out), err
}

func update(session string) string { return `{"type":"session.update","session":` + session + `}` }

const transcribed = `{"type":"realtime","audio":{"input":{"transcription":{"model":"whisper-1"}}}}`

// told are the events of an outbox. Each has an id of its own.
func told(t testing.TB, out *wsdoor.Outbox) []map[string]any {
	t.Helper()
	var list []map[string]any
	for _, b := range out.Take() {
		var m map[string]any
		if err := json.Unmarshal(b, &m); err != nil || m["type"] == "" || m["event_id"] == nil {
			t.Fatalf("%s: %v", b, err)
		}
		list = append(list, m)
	}
	return list
}

func types(list []map[string]any) string {
	var out []string
	for _, m := range list {
		out = append(out, fmt.Sprint(m["type"]))
	}
	return strings.Join(out, " ")
}

func TestSession(t *testing.T) {
	_, h, list, err := greet(t, update(`{"type":"realtime","instructions":"be brief",
		"tools":[{"type": "function","name":"f"}],
		"audio":{"input":{"format":{"type":"audio/pcm","rate":24000},"transcription":{"language":"de"},
		"turn_detection":{"type":"semantic_vad","interrupt_response":false}},"output":{"voice":"marin"}}}`))
	want := transport.Hello{Version: 1, InputRateHz: 24000, OutputRateHz: 24000, Language: "de", HalfDuplex: true,
		Params: map[string]string{"model": "m", "voice": "marin", "system_instruction": "be brief",
			"tools": `[{"type":"function","name":"f"}]`}}
	if err != nil || !reflect.DeepEqual(h, want) {
		t.Errorf("hello = %+v, %v, want %+v", h, err, want)
	}
	if types(list) != "session.created session.updated" {
		t.Errorf("told %v", types(list))
	}
	if s := fmt.Sprint(list[1]["session"]); !strings.Contains(s, "be brief") || !strings.Contains(s, "semantic_vad") ||
		!strings.Contains(s, "marin") {
		t.Errorf("the session is %s", s)
	}
}

// TestFormats are taken in either direction alone, told again, and have rates of their own.
func TestFormats(t *testing.T) {
	for _, tt := range []struct {
		in, out       string
		inHz, outHz   int
		toldIn, toldO string
	}{
		{`{"type":"audio/pcmu"}`, `{"type":"audio/pcma","rate":8000}`, 8000, 8000, "map[type:audio/pcmu]",
			"map[type:audio/pcma]"},
		{`{"type":"audio/pcma"}`, `null`, 8000, 24000, "map[type:audio/pcma]", "map[rate:24000 type:audio/pcm]"},
		{`{"type":"audio/pcm"}`, `{"type":"audio/pcmu"}`, 24000, 8000, "map[rate:24000 type:audio/pcm]",
			"map[type:audio/pcmu]"},
	} {
		_, h, list, err := greet(t, update(`{"type":"realtime","audio":{"input":{"format":`+tt.in+`},"output":{"format":`+
			tt.out+`}}}`))
		if err != nil || h.InputRateHz != tt.inHz || h.OutputRateHz != tt.outHz {
			t.Errorf("%s and %s: %d and %d Hz, %v", tt.in, tt.out, h.InputRateHz, h.OutputRateHz, err)
			continue
		}
		told := list[1]["session"].(map[string]any)["audio"].(map[string]any)
		for way, want := range map[string]string{"input": tt.toldIn, "output": tt.toldO} {
			if got := fmt.Sprint(told[way].(map[string]any)["format"]); got != want {
				t.Errorf("%s is told as %s, want %s", way, got, want)
			}
		}
	}
	for _, bad := range []string{`{"type":"audio/opus"}`, `{"type":"audio/pcm","rate":8000}`,
		`{"type":"audio/pcma","rate":24000}`, `{"type":"g711_ulaw"}`, `{}`} {
		_, h, list, err := greet(t, update(`{"type":"realtime","audio":{"output":{"format":`+bad+`}}}`),
			update(`{"type":"realtime"}`))
		if err != nil || types(list) != "session.created error session.updated" || h.OutputRateHz != 24000 {
			t.Errorf("%s: %v, %v", bad, types(list), err)
		}
	}
}

func TestSessionWithoutUpdate(t *testing.T) {
	_, h, list, err := greet(t, `{"type":"response.create"}`)
	if err != nil || types(list) != "session.created" || h.Params["model"] != "m" || h.InputRateHz != 24000 {
		t.Errorf("%+v, %v, %v", h, types(list), err)
	}
	_, h, _, _ = greet(t, update(`{"type":"realtime","audio":{"input":{"turn_detection":null}}}`))
	if h.Detection != transport.DetectionPush {
		t.Errorf("detection %q", h.Detection)
	}
}

// TestSessionRefused complains, and takes a better one.
func TestSessionRefused(t *testing.T) {
	for param, session := range map[string]string{
		"session":                   `1`,
		"session.type":              `{"type":"transcription"}`,
		"session.output_modalities": `{"type":"realtime","output_modalities":["text"]}`,
		"session.audio.input.format": `{"type":"realtime","audio":{"input":{"format":{"type":"audio/pcmu",` +
			`"rate":16000}}}}`,
		"session.audio.output.format": `{"type":"realtime","audio":{"output":{"format":{"type":"audio/pcm",` +
			`"rate":16000}}}}`,
		"session.audio.input.turn_detection": `{"type":"realtime","audio":{"input":{"turn_detection":{"type":"magic"}}}}`,
		"session.instructions":               `{"type":"realtime","instructions":"` + strings.Repeat("x", 20000) + `"}`,
	} {
		_, _, list, err := greet(t, update(session), update(`{"type":"realtime"}`))
		if err != nil || types(list) != "session.created error session.updated" {
			t.Errorf("%s: %v, %v", param, types(list), err)
			continue
		}
		if e := list[1]["error"].(map[string]any); e["param"] != param || e["message"] == "" {
			t.Errorf("%s: %v", param, e)
		}
	}
	if _, _, _, err := greet(t, "{"); transport.ReasonOf(err) != transport.ReasonBadJSON {
		t.Errorf("no JSON: %v", err)
	}
}

// read lets a codec read an event.
func read(t testing.TB, c *codec, event string) (events []string, list []map[string]any, err error) {
	t.Helper()
	in := wsdoor.NewInbox(pcmRateHz)
	var out wsdoor.Outbox
	err = c.Read(wsdoor.Inbound{Data: []byte(event)}, in, &out)
	var ev transport.Event
	for in.Next(&ev) {
		switch ev.Kind {
		case transport.EventAudio:
			events = append(events, fmt.Sprintf("audio %d", len(ev.PCM)))
		case transport.EventTalk:
			events = append(events, fmt.Sprintf("talk %v", ev.On))
		default:
			events = append(events, ev.Kind.String()+" "+ev.ID+ev.Text)
		}
	}
	return events, told(t, &out), err
}

// exchanges are events read, with what comes of each: events of the call, and events told.
type exchange struct{ read, events, told string }

func converse(t *testing.T, c *codec, exchanges []exchange) {
	t.Helper()
	for _, x := range exchanges {
		events, list, err := read(t, c, x.read)
		if err != nil || strings.Join(events, " ") != x.events || types(list) != x.told {
			t.Errorf("%.80s: %q, told %q, %v; want %q, %q", x.read, events, types(list), err, x.events, x.told)
		}
	}
}

const sound = `{"type":"input_audio_buffer.append","audio":"AQIDBA=="}`

func TestRead(t *testing.T) {
	item := func(item string) string { return `{"type":"conversation.item.create","item":` + item + `}` }
	typed := item(`{"type":"message","role":"user","content":[{"type":"input_text","text":"hi "}]}`)
	c, _, _, _ := greet(t, update(`{"type":"realtime"}`))
	converse(t, c, []exchange{
		{sound, "audio 2", ""},
		{`{"event_id":"e","audio":"AQIDBA==","type":"input_audio_buffer.append"}`, "audio 2", ""},
		{`{"type":"input_audio_buffer.append","audio":"AQ\u0049DBA=="}`, "audio 2", ""},
		{`{"type":"input_audio_buffer.commit"}`, "", "error"},
		{`{"type":"input_audio_buffer.clear"}`, "", "error"},
		{`{"type":"session.update","session":{}}`, "", "error"},
		{`{"type":"response.create"}`, "", "error"},
		{typed, "", "conversation.item.added conversation.item.done"},
		{typed, "", "conversation.item.added conversation.item.done"},
		{`{"type":"response.create"}`, "text hi hi", ""},
		{`{"type":"response.create"}`, "", "error"},
		{item(`{"type":"message","role":"system","content":[]}`), "", "error"},
		{item(`{"type":"message","role":"user","content":[{"type":"input_image"}]}`), "", "error"},
		{item(`{"type":"message","role":"user","content":[{"type":"input_text","text":"` + strings.Repeat("x", 4001) +
			`"}]}`), "", "error"},
		{item(`null`), "", "error"},
		{item(`{"type":"function_call_output","call_id":"t","output":"{\"x\":1}"}`), `tool_result t{"x":1}`,
			"conversation.item.added conversation.item.done"},
		{`{"type":"response.create"}`, "", ""},
		{item(`{"type":"function_call_output","call_id":"t","output":"sunny"}`), `tool_result t"sunny"`,
			"conversation.item.added conversation.item.done"},
		{item(`{"type":"function_call_output","output":"{}"}`), "", "error"},
		{`{"type":"conversation.item.truncate","item_id":"x","audio_end_ms":1}`, "", "error"},
		{`{"type":"response.cancel"}`, "", "error"},
		{`{"type":"whatever","event_id":"mine"}`, "", "error"},
		{`{}`, "", "error"},
	})
	for _, wrong := range []string{"{", "[]", `{"type":"input_audio_buffer.append","audio":"A"}`,
		`{"type":"input_audio_buffer.append","audio":"AQ=="}`} {
		if _, _, err := read(t, c, wrong); transport.ReasonOf(err) != transport.ReasonBadJSON &&
			transport.ReasonOf(err) != transport.ReasonBadAudio {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// TestClientTellsTurns is without turn detection: what is appended is the button to talk.
func TestClientTellsTurns(t *testing.T) {
	c, _, _, _ := greet(t, update(`{"type":"realtime","audio":{"input":{"turn_detection":null}}}`))
	converse(t, c, []exchange{
		{`{"type":"input_audio_buffer.commit"}`, "", "error"},
		{sound, "talk true audio 2", ""},
		{sound, "audio 2", ""},
		{`{"type":"input_audio_buffer.commit"}`, "talk false",
			"input_audio_buffer.committed conversation.item.added conversation.item.done"},
		{`{"type":"response.create"}`, "", ""},
		{sound, "talk true audio 2", ""},
	})
}

// story tells a codec messages, and wants these events.
func story(t *testing.T, c *codec, steps []any) []map[string]any {
	t.Helper()
	var all []map[string]any
	for i := 0; i+1 < len(steps); i += 2 {
		m, want := steps[i].(transport.Message), steps[i+1].(string)
		var out wsdoor.Outbox
		c.Message(&m, &out)
		list := told(t, &out)
		if got := types(list); got != want {
			t.Errorf("%s %s: told\n%q, want\n%q", m.Kind, m.State, got, want)
		}
		all = append(all, list...)
	}
	return all
}

func speech(s transport.State) transport.Message {
	return transport.Message{Kind: transport.MessageSpeech, State: s}
}

func turn(g uint64, s transport.State, end transport.TurnEnd) transport.Message {
	return transport.Message{Kind: transport.MessageTurn, Generation: g, State: s, TurnEnd: end}
}

const (
	created = "response.created response.output_item.added conversation.item.added response.content_part.added"
	done    = "response.output_audio.done response.output_audio_transcript.done response.content_part.done " +
		"response.output_item.done conversation.item.done response.done"
	committed = "input_audio_buffer.committed conversation.item.added conversation.item.done"
)

// TestTurns tells a turn, a cough over the next, and an interruption.
func TestTurns(t *testing.T) {
	c, _, _, _ := greet(t, update(transcribed))
	clear := func(g uint64) transport.Message {
		return transport.Message{Kind: transport.MessageClear, Generation: g}
	}
	mark := transport.Message{Kind: transport.MessageMark}
	all := story(t, c, []any{
		speech(transport.StateStart), "input_audio_buffer.speech_started",
		speech(transport.StateStop), "input_audio_buffer.speech_stopped " + committed,
		transport.Message{Kind: transport.MessageTranscript, Who: transport.WhoCaller, Text: "how"}, transcription + "delta",
		transport.Message{Kind: transport.MessageTranscript, Who: transport.WhoModel, Text: "fine"}, "",
		turn(1, transport.StateStart, ""), transcription + "completed " + created + " response.output_audio_transcript.delta",
		transport.Message{Kind: transport.MessageTranscript, Who: transport.WhoModel, Text: "."},
		"response.output_audio_transcript.delta",
		mark, done,
		turn(1, transport.StateEnd, transport.TurnComplete), "",
		turn(2, transport.StateStart, ""), created,
		speech(transport.StateStart), "input_audio_buffer.speech_started",
		turn(2, transport.StatePause, ""), "",
		clear(2), done,
		turn(2, transport.StateResume, ""), created,
		speech(transport.StateStop), "input_audio_buffer.speech_stopped",
		speech(transport.StateStart), "input_audio_buffer.speech_started",
		clear(2), done,
		turn(2, transport.StateEnd, transport.TurnInterrupted), "",
		speech(transport.StateStop), "input_audio_buffer.speech_stopped " + committed,
		turn(3, transport.StateStart, ""), created,
		turn(3, transport.StateEnd, transport.TurnModelLost), done,
	})
	var ends []string
	for _, m := range all {
		if m["type"] == "response.done" {
			r := m["response"].(map[string]any)
			ends = append(ends, fmt.Sprint(r["status"]))
		}
	}
	if got := strings.Join(ends, " "); got != "completed cancelled cancelled failed" {
		t.Errorf("responses ended %s", got)
	}
	for _, m := range all {
		if m["type"] == "response.output_audio_transcript.done" && m["transcript"] != "fine." {
			t.Errorf("transcript %q", m["transcript"])
		}
		if m["type"] == "response.output_audio_transcript.done" {
			break
		}
	}
}

// TestTruncate puts a client's account of an item into ms of its generation, of which the item may be a later part.
func TestTruncate(t *testing.T) {
	c, _, _, _ := greet(t, update(`{"type":"realtime"}`))
	var items []string
	heard := func(item string, ms float64) string {
		b, _ := json.Marshal(map[string]any{"type": "conversation.item.truncate", "item_id": item, "audio_end_ms": ms})
		return string(b)
	}
	for _, m := range story(t, c, []any{turn(1, transport.StateStart, ""), created,
		transport.Message{Kind: transport.MessageClear, Generation: 1}, done,
		turn(1, transport.StateResume, ""), created}) {
		if m["type"] == "response.output_item.added" {
			items = append(items, m["item"].(map[string]any)["id"].(string))
		}
	}
	c.Cleared(1, 1340)
	for i, want := range []int64{500, 1840} {
		ref, ok := c.reply.find(items[i])
		if got := c.reply.base(ref) + 500; !ok || got != want {
			t.Errorf("500 ms of item %d are %d ms of the reply, want %d", i, got, want)
		}
	}
	converse(t, c, []exchange{
		{heard(items[1], 500.5), "", "conversation.item.truncated"},
		{heard(items[1], -1), "", "error"},
		{heard("nobody", 1), "", "error"},
	})
}

// TestCancel keeps the rest of a reply from the client, whatever becomes of it.
func TestCancel(t *testing.T) {
	c, _, _, _ := greet(t, update(`{"type":"realtime"}`))
	story(t, c, []any{turn(1, transport.StateStart, ""), created})
	if len(c.Audio(nil, 1, make([]int16, 480))) == 0 {
		t.Error("no audio before the cancel")
	}
	converse(t, c, []exchange{{`{"type":"response.cancel"}`, "", done}})
	if b := c.Audio(nil, 1, make([]int16, 480)); len(b) != 0 {
		t.Errorf("audio after the cancel: %s", b)
	}
	story(t, c, []any{
		turn(1, transport.StateResume, ""), "",
		transport.Message{Kind: transport.MessageTranscript, Who: transport.WhoModel, Text: "x", Generation: 1}, "",
		turn(1, transport.StateEnd, transport.TurnComplete), "",
		turn(2, transport.StateStart, ""), created,
	})
}

// TestToolCall is an item of the response that is open, and otherwise a response of its own.
func TestToolCall(t *testing.T) {
	c, _, _, _ := greet(t, update(`{"type":"realtime"}`))
	call := transport.Message{Kind: transport.MessageToolCall, ID: "t", Name: "weather", Text: `{"city":"Oslo"}`}
	const item = "response.output_item.added conversation.item.added response.function_call_arguments.delta " +
		"response.function_call_arguments.done response.output_item.done conversation.item.done"
	all := story(t, c, []any{call, "response.created " + item + " response.done",
		turn(1, transport.StateStart, ""), created, call, item,
		turn(1, transport.StateEnd, transport.TurnComplete), done,
		transport.Message{Kind: transport.MessageToolCancel, ID: "t"}, "",
		transport.Message{Kind: transport.MessageError, Text: "x"}, "error"})
	for _, m := range all {
		if m["type"] == "response.function_call_arguments.done" &&
			(m["arguments"] != `{"city":"Oslo"}` || m["name"] != "weather" || m["call_id"] != "t") {
			t.Errorf("%v", m)
		}
		if m["type"] == "response.done" {
			if out := m["response"].(map[string]any)["output"].([]any); len(out) == 0 {
				t.Errorf("the response has no output: %v", m)
			}
		}
	}
}

func TestAudioOnTheWire(t *testing.T) {
	c, _, _, _ := greet(t, update(`{"type":"realtime"}`))
	story(t, c, []any{turn(1, transport.StateStart, ""), created})
	var m struct {
		Type, Delta string
		ResponseID  string `json:"response_id"`
		ItemID      string `json:"item_id"`
		EventID     string `json:"event_id"`
	}
	if err := json.Unmarshal(c.Audio(nil, 1, []int16{1, -2}), &m); err != nil {
		t.Fatal(err)
	}
	if m.Type != "response.output_audio.delta" || m.Delta != "AQD+/w==" || m.ResponseID != c.reply.response ||
		m.ItemID != c.reply.item || m.EventID == "" {
		t.Errorf("%+v", m)
	}
}

func TestFailuresAreTold(t *testing.T) {
	for reason, want := range map[transport.Reason]string{
		transport.ReasonCallerHungUp: "1000 ", transport.ReasonModelLost: "1011 server_error",
		transport.ReasonUnauthorized: "1008 invalid_request_error", transport.ReasonGoingAway: "1001 ",
	} {
		c, _, _, _ := greet(t, update(`{"type":"realtime"}`))
		var out wsdoor.Outbox
		code, _ := c.Bye(wsdoor.End(reason, "", nil), &out)
		kind := ""
		for _, m := range told(t, &out) {
			kind = fmt.Sprint(m["error"].(map[string]any)["type"])
		}
		if got := fmt.Sprint(code, " ", kind); got != want {
			t.Errorf("%s: %q, want %q", reason, got, want)
		}
	}
}

func TestToken(t *testing.T) {
	for want, set := range map[string]func(r *http.Request){
		"a": func(r *http.Request) { r.Header.Set("Authorization", "Bearer a") },
		"b": func(r *http.Request) { r.Header.Set("api-key", "b") },
		"c": func(r *http.Request) { r.Header.Set("Sec-WebSocket-Protocol", "realtime, openai-insecure-api-key.c") },
		"":  func(r *http.Request) { r.Header.Set("Sec-WebSocket-Protocol", "realtime") },
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		set(r)
		if got := token(r); got != want {
			t.Errorf("token = %q, want %q", got, want)
		}
	}
}

func TestFramesAllocateNothing(t *testing.T) {
	for _, kind := range []string{"pcm", "pcmu", "pcma"} {
		t.Run(kind, func(t *testing.T) { framesAllocateNothing(t, `{"format":{"type":"audio/`+kind+`"}}`) })
	}
}

func framesAllocateNothing(t *testing.T, way string) {
	c, _, _, _ := greet(t, update(`{"type":"realtime","audio":{"input":`+way+`,"output":`+way+`}}`))
	story(t, c, []any{turn(1, transport.StateStart, ""), created})
	in, out := wsdoor.NewInbox(pcmRateHz), &wsdoor.Outbox{}
	m := wsdoor.Inbound{Data: []byte(`{"type":"input_audio_buffer.append","audio":"` +
		base64.StdEncoding.EncodeToString(make([]byte, 960)) + `"}`)}
	pcm, dst := make([]int16, 480), make([]byte, 0, 4096)
	var ev transport.Event
	for name, do := range map[string]func(){
		"up":   func() { _ = c.Read(m, in, out); in.Next(&ev); in.Next(&ev) },
		"down": func() { dst = c.Audio(dst[:0], 1, pcm) },
	} {
		do()
		if n := testing.AllocsPerRun(500, do); n != 0 {
			t.Errorf("%s: %v allocations, want 0", name, n)
		}
	}
}

func BenchmarkFrameDown(b *testing.B) {
	c, _, _, _ := greet(b, update(`{"type":"realtime"}`))
	var out wsdoor.Outbox
	m := turn(1, transport.StateStart, "")
	c.Message(&m, &out)
	pcm, dst := make([]int16, 480), []byte(nil)
	b.ReportAllocs()
	for b.Loop() {
		dst = c.Audio(dst[:0], 1, pcm)
	}
}

// FuzzRead reads whatever may come, as a session and in a call: it is an event, an answer, or an end of the call. The
// fast path for sound takes what the other one does.
func FuzzRead(f *testing.F) {
	f.Add([]byte(sound))
	f.Add([]byte(update(transcribed)))
	f.Add([]byte(`{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"t","output":"{}"}}`))
	f.Add([]byte(`{"type":"conversation.item.truncate","item_id":"item_4","audio_end_ms":1e300}`))
	f.Add([]byte(`{"type":"response.cancel","event_id":"x"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var e *transport.Ended
		if _, _, _, err := greet(t, string(b)); err != nil && !errors.As(err, &e) {
			t.Fatal(err)
		}
		c, _, _, _ := greet(t, update(transcribed))
		var out wsdoor.Outbox
		start := turn(1, transport.StateStart, "")
		c.Message(&start, &out)
		if _, _, err := read(t, c, string(b)); err != nil && !errors.As(err, &e) {
			t.Fatal(err)
		}
		var ev clientEvent
		if _, ok := scanAppend(b); ok && json.Unmarshal(b, &ev) == nil && ev.Type != "input_audio_buffer.append" {
			t.Fatalf("the fast path took a %q", ev.Type)
		}
	})
}
