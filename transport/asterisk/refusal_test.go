package asterisk

import (
	"testing"

	"github.com/voicegw/voicegw/internal/foreign/foreigntest"
	"github.com/voicegw/voicegw/transport"
)

// FuzzRefusal sends a card number in every place: no refusal shows it.
func FuzzRefusal(f *testing.F) {
	for text := range controls() {
		foreigntest.Seed(f, text)
	}
	f.Fuzz(func(t *testing.T, before, behind string) {
		b := []byte(before + foreigntest.Card + behind)
		c, err := readControl(b)
		foreigntest.Unquoted(t, err)
		ch, err := newChannel(&c, isJSON(b))
		foreigntest.Unquoted(t, err)
		if ch != nil {
			h, _ := ch.hello(nil, c.Variables, "")
			foreigntest.Unquoted(t, h.Check(transport.Offer{}))
		}
		if c.Event != "MEDIA_MARK_PROCESSED" && c.Event != "DTMF_END" && c.Event != "MEDIA_XOFF" &&
			c.Event != "MEDIA_XON" && c.Event != "MEDIA_START" { // what needs no call
			foreigntest.Unquoted(t, faultOf(b))
		}
	})
}

// faultOf is what reading a message of no effect in mid-call complains of.
func faultOf(b []byte) (err error) {
	defer func() { _ = recover() }() // an inlet of no call cannot count
	return new(channel).takeControl(b, nil)
}
