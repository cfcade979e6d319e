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

// Config configures a call.
type Config struct {
	URL     string // ws or wss
	Header  http.Header
	Dial    func(ctx context.Context, network, address string) (net.Conn, error) // nil: TCP
	Dialect string
	Codec   phone.Codec // none: the default of the dialect
	RateHz  int         // 0: 8000; G.711 has no other rate
	Call    string      // id of the call; "" means CA1
	Params  map[string]string

	// Delay is how long messages take each way; Jitter, if not nil, is added to each. Messages stay
	// in order.
	Delay  time.Duration
	Jitter func() time.Duration

	// NoMarks never returns a mark.
	NoMarks bool
	// Shuffle sends the n-th media message, from 1, after the next one if it returns true.
	Shuffle func(n int) bool
	// Lose drops the n-th media message if it returns true.
	Lose func(n int) bool
	// NeverReads makes the phone read nothing from the endpoint.
	NeverReads bool
	// Silent disables all automatic messages: no connected, no start, no media. The test sends
	// everything.
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
		c.Codec = find(c.Dialect).codec
	}
	return c
}
