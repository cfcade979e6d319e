package wsdoor

import (
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/httpdoor"
)

// Defaults of a Config.
const (
	HandshakeTimeoutDefault = 10 * time.Second
	WriteTimeoutDefault     = 5 * time.Second
	CloseTimeoutDefault     = time.Second
	PingIntervalDefault     = 20 * time.Second
	IdleTimeoutDefault      = 60 * time.Second
	MessageBytesMaxDefault  = 1 << 20
	PlayoutDelayDefault     = 60 * time.Millisecond
)

// Config is how a door behaves. Only Lines is needed. Zero and negative limits mean the defaults.
type Config struct {
	// Lines are the gateway that takes the calls.
	Lines transport.Lines

	// Log is told of calls that were refused or failed, never of a token or a key; nil means nobody.
	Log *zap.Logger

	Hosts   []string // by which this server may be addressed: see httpdoor.Names
	Origins []string // of pages of elsewhere that may call: see httpdoor.Names

	HandshakeTimeout time.Duration // from the upgrade to what the far end must say first; 10 s
	WriteTimeout     time.Duration // of one message; then the far end is stalled; 5 s
	CloseTimeout     time.Duration // of Close as a whole; 1 s
	PingInterval     time.Duration // 20 s
	IdleTimeout      time.Duration // without a byte from the far end, not even the answer to a ping; 60 s
	MessageBytesMax  int           // of a message from the far end; 1 MiB

	// PlayoutDelay is how long after it was sent a reply is taken to begin to be heard: the far end does not say. 60 ms.
	PlayoutDelay time.Duration
}

// Check returns an error without Lines, and for the first entry of Hosts or Origins that can match nothing.
func (c Config) Check() error {
	if c.Lines == nil {
		return errors.New("Config.Lines is missing: a door needs a gateway")
	}
	return c.names().Check()
}

func (c Config) names() httpdoor.Names { return httpdoor.Names{Hosts: c.Hosts, Origins: c.Origins} }

// withDefaults fills in what is not set.
func (c Config) withDefaults() Config {
	for _, d := range [...]struct {
		field *time.Duration
		value time.Duration
	}{
		{&c.HandshakeTimeout, HandshakeTimeoutDefault},
		{&c.WriteTimeout, WriteTimeoutDefault},
		{&c.CloseTimeout, CloseTimeoutDefault},
		{&c.PingInterval, PingIntervalDefault},
		{&c.IdleTimeout, IdleTimeoutDefault},
		{&c.PlayoutDelay, PlayoutDelayDefault},
	} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	if c.MessageBytesMax <= 0 {
		c.MessageBytesMax = MessageBytesMaxDefault
	}
	if c.Log == nil {
		c.Log = zap.NewNop()
	}
	return c
}
