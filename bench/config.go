package bench

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// Transports of callers.
const (
	WebSocket = "ws"
	WebRTC    = "webrtc"
	Twilio    = "twilio"
)

// Who detects when a caller speaks, as the setting detection of a gateway has it.
const (
	ByGateway = "gateway"
	ByModel   = "model"
)

// Detections are those that a gateway can have.
func Detections() []string { return []string{ByGateway, ByModel} }

// Defaults and limits of a Config.
const (
	CallsDefault   = 20
	CallsMax       = 2000
	SecondsDefault = 20
	SecondsMax     = 3600
	RoundsDefault  = 2
	RoundsMax      = 100
	settleDefault  = 3 * time.Second
)

// Endpoint is a process that takes calls.
type Endpoint struct {
	URL     string // of the transport: http, https, ws or wss
	Metrics string // of its Prometheus metrics; "" if they are unknown
}

// Config is what to measure.
type Config struct {
	Transport string
	Codec     string        // of calls by WebRTC; "" means PCMU. Other transports have none
	Detection string        // that the gateway has; "" means ByGateway
	Calls     int           // at one time; 0 means CallsDefault
	Length    time.Duration // measured of each side, without the start of calls; 0 means SecondsDefault
	Rounds    int           // in which gateway and relay alternate; 0 means RoundsDefault
	Seed      uint64        // of the schedules
	Token     string        // sent with each call; "": the calls have no token

	Gateway Endpoint
	Relay   *Endpoint // nil: the gateway is measured alone
	Model   string    // the http URL of the Model that both use; "": the gateway has another model

	// Progress gets a line about what happens, about once a second. nil: no lines.
	Progress func(line string)

	settle time.Duration // before a measurement; 0 means settleDefault
}

// check sets the defaults and returns an error for what is out of range.
func (c *Config) check() error {
	c.Calls, c.Rounds = cmp.Or(c.Calls, CallsDefault), cmp.Or(c.Rounds, RoundsDefault)
	c.Length, c.settle = cmp.Or(c.Length, SecondsDefault*time.Second), cmp.Or(c.settle, settleDefault)
	c.Detection = cmp.Or(c.Detection, ByGateway)
	if c.Transport == WebRTC {
		c.Codec = cmp.Or(c.Codec, PCMU)
	}
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	switch {
	case !slices.Contains(Transports(), c.Transport):
		return fmt.Errorf("bench: the transport is %q; want one of %v", c.Transport, Transports())
	case c.Codec != "" && c.Transport != WebRTC:
		return fmt.Errorf("bench: the codec %q is for the transport %s only, not %s", c.Codec, WebRTC, c.Transport)
	case c.Codec != "" && !slices.Contains(Codecs(), c.Codec):
		return fmt.Errorf("bench: the codec is %q; want one of %v", c.Codec, Codecs())
	case !slices.Contains(Detections(), c.Detection):
		return fmt.Errorf("bench: the detection is %q; want one of %v", c.Detection, Detections())
	case c.Calls < 1 || c.Calls > CallsMax:
		return fmt.Errorf("bench: %d calls; want 1 to %d", c.Calls, CallsMax)
	case c.Length < time.Second || c.Length > SecondsMax*time.Second:
		return fmt.Errorf("bench: %v of measurement; want 1s to %ds", c.Length, SecondsMax)
	case c.Rounds < 1 || c.Rounds > RoundsMax:
		return fmt.Errorf("bench: %d rounds; want 1 to %d", c.Rounds, RoundsMax)
	case c.Relay != nil && c.Model == "":
		return fmt.Errorf("bench: a relay needs the model that the gateway has")
	}
	return nil
}

// Transports are those that callers can use.
func Transports() []string { return []string{WebSocket, WebRTC, Twilio} }

// dial makes a call of a number.
func (c *Config) dial(ctx context.Context, url string, call int) (line, error) {
	switch c.Transport {
	case Twilio:
		return dialTwilio(ctx, url, call)
	case WebRTC:
		return dialWebRTC(ctx, url, c.Codec, c.Token)
	}
	return dialWS(ctx, url, c.Token)
}
