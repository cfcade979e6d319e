package transport

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/voicegw/voicegw/audio"
)

// Version is the version of the vocabulary: the `version` of hello and ready.
const Version = 1

// Limits of the fields of a hello, in bytes.
const (
	LanguageLenMax     = 35 // RFC 5646 section 4.4.1
	InstructionsLenMax = 64
	ClientLenMax       = 64
	TokenLenMax        = 8192
	ParamsMax          = 32 // entries
	ParamNameLenMax    = 64
	ParamValueLenMax   = 512
	AddressLenMax      = 128
)

// Detection says which side detects speech: the gateway, the model or the caller.
type Detection string

// The ways of detecting speech.
const (
	DetectionDefault    Detection = ""       // the gateway's setting
	DetectionGatewayVAD Detection = "manual" // the gateway's own VAD decides
	DetectionModelVAD   Detection = "server" // the model's VAD decides
	DetectionPush       Detection = "push"   // the caller decides, with a button: EventTalk
)

// Hello holds the settings that the far end asks for.
type Hello struct {
	Version      int
	InputRateHz  int       // of the audio that the far end will send
	OutputRateHz int       // of the audio that the far end wants to receive
	Language     string    // BCP 47; "" leaves it to the gateway
	Instructions string    // the name of configured instructions; "" means the default ones
	Detection    Detection // "" leaves it to the gateway
	HalfDuplex   bool      // the gateway ignores caller audio while the reply plays
	ShowNet      bool      // the far end wants to see the net of the call move
	Client       string    // a label for logs
	Session      Session   // what a client asks of the model itself

	Resume Resume // how the far end goes on with a call whose connection broke

	// Params is what the far end says about the call: a customer's number, a campaign. It is data
	// for the integrator's hooks. It may hold values that must not be logged.
	Params map[string]string
	// Token authorizes the call. It is never logged and never sent on.
	Token string

	// The endpoint sets the fields from here on; the far end cannot.
	Endpoint string // "ws", "webrtc", "twilio", ...
	Messages bool   // the protocol has a form for MessageMessage
	Remote   string // the far end's network address, without port
	From, To string // telephone numbers or similar, as the carrier reports them

	CarrierCall string // the carrier's own id of the call; "" if there is no carrier, or it gives none

	// The host's hook Begin sets these: headers traceparent (W3C Trace Context) of the span of the call, for what it asks
	// others, and of the span of its request. "" if there are none.
	Trace, TraceParent string
	// TraceState is the header tracestate that belongs to both.
	TraceState string
}

// Offer says what a gateway offers. Its zero value accepts every hello that asks for nothing by
// name.
type Offer struct {
	Instructions []string    // names a hello may ask for; nil means none
	Detections   []Detection // detections a hello may ask for; nil means all
}

// FieldError says which field of an event is refused, its value, and which values are allowed.
type FieldError struct {
	Event string // type of the event on the wire
	Field string
	Value string // a number, or the type and length of a text, never the text
	Want  string
}

// Error returns a sentence for the developer of the client.
func (e *FieldError) Error() string {
	return fmt.Sprintf("%s: %s is %s; it must be %s", e.Event, e.Field, e.Value, e.Want)
}

// Check returns a [*FieldError] for the first setting that the gateway does not offer, in the order
// of the fields.
func (h Hello) Check(o Offer) error {
	if h.Version != Version {
		return helloError("version", h.Version, "1")
	}
	if audio.CheckRate(h.InputRateHz) != nil {
		return helloError("input_rate", h.InputRateHz, rateWant)
	}
	if audio.CheckRate(h.OutputRateHz) != nil {
		return helloError("output_rate", h.OutputRateHz, rateWant)
	}
	if !languageTag(h.Language) {
		return helloError("language", size(h.Language), "a BCP 47 tag such as \"en-US\"")
	}
	if h.Instructions != "" && !slices.Contains(o.Instructions, h.Instructions) {
		return helloError("instructions", size(h.Instructions), nameList(o.Instructions))
	}
	if err := checkDetection(h.Detection, o.Detections); err != nil {
		return err
	}
	if len(h.Client) > ClientLenMax || strings.ContainsFunc(h.Client, unicode.IsControl) {
		return helloError("client", size(h.Client), "a label of at most 64 bytes without control characters")
	}
	if len(h.Token) > TokenLenMax { // its value is a secret
		return helloError("token", fmt.Sprintf("%d bytes long", len(h.Token)), "at most 8192 bytes long")
	}
	if err := h.Session.Check(); err != nil {
		return err
	}
	return checkParams(h.Params)
}

func checkParams(params map[string]string) error {
	if len(params) > ParamsMax {
		return helloError("params", fmt.Sprintf("%d entries", len(params)), "at most 32 entries")
	}
	for name, value := range params {
		if name == "" || len(name) > ParamNameLenMax {
			return helloError("params", fmt.Sprintf("with a name of %d bytes", len(name)), "with names of 1 to 64 bytes")
		}
		if len(value) > ParamValueLenMax {
			return helloError("params", fmt.Sprintf("with a value of %d bytes", len(value)),
				"with values of at most 512 bytes")
		}
	}
	return nil
}

const rateWant = "a rate of 8000 to 48000 (Hz)"

func checkDetection(d Detection, offered []Detection) error {
	if offered == nil {
		offered = []Detection{DetectionGatewayVAD, DetectionModelVAD, DetectionPush}
	}
	if d == DetectionDefault || slices.Contains(offered, d) {
		return nil
	}
	names := make([]string, len(offered))
	for i, o := range offered {
		names[i] = string(o)
	}
	return helloError("detection", size(string(d)), nameList(names))
}

func helloError(field string, value any, want string) *FieldError {
	return &FieldError{Event: "hello", Field: field, Value: fmt.Sprint(value), Want: want}
}

// languageTag reports whether s looks like a BCP 47 tag: subtags of 1-8 letters and digits, joined
// by hyphens.
func languageTag(s string) bool {
	if s == "" {
		return true
	}
	if len(s) > LanguageLenMax {
		return false
	}
	for sub := range strings.SplitSeq(s, "-") {
		if len(sub) < 1 || len(sub) > 8 || strings.ContainsFunc(sub, notAlphanumeric) {
			return false
		}
	}
	return true
}

func notAlphanumeric(r rune) bool {
	return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

// size describes a value that the caller chose. Refusals are logged, so it does not quote the
// value.
func size(s string) string { return fmt.Sprintf("a string of %d bytes", len(s)) }

// quote quotes one of the gateway's own names for a message. It cuts the name, because the reason
// of a close frame must be short.
func quote(s string) string {
	const most = 40
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return fmt.Sprintf("%q", s)
}

// nameList lists the allowed names.
func nameList(names []string) string {
	if len(names) == 0 {
		return "absent: this server has none"
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = quote(n)
	}
	return "absent or one of " + strings.Join(quoted, ", ")
}
