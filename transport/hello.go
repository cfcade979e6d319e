package transport

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/voicegw/voicegw/audio"
)

// Version is the version of the vocabulary, the `version` of hello and ready.
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

// Detection says who detects speech.
type Detection string

// The ways of detecting speech.
const (
	DetectionDefault Detection = ""       // the gateway's setting
	DetectionManual  Detection = "manual" // the gateway's own detector decides
	DetectionServer  Detection = "server" // the model's detection decides
	DetectionPush    Detection = "push"   // the caller decides, with a button: EventTalk
)

// Hello is what the far end asks for: the settings of a call.
type Hello struct {
	Version      int
	InputRateHz  int       // of the audio it will send
	OutputRateHz int       // of the audio it wants to get
	Language     string    // BCP 47, "" leaves it to the gateway
	Instructions string    // the name of configured instructions, "" for the default ones
	Detection    Detection // "" leaves it to the gateway
	HalfDuplex   bool      // the caller is not listened to while the reply is playing
	ShowNet      bool      // wants to see the net of the call move
	Client       string    // a label for logs

	// Params is what the far end says of the call: a customer's number, a campaign. It is data for the integrator's
	// hooks, and may hold what must not be logged.
	Params map[string]string
	// Token says who may make this call. It is never logged and never sent on.
	Token string

	// What the door knows, never the far end's own words:
	Door     string // "ws", "webrtc", "twilio", ...
	Remote   string // the far end's network address, without a port
	From, To string // telephone numbers or the like; from a carrier, as it says
}

// Offer is what a gateway has. Its zero value takes every hello that asks for nothing by name.
type Offer struct {
	Instructions []string    // names a hello may ask for; none by default
	Detections   []Detection // ways a hello may ask for; nil means all
}

// FieldError says which field of an event cannot be taken, its value, and what would be right.
type FieldError struct {
	Event string // type of the event on the wire
	Field string
	Value string // what it is and how long, not what it says
	Want  string
}

// Error is a sentence for the people who wrote the client.
func (e *FieldError) Error() string {
	return fmt.Sprintf("%s: %s is %s; it must be %s", e.Event, e.Field, e.Value, e.Want)
}

// Check returns a [*FieldError] for the first setting that the gateway does not have, in the order of the fields.
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
		offered = []Detection{DetectionManual, DetectionServer, DetectionPush}
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

// languageTag reports whether s looks like a BCP 47 tag: subtags of 1-8 letters and digits, joined by hyphens.
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

// size describes a value that callers chose. A refusal is logged, so it quotes none.
func size(s string) string { return fmt.Sprintf("a string of %d bytes", len(s)) }

// quote quotes a name of the gateway's own for a message and cuts it: the reason of a close may not be long.
func quote(s string) string {
	const most = 40
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return fmt.Sprintf("%q", s)
}

// nameList says which names would be right.
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
