package ws

import (
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/httpdoor"
)

// Defaults of a Config.
const (
	HelloTimeoutDefault    = 10 * time.Second
	WriteTimeoutDefault    = 5 * time.Second
	CloseTimeoutDefault    = time.Second
	PingIntervalDefault    = 20 * time.Second
	IdleTimeoutDefault     = 60 * time.Second
	MessageBytesMaxDefault = 128 << 10
)

// Config is how the door behaves. The zero value serves this machine only and takes every hello that asks for nothing
// by name. Zero and negative limits mean the defaults.
type Config struct {
	// Lines are the gateway that takes the calls of a Door. Accept does without.
	Lines transport.Lines

	// Log is told of calls that were refused or failed, never of a token; nil means nobody. Accept does without.
	Log *zap.Logger

	Hosts   []string // by which this server may be addressed: see httpdoor.Names
	Origins []string // of pages of elsewhere that may call: see httpdoor.Names

	// Offer is what a hello may ask for by name. A Door asks its line in place of it.
	Offer transport.Offer

	HelloTimeout    time.Duration // from the upgrade to the hello; 10 s
	WriteTimeout    time.Duration // of one message; then the far end is stalled; 5 s
	CloseTimeout    time.Duration // of Close as a whole; 1 s
	PingInterval    time.Duration // 20 s
	IdleTimeout     time.Duration // without a message or a ping from the far end; 60 s
	MessageBytesMax int           // of a message from the far end; 128 KiB
}

// Check returns an error for the first entry of Hosts or Origins that can match nothing.
func (c Config) Check() error {
	if err := c.names().Check(); err != nil {
		return fmt.Errorf("transport/ws: %w", err)
	}
	return nil
}

func (c Config) names() httpdoor.Names { return httpdoor.Names{Hosts: c.Hosts, Origins: c.Origins} }

// withDefaults fills in what is not set.
func (c Config) withDefaults() Config {
	for _, d := range [...]struct {
		field *time.Duration
		value time.Duration
	}{
		{&c.HelloTimeout, HelloTimeoutDefault},
		{&c.WriteTimeout, WriteTimeoutDefault},
		{&c.CloseTimeout, CloseTimeoutDefault},
		{&c.PingInterval, PingIntervalDefault},
		{&c.IdleTimeout, IdleTimeoutDefault},
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
