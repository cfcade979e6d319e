package phone

import (
	"time"

	"github.com/voicegw/voicegw/transport/wsconn"
)

// Defaults of Limits that differ from those of package wsconn.
const (
	IdleTimeoutDefault = 30 * time.Second
	FaultsMaxDefault   = 200
)

// Limits bound a carrier's connection. Zero and negative values mean the defaults.
type Limits struct {
	// Limits bound the WebSocket. The hello is the start of the stream. IdleTimeout is 30 s by
	// default. By default the gateway does not ping carriers.
	wsconn.Limits
	FaultsMax int // unreadable messages in one call; 200
}

// WithDefaults sets the zero fields to their defaults.
func (l Limits) WithDefaults() Limits {
	d := wsconn.Defaults()
	d.IdleTimeout, d.PingInterval = IdleTimeoutDefault, 0
	l.Limits = l.Limits.WithDefaults(d)
	if l.FaultsMax <= 0 {
		l.FaultsMax = FaultsMaxDefault
	}
	return l
}
