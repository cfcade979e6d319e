package wsclient

import (
	"fmt"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
)

// Defaults of a Config.
const (
	OutputRateHzDefault = 24000
	MaxDefault          = 60 * time.Second
	QuietDefault        = 2 * time.Second
	PatienceDefault     = 10 * time.Second
)

// Limits of a Config.
const (
	MaxMax       = time.Hour
	EchoDelayMax = 2 * time.Second
)

// Config configures one call. Only URL is required; without In the caller is silent.
type Config struct {
	URL   string          // of the gateway's endpoint, ws://host/v1/voice
	Hello transport.Hello // input rate 0 means that of In, output rate 0 means 24 kHz
	Dial  ws.DialConfig

	// In is the caller's speech. The client sends it at its own pace from start to end, and does
	// not wait for replies in its pauses. If the gateway speaks first, the caller waits until the
	// greeting has ended, unless SpeakAtOnce.
	In          audio.PCM
	SpeakAtOnce bool

	Consent bool    // the caller gives consent when the gateway asks
	BargeIn BargeIn // spoken over a reply
	Echo    Echo    // from the loudspeaker into the caller input

	Max      time.Duration // the client hangs up after it; 60 s, at most 1 h
	Quiet    time.Duration // the call ends when nothing was audible for so long; 2 s
	Patience time.Duration // how long to wait for a reply, or a greeting, that does not come; 10 s

	// OnMessage receives each message but audio, with the time since ready. It must not keep m.
	OnMessage func(at time.Duration, m *transport.Message)
}

// BargeIn is what the caller says once, over the first reply to In that is long enough.
type BargeIn struct {
	PCM   audio.PCM     // no samples means none
	After time.Duration // of the reply must have been played
}

// Echo is the echo of the reply in the caller input. The zero value is a headset: no echo.
type Echo struct {
	On     bool
	Delay  time.Duration // at most 2 s
	GainDB float64       // -15 is loud, -40 is a good room; at most 0
}

// check sets the defaults and returns an error for an invalid field.
func (c *Config) check() error {
	if c.Hello.InputRateHz == 0 {
		c.Hello.InputRateHz = c.In.RateHz
	}
	if c.Hello.InputRateHz == 0 {
		c.Hello.InputRateHz = 16000
	}
	if c.Hello.OutputRateHz == 0 {
		c.Hello.OutputRateHz = OutputRateHzDefault
	}
	for _, rate := range []int{c.Hello.InputRateHz, c.Hello.OutputRateHz} {
		if err := audio.CheckRate(rate); err != nil {
			return fmt.Errorf("wsclient: check rates: %w", err)
		}
	}
	if c.Max == 0 {
		c.Max = MaxDefault
	}
	if c.Quiet == 0 {
		c.Quiet = QuietDefault
	}
	if c.Patience == 0 {
		c.Patience = PatienceDefault
	}
	if c.Max < 0 || c.Max > MaxMax || c.Quiet < 0 || c.Patience < 0 || c.BargeIn.After < 0 {
		return fmt.Errorf("wsclient: check: max %v, quiet %v, patience %v, barge-in after %v: none below 0, max at most %v",
			c.Max, c.Quiet, c.Patience, c.BargeIn.After, MaxMax)
	}
	return c.Echo.check()
}

func (e Echo) check() error {
	if e.On && (e.Delay < 0 || e.Delay > EchoDelayMax || !(e.GainDB <= 0)) {
		return fmt.Errorf("wsclient: check echo: %v and %v dB; the delay must be 0 to %v, the level at most 0 dB",
			e.Delay, e.GainDB, EchoDelayMax)
	}
	return nil
}

// spoken converts pcm to the input rate.
func spoken(pcm audio.PCM, rateHz int) ([]int16, error) {
	if len(pcm.Samples) == 0 || pcm.RateHz == rateHz {
		return pcm.Samples, nil
	}
	r, err := audio.NewResampler(pcm.RateHz, rateHz)
	if err != nil {
		return nil, fmt.Errorf("wsclient: convert %d Hz: %w", pcm.RateHz, err)
	}
	return r.Resample(nil, pcm.Samples), nil
}
