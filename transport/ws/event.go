package ws

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/voicegw/voicegw/transport"
)

// errUnknown says that an event has a type this version does not know. The event is ignored and
// counted.
var errUnknown = errors.New("an event of unknown type")

// errHello says that an event is a hello.
var errHello = errors.New("a hello")

// errNotHello says that an event is not a hello.
var errNotHello = errors.New("this is another event")

// appendHello appends the hello of a client.
func appendHello(dst []byte, h transport.Hello) []byte {
	dst = appendInt(appendType(dst, "hello"), "version", int64(h.Version))
	dst = appendInt(dst, "input_rate", int64(h.InputRateHz))
	dst = appendInt(dst, "output_rate", int64(h.OutputRateHz))
	for _, f := range [...][2]string{
		{"language", h.Language}, {"instructions", h.Instructions},
		{"detection", string(h.Detection)}, {"client", h.Client}, {"token", h.Token},
	} {
		if f[1] != "" {
			dst = appendText(dst, f[0], f[1])
		}
	}
	if h.HalfDuplex {
		dst = appendBool(dst, "half_duplex", true)
	}
	if h.ShowNet {
		dst = appendBool(dst, "show_net", true)
	}
	if h.Resume.Able || h.Resume.Handle != "" {
		dst = appendResume(dst, h.Resume)
	}
	return append(appendParams(dst, h.Params), '}')
}

// appendResume appends how the client goes on with a call.
func appendResume(dst []byte, r transport.Resume) []byte {
	dst = append(appendKey(dst, "resume"), '{')
	if r.Handle == "" {
		return append(dst, '}')
	}
	dst = appendString(append(dst, `"handle":`...), r.Handle)
	dst = appendInt(appendUint(dst, "generation", r.Generation), "played_ms", r.PlayedMS)
	return append(appendUint(dst, "received", r.Received), '}')
}

// takeResume reads how the client goes on with a call.
func takeResume(o *object) transport.Resume {
	if !o.has("resume") {
		return transport.Resume{}
	}
	s := o.sub("resume")
	r := transport.Resume{Able: true, Handle: s.text("handle", transport.HandleLenMax)}
	if r.Handle != "" {
		r.Generation = uint64(s.whole("generation", transport.GenerationMax))
		r.PlayedMS = s.floor("played_ms", transport.PlayedMSMax)
		r.Received = uint64(s.whole("received", transport.GenerationMax))
	}
	if o.err == nil {
		o.err = s.err
	}
	return r
}

// appendParams appends the params of the hello, if any, sorted by name.
func appendParams(dst []byte, params map[string]string) []byte {
	if len(params) == 0 {
		return dst
	}
	dst = appendKey(dst, "params")
	sep := byte('{')
	for _, name := range slices.Sorted(maps.Keys(params)) {
		dst = append(appendString(append(dst, sep), name), ':')
		dst = appendString(dst, params[name])
		sep = ','
	}
	return append(dst, '}')
}

// decodeHello reads the first text frame of a call. Check decides whether the gateway offers its
// values.
func decodeHello(b []byte) (transport.Hello, error) {
	o, err := parseObject(b)
	if err != nil {
		return transport.Hello{}, err
	}
	if o.name != "hello" {
		return transport.Hello{}, errNotHello
	}
	h := transport.Hello{
		Version:      int(o.whole("version", math.MaxInt32)),
		InputRateHz:  int(o.whole("input_rate", math.MaxInt32)),
		OutputRateHz: int(o.whole("output_rate", math.MaxInt32)),
		Language:     o.text("language", transport.LanguageLenMax),
		Instructions: o.text("instructions", transport.InstructionsLenMax),
		Detection:    transport.Detection(o.text("detection", transport.InstructionsLenMax)),
		HalfDuplex:   o.flag("half_duplex"),
		ShowNet:      o.flag("show_net"),
		Client:       o.text("client", transport.ClientLenMax),
		Params:       o.strings("params"),
		Resume:       takeResume(o),
		Token:        o.text("token", transport.TokenLenMax),
	}
	return h, o.err
}

