package voicegw

import (
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
	"github.com/voicegw/voicegw/voicenets"
)

// Config is what a Gateway needs. Only Dialer is required; New copies and
// checks it.
type Config struct {
	// Dialer opens a model connection for each call.
	Dialer live.Dialer
	// Model is what peers are told of the model. Name may be empty.
	Model transport.Model
	// Setup is asked of the model for each call; the language, the instructions
	// and the detection come from the peer's hello where it names them.
	Setup live.Setup
	// Instructions are system instructions a hello may ask for by name.
	Instructions map[string]string
	// Greeting is the request, in words for the model, that makes it speak
	// first: "Greet the caller." Empty: the caller speaks first.
	Greeting string
	// Detection is used when the hello leaves it open.
	Detection voicenets.Detection
	// Net holds the timings of the net. Its Detection, Greeting and HalfDuplex
	// are set for each call.
	Net voicenets.Config
	// Activity holds the thresholds of the speech detector.
	Activity audio.ActivityConfig

	// CallsMax is the most calls at one time: 100.
	CallsMax int
	// DialTimeout limits the model's dial and setup: 15 s.
	DialTimeout time.Duration
	// ShowNet lets a peer that asks see the net of its own call move.
	ShowNet bool
	// WS is the WebSocket door: hosts, origins, limits. Its Offer is filled in.
	WS ws.Config
	// Log may be nil. Nothing of audio, keys or transcripts is ever logged.
	Log *zap.Logger
}

func (c Config) withDefaults() (Config, error) {
	if c.Dialer == nil {
		return c, fmt.Errorf("voicegw: Config.Dialer is nil; use live.Wire with an API key, or with the URL of live/sim")
	}
	if c.CallsMax == 0 {
		c.CallsMax = 100
	}
	if c.CallsMax < 1 || c.CallsMax > 100_000 {
		return c, fmt.Errorf("voicegw: Config.CallsMax is %d; 1 to 100000 is possible", c.CallsMax)
	}
	if c.DialTimeout == 0 {
		c.DialTimeout = 15 * time.Second
	}
	if c.DialTimeout < 0 {
		return c, fmt.Errorf("voicegw: Config.DialTimeout is %v; it must be positive", c.DialTimeout)
	}
	if c.Log == nil {
		c.Log = zap.NewNop()
	}
	if _, err := audio.NewActivity(c.Activity); err != nil {
		return c, fmt.Errorf("voicegw: Config.Activity: %w", err)
	}
	for name := range c.Instructions {
		if name == "" || len(name) > transport.InstructionsLenMax {
			return c, fmt.Errorf("voicegw: Config.Instructions has the name %q; 1 to %d bytes are possible",
				name, transport.InstructionsLenMax)
		}
		c.WS.Offer.Instructions = append(c.WS.Offer.Instructions, name)
	}
	if err := c.WS.Check(); err != nil {
		return c, fmt.Errorf("voicegw: Config.WS: %w", err)
	}
	return c, nil
}
