//go:build !race

package voicegw_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/transport"
)

// transferTool is the function over two targets.
func transferTool(t *testing.T) voicegw.Tool {
	t.Helper()
	tool, err := voicegw.TransferTool(map[string]string{"sales": "+4912345", "desk": "sip:desk@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

// TestTransferTool: the model hands the call off by name. The caller hears the announcement first, to its end.
func TestTransferTool(t *testing.T) {
	t.Parallel()
	script := `on generated 1: call transfer {"target":"sales"}`
	inBubble(t, tooled(t, transferTool(t), script), func(w *world) {
		p := w.call(hello(), manner{})
		p.utters("hello")
		reply := p.turn(transport.StateStart)
		if to := p.kind(transport.MessageTransfer); to.Text != "+4912345" {
			t.Errorf("the peer is sent to %q", to.Text)
		}
		p.over(transport.ReasonTransferred, "")
		p.hears(reply.Generation, speech("question", 24000))
	})
}

// TestTransferToolRefused: an address, or a name that is not configured, leads nowhere; the model learns the names.
func TestTransferToolRefused(t *testing.T) {
	t.Parallel()
	script := `on turn 1: call transfer {"target":"+49900123456"}`
	inBubble(t, tooled(t, transferTool(t), script), func(w *world) {
		p := w.call(hello(), manner{})
		p.answered("hello", 2*time.Second)
		p.ended(transport.TurnComplete)
		const want = `there is no target \"+49900123456\"; there are: desk, sales`
		if r := w.connection(1).ToolReplies; len(r) != 1 || !strings.Contains(r[0].Response, want) {
			t.Errorf("the model got %+v", r)
		}
		p.hangUp()
	})
}

// TestTransferToolAlone: its schema has the names and no address, and it needs a call and names that fit.
func TestTransferToolAlone(t *testing.T) {
	t.Parallel()
	tool := transferTool(t)
	if s := string(tool.Parameters); !strings.Contains(s, `"enum":["desk","sales"]`) || strings.Contains(s, "12345") {
		t.Errorf("the schema is %s", s)
	}
	for args, want := range map[string]string{
		`{"target":"sales"}`: "there is no call", `{"target":7}`: "target must be a text", `{}`: "there are: desk, sales",
		`{"target":"` + strings.Repeat("x", 1000) + `"}`: `x"; there are`,
	} {
		_, err := tool.Call(context.Background(), json.RawMessage(args))
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 200 {
			t.Errorf("%.40s: %v; want %q", args, err, want)
		}
	}
	for name, targets := range map[string]map[string]string{
		"there are 0 targets": {}, "a name of a target has 0 bytes": {"": "1"},
		`the target "a": the address`: {"a": "1\r\n2"},
		"has 65 bytes":                {strings.Repeat("a", 65): "1"},
	} {
		if _, err := voicegw.TransferTool(targets); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v: %v; want %q", targets, err, name)
		}
	}
}
