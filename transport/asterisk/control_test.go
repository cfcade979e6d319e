package asterisk

import (
	"bytes"
	"errors"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/phone"
)

// controls are messages as chan_websocket writes them, and what they say.
func controls() map[string]control {
	return map[string]control{
		`{"event":"MEDIA_START","connection_id":"u","channel":"WebSocket/c/0x1","channel_id":"176.1","format":"ulaw",` +
			`"optimal_frame_size":160,"ptime":20,"channel_variables":{"a":"b"}}`: {Event: "MEDIA_START", Channel: "176.1",
			Format: "ulaw", FrameSize: 160, Ptime: 20, Variables: map[string]string{"a": "b"}},
		`MEDIA_START connection_id:u channel:WebSocket/c/0x1 channel_id:176.1 format:slin16 optimal_frame_size:640 ` +
			`ptime:20`: {
			Event: "MEDIA_START", Channel: "176.1", Format: "slin16", FrameSize: 640, Ptime: 20},
		`{"event":"MEDIA_MARK_PROCESSED","channel_id":"176.1","correlation_id":"g7:20:1"}`: {Event: "MEDIA_MARK_PROCESSED",
			Channel: "176.1", Mark: "g7:20:1"},
		`MEDIA_MARK_PROCESSED g7:20:1`:                          {Event: "MEDIA_MARK_PROCESSED", Mark: "g7:20:1"},
		`MEDIA_MARK_PROCESSED`:                                  {Event: "MEDIA_MARK_PROCESSED"},
		`{"event":"DTMF_END","channel_id":"176.1","digit":"#"}`: {Event: "DTMF_END", Channel: "176.1", Digit: "#"},
		`DTMF_END digit:# channel_id:176.1`:                     {Event: "DTMF_END", Channel: "176.1", Digit: "#"},
		`MEDIA_XOFF`:                                            {Event: "MEDIA_XOFF"},
		`{"event":"MEDIA_XON","channel_id":"1"}`:                {Event: "MEDIA_XON", Channel: "1"},
		`ERROR channel_id:1 error_text:no such: thing`:          {Event: "ERROR", Error: "no such: thing"},
		`STATUS channel_id:1 queue_length:4 queue_full:false`:   {Event: "STATUS", Channel: "1"},
	}
}

