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

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
	"github.com/voicegw/voicegw/transport/wsendpoint"
)

// greet gives a codec its first events.
func greet(t testing.TB, events ...string) (*codec, transport.Hello, []map[string]any, error) {
	t.Helper()
	c := newCodec(httptest.NewRequest(http.MethodGet, "/v1/realtime?model=m", nil))
	h := transport.Hello{Version: 1, InputRateHz: 16000, OutputRateHz: 24000}
	var out wsendpoint.Outbox
	err := c.Greet(&h, func() (wsconn.Message, error) {
		if len(events) == 0 && c.Settle() > 0 {
			return wsconn.Message{}, wsendpoint.ErrSettled
		}
		if len(events) == 0 {
			return wsconn.Message{}, transport.End(transport.ReasonHelloTimeout, "", nil)
		}
		b := []byte(events[0])
		events = events[1:]
		return wsconn.Message{Data: b}, nil
	}, &out)
	if err == nil || errors.Is(err, wsendpoint.ErrUnread) {
		c.Ready(transport.Ready{Call: "c-1"}, &out)
		err = nil
	}
	return c, h, told(t, &out), err
}

func update(session string) string { return `{"type":"session.update","session":` + session + `}` }

const transcribed = `{"type":"realtime","audio":{"input":{"transcription":{"model":"whisper-1"}}}}`

// told are the events of an outbox. Each has an id of its own.
func told(t testing.TB, out *wsendpoint.Outbox) []map[string]any {
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
		Session: transport.Session{Model: "m", Voice: "marin", SystemInstruction: "be brief",
			Tools: []transport.Tool{{Name: "f"}}}}
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
		{`{"type":"audio/pcm","rate":16000}`, `{"type":"audio/pcm","rate":48000}`, 16000, 48000,
			"map[rate:16000 type:audio/pcm]", "map[rate:48000 type:audio/pcm]"},
		{`"g711_ulaw"`, `"pcm16"`, 8000, 24000, "map[type:audio/pcmu]", "map[rate:24000 type:audio/pcm]"},
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
	for _, bad := range []string{`{"type":"audio/opus"}`, `{"type":"audio/pcm","rate":7999}`,
		`{"type":"audio/pcm","rate":16000.5}`, `{"type":"audio/pcm","rate":96000}`, `{"type":"audio/pcma","rate":24000}`,
		`"g722"`, `{}`, `[]`, `1`} {
		_, h, list, err := greet(t, update(`{"type":"realtime","audio":{"output":{"format":`+bad+`}}}`))
		if err != nil || types(list) != "session.created error session.updated" || h.OutputRateHz != 24000 {
			t.Errorf("%s: %v, %v", bad, types(list), err)
		}
	}
}

func TestSessionWithoutUpdate(t *testing.T) {
	_, h, list, err := greet(t, `{"type":"response.create"}`)
	if err != nil || types(list) != "session.created" || h.Session.Model != "m" || h.InputRateHz != 24000 {
		t.Errorf("%+v, %v, %v", h, types(list), err)
	}
}

// TestSessionRefused refuses a field alone, by name and once: the rest of the session is in force.
func TestSessionRefused(t *testing.T) {
	for _, tt := range []struct{ param, session string }{
		{"session.type", `{"type":"transcription","instructions":"x"}`},
		{"session.output_modalities", `{"output_modalities":["video"],"instructions":"x"}`},
		{"session.modalities", `{"modalities":"audio","instructions":"x"}`},
		{"session.audio.input.format", `{"audio":{"input":{"format":{"type":"audio/pcmu","rate":16000}}},` +
			`"instructions":"x"}`},
		{"session.output_audio_format", `{"output_audio_format":"opus","instructions":"x"}`},
		{"session.audio.input.turn_detection", `{"audio":{"input":{"turn_detection":{"type":"magic"}}},"instructions":"x"}`},
		{"session.audio.input.transcription", `{"audio":{"input":{"transcription":{"language":"no tag"}}},` +
			`"instructions":"x"}`},
		{"session.input_audio_transcription", `{"input_audio_transcription":7,"instructions":"x"}`},
		{"session.audio.output.voice", `{"audio":{"output":{"voice":7}},"instructions":"x"}`},
		{"session.audio.output.speed", `{"audio":{"output":{"speed":1.5}},"instructions":"x"}`},
		{"session.tool_choice", `{"tool_choice":"required","instructions":"x"}`},
		{"session.max_output_tokens", `{"max_output_tokens":0,"instructions":"x"}`},
		{"session.max_response_output_tokens", `{"max_response_output_tokens":"many","instructions":"x"}`},
		{"session.temperature", `{"temperature":"hot","instructions":"x"}`},
		{"session.model", `{"model":"` + strings.Repeat("m", 129) + `","instructions":"x"}`},
		{"session.voice", `{"voice":"` + strings.Repeat("m", 129) + `","instructions":"x"}`},
		{"session.tools", `{"tools":[{"type":"function","name":""}],"instructions":"x"}`},
		{"session.prompt", `{"prompt":{"id":"p"},"instructions":"x"}`},
		{"session.tools", `{"tools":[{"type":"mcp","server_label":"s"}],"instructions":"x"}`},
		{"session.tools", `{"tools":7,"instructions":"x"}`},
		{"session.model", `{"model":7,"instructions":"x"}`},
		{"session", `{"colour":"red","instructions":"x"}`},
	} {
		c, h, list, err := greet(t, update(tt.session), update(tt.session))
		if err != nil || types(list) != "session.created error session.updated session.updated" {
			t.Errorf("%s: %v, %v", tt.session, types(list), err)
			continue
		}
		if e := list[1]["error"].(map[string]any); e["param"] != tt.param || e["message"] == "" {
			t.Errorf("%s: %v", tt.session, e)
		}
		if h.Session.SystemInstruction != "x" || c.session.instructions != "x" {
			t.Errorf("%s: the rest is not in force: %+v", tt.session, h.Session)
		}
	}
	long := strings.Repeat("x", transport.SystemInstructionLenMax)
	_, h, list, _ := greet(t, update(`{"instructions":"`+long+`"}`))
	if types(list) != "session.created session.updated" || h.Session.SystemInstruction != long {
		t.Errorf("long instructions: %v", types(list))
	}
	_, h, list, _ = greet(t, update(`{"instructions":"`+long+`x","audio":{"output":{"voice":"v"}}}`))
	if types(list) != "session.created error session.updated" || h.Session.Voice != "v" ||
		h.Session.SystemInstruction != "" {
		t.Errorf("too long instructions: %v", types(list))
	}
	tools := strings.Repeat(`{"type":"function","name":"f"},`, transport.ToolsMax+1)
	_, h, list, _ = greet(t, update(`{"tools":[`+strings.TrimSuffix(tools, ",")+`]}`))
	if types(list) != "session.created error session.updated" || len(h.Session.Tools) != transport.ToolsMax {
		t.Errorf("many tools: %v, %d", types(list), len(h.Session.Tools))
	}
	for _, bad := range []string{`1`, `null`, `{"audio":1}`, `{"audio":{"input":1}}`} {
		_, _, list, err := greet(t, update(bad), update(`{}`))
		if err != nil || types(list) != "session.created error session.updated" {
			t.Errorf("%s: %v, %v", bad, types(list), err)
		}
	}
	if _, _, _, err := greet(t, "{"); transport.ReasonOf(err) != transport.ReasonBadJSON {
		t.Errorf("no JSON: %v", err)
	}
}

