package mediastream

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/phone"
)

// starts are how streams begin, as the carriers' documents have it.
func starts() map[string]string {
	return map[string]string{
		"twilio": `{"event":"start","sequenceNumber":"1","start":{"accountSid":"AC1","streamSid":"MZ1","callSid":"CA1",
			"tracks":["inbound"],"mediaFormat":{"encoding":"audio/x-mulaw","sampleRate":8000,"channels":1},
			"customParameters":{"instructions":"sales","language":"de-DE","token":"t","secret":"s","from":"+1","to":"+2",
			"customer":"7"}},"streamSid":"MZ1"}`,
		"telnyx": `{"event":"start","sequence_number":"1","start":{"user_id":"u","call_control_id":"v2:c",
			"from":"+1","to":"+2",
			"media_format":{"encoding":"PCMA","sample_rate":8000,"channels":1},"custom_parameters":{"customer":"7"}},
			"stream_id":"MZ1"}`,
		"plivo": `{"sequenceNumber":0,"event":"start","start":{"callId":"c","streamId":"MZ1","accountId":"a",
			"tracks":["inbound"],
			"mediaFormat":{"encoding":"audio/x-l16","sampleRate":16000}},"extra_headers":"customer=7;language=en"}`,
		"exotel": `{"event":"start","sequence_number":1,"stream_sid":"MZ1","start":{"stream_sid":"MZ1","call_sid":"c",
			"account_sid":"a","from":"1","to":"2","custom_parameters":{"customer":"7"},
			"media_format":{"encoding":"base64","sample_rate":"8000","bit_rate":"128kbps"}}}`,
	}
}

