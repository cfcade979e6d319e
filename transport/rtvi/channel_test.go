package rtvi

import (
	"errors"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/internal/foreign/foreigntest"
	"github.com/voicegw/voicegw/transport"
)

// TestChannel greets behind pings and signalling, hears of the microphone, and says good-bye.
func TestChannel(t *testing.T) {
	c := NewChannel()
	for i, data := range []string{"ping: 17",
		`{"type":"signalling","message":{"type":"trackStatus","receiver_index":0,"enabled":true}}`,
		`{"label":"rtvi-ai","type":"client-ready","id":"1","data":{"version":"2.1.0"}}`} {
		if _, over, err := c.Greet([]byte(data)); err != nil || over != (i == 2) {
			t.Fatalf("%d: %v, %v", i, over, err)
		}
	}
	if out := c.Ready(transport.Ready{}); len(out) != 1 || !strings.HasPrefix(string(out[0]), `{"label":"rtvi-ai"`) {
		t.Errorf("ready is %q", out)
	}
	for data, want := range map[string]string{
		"ping: 18": "",
		`{"type":"signalling","message":{"type":"trackStatus","receiver_index":0,"enabled":false}}`: "mute",
		`{"type":"signalling","message":{"type":"trackStatus","receiver_index":1,"enabled":false}}`: "",
		`{"label":"rtvi-ai","type":"send-text","data":{"content":"hi"}}`:                            "text",
	} {
		events, _, err := c.Read([]byte(data))
		got := ""
		for _, ev := range events {
			got += ev.Kind.String()
		}
		if err != nil || got != want {
			t.Errorf("%s is %q, %v", data, got, err)
		}
	}
	if out := c.Bye(transport.End(transport.ReasonModelLost, "", nil)); len(out) != 2 || string(out[1]) != peerLeft {
		t.Errorf("the last words are %q", out)
	}
}

// FuzzChannel reads whatever may come before and behind the greeting; no error shows it.
func FuzzChannel(f *testing.F) {
	foreigntest.Seed(f, "ping: 1", `{"type":"signalling","message":{"type":"trackStatus","enabled":false}}`,
		`{"label":"rtvi-ai","type":"dtmf","data":{"buttons":["1"]}}`)
	f.Fuzz(func(t *testing.T, before, behind string) {
		data := []byte(before + foreigntest.Card + behind)
		c := NewChannel()
		_, _, err := c.Greet(data)
		foreigntest.Unquoted(t, err)
		var e *transport.Ended
		if _, _, err = c.Read(data); err != nil && !errors.As(err, &e) {
			t.Fatal(err)
		}
		foreigntest.Unquoted(t, err)
	})
}
