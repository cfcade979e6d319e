package voicegw

import (
	"fmt"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
)

// TestToolIDs: an id of the model's of any length comes to the peer and back as
// one that neither side refuses.
func TestToolIDs(t *testing.T) {
	seen := map[string]bool{}
	for _, length := range []int{1, transport.IDLenMax, transport.IDLenMax + 1, 1 << 16} {
		for _, letter := range []string{"a", "b"} {
			id := peerID(strings.Repeat(letter, length))
			if seen[id] {
				t.Errorf("%d bytes: the id %s stands for two calls", length, id)
			}
			seen[id] = true
			b, err := ws.AppendMessage(nil, &transport.Message{Kind: transport.MessageToolCall, ID: id, Name: "f"})
			if err != nil {
				t.Fatal(err)
			}
			var m transport.Message
			if err := ws.DecodeMessage(b, &m); err != nil || m.ID != id {
				t.Errorf("%d bytes: the peer reads %q, %v", length, m.ID, err)
			}
			var ev transport.Event
			answer := fmt.Sprintf(`{"type":"tool_result","id":%q,"output":{}}`, id)
			if err := ws.DecodeEvent([]byte(answer), &ev); err != nil || ev.ID != id {
				t.Errorf("%d bytes: the gateway reads %q, %v", length, ev.ID, err)
			}
		}
	}
	if id := "as-it-came"; peerID(id) != id {
		t.Error("a short id was changed")
	}
}
