package rtvi

import (
	"encoding/json"
	"strings"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsendpoint"
)

const (
	label   = "rtvi-ai"
	version = "2.1.0" // of RTVI
)

// message is the envelope of RTVI.
type message struct {
	Label string          `json:"label"`
	Type  string          `json:"type"`
	ID    string          `json:"id,omitempty"`
	Data  json.RawMessage `json:"data,omitempty"`
}

// object is a JSON object.
type object = map[string]any

// put adds a message in a frame. It must be marshallable.
func put(out *wsendpoint.Outbox, kind, id string, data object) {
	m := message{Label: label, Type: kind, ID: id}
	if data != nil {
		raw, err := json.Marshal(data)
		if err != nil {
			return
		}
		m.Data = raw
	}
	if b, err := json.Marshal(m); err == nil {
		out.Put(appendMessageFrame(nil, b))
	}
}

// ready is the data of client-ready.
type ready struct {
	Version string `json:"version"`
	About   struct {
		Library        string `json:"library"`
		LibraryVersion string `json:"library_version"`
		Platform       string `json:"platform"`
	} `json:"about"`
}

// speaks returns the version in which the endpoint speaks to the client. Clients of 1.x read other
// fields of bot-output, and know by the version of bot-ready which ones come: as Pipecat does, the
// endpoint returns their own.
func (r *ready) speaks() (speaks string, legacy bool) {
	major, _, _ := strings.Cut(r.Version, ".")
	if major == "0" || major == "1" {
		return wsendpoint.Label(r.Version), true
	}
	return version, false
}

// client describes the far end, from its client-ready.
func (r *ready) client() string {
	return wsendpoint.Label(strings.Join([]string{r.About.Library, r.About.LibraryVersion, r.About.Platform}, " "))
}

// sendText is the data of send-text, and of append-to-context, its predecessor.
type sendText struct {
	Content        json.RawMessage `json:"content"` // a text
	Role           string          `json:"role"`
	RunImmediately bool            `json:"run_immediately"` // of append-to-context
	Options        struct {
		RunImmediately *bool `json:"run_immediately"`
		AudioResponse  *bool `json:"audio_response"`
	} `json:"options"`
}

// silent reports whether the text must not be answered with audio.
func (s *sendText) silent() bool { return s.Options.AudioResponse != nil && !*s.Options.AudioResponse }

// waits reports whether the text must not be answered now.
func (s *sendText) waits() bool { return s.Options.RunImmediately != nil && !*s.Options.RunImmediately }

// functionResult is the data of llm-function-call-result.
type functionResult struct {
	FunctionName string          `json:"function_name"`
	ToolCallID   string          `json:"tool_call_id"`
	Result       json.RawMessage `json:"result"`
}

// dtmf is the data of dtmf.
type dtmf struct {
	Buttons []string `json:"buttons"`
	Button  string   `json:"button"` // before 2.1.0
}

// digits joins the buttons. It reports false if one is not a key of a phone or there are too many.
func (d *dtmf) digits() (string, bool) {
	if d.Button != "" {
		d.Buttons = append(d.Buttons, d.Button)
	}
	s := strings.Join(d.Buttons, "")
	ok := len(s) == len(d.Buttons) && len(s) > 0 && len(s) <= transport.DigitsMax && strings.Trim(s, "0123456789*#") == ""
	return s, ok
}
