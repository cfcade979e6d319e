package voicegw

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
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
	// first: "Greet the caller." At most 4,000 bytes. Empty: the caller speaks
	// first.
	Greeting string
	// Nudge is what a model that gives no reply is told, in words: by default
	// that the caller is waiting. At most 4,000 bytes.
	Nudge string
	// Tools are functions the model may call, in every call; see NewTool.
	Tools []Tool
	// Prompts are audio of our own: what is said when the model cannot, before
	// the call ends, or while a tool works. A prompt that is not there is passed
	// over.
	Prompts map[voicenets.Prompt]Prompt
	// Hooks let the integrator's code take part in calls.
	Hooks Hooks
	// Detection is used when the hello leaves it open.
	Detection voicenets.Detection
	// Net holds the timings of the net, and what a call is made of. Its Detection,
	// Greeting, HalfDuplex, Prompts and, if there are tools, ToolSlots (2) are
	// set.
	Net voicenets.Config
	// Activity holds the thresholds of the speech detector.
	Activity audio.ActivityConfig

	// CallsMax is the most calls at one time, from the hello that is accepted to
	// the end of the call: 100, at most 100,000.
	CallsMax int
	// HandshakesMax is the most callers at one time whose hello is still to come,
	// or to be accepted: 256, at most 100,000. They hold no line. One more is let
	// in and pushes out the one that has waited longest, of the address that has
	// the most of them.
	HandshakesMax int
	// HandshakesPerAddress is how many of them one network address has at most
	// (of IPv6 one /64): 64. One more pushes out its own oldest. Where all callers
	// come from the address of a proxy, make it HandshakesMax.
	HandshakesPerAddress int
	// TypedPerMinute is how many turns a caller may type in a call, by texts and by
	// entries of digits that end with #: as many at once, then one each
	// minute/TypedPerMinute. The gateway refuses more with the error too_fast.
	// 20, at most 6,000.
	TypedPerMinute int
	// DialTimeout limits the model's dial and setup: 15 s.
	DialTimeout time.Duration
	// ShowNet lets a peer that asks see the net of its own call move.
	ShowNet bool
	// WS is the WebSocket door: hosts, origins, limits. The instructions of its
	// Offer are filled in.
	WS ws.Config
	// Guard, if not nil, stands before the gateway's lines: whatever door a call
	// comes through. access.NewLines is one.
	Guard func(transport.Lines) transport.Lines
	// Record, if not nil, is asked for each call where its events shall be
	// written, as an archive that event.Replay, or `voicegw replay`, plays
	// again. An archive holds no audio and no words. It is closed when the call
	// is over. Record is called by several goroutines. It may block, and so may the
	// writer: 2 s later the record counts as lost, and so does one whose writer
	// fails. RecordLoss says what then becomes of the call.
	Record func(call string) (io.WriteCloser, error)
	// RecordLoss says whether a call ends or goes on when its record is lost. By
	// default it ends if Net.Consent is set and goes on otherwise.
	RecordLoss RecordLoss
	// Watch, if not nil, is asked for each call for one more store of its events,
	// such as a verify/monitor.Store or an event.OTel; nil is none. prog is the
	// net of the call, which does not go on before Append returns. If the store
	// can fail (event.Failer), or takes 5 s to store what an output waits for, that
	// ends the call with transport.ReasonRecordLost; event.Optional prevents the
	// first. Watch is called by several goroutines.
	Watch func(call string, prog *petri.Program) event.Store
	// Lateness, if not nil, is told again and again how late outputs of the nets of
	// calls were handed over. The Late of an access.Load is one: then calls are
	// refused before those that run suffer. It is called by several goroutines and
	// must not block.
	Lateness func(time.Duration)
	// Log may be nil. Nothing of audio, keys or transcripts is ever logged.
	Log *zap.Logger
}

const (
	callsMaxDefault    = 100
	callsMax           = 100_000
	dialTimeoutDefault = 15 * time.Second

	handshakesMaxDefault        = 256
	handshakesPerAddressDefault = 64
	handshakesMax               = 100_000

	typedPerMinuteDefault = 20
	typedPerMinuteMax     = 6000

	greetingLenMax   = 4000 // bytes
	toolSlotsDefault = 2
	nudgeDefault     = "(The caller is waiting for your answer. Please answer now.)"
)