// TestUpdates come one by one before the call begins, and together make the session. Hints and what
// SDKs send of themselves raise no error.
func TestUpdates(t *testing.T) {
	c, h, list, err := greet(t, update(`{"type":"realtime","tracing":"auto"}`), update(`{"instructions":"be brief"}`),
		update(`{"model":"m","tools":[{"type":"function","name":"f"}],"tool_choice":"auto","temperature":0.8}`),
		update(`{"audio":{"input":{"noise_reduction":null,"turn_detection":{"type":"server_vad","threshold":0.5}},`+
			`"output":{"speed":1}},"max_output_tokens":"inf","parallel_tool_calls":true,"prompt":null}`))
	if err != nil || types(list) != "session.created"+strings.Repeat(" session.updated", 4) ||
		h.Session.SystemInstruction != "be brief" || len(h.Session.Tools) != 1 || *h.Session.Temperature != 0.8 ||
		h.Session.MaxOutputTokens != nil {
		t.Fatalf("%+v, %v, %v", h.Session, types(list), err)
	}
	// In a running call the same again is no change; what the model was told at the start stays, but for
	// instructions, which it can learn.
	same := update(`{"instructions":"be brief","tools":[{"type":"function","name":"f"}],"tracing":"auto"}`)
	converse(t, c, []exchange{
		{same, "", "session.updated"},
		{update(`{"instructions":"be kind","tools":[],"audio":{"input":{"transcription":{"model":"w"}}}}`),
			"context system " + lateInstructions + "be kind", "error session.updated"},
		{update(`{"instructions":"` + strings.Repeat("x", lateMax+1) + `"}`), "", "error session.updated"},
		{update(`{"instructions":""}`), "", "session.updated"}, // told once
		{update(`{"audio":{"output":{"voice":"other","format":{"type":"audio/pcmu"}},"input":{"turn_detection":null}}}`),
			"", "error error error session.updated"},
		{update(`{"model":"other","temperature":0.1,"max_output_tokens":9}`), "", "error error error session.updated"},
		{update(`{"model":"other"}`), "", "session.updated"}, // told once
		{update(`1`), "", "error"},
	})
	if s := c.session; s.instructions != "be kind" || len(s.tools) != 1 || s.transcription == nil || s.detection == nil ||
		s.voice != "" || s.out.law != lawPCM || s.model != "m" {
		t.Errorf("the session is %+v", s)
	}
}

// TestLateInstructions of a client whose instructions the call does not follow are refused by name.
func TestLateInstructions(t *testing.T) {
	c := begin(t, `{}`)
	converse(t, c, []exchange{{update(`{"instructions":"be kind"}`), "", "error session.updated"}})
	if c.session.instructions != "" {
		t.Errorf("the session has the instructions %q", c.session.instructions)
	}
}

// TestItemsFirst takes items before the call: they wait, and the session can still change.
func TestItemsFirst(t *testing.T) {
	c, h, list, err := greet(t, update(`{"instructions":"x"}`), typed("a"), typed("b"),
		`{"type":"conversation.item.delete","item_id":"b"}`, `{"type":"conversation.item.create","item":{"type":"message",`+
			`"role":"system","content":[]}}`, contextItem("system", "y"), update(`{"tools":[{"type":"function","name":"f"}]}`))
	const item = " conversation.item.added conversation.item.done"
	if err != nil || types(list) != "session.created"+item+item+" conversation.item.deleted"+item+item+" session.updated "+
		"session.updated" || len(h.Session.Tools) != 1 {
		t.Errorf("%+v, %s, %v", h.Session, types(list), err)
	}
	converse(t, c, []exchange{{create, "context system y text a", ""}})
}

// contextItem is an item that the model is to know.
func contextItem(role, text string) string {
	return `{"type":"conversation.item.create","item":{"type":"message","id":"` + text + `","role":"` + role +
		`","content":[{"type":"input_text","text":"` + text + `"}]}}`
}

// TestContext lets the model know items of the roles system and assistant at once, and text of the
// user when the user speaks before response.create.
func TestContext(t *testing.T) {
	const item = "conversation.item.added conversation.item.done"
	c := begin(t, `{}`)
	converse(t, c, []exchange{
		{contextItem("system", "s"), "context system s", item},
		{contextItem("assistant", "m"), "context assistant m", item},
		{contextItem("developer", "d"), "", "error"},
		{contextItem("user", "u"), "", item},
		{sound, "audio 2", ""},
	})
	story(t, c, []any{speech(transport.StateStart), "input_audio_buffer.speech_started"})
	converse(t, c, []exchange{{sound, "context user a context user u audio 2", ""}, {sound, "audio 2", ""},
		{`{"type":"conversation.item.delete","item_id":"s"}`, "", "conversation.item.deleted error"}})
	c = begin(t, `{}`)
	converse(t, c, []exchange{
		{create, "text a", ""},
		{`{"type":"response.create","response":{"instructions":"Say hi.","input":[{"type":"message","role":"system",` +
			`"content":[{"type":"input_text","text":"s"}]}]}}`, "context system s prompt " + aside + "Say hi.", ""},
	})
}

