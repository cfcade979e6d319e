package ws

import (
	"testing"

	"github.com/voicegw/voicegw/internal/foreign/foreigntest"
	"github.com/voicegw/voicegw/transport"
)

// FuzzRefusal sends a card number in every place: no refusal shows it.
func FuzzRefusal(f *testing.F) {
	for _, e := range fixture(f) {
		if e.From == "client" {
			foreigntest.Seed(f, string(e.Event))
		}
	}
	f.Fuzz(func(t *testing.T, before, behind string) {
		b := []byte(before + foreigntest.Card + behind)
		h, err := decodeHello(b)
		if err == nil {
			err = h.Check(transport.Offer{Instructions: []string{"brief"}})
		}
		if err != nil {
			e := noHello(t.Context(), err)
			foreigntest.Unquoted(t, e)
		}
		foreigntest.Unquoted(t, decodeEvent(b, new(transport.Event)))
	})
}
