package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/internal/clienttest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
	"github.com/voicegw/voicegw/transport/wsendpoint"
)

// TestLiveKit replays what LiveKit's plugin for node sends, as recorded: its request, three updates
// of the session, a greeting with metadata by which it knows the response again, a result, and a
// cancel. 1.9.0 speaks the general release, 2.0.0 the beta. It gets no error.
func TestLiveKit(t *testing.T) {
	for _, version := range []string{"1.9.0", "2.0.0"} {
		t.Run(version, func(t *testing.T) {
			c, events := recorded(t, "testdata/livekit-"+version+".jsonl")
			if c.beta != (version == "2.0.0") {
				t.Errorf("beta is %v", c.beta)
			}
			h := transport.Hello{Version: transport.Version}
			var out wsendpoint.Outbox
			_ = c.Greet(&h, func() (wsconn.Message, error) {
				b := []byte(events[0])
				events = events[1:]
				return wsconn.Message{Data: b}, nil
			}, &out) // it ends with the first event that is no update
			clean(t, told(t, &out))
			s := h.Session
			if s.SystemInstruction != "Be brief." || len(s.Tools) != 1 || s.Tools[0].Name != "weather" || s.Voice != "marin" ||
				h.Check(transport.Offer{}) != nil {
				t.Errorf("the hello is %+v", h)
			}
			const greeting = `{"type":"response.create","event_id":"x","response":{"instructions":"Say hello.",` +
				`"metadata":{"client_event_id":"x"}}}`
			replay(t, c, greeting, "prompt "+aside)
			known(t, c, 1, "x")
			call := transport.Message{Kind: transport.MessageToolCall, ID: "call_1", Name: "weather", Text: `{"city":"Oslo"}`}
			c.Message(&call, &out)
			clean(t, told(t, &out))
			replay(t, c, events[0], "")
			replay(t, c, events[1], "tool_result call_121.5")
			var create clientEvent
			_ = json.Unmarshal([]byte(events[1]), &create)
			known(t, c, 2, create.EventID)
			for _, ev := range events[2:] {
				ev = strings.ReplaceAll(ev, "item_9", c.list.last())
				replay(t, c, ev, "")
			}
			clienttest.Shows(t, "livekit-"+version, clienttest.Text, clienttest.Tools)
		})
	}
}

// recorded returns a codec for a recorded request, and the events behind it.
func recorded(t *testing.T, file string) (*codec, []string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	var request struct {
		URL     string
		Headers map[string]string
	}
	if err := json.Unmarshal([]byte(lines[0]), &request); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, request.URL, nil)
	for name, value := range request.Headers {
		r.Header.Set(name, value)
	}
	return newCodec(r), lines[1:]
}

// replay reads an event, wants this beginning of what comes of it, and no error.
func replay(t *testing.T, c *codec, event, want string) {
	t.Helper()
	events, list, err := read(t, c, event)
	clean(t, list)
	if got := strings.Join(events, " "); err != nil || !strings.HasPrefix(got, want) || want == "" && got != "" {
		t.Errorf("%s: %q, %v; want %q", event, got, err, want)
	}
}

// known begins a reply, and wants the client's id in its response.
func known(t *testing.T, c *codec, generation uint64, id string) {
	t.Helper()
	var out wsendpoint.Outbox
	m := turn(generation, transport.StateStart, "")
	c.Message(&m, &out)
	list := told(t, &out)
	clean(t, list)
	if s := fmt.Sprint(list); !strings.Contains(s, "client_event_id:"+id) {
		t.Errorf("the response does not name %q: %s", id, s)
	}
}

func clean(t *testing.T, list []map[string]any) {
	t.Helper()
	for _, m := range list {
		if m["type"] == "error" {
			t.Errorf("told %v", m["error"])
		}
	}
}