// TestFollowed says which session a call has, and names what the gateway does not follow: not the
// model and the voice, for which everybody asks.
func TestFollowed(t *testing.T) {
	c := newCodec(httptest.NewRequest(http.MethodGet, "/", nil))
	var out wsendpoint.Outbox
	events := []string{update(`{"model":"gpt-realtime","instructions":"x","audio":{"output":{"voice":"marin"}},` +
		`"max_output_tokens":9,"tools":[{"type":"function","name":"f"},{"type":"function","name":"g"}]}`)}
	var h transport.Hello
	_ = c.Greet(&h, func() (wsconn.Message, error) {
		if len(events) == 0 {
			return wsconn.Message{}, wsendpoint.ErrSettled
		}
		b := []byte(events[0])
		events = nil
		return wsconn.Message{Data: b}, nil
	}, &out)
	if got := types(told(t, &out)); got != "session.created" {
		t.Errorf("told %s before the call is up", got)
	}
	c.Ready(transport.Ready{Model: transport.Model{Name: "gemini"}, Voice: "Puck", Refused: []*transport.FieldError{
		transport.SessionError("model", `"gpt-realtime"`, "absent"), transport.SessionError("voice", `"marin"`, "absent"),
		transport.SessionError("system_instruction", "1 byte long", "absent"),
		transport.SessionError("max_output_tokens", "9", "absent"),
		transport.SessionError("tools", `the function "f"`, "absent")}}, &out)
	list := told(t, &out)
	var params []string
	for _, m := range list[:len(list)-1] {
		params = append(params, fmt.Sprint(m["error"].(map[string]any)["param"]))
	}
	if got := strings.Join(params, " "); got != "session.instructions session.max_output_tokens session.tools" {
		t.Errorf("refused %s", got)
	}
	b, _ := json.Marshal(list[len(list)-1]["session"])
	for _, want := range []string{`"model":"gemini"`, `"voice":"Puck"`, `"instructions":""`, `"max_output_tokens":"inf"`,
		`"tools":[{"name":"g","type":"function"}]`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the session is %s, want %s", b, want)
		}
	}
}

