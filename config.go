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

// Config configures a Gateway. Only Dialer is required. New copies and checks it.
type Config struct {
	// Dialer opens a model connection for each call.
	Dialer live.Dialer
	// Model describes the model to peers. Name may be empty.
	Model transport.Model
	// Setup is what each call asks of the model. The peer's hello may replace the language, the
	// instructions and the detection.
	Setup live.Setup
	// Instructions are system instructions that a hello may select by name.
	Instructions map[string]string
	// Session says which settings of its own session a client may choose.
	Session SessionRules
	// Greeting is a request that makes the model speak first: "Greet the caller." At most 4,000
	// bytes. If it is empty, the caller speaks first.
	Greeting string
	// Nudge is the text for a model that does not reply. By default it says that the caller is
	// waiting. At most 4,000 bytes.
	Nudge string
	// Tools are the functions that the model may call; see NewTool.
	Tools []Tool
	// Prompts are recordings for moments when the model cannot speak: it is lost, the call ends, a
	// tool takes time. A call skips prompts that are missing.
	Prompts map[voicenets.Prompt]Prompt
	// Hooks are functions of the host that take part in calls.
	Hooks Hooks
	// Keys are keys of a telephone by which callers decide.
	Keys Keys
	// Detection applies when the hello does not choose one.
	Detection voicenets.Detection
	// OneMode gives every call the mode of Detection, without half-duplex, whatever its hello asks.
	// Gateway.Nets then lists one net instead of four, and the proof at the start takes a quarter of
	// the time.
	OneMode bool
	// Net has the timings of the net and the parts of a call. New sets its Detection, Greeting,
	// HalfDuplex and Prompts, and ToolSlots to 2 if there are tools and it is 0.
	Net voicenets.Config
	// Activity has the thresholds of the speech detector.
	Activity audio.ActivityConfig

	// CallsMax is the most calls at one time: 100 by default, at most 100,000. A call counts from
	// the acceptance of its hello to its end.
	CallsMax int
	// HandshakesMax is the most callers at one time whose hello has not arrived or is not accepted
	// yet: 256 by default, at most 100,000. They hold no line. One more displaces the oldest
	// handshake of the address that has the most.
	HandshakesMax int
	// HandshakesPerAddress is the most of them from one network address (one /64 of IPv6): 64 by
	// default. One more displaces the oldest of its own address. If all callers come from the
	// address of a proxy, set it to HandshakesMax.
	HandshakesPerAddress int
	// TypedPerMinute is how many turns per minute a caller may type in a call: texts, and entries
	// of digits that end with #. As many may come at once. The gateway refuses more with the error
	// too_fast. 20 by default, at most 6,000.
	TypedPerMinute int
	// DialTimeout limits the dial and setup of a model connection: 15 s by default.
	DialTimeout time.Duration
	// ShowNet lets a peer see the net of its own call, if it asks for that.
	ShowNet bool
	// WS configures the WebSocket endpoint: hosts, origins, limits. New fills in the instructions
	// of its Offer.
	WS ws.Config
	// Guard, if not nil, decides who gets a line, for the calls of all endpoints. access.NewLines
	// is a guard.
	Guard func(transport.Lines) transport.Lines
	// Archive, if not nil, opens the file or stream to which the events of a call are written, for
	// event.Replay and `voicegw replay`. It holds no audio and no transcript. The gateway closes
	// it when the call is over. Archive may block, and so may the writer; after 2 s, or when the
	// writer fails, the archive counts as lost, and ArchiveLoss says what becomes of the call.
	// Archive must be safe for concurrent use.
	Archive func(call string) (io.WriteCloser, error)
	// ArchiveLoss says whether a call goes on when its archive is lost. By default it ends if
	// Net.Consent is set and goes on otherwise.
	ArchiveLoss ArchiveLoss
	// Watch, if not nil, returns one more store for the events of a call, or nil:
	// verify/monitor.Store and event.OTel are stores. prog is the net of the call. The store's
	// Append blocks the net. If the store fails (event.Failer), or delays an output for 5 s, the
	// call ends with transport.ReasonRecordLost; wrap the store in event.Optional to ignore its
	// failures. Watch must be safe for concurrent use.
	Watch func(call string, prog *petri.Program) event.Store
	// Lateness, if not nil, gets how late each output of a net was handed over. Use the Late method
	// of an access.Load to refuse new calls before running calls suffer. It must be safe for
	// concurrent use and must not block.
	Lateness func(time.Duration)
	// Price, if not nil, returns what tokens of a model cost in US dollars, for metrics and records. It
	// must be safe for concurrent use and must not block.
	Price func(model string, u transport.Usage) (dollars float64, known bool)
	// Log may be nil. The gateway never logs audio, keys or transcripts. Slog makes one of a
	// *slog.Logger.
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
	if (len(c.Tools) > 0 || c.Session.Tools.Any()) && c.Net.ToolSlots == 0 {
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
	case c.ArchiveLoss > ArchiveLossEnds:
		return fmt.Errorf("voicegw: Config.ArchiveLoss is %d; 0 to %d is possible", c.ArchiveLoss, ArchiveLossEnds)
	case c.Detection > voicenets.ModelVAD:
		return fmt.Errorf("voicegw: Config.Detection is %d; it must be voicenets.GatewayVAD or voicenets.ModelVAD",
			c.Detection)
	case len(c.Greeting) > greetingLenMax || !utf8.ValidString(c.Greeting):
		return fmt.Errorf("voicegw: Config.Greeting has %d bytes; at most %d of UTF-8 are possible",
			len(c.Greeting), greetingLenMax)
	case len(c.Nudge) > greetingLenMax || !utf8.ValidString(c.Nudge):
		return fmt.Errorf("voicegw: Config.Nudge has %d bytes; at most %d of UTF-8 are possible",
			len(c.Nudge), greetingLenMax)
	}
	if err := CheckTools(c.Tools); err != nil {
		return err
	}
	if err := c.Keys.check(c.Net.Consent); err != nil {
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
