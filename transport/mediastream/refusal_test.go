package mediastream

import (
	"testing"

	"github.com/voicegw/voicegw/internal/foreign/foreigntest"
	"github.com/voicegw/voicegw/transport"
)

// FuzzRefusal sends a card number in every place: no refusal shows it.
func FuzzRefusal(f *testing.F) {
	for _, text := range starts() {
		foreigntest.Seed(f, text)
	}
	foreigntest.Seed(f, `{"event":"dtmf","streamSid":"MZ1","dtmf":{"track":"inbound","digit":"1"}}`,
		`{"event":"media","streamSid":"MZ1","media":{"chunk":"1","payload":"//8="}}`,
		`{"event":"error","streamSid":"MZ1","error":{"message":"no"}}`)
	f.Fuzz(func(t *testing.T, before, behind string) {
		b := []byte(before + foreigntest.Card + behind)
		m, err := readMessage(b)
		foreigntest.Unquoted(t, err)
		s, err := readStart(&m)
		foreigntest.Unquoted(t, err)
		if err == nil {
			foreigntest.Unquoted(t, s.hello("").Check(transport.Offer{}))
		}
		_, err = readMedia(m.media)
		foreigntest.Unquoted(t, err)
		if m.event == "error" {
			st := newStream(&start{carrier: twilio(), stream: string(member(m.raw, "streamSid"))})
			foreigntest.Unquoted(t, st.Take(b, true, nil))
		}
	})
}
