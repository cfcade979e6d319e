package wsendpoint

import (
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
	"github.com/voicegw/voicegw/transport/wsconn"
)

// Defaults of a Config that differ from those of package wsconn.
const (
	MessageBytesMaxDefault = 1 << 20
	PlayoutDelayDefault    = 60 * time.Millisecond
)

// Config configures an endpoint. Only Lines is required. Zero and negative limits mean the
// defaults.
type Config struct {
	// Lines take the calls.
	Lines transport.Lines

	// Log receives refused and failed calls, never a token or a key; nil means no log.
	Log *zap.Logger

	Hosts   []string // names by which clients may address this server: see admission.Names
	Origins []string // origins of other sites' pages that may call: see admission.Names

	// Limits bound a connection. The hello is the first message or messages of the far end. Every
	// byte from the far end, including the answer to a ping, is a sign of life. A message has at
	// most 1 MiB.
	wsconn.Limits

	// PlayoutDelay is the assumed time from sending a reply to the start of its playout, because
	// the far end does not report it. 60 ms.
	PlayoutDelay time.Duration

	// ResumeWithin is how long the call of a client waits that can resume it, and whose connection
	// broke. After an orderly close the call waits for at most 5 s. 30 s; negative: no call can be
	// resumed. Only the protocol of Gemini knows this.
	ResumeWithin time.Duration
}

// Check returns an error without Lines, and for the first entry of Hosts or Origins that can match
// nothing.
func (c Config) Check() error {
	if c.Lines == nil {
		return errors.New("Config.Lines is missing: an endpoint needs a gateway")
	}
	return c.names().Check()
}

func (c Config) names() admission.Names { return admission.Names{Hosts: c.Hosts, Origins: c.Origins} }

// withDefaults sets the zero fields.
func (c Config) withDefaults() Config {
	limits := wsconn.Defaults()
	limits.MessageBytesMax = MessageBytesMaxDefault
	c.Limits = c.Limits.WithDefaults(limits)
	if c.PlayoutDelay <= 0 {
		c.PlayoutDelay = PlayoutDelayDefault
	}
	if c.ResumeWithin == 0 {
		c.ResumeWithin = ResumeWithinDefault
	}
	if c.Log == nil {
		c.Log = zap.NewNop()
	}
	return c
}
