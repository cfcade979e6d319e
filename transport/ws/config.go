package ws

import (
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
	"github.com/voicegw/voicegw/transport/wsconn"
)

// Config configures the endpoint. The zero value serves this machine only and takes every hello
// that asks for nothing by name. Zero and negative limits mean the defaults.
type Config struct {
	// Lines take the calls of an Endpoint. Accept does not use them.
	Lines transport.Lines

	// Log receives refused and failed calls, never a token; nil means no log. Accept does not use
	// it.
	Log *zap.Logger

	Hosts   []string // names by which clients may address this server: see admission.Names
	Origins []string // origins of other sites' pages that may call: see admission.Names

	// Offer says what a hello may ask for by name. Only Accept uses it; an Endpoint asks its line.
	Offer transport.Offer

	// ResumeWithin is how long an Endpoint keeps the call of a client whose connection broke, if the
	// client can resume it: 30 s by default, negative: not at all. Accept does not use it.
	ResumeWithin time.Duration

	// Limits bound a connection.
	wsconn.Limits
}

// ResumeWithinDefault is the default of Config.ResumeWithin.
const ResumeWithinDefault = 30 * time.Second

// Check returns an error for the first entry of Hosts or Origins that can match nothing.
func (c Config) Check() error {
	if err := c.names().Check(); err != nil {
		return fmt.Errorf("transport/ws: %w", err)
	}
	return nil
}

func (c Config) names() admission.Names { return admission.Names{Hosts: c.Hosts, Origins: c.Origins} }

// withDefaults sets the zero fields.
func (c Config) withDefaults() Config {
	c.Limits = c.Limits.WithDefaults(wsconn.Defaults())
	if c.ResumeWithin == 0 {
		c.ResumeWithin = ResumeWithinDefault
	}
	if c.Log == nil {
		c.Log = zap.NewNop()
	}
	return c
}