func (c Config) withDefaults() (Config, error) {
	if c.CallsMax == 0 {
		c.CallsMax = callsMaxDefault
	}
	if c.HandshakesMax == 0 {
		c.HandshakesMax = handshakesMaxDefault
	}
	if c.HandshakesPerAddress == 0 {
		c.HandshakesPerAddress = min(handshakesPerAddressDefault, c.HandshakesMax)
	}
	if c.TypedPerMinute == 0 {
		c.TypedPerMinute = typedPerMinuteDefault
	}
	if c.DialTimeout == 0 {
		c.DialTimeout = dialTimeoutDefault
	}
	if c.Log == nil {
		c.Log = zap.NewNop()
	}
	if c.Nudge == "" {
		c.Nudge = nudgeDefault
	}
	if len(c.Tools) > 0 && c.Net.ToolSlots == 0 {
		c.Net.ToolSlots = toolSlotsDefault
	}
	if err := c.check(); err != nil {
		return c, err
	}
	c.Instructions, c.Prompts = maps.Clone(c.Instructions), maps.Clone(c.Prompts)
	c.Net.Prompts = c.prompts()
	c.WS.Offer.Instructions = slices.Sorted(maps.Keys(c.Instructions))
	return c, nil
}

func (c *Config) check() error {
	switch {
	case c.Dialer == nil:
		return fmt.Errorf("voicegw: Config.Dialer is nil; use live.Wire with an API key, or with the URL of live/sim")
	case c.CallsMax < 1 || c.CallsMax > callsMax:
		return fmt.Errorf("voicegw: Config.CallsMax is %d; 1 to %d is possible", c.CallsMax, callsMax)
	case c.HandshakesMax < 1 || c.HandshakesMax > handshakesMax:
		return fmt.Errorf("voicegw: Config.HandshakesMax is %d; 1 to %d is possible", c.HandshakesMax, handshakesMax)
	case c.HandshakesPerAddress < 1 || c.HandshakesPerAddress > c.HandshakesMax:
		return fmt.Errorf("voicegw: Config.HandshakesPerAddress is %d; 1 to HandshakesMax (%d) is possible",
			c.HandshakesPerAddress, c.HandshakesMax)
	case c.TypedPerMinute < 1 || c.TypedPerMinute > typedPerMinuteMax:
		return fmt.Errorf("voicegw: Config.TypedPerMinute is %d; 1 to %d is possible", c.TypedPerMinute, typedPerMinuteMax)
	case c.DialTimeout < 0:
		return fmt.Errorf("voicegw: Config.DialTimeout is %v; it must be positive", c.DialTimeout)
	case c.RecordLoss > RecordLossEnds:
		return fmt.Errorf("voicegw: Config.RecordLoss is %d; 0 to %d is possible", c.RecordLoss, RecordLossEnds)
	case c.Detection > voicenets.Server:
		return fmt.Errorf("voicegw: Config.Detection is %d; voicenets.Manual or voicenets.Server is possible", c.Detection)
	case len(c.Greeting) > greetingLenMax || !utf8.ValidString(c.Greeting):
		return fmt.Errorf("voicegw: Config.Greeting has %d bytes; at most %d of UTF-8 are possible",
			len(c.Greeting), greetingLenMax)
	case len(c.Nudge) > greetingLenMax || !utf8.ValidString(c.Nudge):
		return fmt.Errorf("voicegw: Config.Nudge has %d bytes; at most %d of UTF-8 are possible",
			len(c.Nudge), greetingLenMax)
	}
	if err := checkTools(c.Tools); err != nil {
		return err
	}
	for kind, p := range c.Prompts {
		if err := p.check(kind); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Instructions)) {
		if name == "" || len(name) > transport.InstructionsLenMax {
			return fmt.Errorf("voicegw: Config.Instructions has the name %q; 1 to %d bytes are possible",
				name, transport.InstructionsLenMax)
		}
	}
	if _, err := audio.NewActivity(c.Activity); err != nil {
		return fmt.Errorf("voicegw: Config.Activity: %w", err)
	}
	if err := c.WS.Check(); err != nil {
		return fmt.Errorf("voicegw: Config.WS: %w", err)
	}
	return nil
}