func TestStart(t *testing.T) {
	hello := func(endpoint, call string, rate int, from, to string) transport.Hello {
		return transport.Hello{Version: 1, InputRateHz: rate, OutputRateHz: rate, Endpoint: endpoint, Remote: "192.0.2.1",
			From: from, To: to, CarrierCall: call, Params: map[string]string{"customer": "7"}}
	}
	want := map[string]transport.Hello{"twilio": hello("twilio", "CA1", 8000, "+1", "+2"),
		"telnyx": hello("telnyx", "v2:c", 8000, "+1", "+2"), "plivo": hello("plivo", "c", 16000, "", ""),
		"exotel": hello("exotel", "c", 8000, "1", "2")}
	tw := want["twilio"]
	tw.Instructions, tw.Language, tw.Token = "sales", "de-DE", "t"
	pl := want["plivo"]
	pl.Language = "en"
	want["twilio"], want["plivo"] = tw, pl
	codecs := map[string]phone.Codec{"twilio": phone.PCMU, "telnyx": phone.PCMA, "plivo": phone.L16, "exotel": phone.L16}
	for name, text := range starts() {
		m, err := readMessage([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s, err := readStart(&m)
		if err != nil || s.stream != "MZ1" || s.codec != codecs[name] {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
		if got := s.hello("192.0.2.1"); !reflect.DeepEqual(got, want[name]) {
			t.Errorf("%s: hello is %+v, want %+v", name, got, want[name])
		}
	}
}

func TestStartRefused(t *testing.T) {
	edit := func(name, old, to string) string {
		s := starts()[name]
		if !strings.Contains(s, old) {
			t.Fatalf("%s has no %s", name, old)
		}
		return strings.ReplaceAll(s, old, to)
	}
	for _, tt := range []struct {
		name, text string
		codec      bool // the error is about the sound
	}{
		{"no start", `{"event":"start"}`, false},
		{"empty start", `{"event":"start","start":{}}`, false},
		{"start is no object", `{"event":"start","start":[1]}`, false},
		{"parameters are numbers", edit("twilio", `"7"`, `7`), false},
		{"a long id", edit("twilio", "MZ1", strings.Repeat("x", streamLenMax+1)), false},
		{"no id", edit("telnyx", `"MZ1"`, `""`), false},
		{"opus", edit("telnyx", "PCMA", "OPUS"), true},
		{"linear for Telnyx", edit("telnyx", "PCMA", "L16"), true},
		{"wideband mu-law", edit("twilio", "8000", "16000"), true},
		{"stereo", edit("twilio", `"channels":1`, `"channels":2`), true},
		{"a rate beyond", edit("plivo", "16000", "96000"), true},
		{"a rate that is none", edit("plivo", "16000", `"fast"`), false},
		{"A-law for Twilio", edit("twilio", "x-mulaw", "x-alaw"), true},
	} {
		m, err := readMessage([]byte(tt.text))
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if s, err := readStart(&m); err == nil || errors.Is(err, errCodec) != tt.codec {
			t.Errorf("%s: %+v, %v", tt.name, s, err)
		}
	}
}

// TestWords compares what is sent with the carriers' documents.
func TestWords(t *testing.T) {
	for _, tt := range []struct {
		carrier            carrier
		codec              phone.Codec
		audio, mark, clear string
	}{
		{twilio(), phone.PCMU, `{"event":"media","streamSid":"M1","media":{"payload":"/85O"}}`,
			`{"event":"mark","streamSid":"M1","mark":{"name":"g7:20:1"}}`, `{"event":"clear","streamSid":"M1"}`},
		{telnyx(), phone.PCMU, `{"event":"media","media":{"payload":"/85O"}}`,
			`{"event":"mark","mark":{"name":"g7:20:1"}}`, `{"event":"clear"}`},
		{plivo(), phone.PCMU,
			`{"event":"playAudio","media":{"contentType":"audio/x-mulaw","sampleRate":8000,"payload":"/85O"}}`,
			`{"event":"checkpoint","streamId":"M1","name":"g7:20:1"}`, `{"event":"clearAudio","streamId":"M1"}`},
		{plivo(), phone.L16,
			`{"event":"playAudio","media":{"contentType":"audio/x-l16","sampleRate":8000,"payload":"AADoAxj8"}}`,
			`{"event":"checkpoint","streamId":"M1","name":"g7:20:1"}`, `{"event":"clearAudio","streamId":"M1"}`},
		{exotel(), phone.L16, `{"event":"media","stream_sid":"M1","media":{"payload":"AADoAxj8"}}`,
			`{"event":"mark","stream_sid":"M1","mark":{"name":"g7:20:1"}}`, `{"event":"clear","stream_sid":"M1"}`},
	} {
		w := newWriter(tt.carrier, "M\"1\n\\", tt.codec, 8000)
		for what, got := range map[string][]byte{tt.audio: w.AppendAudio(nil, []int16{0, 1000, -1000}),
			tt.mark: w.AppendMark(nil, []byte("g7:20:1")), tt.clear: w.AppendClear(nil)} {
			if string(got) != what {
				t.Errorf("%s: %s, want %s", tt.carrier.name, got, what)
			}
		}
		if len(w.AppendBye(nil)) != 0 {
			t.Errorf("%s says good bye", tt.carrier.name)
		}
	}
}

// badMessages are no messages at all.
func badMessages() []string {
	return []string{"", " ", "x", "[]", "1", `"event"`, "{", "{}", `{"event"}`, `{"event":}`, `{"event":"media"`,
		`{"event":"media",}`, `{"event":"media"}}`, `{"event":"media"} x`, `{"event":1}`, `{event:"media"}`,
		`{"event":"media" "a":1}`, `{"event":"me`, `{"event":"a","b":[1,}`, `{"event":"a","b":{"c":1,"d"}}`,
		`{"event":"a","b":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, "\x00\xff"}
}

func TestMessagesRefused(t *testing.T) {
	for _, text := range badMessages() {
		if m, err := readMessage([]byte(text)); err == nil {
			t.Errorf("%q was read as %+v", text, m)
		}
	}
}

func TestMedia(t *testing.T) {
	for _, tt := range []struct {
		raw   string
		chunk uint64
		bytes string
		ok    bool
	}{
		{`{"track":"inbound","chunk":"2","timestamp":"5","payload":"YWJj"}`, 2, "abc", true},
		{`{"chunk":3,"payload":"YWJj"}`, 3, "abc", true},
		{`{"payload":"YW\u004aj"}`, 0, "abc", true},
		{`{"payload":"\/\/\/\/"}`, 0, "\xff\xff\xff", true},
		{`{"chunk":null,"payload":""}`, 0, "", true},
		{`{"chunk":"2"}`, 0, "", false},
		{`{"payload":7}`, 0, "", false},
		{`{"payload":"YWJ"}`, 0, "", false},
		{`{"payload":"Y W J"}`, 0, "", false},
		{`{"payload":"????"}`, 0, "", false},
		{`{"chunk":"-2","payload":"YWJj"}`, 0, "", false},
		{`{"chunk":"2.5","payload":"YWJj"}`, 0, "", false},
		{`{"chunk":18446744073709551615,"payload":"YWJj"}`, 0, "", false},
		{`{"payload":"YWJj"`, 0, "", false},
		{`[]`, 0, "", false},
		{``, 0, "", false},
	} {
		m, err := readMedia([]byte(tt.raw))
		var b []byte
		if err == nil {
			b, err = m.decode(nil)
		}
		if (err == nil) != tt.ok || tt.ok && (m.chunk != tt.chunk || string(b) != tt.bytes) {
			t.Errorf("%s: chunk %d, %q, %v", tt.raw, m.chunk, b, err)
		}
	}
}

// TestOrder puts chunks in order; each is one sample of its own number, and silence is 0.
func TestOrder(t *testing.T) {
	for _, tt := range []struct {
		name             string
		hold             bool
		in, want         []int16
		missing, dropped int
	}{
		{"in order", false, []int16{1, 2, 3}, []int16{1, 2, 3}, 0, 0},
		{"begins late", false, []int16{7, 8}, []int16{7, 8}, 0, 0},
		{"no numbers", false, []int16{0, 0}, []int16{0, 0}, 0, 0},
		{"a gap", false, []int16{1, 2, 5, 6}, []int16{1, 2, 0, 0, 5, 6}, 2, 0},
		{"a long gap", false, []int16{1, 50, 51}, []int16{1, 50, 51}, 48, 0},
		{"repeated", false, []int16{1, 1, 2, 1, 3}, []int16{1, 2, 3}, 0, 2},
		{"swapped, where order is kept", false, []int16{1, 3, 2, 4}, []int16{1, 0, 3, 4}, 1, 1},
		{"swapped", true, []int16{1, 3, 2, 4}, []int16{1, 2, 3, 4}, 0, 0},
		{"far behind", true, []int16{1, 3, 4, 5, 6, 2, 7}, []int16{1, 2, 3, 4, 5, 6, 7}, 0, 0},
		{"repeated while waiting", true, []int16{1, 3, 3, 2, 2}, []int16{1, 2, 3}, 0, 2},
		{"lost", true, []int16{1, 3, 4, 5, 6, 7, 8, 9}, []int16{1, 0, 3, 4, 5, 6, 7, 8, 9}, 1, 0},
		{"lost and swapped", true, []int16{1, 4, 3, 6, 5, 7, 8, 9}, []int16{1, 0, 3, 4, 5, 6, 7, 8, 9}, 1, 0},
		{"another count", true, []int16{1, 101, 103, 102, 105, 104, 106},
			[]int16{1, 101, 102, 103, 104, 105, 106}, 99, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []int16
			missing, dropped := 0, 0
			o := order{hold: tt.hold, rateHz: 8000, emit: func(pcm []int16) { got = append(got, pcm...) }}
			for _, c := range tt.in {
				m, d := o.push(uint64(c), []int16{c})
				missing += int(m)
				if d {
					dropped++
				}
			}
			if !slices.Equal(got, tt.want) || missing != tt.missing || dropped != tt.dropped {
				t.Errorf("%v came out as %v, %d missing, %d dropped; want %v, %d, %d", tt.in, got, missing, dropped, tt.want,
					tt.missing, tt.dropped)
			}
		})
	}
}

// FuzzOrder: sound leaves in the order of its numbers, each at most once, and little waits.
func FuzzOrder(f *testing.F) {
	f.Add([]byte{1, 3, 2, 9, 9, 4, 5, 200}, true)
	f.Add([]byte{255, 0, 1, 1, 2}, false)
	f.Fuzz(func(t *testing.T, chunks []byte, hold bool) {
		var out []int16
		o := order{hold: hold, rateHz: 8000, emit: func(pcm []int16) { out = append(out, pcm...) }}
		for _, c := range chunks {
			o.push(uint64(c), []int16{int16(c)})
		}
		out = slices.DeleteFunc(out, func(s int16) bool { return s == 0 })
		if !slices.IsSorted(out) || len(slices.Compact(slices.Clone(out))) != len(out) {
			t.Errorf("%v came out as %v", chunks, out)
		}
	})
}

// FuzzMessage reads anything, twice, and compares with encoding/json where that agrees that it is
// an object.
func FuzzMessage(f *testing.F) {
	for _, text := range starts() {
		f.Add([]byte(text))
	}
	for _, text := range badMessages() {
		f.Add([]byte(text))
	}
	f.Add([]byte(`{"event":"media","sequenceNumber":"3","streamSid":"MZ1","media":{"chunk":"1","payload":"//8="}}`))
	f.Add([]byte(`{"event":"mark","streamSid":"MZ1","mark":{"name":"g7:20:1"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		kept := bytes.Clone(b)
		m, err := readMessage(b)
		if !bytes.Equal(b, kept) {
			t.Fatal("the message was changed")
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(b, &members) == nil && err != nil && !errors.Is(err, errNoEvent) && !deep(b) {
			t.Errorf("%s: %v, and encoding/json reads it", b, err)
		}
		if err != nil {
			return
		}
		if s, err := readStart(&m); err == nil && (s.stream == "" || s.codec.SampleBytes() == 0 || s.rateHz < 8000) {
			t.Errorf("%s began as %+v", b, s)
		}
		if md, err := readMedia(m.media); err == nil {
			_, _ = md.decode(nil)
		}
		member(m.mark, "name")
	})
}

// deep tells what nests deeper than we read.
func deep(b []byte) bool { return bytes.Count(b, []byte("["))+bytes.Count(b, []byte("{")) > 8 }

func TestExtraHeaders(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"": {}, "a=1": {"a": "1"}, "a=1;b=2": {"a": "1", "b": "2"}, "a=1, b = 2=3": {"a": "1", "b": "2=3"},
		"a;=;b": {"": ""},
	} {
		if got := extraHeaders(text); !maps.Equal(got, want) {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
	if n := len(extraHeaders(strings.Repeat("a=1;", 5) + longHeaders())); n != transport.ParamsMax {
		t.Errorf("%d parameters", n)
	}
}

func longHeaders() string {
	var b strings.Builder
	for i := range 100 {
		b.WriteString(strings.Repeat("x", i+1) + "=1;")
	}
	return b.String()
}

func TestMediaAllocatesNothing(t *testing.T) {
	b := []byte(`{"event":"media","sequenceNumber":"3","streamSid":"MZ1","media":{"track":"inbound","chunk":"1",` +
		`"timestamp":"5","payload":"` + strings.Repeat("//8A", 53) + `"}}`)
	raw := make([]byte, 0, 256)
	if n := testing.AllocsPerRun(200, func() {
		m, err := readMessage(b)
		md, err2 := readMedia(m.media)
		_, err3 := md.decode(raw)
		if err != nil || err2 != nil || err3 != nil {
			t.Fatal(err, err2, err3)
		}
	}); n != 0 {
		t.Errorf("%v allocations to read a frame", n)
	}
	w := newWriter(twilio(), "MZ1", phone.PCMU, 8000)
	out, pcm := make([]byte, 0, 512), make([]int16, 160)
	w.AppendAudio(out, pcm)
	if n := testing.AllocsPerRun(200, func() { w.AppendAudio(out, pcm) }); n != 0 {
		t.Errorf("%v allocations to write a frame", n)
	}
}

func BenchmarkReadMedia(b *testing.B) {
	text := []byte(`{"event":"media","sequenceNumber":"3","streamSid":"MZ1","media":{"track":"inbound","chunk":"1",` +
		`"timestamp":"5","payload":"` + strings.Repeat("//8A", 53) + `"}}`)
	raw := make([]byte, 0, 256)
	b.ReportAllocs()
	for b.Loop() {
		m, _ := readMessage(text)
		md, _ := readMedia(m.media)
		_, _ = md.decode(raw)
	}
}
