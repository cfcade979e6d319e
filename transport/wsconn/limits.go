package wsconn

import "time"

// Defaults of Limits.
const (
	HelloTimeoutDefault    = 10 * time.Second
	WriteTimeoutDefault    = 5 * time.Second
	CloseTimeoutDefault    = time.Second
	PingIntervalDefault    = 20 * time.Second
	IdleTimeoutDefault     = 60 * time.Second
	MessageBytesMaxDefault = 128 << 10
)

// Limits bound a connection. Zero and negative values mean the defaults.
type Limits struct {
	HelloTimeout    time.Duration // from the upgrade to the hello; 10 s
	WriteTimeout    time.Duration // of one message; after it the far end counts as stalled; 5 s
	CloseTimeout    time.Duration // of Close as a whole; 1 s
	PingInterval    time.Duration // how often the gateway pings the far end; 20 s
	IdleTimeout     time.Duration // without a message or a ping from the far end; 60 s
	MessageBytesMax int           // of a message from the far end; 128 KiB
}

// Defaults returns the defaults that the comments of the fields name.
func Defaults() Limits {
	return Limits{HelloTimeout: HelloTimeoutDefault, WriteTimeout: WriteTimeoutDefault,
		CloseTimeout: CloseTimeoutDefault, PingInterval: PingIntervalDefault, IdleTimeout: IdleTimeoutDefault,
		MessageBytesMax: MessageBytesMaxDefault}
}

// WithDefaults returns l with the limits of d where l has none.
func (l Limits) WithDefaults(d Limits) Limits {
	return Limits{HelloTimeout: positive(l.HelloTimeout, d.HelloTimeout),
		WriteTimeout: positive(l.WriteTimeout, d.WriteTimeout), CloseTimeout: positive(l.CloseTimeout, d.CloseTimeout),
		PingInterval: positive(l.PingInterval, d.PingInterval), IdleTimeout: positive(l.IdleTimeout, d.IdleTimeout),
		MessageBytesMax: positive(l.MessageBytesMax, d.MessageBytesMax)}
}

// positive returns n, or d if n is not positive.
func positive[T time.Duration | int](n, d T) T {
	if n > 0 {
		return n
	}
	return d
}
