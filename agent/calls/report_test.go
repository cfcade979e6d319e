package calls

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/transport"
)

// TestReportIsBounded: of a long conversation the newest turns reach the agent, whatever characters they have, and
// the report says that others are left out.
func TestReportIsBounded(t *testing.T) {
	for name, text := range map[string]string{"words": strings.Repeat("word ", 800),
		"controls": strings.Repeat("\x01", 4000)} {
		t.Run(name, func(t *testing.T) {
			c := &calls{open: map[string]*visit{}}
			for range 100 {
				c.note("c-1", voicegw.Turn{Who: transport.WhoCaller, Text: text})
			}
			c.note("c-1", voicegw.Turn{Who: transport.WhoModel, Text: "Goodbye."})
			v := c.visit("c-1")
			if v.bytes > textsMax || !v.cut {
				t.Errorf("%d bytes are kept, at most %d are allowed; cut is %v", v.bytes, textsMax, v.cut)
			}
			r := Report{Call: voicegw.Record{Call: "c-1"}, Turns: v.turns, Cut: v.cut}
			out := r.text()
			var got Report
			if err := json.Unmarshal([]byte(out), &got); err != nil || len(out) > reportMax {
				t.Fatalf("the report has %d bytes: %v", len(out), err)
			}
			if n := len(got.Turns); n < 8 || got.Turns[n-1].Text != "Goodbye." || !got.Cut {
				t.Errorf("the report has %d turns, cut is %v", n, got.Cut)
			}
		})
	}
}

// TestMessage: a function with a message alone sends its text, any other its arguments.
func TestMessage(t *testing.T) {
	for args, want := range map[string]string{
		`{"message":"Hello"}`:           "Hello",
		`{"message":"Hello","order":7}`: `{"message":"Hello","order":7}`,
		`{"message":7}`:                 `{"message":7}`,
		`{"message":""}`:                `{"message":""}`,
		`{"order":7}`:                   `{"order":7}`,
		`{}`:                            `{}`,
	} {
		if got := message([]byte(args)); got != want {
			t.Errorf("%s becomes %q, want %q", args, got, want)
		}
	}
}
