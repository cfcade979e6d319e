package ws

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/voicegw/voicegw/transport"
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
	// Hosts are names, without port, under which this server may be addressed besides localhost, 127.0.0.1, ::1 and the
	// address the connection came in on. "*" means any: only behind a proxy that checks.
	Hosts []string

	// Origins are the pages of other origins that may call, as "https://example.com"; pages of the same host always may,
	// and so may clients that are not browsers and send no Origin. "*" means any page.
	Origins []string

	// Offer is what a hello may ask for by name.
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
	for _, h := range c.Hosts {
		if h == "" || strings.ContainsAny(h, "/[] ") || (strings.Count(h, ":") == 1) {
			return fmt.Errorf("transport/ws: check hosts: %q is not a host name or address without port, nor \"*\"", h)
		}
	}
	for _, o := range c.Origins {
		u, err := url.Parse(o)
		plain := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil &&
			u.Path == "" && u.RawQuery == "" && u.Fragment == ""
		if o != "*" && !plain {
			return fmt.Errorf("transport/ws: check origins: %q is not an origin such as \"https://example.com\", nor \"*\"", o)
		}
	}
	return nil
}

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
	return c
}