// appendEvent appends an event of a client, other than hello and audio.
func appendEvent(dst []byte, ev *transport.Event) ([]byte, error) {
	switch ev.Kind {
	case transport.EventAck:
		dst = appendUint(appendType(dst, "ack"), "generation", ev.Generation)
		dst = appendInt(dst, "played_ms", ev.PlayedMS)
		if ev.Mark != "" {
			dst = appendText(dst, "mark", ev.Mark)
		}
		if ev.Cleared {
			dst = appendBool(dst, "cleared", true)
		}
	case transport.EventMute, transport.EventTalk, transport.EventHold, transport.EventConsent:
		dst = appendBool(appendType(dst, ev.Kind.String()), "on", ev.On)
	case transport.EventText:
		dst = appendText(appendType(dst, "text"), "text", ev.Text)
	case transport.EventDTMF:
		dst = appendText(appendType(dst, "dtmf"), "digits", ev.Text)
	case transport.EventToolResult:
		return appendToolResult(dst, ev)
	case transport.EventMessage:
		return appendPageMessage(dst, ev.Name, ev.Text)
	case transport.EventBye:
		dst = appendType(dst, "bye")
		if ev.Text != "" {
			dst = appendText(dst, "reason", ev.Text)
		}
	default:
		return nil, fmt.Errorf("an event of kind %d cannot be sent", ev.Kind)
	}
	return append(dst, '}'), nil
}

func appendToolResult(dst []byte, ev *transport.Event) ([]byte, error) {
	dst = appendText(appendType(dst, "tool_result"), "id", ev.ID)
	if ev.Failed {
		return append(appendText(dst, "error", ev.Text), '}'), nil
	}
	if !json.Valid([]byte(ev.Text)) {
		return nil, errors.New("the output of a tool must be JSON")
	}
	return append(append(appendKey(dst, "output"), ev.Text...), '}'), nil
}

// decodeEvent fills ev, which must have been reset, from a text frame that came after the hello. It
// returns [errUnknown] for types of another version, [errHello] for a hello, and a
// *transport.FieldError for a field out of range. An acknowledgement without a mark costs no
// allocation.
func decodeEvent(b []byte, ev *transport.Event) error {
	if decodeAck(b, ev) {
		return nil
	}
	return decodeAny(b, ev)
}

// decodeAny is decodeEvent for every event that [decodeAck] does not take, including
// acknowledgements.
func decodeAny(b []byte, ev *transport.Event) error {
	o, err := parseObject(b)
	if err != nil {
		return err
	}
	switch o.name {
	case "ack":
		takeAck(o, ev)
	case "mute":
		takeSwitch(o, transport.EventMute, ev)
	case "talk":
		takeSwitch(o, transport.EventTalk, ev)
	case "hold":
		takeSwitch(o, transport.EventHold, ev)
	case "consent":
		takeSwitch(o, transport.EventConsent, ev)
	case "text":
		takeText(o, ev)
	case "dtmf":
		takeDigits(o, ev)
	case "tool_result":
		takeToolResult(o, ev)
	case "message":
		ev.Kind = transport.EventMessage
		ev.Name, ev.Text = takePageMessage(o)
	case "bye":
		ev.Kind, ev.Text = transport.EventBye, o.text("reason", transport.ByeReasonLenMax)
	case "hello":
		return errHello
	default:
		return errUnknown
	}
	return o.err
}

func takeAck(o *object, ev *transport.Event) {
	o.need("generation", "the generation that was heard")
	o.need("played_ms", "how much of the generation was heard")
	ev.Kind = transport.EventAck
	ev.Generation = uint64(o.whole("generation", transport.GenerationMax))
	ev.PlayedMS = o.floor("played_ms", transport.PlayedMSMax)
	ev.Mark = o.text("mark", transport.MarkLenMax)
	ev.Cleared = o.flag("cleared")
}

// takeSwitch takes an event that switches something on or off.
func takeSwitch(o *object, kind transport.EventKind, ev *transport.Event) {
	o.need("on", "true or false")
	ev.Kind, ev.On = kind, o.flag("on")
}

func takeText(o *object, ev *transport.Event) {
	ev.Kind, ev.Text = transport.EventText, o.text("text", utf8.UTFMax*transport.TextCharsMax)
	if n := utf8.RuneCountInString(ev.Text); n < 1 || n > transport.TextCharsMax {
		o.fail("text", fmt.Sprintf("a string of 1 to %d characters", transport.TextCharsMax))
	}
}

func takeDigits(o *object, ev *transport.Event) {
	ev.Kind, ev.Text = transport.EventDTMF, o.text("digits", transport.DigitsMax)
	if ev.Text == "" || strings.Trim(ev.Text, "0123456789*#ABCD") != "" {
		o.fail("digits", fmt.Sprintf("1 to %d of 0-9, *, #, A-D", transport.DigitsMax))
	}
}

func takeToolResult(o *object, ev *transport.Event) {
	ev.Kind, ev.ID = transport.EventToolResult, o.text("id", transport.IDLenMax)
	if ev.ID == "" {
		o.fail("id", "the id of a tool call")
	}
	if o.has("error") {
		ev.Failed, ev.Text = true, o.text("error", transport.TextCharsMax)
		return
	}
	o.need("output", "JSON, or absent with an error in its place")
	ev.Text = string(o.members["output"])
}
