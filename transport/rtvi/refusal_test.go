package rtvi

import (
	"errors"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/internal/foreign/foreigntest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
)

// FuzzRefusal sends a card number in every place: no refusal shows it, and no error message.
func FuzzRefusal(f *testing.F) {
	message := func(kind, data string) string {
		return `{"label":"rtvi-ai","type":"` + kind + `","id":"i-1","data":` + data + `}`
	}
	foreigntest.Seed(f, message("client-ready", `{"version":"2","about":{"library":"x","platform":"y"}}`),
		message("dtmf", `{"buttons":["1"],"button":"2"}`), message("send-text", `{"content":"x","role":"user"}`),
		message("llm-function-call-result", `{"function_name":"f","tool_call_id":"t","result":{}}`),
		message("client-message", `{"t":"x"}`), message("disconnect-bot", `{}`))
	f.Fuzz(func(t *testing.T, before, behind string) {
		m := wsconn.Message{Data: []byte(before + foreigntest.Card + behind)}
		_, h, _, err := greet(t, m)
		if err == nil {
			err = h.Check(transport.Offer{})
		}
		foreigntest.Unquoted(t, err)
		c, _, _, _ := greet(t, clientReady())
		_, told, err := read(t, c, m)
		foreigntest.Unquoted(t, err)
		for _, answer := range told {
			if strings.HasPrefix(answer, "error") {
				_, data, _ := strings.Cut(answer, "{") // behind the echo of the id
				foreigntest.Unquoted(t, errors.New(data))
			}
		}
	})
}
