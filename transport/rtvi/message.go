package rtvi

import (
	"encoding/json"
	"strings"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsdoor"
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

// put adds a message in a frame. What is put can be marshalled.
func put(out *wsdoor.Outbox, kind, id string, data object) {
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

// client is what the far end says of itself.
func (r *ready) client() string {
	return wsdoor.Label(strings.Join([]string{r.About.Library, r.About.LibraryVersion, r.About.Platform}, " "))
}

// sendText is the data of send-text, and of append-to-context, its forerunner.
type sendText struct {
	Content        string `json:"content"`
	Role           string `json:"role"`
	RunImmediately *bool  `json:"run_immediately"`
	Options        struct {
		RunImmediately *bool `json:"run_immediately"`
	} `json:"options"`
}

// waits reports that the words are not to be answered now.
func (s *sendText) waits() bool {
	return s.RunImmediately != nil && !*s.RunImmediately || s.Options.RunImmediately != nil && !*s.Options.RunImmediately
}

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

// digits joins the buttons, and reports false when one is none of a phone or there are too many.
func (d *dtmf) digits() (string, bool) {
	if d.Button != "" {
		d.Buttons = append(d.Buttons, d.Button)
	}
	s := strings.Join(d.Buttons, "")
	ok := len(s) == len(d.Buttons) && len(s) > 0 && len(s) <= transport.DigitsMax && strings.Trim(s, "0123456789*#") == ""
	return s, ok
}
