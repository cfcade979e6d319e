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

// Config is one call. Only URL is needed; without In the caller is silent.
type Config struct {
	URL   string          // of the gateway's door, ws://host/v1/voice
	Hello transport.Hello // input rate 0 means that of In, output rate 0 means 24 kHz
	Dial  ws.DialConfig

	// In is what the caller says, at its own pace from beginning to end: there is no waiting for replies in its
	// pauses. Where the gateway speaks first the caller waits until it has finished, unless SpeakAtOnce.
	In          audio.PCM
	SpeakAtOnce bool

	Consent bool    // the caller agrees to be listened to when the gateway asks
	BargeIn BargeIn // spoken over a reply
	Echo    Echo    // from the loudspeaker into the microphone

	Max      time.Duration // the call is hung up after it; 60 s, at most 1 h
	Quiet    time.Duration // the call is over when nothing was to be heard for so long; 2 s
	Patience time.Duration // how long to wait for a reply, or a greeting, that does not come; 10 s

	// OnMessage is told of each message but audio, with the time since ready. It must not keep m.
	OnMessage func(at time.Duration, m *transport.Message)
}

// BargeIn is what the caller says once, over the first reply to In that is long enough.
type BargeIn struct {
	PCM   audio.PCM     // no samples means none
	After time.Duration // of the reply must have been heard
}

// Echo is how the microphone hears what is audible. The zero value is a headset.
type Echo struct {
	On     bool
	Delay  time.Duration // at most 2 s
	GainDB float64       // -15 is loud, -40 is a good room; at most 0
}

// check fills in the defaults and returns an error for what cannot be.
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

// spoken converts pcm to the rate of the microphone.
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
