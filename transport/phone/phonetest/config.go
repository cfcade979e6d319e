package phonetest

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/voicegw/voicegw/transport/phone"
)

// Dialects a Phone speaks. The zero value is Twilio's.
const (
	Twilio        = ""
	Telnyx        = "telnyx"
	Plivo         = "plivo"
	Exotel        = "exotel"
	Asterisk      = "asterisk"      // JSON control messages
	AsteriskPlain = "asteriskplain" // plain-text control messages
)

// Config is a call.
type Config struct {
	URL     string // ws or wss
	Header  http.Header
	Dial    func(ctx context.Context, network, address string) (net.Conn, error) // nil: TCP
	Dialect string
	Codec   phone.Codec // none: what the dialect has by default
	RateHz  int         // 0: 8000; G.711 has no other
	Call    string      // id of the call; "" is CA1
	Params  map[string]string

	// Delay is how long messages take each way; Jitter, if not nil, is added to each. They stay in order.
	Delay  time.Duration
	Jitter func() time.Duration

	// NoMarks never returns a mark.
	NoMarks bool
	// Shuffle sends the n-th media message, from 1, when true behind the next one.
	Shuffle func(n int) bool
	// Lose does not send the n-th media message when true.
	Lose func(n int) bool
	// Deaf reads nothing that the door sends.
	Deaf bool
	// Silent starts nothing by itself: no connected, no start, no media. The test sends all.
	Silent bool
}

func (c Config) withDefaults() Config {
	if c.RateHz == 0 {
		c.RateHz = 8000
	}
	if c.Call == "" {
		c.Call = "CA1"
	}
	if c.Codec == phone.CodecNone {
		c.Codec = phone.PCMU
		if c.Dialect == Exotel {
			c.Codec = phone.L16
		}
	}
	return c
}
