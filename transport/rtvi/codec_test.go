package rtvi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
	"github.com/voicegw/voicegw/transport/wsendpoint"
)

// envelope is a message in its frame.
func envelope(kind, data string) wsconn.Message {
	if data != "" {
		data = `,"data":` + data
	}
	m := `{"label":"rtvi-ai","type":"` + kind + `","id":"i-1"` + data + `}`
	return wsconn.Message{Binary: true, Data: appendMessageFrame(nil, []byte(m))}
}

// greet gives a codec its first messages.
func greet(t testing.TB, messages ...wsconn.Message) (*codec, transport.Hello, []string, error) {
	t.Helper()
	c, h := &codec{}, transport.Hello{Version: 1, InputRateHz: 16000, OutputRateHz: 24000}
	var out wsendpoint.Outbox
	err := c.Greet(&h, func() (wsconn.Message, error) {
		if len(messages) == 0 {
			return wsconn.Message{}, transport.End(transport.ReasonHelloTimeout, "", nil)
		}
		m := messages[0]
		messages = messages[1:]
		return m, nil
	}, &out)
	if err == nil {
		c.Ready(transport.Ready{Call: "c-1"}, &out)
	}
	return c, h, said(t, &out), err
}

func clientReady() wsconn.Message {
	return envelope("client-ready",
		`{"version":"2.1.0","about":{"library":"client-js","library_version":"1.13","platform":"web"}}`)
}

// said are the messages of an outbox, without their label.
func said(t testing.TB, out *wsendpoint.Outbox) []string {
	t.Helper()
	var list []string
	for _, b := range out.Take() {
		f, err := decodeFrame(b)
		if err != nil || f.kind != frameMessage {
			t.Fatalf("%x: %v", b, err)
		}
		var m message
		if err := json.Unmarshal(f.data, &m); err != nil || m.Label != label {
			t.Fatalf("%s: %v", f.data, err)
		}
		line := m.Type
		if m.ID != "" {
			line += " #" + m.ID
		}
		if m.Data != nil {
			line += " " + string(m.Data)
		}
		list = append(list, line)
	}
	return list
}