// read lets a codec read an event.
func read(t testing.TB, c *codec, event string) (events []string, list []map[string]any, err error) {
	t.Helper()
	in := wsendpoint.NewInbox(pcmRateHz)
	var out wsendpoint.Outbox
	err = c.Read(wsconn.Message{Data: []byte(event)}, in, &out)
	var ev transport.Event
	for in.Next(&ev) {
		switch ev.Kind {
		case transport.EventAudio:
			events = append(events, fmt.Sprintf("audio %d", len(ev.PCM)))
		case transport.EventTalk:
			events = append(events, fmt.Sprintf("talk %v", ev.On))
		case transport.EventContext:
			events = append(events, fmt.Sprintf("context %s %s", ev.Role, ev.Text))
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
		{`{"type":"input_audio_buffer.clear"}`, "", "input_audio_buffer.cleared"},
		{`{"type":"session.update","session":{}}`, "", "session.updated"},
		{typed, "", "conversation.item.added conversation.item.done"},
		{typed, "", "conversation.item.added conversation.item.done"},
		{`{"type":"response.create"}`, "text hi hi", ""},
		{item(`{"type":"message","role":"system","content":[]}`), "", "conversation.item.added conversation.item.done"},
		{item(`{"type":"message","role":"user","content":[{"type":"input_image"}]}`), "", "error"},
		{item(`{"type":"message","role":"user","content":[{"type":"input_text","text":"` + strings.Repeat("x", 4001) +
			`"}]}`), "", "error"},
		{item(`null`), "", "error"},
		{item(`{"type":"function_call_output","call_id":"t","output":"{\"x\":1}"}`), `tool_result t{"x":1}`,
			"conversation.item.added conversation.item.done"}, // of nobody: the gateway refuses it
		{item(`{"type":"function_call_output","call_id":"t","output":"sunny"}`), `tool_result t"sunny"`,
			"conversation.item.added conversation.item.done"},
		{item(`{"type":"function_call_output","output":"{}"}`), "", "error"},
		{`{"type":"conversation.item.truncate","item_id":"x","audio_end_ms":1}`, "", "error"},
		{`{"type":"response.cancel"}`, "", "response.created response.done"}, // of the one asked for
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

// TestClientTellsTurns is without turn detection: a microphone that is always on interrupts nothing.
// What was committed goes to the model with response.create, in one piece.
func TestClientTellsTurns(t *testing.T) {
	c, h, _, _ := greet(t, update(`{"type":"realtime","audio":{"input":{"turn_detection":null}}}`))
	if h.Detection != transport.DetectionPush || h.InputRateHz != bufferRateHz {
		t.Errorf("detection %q, %d Hz", h.Detection, h.InputRateHz)
	}
	frame := `{"type":"input_audio_buffer.append","audio":"` + base64.StdEncoding.EncodeToString(make([]byte, 4800)) + `"}`
	const commit, create = `{"type":"input_audio_buffer.commit"}`, `{"type":"response.create"}`
	converse(t, c, []exchange{
		{commit, "", "error"},
		{frame, "", ""}, {frame, "", ""},
		{commit, "", committed},
		{commit, "", "error"},
		{frame, "", ""},
		{create, "talk true audio 4800 talk false", ""},
	})
	story(t, c, []any{
		speech(transport.StateStart), "", speech(transport.StateStop), "", // of the gateway's button
		turn(1, transport.StateStart, ""), created,
	})
	converse(t, c, []exchange{
		{frame, "", ""}, {commit, "", committed},
		{create, "", "error"}, // a response is open
		{`{"type":"response.cancel"}`, "", done},
		{frame, "", ""},
		{`{"type":"input_audio_buffer.clear"}`, "", "input_audio_buffer.cleared"},
		{commit, "", "error"},
		{`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[` +
			`{"type":"input_text","text":"and"}]}}`, "", "conversation.item.added conversation.item.done"},
		{create, "talk true text and audio 4800 talk false", ""},
	})
}

// TestBuffer keeps the end of what was appended, and what a client deletes does not go to the model.
func TestBuffer(t *testing.T) {
	c, _, _, _ := greet(t, update(`{"type":"realtime","audio":{"input":{"turn_detection":null,`+
		`"format":{"type":"audio/pcm","rate":16000}}}}`))
	append := func(seconds float64) {
		t.Helper()
		b := make([]byte, int(seconds*16000)*2)
		b[0] = 1
		if _, _, err := read(t, c, `{"type":"input_audio_buffer.append","audio":"`+base64.StdEncoding.EncodeToString(b)+
			`"}`); err != nil {
			t.Fatal(err)
		}
	}
	commit := func() string {
		t.Helper()
		_, list, _ := read(t, c, `{"type":"input_audio_buffer.commit"}`)
		return list[0]["item_id"].(string)
	}
	append(1)
	first := commit()
	append(2)
	second := commit()
	append(3)
	commit()
	append(0.5)
	converse(t, c, []exchange{{`{"type":"conversation.item.delete","item_id":"` + second + `"}`, "",
		"conversation.item.deleted"}})
	if c.input.committed != 4*16000 || len(c.input.buffer) != 4.5*16000 {
		t.Errorf("%d of %d samples are committed", c.input.committed, len(c.input.buffer))
	}
	append(29)
	if n := len(c.input.buffer); n < bufferSeconds*16000 || n > (bufferSeconds+1)*16000 || c.input.committed >= 4*16000 {
		t.Errorf("%d samples wait, %d are committed", n, c.input.committed)
	}
	_, list, _ := read(t, c, `{"type":"response.create"}`)
	if types(list) != "error" {
		t.Errorf("told %s, want that audio is lost", types(list))
	}
	if it := c.list.find(first); it == nil || it.unsent {
		t.Errorf("the first item is %+v", it)
	}
	for range 3 {
		append(16)
	}
	if n := cap(c.input.buffer); n > 4*bufferSeconds*16000 {
		t.Errorf("the buffer has room for %d samples", n)
	}
}

// TestAnswersWhenAsked detects turns, and has the model answer only with response.create: speech over
// a reply ends it, a cough does not.
func TestAnswersWhenAsked(t *testing.T) {
	c, h, list, _ := greet(t, update(`{"input_audio_format":{"type":"audio/pcm","rate":16000},`+
		`"turn_detection":{"type":"server_vad","create_response":false}}`))
	if h.Detection != transport.DetectionPush || types(list) != "session.created session.updated" ||
		!strings.Contains(fmt.Sprint(list[1]), "create_response:false") {
		t.Errorf("%+v, %v", h, list)
	}
	said := 0 // ms
	say := func(words string) (events, told string) {
		t.Helper()
		pcm := append(make([]int16, 3*bufferRateHz), audiotest.Speech(words).Samples...)
		pcm = append(pcm, make([]int16, 3*bufferRateHz/2)...)
		said += len(pcm) * 1000 / bufferRateHz
		for len(pcm) > 0 {
			n := min(len(pcm), 333)
			b, list, err := read(t, c, `{"type":"input_audio_buffer.append","audio":"`+
				base64.StdEncoding.EncodeToString(audio.AppendBytes(nil, pcm[:n]))+`"}`)
			if pcm = pcm[n:]; err != nil {
				t.Fatal(err)
			}
			for _, m := range list {
				if at, ok := m["audio_start_ms"].(float64); ok && (int(at) < said-7500 || int(at) > said-3000) {
					t.Errorf("speech starts at %v of %d ms", at, said)
				}
			}
			events, told = events+strings.Join(b, " "), strings.TrimSpace(told+" "+types(list))
		}
		return events, told
	}
	const heard = "input_audio_buffer.speech_started input_audio_buffer.speech_stopped " + committed
	question := len(audiotest.Speech("question").Samples)
	for range 2 {
		if events, told := say("question"); events != "" || told != heard {
			t.Errorf("the question: %q, told %q", events, told)
		}
	}
	if n := c.input.committed; n < 2*question || n > 2*(question+2*bufferRateHz) {
		t.Errorf("%d samples are committed, the question has %d", n, question)
	}
	events, _, _ := read(t, c, create)
	if s := strings.Join(events, " "); !strings.HasPrefix(s, "talk true audio") || !strings.HasSuffix(s, "talk false") {
		t.Errorf("what goes to the model: %s", s)
	}
	story(t, c, []any{turn(1, transport.StateStart, ""), created})
	if _, told := say("cough"); told != "" {
		t.Errorf("a cough: %s", told)
	}
	if _, told := say("question"); told != "input_audio_buffer.speech_started "+done+
		" input_audio_buffer.speech_stopped "+committed {
		t.Errorf("over the reply: %s", told)
	}
	story(t, c, []any{turn(1, transport.StateResume, ""), ""}) // nothing more of it
	converse(t, c, []exchange{
		{`{"type":"input_audio_buffer.commit"}`, "", "error"},
		{update(`{"turn_detection":null}`), "", "session.updated"},
		{update(`{"turn_detection":{"type":"server_vad"}}`), "", "error session.updated"},
	})
}

// TestSilenceBefore leaves out the silence that a microphone sends before the first word, and
// nothing of the words.
func TestSilenceBefore(t *testing.T) {
	c, _, _, _ := greet(t, update(`{"turn_detection":null,"input_audio_format":{"type":"audio/pcm","rate":16000}}`))
	question := audiotest.Speech("question").Samples
	for _, seconds := range []int{0, 1, 12} {
		c.input.buffer = append(make([]int16, seconds*bufferRateHz), question...)
		c.input.committed = len(c.input.buffer)
		got := c.input.spoken()
		if len(got) < min(len(c.input.buffer), len(question)) || len(got) > len(question)+leadSamples {
			t.Errorf("%d s of silence: %d samples go to the model, the question has %d", seconds, len(got), len(question))
		}
	}
}

// story tells a codec messages, and wants these events.
func story(t *testing.T, c *codec, steps []any) []map[string]any {
	t.Helper()
	var all []map[string]any
	for i := 0; i+1 < len(steps); i += 2 {
		m, want := steps[i].(transport.Message), steps[i+1].(string)
		var out wsendpoint.Outbox
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

// marked is the mark of a reply whose tokens are known.
func marked() transport.Message {
	return transport.Message{Kind: transport.MessageMark, Usage: transport.Usage{Total: 9}}
}

// TestUsage counts the tokens of a turn in its last response, which waits for them until the turn
// is over.
func TestUsage(t *testing.T) {
	all := transport.Usage{Prompt: 30, Response: 8, Thoughts: 2, Total: 40, Cached: 5, PromptText: 10, PromptAudio: 20,
		ResponseText: 1, ResponseAudio: 7}
	const want = `{"input_token_details":{"audio_tokens":20,"cached_tokens":5,"text_tokens":10},"input_tokens":30,` +
		`"output_token_details":{"audio_tokens":7,"text_tokens":1},"output_tokens":10,"total_tokens":40}`
	ended := turn(1, transport.StateEnd, transport.TurnComplete)
	ended.Usage = all
	c, _, _, _ := greet(t, update(""))
	got := story(t, c, []any{turn(1, transport.StateStart, ""), created,
		transport.Message{Kind: transport.MessageClear, Generation: 1}, done,
		turn(1, transport.StateResume, ""), created,
		transport.Message{Kind: transport.MessageMark}, "",
		ended, done,
		turn(2, transport.StateStart, ""), created,
		transport.Message{Kind: transport.MessageMark, Usage: all}, done,
		turn(2, transport.StateEnd, transport.TurnComplete), "",
		turn(3, transport.StateStart, ""), created,
		turn(3, transport.StateEnd, transport.TurnComplete), done})
	var totals []any
	for _, m := range got {
		if m["type"] != "response.done" {
			continue
		}
		usage := m["response"].(map[string]any)["usage"].(map[string]any)
		totals = append(totals, usage["total_tokens"])
		if b, _ := json.Marshal(usage); usage["total_tokens"] != 0. && string(b) != want {
			t.Errorf("usage %s, want %s", b, want)
		}
	}
	if fmt.Sprint(totals) != "[0 40 40 0]" {
		t.Errorf("the responses cost %v tokens", totals)
	}
}

// TestTurns tells a turn, a cough over the next, and an interruption.
func TestTurns(t *testing.T) {
	c, _, _, _ := greet(t, update(transcribed))
	clear := func(g uint64) transport.Message {
		return transport.Message{Kind: transport.MessageClear, Generation: g}
	}
	mark := marked()
	all := story(t, c, []any{
		speech(transport.StateStart), "input_audio_buffer.speech_started",
		speech(transport.StateStop), "input_audio_buffer.speech_stopped " + committed,
		transport.Message{Kind: transport.MessageTranscript, Who: transport.WhoCaller, Text: "how"},
		transcriptEvent + "delta",
		transport.Message{Kind: transport.MessageTranscript, Who: transport.WhoModel, Text: "fine"}, "",
		turn(1, transport.StateStart, ""),
		transcriptEvent + "completed " + created + " response.output_audio_transcript.delta",
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
			countable(t, r)
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

// countable wants what clients read of a response without asking whether it is there: the tokens,
// and why it failed.
func countable(t *testing.T, response map[string]any) {
	t.Helper()
	usage, _ := response["usage"].(map[string]any)
	for _, name := range []string{"total_tokens", "input_tokens", "output_tokens", "input_token_details",
		"output_token_details"} {
		if usage[name] == nil {
			t.Errorf("usage has no %s: %v", name, usage)
		}
	}
	if details := fmt.Sprint(response["status_details"]); response["status"] == "failed" &&
		!(strings.Contains(details, "message:") && strings.Contains(details, "model_lost")) {
		t.Errorf("a response failed with %s", details)
	}
}

// TestTruncate puts a client's account of an item into ms of its generation, of which the item may
// be a later part.
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
		it := c.list.find(items[i])
		if got := c.reply.base(it) + 500; got != want {
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

const (
	callItem = "response.output_item.added conversation.item.added response.function_call_arguments.delta " +
		"response.function_call_arguments.done response.output_item.done conversation.item.done"
	saidAll = "response.output_audio.done response.output_audio_transcript.done response.content_part.done " +
		"response.output_item.done conversation.item.done"
)

// TestToolCall is an item of the response that is open, which it ends, and otherwise a response of
// its own. The rest of the turn is another response.
func TestToolCall(t *testing.T) {
	c, _, _, _ := greet(t, update(`{"type":"realtime"}`))
	call := transport.Message{Kind: transport.MessageToolCall, ID: "t", Name: "weather", Text: `{"city":"Oslo"}`}
	all := story(t, c, []any{call, "response.created " + callItem + " response.done",
		turn(1, transport.StateStart, ""), created, call, saidAll + " " + callItem + " response.done"})
	var out wsendpoint.Outbox
	for range 2 {
		c.Announce(1, &out)
	}
	if got := types(told(t, &out)); got != created {
		t.Errorf("before the rest: %s", got)
	}
	all = append(all, story(t, c, []any{turn(1, transport.StateEnd, transport.TurnComplete), done,
		transport.Message{Kind: transport.MessageToolCancel, ID: "t"}, "",
		transport.Message{Kind: transport.MessageError, Text: "x"}, "error"})...)
	c.Announce(1, &out)
	if got := types(told(t, &out)); got != "" {
		t.Errorf("after the turn: %s", got)
	}
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
		m.ItemID != c.reply.item.id || m.EventID == "" {
		t.Errorf("%+v", m)
	}
}

func TestFailuresAreTold(t *testing.T) {
	for reason, want := range map[transport.Reason]string{
		transport.ReasonCallerHungUp: "1000 ", transport.ReasonModelLost: "1011 server_error",
		transport.ReasonUnauthorized: "1008 invalid_request_error", transport.ReasonGoingAway: "1001 ",
	} {
		c, _, _, _ := greet(t, update(`{"type":"realtime"}`))
		var out wsendpoint.Outbox
		code, _ := c.Bye(transport.End(reason, "", nil), &out)
		kind := ""
		for _, m := range told(t, &out) {
			kind = fmt.Sprint(m["error"].(map[string]any)["type"])
		}
		if got := fmt.Sprint(code, " ", kind); got != want {
			t.Errorf("%s: %q, want %q", reason, got, want)
		}
	}
}

// begin greets and makes an item of a text, so that the conversation is not new.
func begin(t *testing.T, session string) *codec {
	t.Helper()
	c, _, _, _ := greet(t, update(session))
	converse(t, c, []exchange{{typed("a"), "", "conversation.item.added conversation.item.done"}})
	return c
}

func typed(id string) string {
	return `{"type":"conversation.item.create","item":{"id":"` + id +
		`","type":"message","role":"user","content":[{"type":"input_text","text":"` + id + `"}]}}`
}

const create = `{"type":"response.create"}`

// TestRespond asks for responses: first, with instructions, with input, in vain, and while one is
// open.
func TestRespond(t *testing.T) {
	c, _, _, _ := greet(t, update(`{}`))
	converse(t, c, []exchange{{create, "text " + beginning, ""}})
	ask := func(response string) string {
		return `{"type":"response.create","event_id":"e","response":` + response + `}`
	}
	c = begin(t, `{}`)
	for _, param := range []string{`response.conversation {"conversation":"none"}`, `response.input {"input":[{"type":` +
		`"item_reference","id":"a"}]}`, `response.output_modalities {"output_modalities":["video"]}`,
		`response.metadata {"metadata":[1]}`, `response 7`,
		`response.instructions {"instructions":"` + strings.Repeat("x", 4000) + `"}`} {
		param, response, _ := strings.Cut(param, " ")
		events, list, err := read(t, c, ask(response))
		if err != nil || len(events) > 0 || types(list) != "error" {
			t.Errorf("%.80s: %v, %v, %v", response, events, types(list), err)
			continue
		}
		if e := list[0]["error"].(map[string]any); e["param"] != param || e["event_id"] != "e" {
			t.Errorf("%.80s: %v", response, e)
		}
	}
	converse(t, c, []exchange{
		{ask(`{"instructions":"Greet.","input":[{"type":"message","role":"user","content":[{"type":"input_text",` +
			`"text":"hi"}]}],"conversation":"auto","metadata":{"k":"v"},"tool_choice":"auto","tools":[]}`),
			"text " + aside + "Greet.\nhia", ""},
		{create, "", ""}, // the response is still to come
	})
	all := story(t, c, []any{turn(1, transport.StateStart, ""), created})
	converse(t, c, []exchange{{create, "", "error"}, {typed("b"), "", "conversation.item.added conversation.item.done"},
		{create, "", "error"}})
	all = append(all, story(t, c, []any{marked(), done})...)
	for _, i := range []int{0, len(all) - 1} {
		if r := all[i]["response"].(map[string]any); fmt.Sprint(r["metadata"]) != "map[k:v]" {
			t.Errorf("%s with metadata %v", all[i]["type"], r["metadata"])
		}
	}
	converse(t, c, []exchange{
		{ask(`{"tool_choice":"required","max_output_tokens":10,"tools":[{"type":"function"}]}`), "text b",
			"error error error"},
	})
	story(t, c, []any{turn(2, transport.StateStart, ""), created, marked(), done})
	converse(t, c, []exchange{{create, "", "response.created response.done"}}) // nothing is new
}

// TestRespondFails ends the response that was asked for when the gateway says why there is none.
func TestRespondFails(t *testing.T) {
	c := begin(t, `{}`)
	converse(t, c, []exchange{{create, "text a", ""}})
	story(t, c, []any{transport.Message{Kind: transport.MessageError, Code: codeNoTool}, "error"})
	all := story(t, c, []any{transport.Message{Kind: transport.MessageError, Code: "too_fast", Text: "Wait."},
		"response.created response.done", transport.Message{Kind: transport.MessageError, Code: "too_fast"}, "error"})
	if r := fmt.Sprint(all[1]["response"]); !strings.Contains(r, "failed") || !strings.Contains(r, "too_fast") {
		t.Errorf("the response is %s", r)
	}
}

// TestCancelEarly cancels a response that has not begun: nothing of it reaches the client.
func TestCancelEarly(t *testing.T) {
	c := begin(t, `{}`)
	converse(t, c, []exchange{{create, "text a", ""},
		{`{"type":"response.cancel"}`, "", "response.created response.done"}})
	story(t, c, []any{turn(1, transport.StateStart, ""), "", turn(1, transport.StateEnd, transport.TurnComplete), "",
		turn(2, transport.StateStart, ""), created})
}

// TestResults wait for response.create, or for the caller to speak; a reply that is open has them at
// once.
func TestResults(t *testing.T) {
	call := func(id string) transport.Message {
		return transport.Message{Kind: transport.MessageToolCall, ID: id, Name: "f", Text: "{}"}
	}
	alone := "response.created " + callItem + " response.done"
	result := func(id string) string {
		return `{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"` + id +
			`","output":"1"}}`
	}
	const item = "conversation.item.added conversation.item.done"
	c, _, _, _ := greet(t, update(`{}`))
	story(t, c, []any{call("a"), alone, call("b"), alone, call("c"), alone})
	converse(t, c, []exchange{
		{result("a"), "", item},
		{create, "tool_result a1", ""},
		{result("b"), "tool_result b1", item}, // the model waits for all
		{result("c"), "tool_result c1", item},
		{create, "", ""},
	})
	story(t, c, []any{turn(1, transport.StateStart, ""), created, marked(), done,
		turn(1, transport.StateEnd, transport.TurnComplete), ""})
	converse(t, c, []exchange{{create, "", "response.created response.done"}})

	story(t, c, []any{call("d"), alone})
	converse(t, c, []exchange{{result("d"), "", item}})
	story(t, c, []any{speech(transport.StateStart), "input_audio_buffer.speech_started"})
	converse(t, c, []exchange{{sound, "tool_result d1 audio 2", ""}})
	story(t, c, []any{speech(transport.StateStop), "input_audio_buffer.speech_stopped " + committed})

	story(t, c, []any{call("e"), alone})
	converse(t, c, []exchange{{result("e"), "", item}})
	story(t, c, []any{transport.Message{Kind: transport.MessageToolCancel, ID: "e"}, ""})
	converse(t, c, []exchange{{create, "", "response.created response.done"}}) // the gateway told the model

	// The model speaks before it calls, and ends its turn when it has the result.
	c, _, _, _ = greet(t, update(`{}`))
	story(t, c, []any{turn(2, transport.StateStart, ""), created, call("f"), saidAll + " " + callItem + " response.done"})
	var out wsendpoint.Outbox
	c.Announce(2, &out)
	if got := types(told(t, &out)); got != created {
		t.Errorf("the rest: %s", got)
	}
	converse(t, c, []exchange{{result("f"), "tool_result f1", item}, {create, "", done}})
	c.Announce(2, &out)
	if got := types(told(t, &out)); got != created {
		t.Errorf("the answer: %s", got)
	}
	converse(t, c, []exchange{{create, "", "error"}}) // it is open
	story(t, c, []any{turn(2, transport.StateEnd, transport.TurnComplete), done})

	// A result while the model speaks: who asks for the response gets one, also if nothing follows.
	story(t, c, []any{call("g"), alone, turn(3, transport.StateStart, ""), created})
	converse(t, c, []exchange{{result("g"), "tool_result g1", item}, {create, "", ""}})
	story(t, c, []any{turn(3, transport.StateEnd, transport.TurnComplete), done + " response.created response.done"})
}

// TestItems keeps items in order, gives them back, and takes them out.
func TestItems(t *testing.T) {
	c, _, _, _ := greet(t, update(transcribed))
	ids := func() string {
		var ids []string
		for _, it := range c.list.items {
			ids = append(ids, it.id)
		}
		return strings.Join(ids, " ")
	}
	put := func(id, after string) []map[string]any {
		_, list, _ := read(t, c, strings.TrimSuffix(typed(id), "}")+`,"previous_item_id":`+after+`}`)
		return list
	}
	for _, tt := range []struct{ id, after, previous, order string }{
		{"b", "null", "<nil>", "b"}, {"d", "null", "b", "b d"}, {"a", `"root"`, "<nil>", "a b d"},
		{"c", `"b"`, "b", "a b c d"},
	} {
		list := put(tt.id, tt.after)
		if got := fmt.Sprint(list[0]["previous_item_id"]); got != tt.previous || ids() != tt.order {
			t.Errorf("%s after %s is told to be after %s; the order is %s", tt.id, tt.after, got, ids())
		}
	}
	for _, bad := range []string{`"nobody"`, `"b"`} {
		if list := put("a", bad); types(list) != "error" {
			t.Errorf("after %s: %s", bad, types(list))
		}
	}
	converse(t, c, []exchange{
		{`{"type":"conversation.item.delete","item_id":"b"}`, "", "conversation.item.deleted"},
		{`{"type":"conversation.item.delete","item_id":"b"}`, "", "error"},
		{`{"type":"conversation.item.retrieve","item_id":"b"}`, "", "error"}, // see below for its code
		{create, "text acd", ""},
		{`{"type":"conversation.item.delete","item_id":"c"}`, "", "conversation.item.deleted error"},
		{`{"type":"conversation.item.delete","item_id":"d"}`, "", "conversation.item.deleted"}, // told once
		{`{"type":"conversation.item.truncate","item_id":"a","audio_end_ms":1}`, "", "error"},
	})
	for _, what := range []string{"retrieve", "delete", "truncate"} {
		_, list, _ := read(t, c, `{"type":"conversation.item.`+what+`","item_id":"b"}`)
		if e := list[0]["error"].(map[string]any); e["code"] != "item_"+what+"_invalid_item_id" {
			t.Errorf("%s: %v", what, e)
		}
	}
	_, list, _ := read(t, c, `{"type":"conversation.item.retrieve","item_id":"a"}`)
	if got := fmt.Sprint(list[0]["item"]); !strings.Contains(got, "text:a") {
		t.Errorf("retrieved %s", got)
	}
	story(t, c, []any{speech(transport.StateStart), "input_audio_buffer.speech_started"})
	heard := transport.Message{Kind: transport.MessageTranscript, Who: transport.WhoCaller, Text: "hello", Final: true}
	all := story(t, c, []any{heard, "", speech(transport.StateStop),
		"input_audio_buffer.speech_stopped " + committed + " " + transcriptEvent + "delta " + transcriptEvent + "completed"})
	if m := all[1]; m["previous_item_id"] != "a" {
		t.Errorf("committed %v, want it after a", m)
	}
	_, list, _ = read(t, c, fmt.Sprintf(`{"type":"conversation.item.retrieve","item_id":%q}`, all[1]["item_id"]))
	if got := fmt.Sprint(list[0]["item"]); !strings.Contains(got, "transcript:hello") {
		t.Errorf("retrieved %s", got)
	}
}

// TestItemsForgotten has bounds for what a call remembers and for what waits.
func TestItemsForgotten(t *testing.T) {
	c, _, _, _ := greet(t, update(`{}`))
	for i := range unsentMax + 1 {
		_, list, _ := read(t, c, typed(fmt.Sprint("i", i)))
		if want := i == unsentMax; (types(list) == "error") != want {
			t.Fatalf("item %d: %s", i, types(list))
		}
	}
	for i := range 2 * itemsMax {
		it := &item{id: fmt.Sprint("x", i), kind: kindMessage, role: roleUser}
		c.list.insert(it, c.list.last())
		c.list.say(it, strings.Repeat("y", 2000))
	}
	bytes := 0
	for _, it := range c.list.items {
		bytes += len(it.text)
	}
	if n := len(c.list.items); n > itemsMax || bytes > itemBytesMax || bytes != c.list.bytes || n <= unsentMax {
		t.Errorf("%d items of %d bytes, counted as %d", n, bytes, c.list.bytes)
	}
	if c.list.find("i0") == nil {
		t.Error("what waits for response.create is forgotten")
	}
}

// TestText keeps the audio of replies from a client that wants text.
func TestText(t *testing.T) {
	c, _, _, _ := greet(t, update(`{"output_modalities":["text"]}`))
	const done = "response.output_text.done response.content_part.done response.output_item.done conversation.item.done " +
		"response.done"
	words := transport.Message{Kind: transport.MessageTranscript, Who: transport.WhoModel, Text: "hi"}
	all := story(t, c, []any{turn(1, transport.StateStart, ""), created, words, "response.output_text.delta"})
	if b := c.Audio(nil, 1, make([]int16, 480)); len(b) != 0 {
		t.Errorf("audio: %s", b)
	}
	all = append(all, story(t, c, []any{marked(), done})...)
	if s := fmt.Sprint(all[len(all)-1]); !strings.Contains(s, "output_text") || !strings.Contains(s, "text:hi") {
		t.Errorf("done with %s", s)
	}
	converse(t, c, []exchange{{typed("a"), "", "conversation.item.added conversation.item.done"},
		{`{"type":"response.create","response":{"output_modalities":["audio"]}}`, "text a", ""}})
	story(t, c, []any{turn(2, transport.StateStart, ""), created})
	if b := c.Audio(nil, 2, make([]int16, 480)); len(b) == 0 {
		t.Error("no audio in a response that should have it")
	}
}

// TestBeta gives the names of the beta to a client that asks for them.
func TestBeta(t *testing.T) {
	for name, ask := range map[string]func(h http.Header){
		"header":      func(h http.Header) { h.Set("OpenAI-Beta", "assistants=v2, realtime=v1") },
		"subprotocol": func(h http.Header) { h.Set("Sec-WebSocket-Protocol", "realtime, openai-beta.realtime-v1") },
		"neither":     func(http.Header) {},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		ask(r.Header)
		if got := wantsBeta(r); got != (name != "neither") {
			t.Errorf("%s: beta is %v", name, got)
		}
	}
	c, _, _, _ := greet(t, update(`{"instructions":"x","modalities":["audio","text"],"voice":"v",`+
		`"input_audio_format":"g711_alaw","output_audio_format":"pcm16","turn_detection":{"type":"server_vad"},`+
		`"input_audio_transcription":{"model":"w"},"max_response_output_tokens":"inf","temperature":0.8}`))
	c.beta = true
	b, _ := json.Marshal(c.describe())
	for _, want := range []string{`"modalities":["audio","text"]`, `"voice":"v"`, `"input_audio_format":"g711_alaw"`,
		`"output_audio_format":"pcm16"`, `"turn_detection":{`, `"input_audio_transcription":{"model":"w"}`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the session is %s, without %s", b, want)
		}
	}
	mark := marked()
	all := story(t, c, []any{
		turn(1, transport.StateStart, ""), "response.created response.output_item.added conversation.item.created " +
			"response.content_part.added",
		transport.Message{Kind: transport.MessageTranscript, Who: transport.WhoModel, Text: "hi"},
		"response.audio_transcript.delta",
		mark, "response.audio.done response.audio_transcript.done response.content_part.done response.output_item.done " +
			"response.done",
	})
	if s := fmt.Sprint(all[len(all)-1]); !strings.Contains(s, "type:audio") || strings.Contains(s, "output_audio ") {
		t.Errorf("done with %s", s)
	}
	story(t, c, []any{turn(2, transport.StateStart, ""), "response.created response.output_item.added " +
		"conversation.item.created response.content_part.added"})
	if b := c.Audio(nil, 2, make([]int16, 160)); !strings.Contains(string(b), `"response.audio.delta"`) {
		t.Errorf("audio as %.60s", b)
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
	in, out := wsendpoint.NewInbox(pcmRateHz), &wsendpoint.Outbox{}
	m := wsconn.Message{Data: []byte(`{"type":"input_audio_buffer.append","audio":"` +
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
	var out wsendpoint.Outbox
	m := turn(1, transport.StateStart, "")
	c.Message(&m, &out)
	pcm, dst := make([]int16, 480), []byte(nil)
	b.ReportAllocs()
	for b.Loop() {
		dst = c.Audio(dst[:0], 1, pcm)
	}
}

// FuzzRead reads whatever may come, as a session and in a call: it is an event, an answer, or an
// end of the call. The fast path for sound takes what the other one does.
func FuzzRead(f *testing.F) {
	f.Add([]byte(sound))
	f.Add([]byte(update(transcribed)))
	f.Add([]byte(`{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"t","output":"{}"}}`))
	f.Add([]byte(`{"type":"conversation.item.truncate","item_id":"item_4","audio_end_ms":1e300}`))
	f.Add([]byte(`{"type":"response.cancel","event_id":"x"}`))
	f.Add([]byte(`{"type":"response.create","response":{"instructions":"x","input":[{"type":"message","role":"user",` +
		`"content":[{"type":"input_text","text":"y"}]}],"metadata":{"a":"b"},"output_modalities":["text"]}}`))
	f.Add([]byte(`{"type":"conversation.item.delete","item_id":"item_4"}`))
	f.Add([]byte(`{"type":"input_audio_buffer.commit"}`))
	f.Add([]byte(typed("a")))
	f.Add([]byte(update(`{"audio":{"input":{"format":"pcm16","turn_detection":null}},"tools":[{"type":"function"}]}`)))
	f.Fuzz(func(t *testing.T, b []byte) {
		var e *transport.Ended
		if _, _, _, err := greet(t, string(b)); err != nil && !errors.As(err, &e) {
			t.Fatal(err)
		}
		c, _, _, _ := greet(t, update(transcribed))
		var out wsendpoint.Outbox
		start := turn(1, transport.StateStart, "")
		c.Message(&start, &out)
		if _, _, err := read(t, c, string(b)); err != nil && !errors.As(err, &e) {
			t.Fatal(err)
		}
		push, _, _, _ := greet(t, update(`{"audio":{"input":{"turn_detection":null}}}`))
		for _, event := range []string{sound, `{"type":"input_audio_buffer.commit"}`, string(b), create, string(b)} {
			if _, _, err := read(t, push, event); err != nil && !errors.As(err, &e) {
				t.Fatal(err)
			}
		}
		if i := &push.input; i.committed < 0 || i.committed > len(i.buffer) {
			t.Fatalf("%d of %d samples are committed", i.committed, len(i.buffer))
		}
		var ev clientEvent
		if _, ok := scanAppend(b); ok && json.Unmarshal(b, &ev) == nil && ev.Type != "input_audio_buffer.append" {
			t.Fatalf("the fast path took a %q", ev.Type)
		}
	})
}