func TestControl(t *testing.T) {
	for text, want := range controls() {
		if got, err := readControl([]byte(text)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", " ", "{", "{}", "[]", `{"event":1}`, `{"event":""}`, "media_xoff", "a b",
		"MEDIA_START ptime:fast", "MEDIA_START optimal_frame_size:", `{"event":"MEDIA_START","ptime":"20"}`, "\x00"} {
		if c, err := readControl([]byte(text)); !errors.Is(err, errControl) {
			t.Errorf("%q: %+v, %v", text, c, err)
		}
	}
}

// TestCommands are what chan_websocket understands, and short enough for it.
func TestCommands(t *testing.T) {
	for _, tt := range []struct {
		json              bool
		mark, clear, goes string
	}{
		{true, `{"command":"MARK_MEDIA","correlation_id":"g7:20:1"}`, `{"command":"FLUSH_MEDIA"}`, `{"command":"HANGUP"}`},
		{false, `MARK_MEDIA g7:20:1`, `FLUSH_MEDIA`, `HANGUP`},
	} {
		ch := &channel{writer: writer{json: tt.json}}
		if got := ch.AppendMark(nil, []byte("g7:20:1")); string(got) != tt.mark {
			t.Errorf("mark: %s", got)
		}
		if got := ch.AppendClear(nil); string(got) != tt.clear {
			t.Errorf("clear: %s", got)
		}
		if got := ch.AppendBye(nil); string(got) != tt.goes {
			t.Errorf("bye: %s", got)
		}
		if got := ch.AppendMark(nil, []byte("g18446744073709551615:86400000:18446744073709551615")); len(got) > 128 {
			t.Errorf("a mark has %d bytes; 128 are taken", len(got))
		}
	}
}

func TestFormats(t *testing.T) {
	for _, tt := range []struct {
		format string
		size   int
		codec  phone.Codec
		rateHz int
		chunk  int
	}{
		{"ulaw", 160, phone.PCMU, 8000, 1},
		{"ulaw", 0, phone.PCMU, 8000, 1},
		{"ulaw", 480, phone.PCMU, 8000, 3},
		{"alaw", 160, phone.PCMA, 8000, 1},
		{"slin", 320, phone.L16, 8000, 1},
		{"slin16", 640, phone.L16, 16000, 1},
		{"slin24", 960, phone.L16, 24000, 1},
		{"slin44", 1764, phone.L16, 44100, 1},
		{"slin48", 1920, phone.L16, 48000, 1},
		{"ulaw", 100, 0, 0, 0}, {"ulaw", 960, 0, 0, 0}, {"ulaw", -160, 0, 0, 0}, {"slin96", 3840, 0, 0, 0},
		{"opus", 160, 0, 0, 0},
		{"slinx", 160, 0, 0, 0}, {"slin7", 160, 0, 0, 0}, {"", 160, 0, 0, 0},
	} {
		ch, err := newChannel(&control{Format: tt.format, FrameSize: tt.size}, true)
		switch {
		case (err == nil) != (tt.codec != phone.CodecNone):
			t.Errorf("%s in %d bytes: %v", tt.format, tt.size, err)
		case err == nil && (ch.codec != tt.codec || ch.rateHz != tt.rateHz || ch.chunkFrames != tt.chunk):
			t.Errorf("%s in %d bytes: %s at %d Hz, %d frames", tt.format, tt.size, ch.codec, ch.rateHz, ch.chunkFrames)
		}
	}
}

func TestHello(t *testing.T) {
	ch := &channel{rateHz: 8000}
	q := url.Values{"instructions": {"sales"}, "language": {"de"}, "token": {"seen"}, "from": {"1"}, "to": {"2"},
		"channel": {"9.1"}, "customer": {"7"}}
	h, caller := ch.hello(q, map[string]string{"token": "t", "from": "+1", "MEDIA_WEBSOCKET_CONNECTION_ID": "u"}, "r")
	want := transport.Hello{Version: 1, InputRateHz: 8000, OutputRateHz: 8000, Endpoint: "asterisk", Remote: "r",
		Instructions: "sales", Language: "de", Token: "t", From: "+1", To: "2", CarrierCall: "9.1",
		Params: map[string]string{"customer": "7"}}
	if !reflect.DeepEqual(h, want) || caller != "9.1" {
		t.Errorf("%+v, channel %q", h, caller)
	}
	if h, _ := ch.hello(q, nil, "r"); h.Token != "" {
		t.Error("a token was taken from an address")
	}
}

func FuzzControl(f *testing.F) {
	for text := range controls() {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		kept := bytes.Clone(b)
		c, err := readControl(b)
		if !bytes.Equal(b, kept) {
			t.Fatal("the message was changed")
		}
		if err != nil {
			return
		}
		if c.Event == "" || strings.ContainsAny(c.Event, " ") && !isJSON(b) {
			t.Errorf("%q is the event %q", b, c.Event)
		}
		ch, err := newChannel(&c, isJSON(b))
		if err == nil && (ch.codec.SampleBytes() == 0 || ch.chunkFrames > chunkFramesMax) {
			t.Errorf("%q is the channel %+v", b, ch)
		}
	})
}

func TestConfigRefuses(t *testing.T) {
	lines := struct{ transport.Lines }{}
	for _, cfg := range []Config{
		{},
		{Lines: lines, ARI: ARI{URL: "127.0.0.1:8088"}},
		{Lines: lines, ARI: ARI{URL: "http://user:password@127.0.0.1:8088/ari"}},
		{Lines: lines, Targets: map[string]string{"sales": "200,1"}},
		{Lines: lines, Targets: map[string]string{"sales": ""}},
	} {
		if _, err := New(cfg); err == nil || !strings.HasPrefix(err.Error(), "asterisk: check config: ") ||
			strings.Contains(err.Error(), "password") {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}