func TestGreeting(t *testing.T) {
	early := wsconn.Message{Binary: true, Data: appendAudioFrame(nil, []byte{1, 2}, 16000)}
	_, h, told, err := greet(t, early, clientReady())
	if err != nil || h.Client != "client-js 1.13 web" ||
		fmt.Sprint(told) != `[bot-ready #i-1 {"about":{"library":"voicegw"},"version":"2.1.0"}]` {
		t.Errorf("%+v, %v, %v", h, told, err)
	}
	if _, _, _, err := greet(t,
		wsconn.Message{Data: []byte(`{"label":"rtvi-ai","type":"client-ready","id":"1"}`)}); err != nil {
		t.Errorf("in a text frame: %v", err)
	}
	for name, m := range map[string]wsconn.Message{
		"another message": envelope("send-text", ""), "no frame": {Binary: true, Data: []byte{0xff}},
		"no JSON":  {Binary: true, Data: appendMessageFrame(nil, []byte("{"))},
		"bad data": envelope("client-ready", "1"),
	} {
		if _, _, _, err := greet(t, m); transport.ReasonOf(err) == transport.ReasonPeerLost || err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRead(t *testing.T) {
	sound := func(pcm []byte, rate int) wsconn.Message {
		return wsconn.Message{Binary: true, Data: appendAudioFrame(nil, pcm, rate)}
	}
	for name, tt := range map[string]struct {
		m     wsconn.Message
		want  string // events
		told  string // the beginning
		fails bool
	}{
		"sound":          {m: sound(make([]byte, 64), 16000), want: "audio 32"},
		"no rate":        {m: sound(make([]byte, 64), 0), fails: true},
		"a wrong rate":   {m: sound(make([]byte, 64), 7), fails: true},
		"a monster rate": {m: sound(make([]byte, 64), math.MaxInt), fails: true},
		"odd":            {m: sound(make([]byte, 3), 16000), fails: true},
		"stereo": {m: wsconn.Message{Binary: true, Data: []byte{frameAudio<<3 | 2, 2, audioChannels << 3, 2}},
			fails: true},
		"typed": {m: envelope("send-text", `{"content":"hi","options":{"run_immediately":true}}`),
			want: "text hi"},
		"typed for later": {m: envelope("send-text", `{"content":"hi","options":{"run_immediately":false}}`),
			want: "context hi user"},
		"added in the old way": {m: envelope("append-to-context", `{"role":"user","content":"hi"}`),
			want: "context hi user"},
		"an instruction": {m: envelope("append-to-context", `{"role":"system","content":"hi","run_immediately":true}`),
			want: "prompt hi"},
		"of another role":    {m: envelope("send-text", `{"content":"hi","role":"tool"}`), told: "error #i-1"},
		"added, but no text": {m: envelope("append-to-context", `{"content":{"x":1}}`), told: "error #i-1"},
		"ready once more":    {m: clientReady(), told: "error-response"},
		"typed in the old way": {m: envelope("append-to-context", `{"role":"user","content":"hi","run_immediately":true}`),
			want: "text hi"},
		"the assistant's": {m: envelope("append-to-context", `{"role":"assistant","content":"hi"}`),
			want: "context hi assistant"},
		"typed nothing": {m: envelope("send-text", `{"content":""}`), told: "error #i-1"},
		"typed too much": {m: envelope("send-text", `{"content":"`+strings.Repeat("x", 4001)+`"}`),
			told: "error #i-1"},
		"a text frame": {m: wsconn.Message{Binary: true, Data: []byte{frameText<<3 | 2, 4, textText<<3 | 2, 2, 'h',
			'i'}}, want: "text hi"},
		"keys":               {m: envelope("dtmf", `{"buttons":["1","#"]}`), want: "dtmf 1#"},
		"a key":              {m: envelope("dtmf", `{"button":"*"}`), want: "dtmf *"},
		"no keys":            {m: envelope("dtmf", `{"buttons":[]}`), told: "error #i-1"},
		"keys that are none": {m: envelope("dtmf", `{"buttons":["12"]}`), told: "error #i-1"},
		"letters":            {m: envelope("dtmf", `{"buttons":["A"]}`), told: "error #i-1"},
		"a result": {m: envelope("llm-function-call-result",
			`{"function_name":"f","tool_call_id":"t","result":{"x":1}}`), want: `tool_result {"x":1}`,
			told: "llm-function-call-stopped"},
		"a result of nothing": {m: envelope("llm-function-call-result", `{}`), told: "error #i-1"},
		"a message of the page": {m: envelope("client-message", `{"t":"cart","d":{"n":3}}`),
			want: `message {"n":3}`},
		"a message without data": {m: envelope("client-message", `{"t":"x"}`),
			want: "message null"},
		"a message of another kind, which the gateway refuses": {m: envelope("client-message", `[]`),
			want: "message null"},
		"good-bye":        {m: envelope("disconnect-bot", ""), want: "bye disconnect-bot"},
		"nothing we do":   {m: envelope("ui-event", `{}`), told: "error-response #i-1"},
		"nothing we know": {m: envelope("of-tomorrow", `{}`), told: "error-response #i-1"},
		"typed, no sound wanted": {m: envelope("send-text", `{"content":"hi","options":{"audio_response":false}}`),
			want: "text hi", told: "error-response #i-1"},
		"another label":        {m: wsconn.Message{Data: []byte(`{"label":"x","type":"disconnect-bot"}`)}},
		"an interruption":      {m: wsconn.Message{Binary: true, Data: []byte{frameInterruption<<3 | 2, 0}}},
		"nothing":              {m: wsconn.Message{Binary: true}},
		"no frame":             {m: wsconn.Message{Binary: true, Data: []byte{0x0f}}, fails: true},
		"longer than it is":    {m: wsconn.Message{Binary: true, Data: []byte{frameAudio<<3 | 2, 200}}, fails: true},
		"JSON of another kind": {m: wsconn.Message{Data: []byte(`[]`)}, fails: true},
		"data of another kind": {m: envelope("dtmf", `[]`), fails: true},
		"an unfinished varint": {m: wsconn.Message{Binary: true, Data: bytes.Repeat([]byte{0x80}, 20)}, fails: true},
		"fields nobody knows": {m: wsconn.Message{Binary: true, Data: []byte{15<<3 | 5, 1, 2, 3, 4, 15<<3 | 1, 1, 2, 3, 4,
			5, 6, 7, 8}}},
		"a half of fixed numbers": {m: wsconn.Message{Binary: true, Data: []byte{15<<3 | 5, 1, 2}}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			c, _, _, err := greet(t, clientReady())
			if err != nil {
				t.Fatal(err)
			}
			events, told, err := read(t, c, tt.m)
			if (err != nil) != tt.fails || strings.Join(events, "; ") != tt.want || !strings.HasPrefix(strings.Join(told, "; "),
				tt.told) ||
				(tt.told == "") != (len(told) == 0) {
				t.Errorf("%v, told %v, %v; want %q, %q", events, told, err, tt.want, tt.told)
			}
		})
	}
}

// TestToldOnce answers the first message of a kind that has no effect, and no later one.
func TestToldOnce(t *testing.T) {
	c, _, _, _ := greet(t, clientReady())
	for i, kind := range []string{"ui-event", "raw-audio", "a", "ui-event", "raw-audio", "b"} {
		if _, told, err := read(t, c, envelope(kind, `{}`)); err != nil || len(told) == 1 != (i < 3) {
			t.Errorf("%d: %s is answered by %v, %v", i, kind, told, err)
		}
	}
}

// read lets a codec read a message.
func read(t testing.TB, c *codec, m wsconn.Message) (events, told []string, err error) {
	t.Helper()
	in := wsendpoint.NewInbox(wsendpoint.InputRateHz)
	var out wsendpoint.Outbox
	err = c.Read(m, in, &out)
	var ev transport.Event
	for in.Next(&ev) {
		line := ev.Kind.String() + " " + ev.Text
		if ev.Kind == transport.EventAudio {
			line = fmt.Sprintf("audio %d", len(ev.PCM))
		}
		if ev.Role != "" {
			line += " " + string(ev.Role)
		}
		events = append(events, line)
	}
	return events, said(t, &out), err
}

// TestMessages tells the story of a turn, a cough over the next, and an interruption.
func TestMessages(t *testing.T) {
	c, _, _, err := greet(t, clientReady())
	if err != nil {
		t.Fatal(err)
	}
	speech := func(s transport.State) transport.Message {
		return transport.Message{Kind: transport.MessageSpeech, State: s}
	}
	turn := func(g uint64, s transport.State, end transport.TurnEnd) transport.Message {
		return transport.Message{Kind: transport.MessageTurn, Generation: g, State: s, TurnEnd: end}
	}
	clear := transport.Message{Kind: transport.MessageClear}
	for i, tt := range []struct {
		m    transport.Message
		want string
	}{
		{speech(transport.StateStart), "vad-user-started-speaking user-started-speaking"},
		{speech(transport.StateStop), "vad-user-stopped-speaking user-stopped-speaking"},
		{turn(1, transport.StateStart, ""), "bot-llm-started bot-tts-started bot-started-speaking"},
		{transport.Message{Kind: transport.MessageTranscript, Who: transport.WhoModel, Text: "hi"},
			"bot-llm-text bot-tts-text"},
		{transport.Message{Kind: transport.MessageMark, ID: "1:end"},
			"bot-transcription bot-output bot-llm-stopped bot-tts-stopped"},
		{turn(1, transport.StateEnd, transport.TurnComplete), "bot-output bot-stopped-speaking"},
		{turn(2, transport.StateStart, ""), "bot-llm-started bot-tts-started bot-started-speaking"},
		{speech(transport.StateStart), "vad-user-started-speaking"},
		{turn(2, transport.StatePause, ""), ""},
		{clear, "bot-interrupted bot-stopped-speaking"},
		{turn(2, transport.StateResume, ""), "bot-started-speaking"},
		{speech(transport.StateStop), "vad-user-stopped-speaking"},
		{speech(transport.StateStart), "vad-user-started-speaking"},
		{clear, "bot-interrupted bot-stopped-speaking"},
		{turn(2, transport.StateEnd, transport.TurnInterrupted), "user-started-speaking bot-llm-stopped bot-tts-stopped"},
		{speech(transport.StateStop), "vad-user-stopped-speaking user-stopped-speaking"},
		{transport.Message{Kind: transport.MessageToolCall, ID: "t", Name: "f", Text: "nonsense"},
			"llm-function-call-started llm-function-call-in-progress"},
		{transport.Message{Kind: transport.MessageToolCancel, ID: "t"}, "llm-function-call-stopped"},
		{transport.Message{Kind: transport.MessageProtected, State: transport.StateStart}, "user-mute-started"},
		{transport.Message{Kind: transport.MessageHold, State: transport.StateStop}, "user-mute-stopped"},
		{transport.Message{Kind: transport.MessageError, Text: "x"}, "error"},
		{transport.Message{Kind: transport.MessageMessage, Name: "show", Text: `{"id":1}`}, "server-message"},
		{transport.Message{Kind: transport.MessageNet}, ""},
	} {
		var out wsendpoint.Outbox
		c.Message(&tt.m, &out)
		var kinds []string
		for _, line := range said(t, &out) {
			kind, _, _ := strings.Cut(line, " ")
			kinds = append(kinds, kind)
		}
		if got := strings.Join(kinds, " "); got != tt.want {
			t.Errorf("%d: %s %s told %q, want %q", i, tt.m.Kind, tt.m.State, got, tt.want)
		}
	}
}

// TestUserWords are told as they grow, and once in full when the bot answers.
func TestUserWords(t *testing.T) {
	c, _, _, _ := greet(t, clientReady())
	var out wsendpoint.Outbox
	for _, text := range []string{"how ", "are you"} {
		c.Message(&transport.Message{Kind: transport.MessageTranscript, Who: transport.WhoCaller, Text: text}, &out)
	}
	c.Message(&transport.Message{Kind: transport.MessageTurn, State: transport.StateStart}, &out)
	told := said(t, &out)
	for i, want := range []string{`"text":"how "`, `"text":"how are you"`, `"final":true`} {
		if !strings.Contains(told[i], want) || strings.Contains(told[i], `"final":true`) != (i == 2) {
			t.Errorf("%d: %s, want %s", i, told[i], want)
		}
	}
}

func TestFailuresAreTold(t *testing.T) {
	for reason, want := range map[transport.Reason]int{transport.ReasonCallerHungUp: 0, transport.ReasonModelLost: 1} {
		c, _, _, _ := greet(t, clientReady())
		var out wsendpoint.Outbox
		if c.Bye(transport.End(reason, "", nil), &out); len(said(t, &out)) != want {
			t.Errorf("%s: want %d messages", reason, want)
		}
	}
}

func TestToken(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/?token=a%20b", nil)
	if got := token(r); got != "a b" {
		t.Errorf("token = %q", got)
	}
	r.Header.Set("Authorization", "bearer c")
	if got := token(r); got != "c" {
		t.Errorf("token = %q", got)
	}
}

func TestFramesAllocateNothing(t *testing.T) {
	c, _, _, _ := greet(t, clientReady())
	in, out := wsendpoint.NewInbox(wsendpoint.InputRateHz), &wsendpoint.Outbox{}
	m := wsconn.Message{Binary: true, Data: appendAudioFrame(nil, make([]byte, 640), 16000)}
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

func BenchmarkFrameUp(b *testing.B) {
	c, _, _, _ := greet(b, clientReady())
	in, out := wsendpoint.NewInbox(wsendpoint.InputRateHz), &wsendpoint.Outbox{}
	m := wsconn.Message{Binary: true, Data: appendAudioFrame(nil, make([]byte, 640), 16000)}
	var ev transport.Event
	b.ReportAllocs()
	for b.Loop() {
		_ = c.Read(m, in, out)
		in.Next(&ev)
		in.Next(&ev)
	}
}

// FuzzFrame decodes anything: what comes out is a part of what went in, and sound and messages
// survive the way there and back.
func FuzzFrame(f *testing.F) {
	f.Add(appendAudioFrame(nil, []byte{1, 2, 3, 4}, 16000))
	f.Add(appendMessageFrame(nil, []byte(`{"label":"rtvi-ai"}`)))
	f.Add([]byte{frameText<<3 | 2, 4, textText<<3 | 2, 2, 'h', 'i'})
	f.Add([]byte{frameAudio<<3 | 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := decodeFrame(b)
		if err != nil && !errors.Is(err, errFrame) || len(g.data) > len(b) {
			t.Fatalf("%+v, %v", g, err)
		}
		for _, size := range []int{len(b), 200, 70000} {
			pcm := bytes.Repeat([]byte{7}, size)
			if g, err := decodeFrame(appendAudioFrame(nil, pcm, 24000)); err != nil || g.kind != frameAudio ||
				!bytes.Equal(g.data, pcm) || g.rateHz != 24000 || g.channels != 1 {
				t.Fatalf("%d bytes of sound came back as %d, %v", size, len(g.data), err)
			}
		}
		if g, err := decodeFrame(appendMessageFrame(nil, b)); err != nil || g.kind != frameMessage || !bytes.Equal(g.data,
			b) {
			t.Fatalf("%q came back as %q, %v", b, g.data, err)
		}
	})
}

// FuzzRead reads whatever may come: it is an event, an end of the call, or nothing.
func FuzzRead(f *testing.F) {
	f.Add(true, appendAudioFrame(nil, []byte{1, 2, 3, 4}, 16000))
	f.Add(true, envelope("dtmf", `{"buttons":["1"]}`).Data)
	f.Add(false, []byte(`{"label":"rtvi-ai","type":"send-text","data":{"content":"x"}}`))
	f.Fuzz(func(t *testing.T, binary bool, b []byte) {
		m := wsconn.Message{Binary: binary, Data: b}
		var e *transport.Ended
		if _, _, _, err := greet(t, m); err != nil && !errors.As(err, &e) {
			t.Fatal(err)
		}
		c, _, _, _ := greet(t, clientReady())
		if _, _, err := read(t, c, m); err != nil && !errors.As(err, &e) {
			t.Fatal(err)
		}
	})
}
