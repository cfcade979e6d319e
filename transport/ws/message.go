package ws

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw/transport"
)

// appendMessage appends a message of the gateway, other than ready, audio and bye.
func appendMessage(dst []byte, m *transport.Message) ([]byte, error) {
	switch m.Kind {
	case transport.MessageSpeech, transport.MessageHold, transport.MessageConsent, transport.MessageProtected,
		transport.MessageModel:
		dst = appendText(appendType(dst, m.Kind.String()), "state", string(m.State))
	case transport.MessageTurn:
		dst = appendText(appendType(dst, "turn"), "state", string(m.State))
		dst = appendUint(dst, "generation", m.Generation)
		if m.State == transport.StateEnd {
			dst = appendInt(appendText(dst, "reason", string(m.TurnEnd)), "heard_ms", m.HeardMS)
		}
	case transport.MessageTranscript:
		dst = appendText(appendType(dst, "transcript"), "who", string(m.Who))
		dst = appendText(dst, "text", m.Text)
		dst = appendUint(appendBool(dst, "final", m.Final), "generation", m.Generation)
	case transport.MessageClear:
		dst = appendUint(appendType(dst, "clear"), "generation", m.Generation)
	case transport.MessageMark:
		dst = appendUint(appendText(appendType(dst, "mark"), "id", m.ID), "generation", m.Generation)
	case transport.MessageNet:
		dst = appendNet(dst, m)
	case transport.MessageNetGraph:
		dst = appendText(appendType(dst, "net_graph"), "svg", m.Text)
	case transport.MessageToolCall:
		return appendToolCall(dst, m)
	case transport.MessageToolCancel:
		dst = appendText(appendType(dst, "tool_cancel"), "id", m.ID)
	case transport.MessageTransfer:
		dst = appendText(appendType(dst, "transfer"), "to", m.Text)
	case transport.MessageMessage:
		return appendPageMessage(dst, m.Name, m.Text)
	case transport.MessageError:
		dst = appendText(appendText(appendType(dst, "error"), "code", m.Code), "message", m.Text)
		dst = appendBool(dst, "fatal", m.Fatal)
	default:
		return nil, fmt.Errorf("a message of kind %s (%d) cannot be sent", m.Kind, m.Kind)
	}
	return append(dst, '}'), nil
}

func appendNet(dst []byte, m *transport.Message) []byte {
	dst = appendInt(appendType(dst, "net"), "at_ms", m.At.Milliseconds())
	dst = append(appendKey(dst, "fired"), '[')
	for i, name := range m.Fired {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, name)
	}
	dst = append(append(dst, ']'), `,"marking":{`...)
	for i, p := range m.Marking {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, p.Place), ':')
		dst = fmt.Append(dst, p.Count)
	}
	return append(dst, '}')
}

func appendToolCall(dst []byte, m *transport.Message) ([]byte, error) {
	args := m.Text
	if args == "" {
		args = "{}"
	}
	if !json.Valid([]byte(args)) {
		return nil, errors.New("the arguments of a tool call must be JSON")
	}
	dst = appendText(appendText(appendType(dst, "tool_call"), "id", m.ID), "name", m.Name)
	return append(append(appendKey(dst, "args"), args...), '}'), nil
}

// appendBye appends the last event of a call.
func appendBye(dst []byte, reason, message string) []byte {
	return append(appendText(appendText(appendType(dst, "bye"), "reason", reason), "message", message), '}')
}

// appendReady appends the event that accepts a call.
func appendReady(dst []byte, r transport.Ready) []byte {
	dst = appendText(appendType(dst, "ready"), "call", r.Call)
	dst = appendInt(dst, "version", transport.Version)
	dst = appendInt(dst, "input_rate", int64(r.InputRateHz))
	dst = appendInt(dst, "output_rate", int64(r.OutputRateHz))
	dst = appendInt(appendInt(dst, "frame_ms", transport.FrameMS), "ack_ms", transport.AckMS)
	dst = appendInt(dst, "budget_ms", r.Budget.Milliseconds())
	dst = appendText(dst, "detection", string(r.Detection))
	dst = append(appendKey(dst, "model"), `{"name":`...)
	dst = append(appendBool(appendString(dst, r.Model.Name), "embedded", r.Model.Embedded), '}')
	dst = appendBool(dst, "greeting", r.Greeting)
	dst = fmt.Appendf(appendKey(dst, "limits"), `{"message_bytes":%d`, r.MessageBytesMax)
	dst = append(appendInt(dst, "call_s", int64(r.CallMax/time.Second)), '}')
	if h := r.Resume; h.Handle != "" {
		dst = append(appendKey(dst, "resume"), `{"handle":`...)
		dst = appendInt(appendString(dst, h.Handle), "within_ms", h.Within.Milliseconds())
		dst = append(appendUint(dst, "received", h.Received), '}')
	}
	return append(dst, '}')
}

// decodeReady reads ready out of o.
func decodeReady(o *object) (transport.Ready, error) {
	model, limits, resume := o.sub("model"), o.sub("limits"), o.sub("resume")
	r := transport.Ready{
		Call:            o.text("call", transport.IDLenMax),
		InputRateHz:     int(o.whole("input_rate", math.MaxInt32)),
		OutputRateHz:    int(o.whole("output_rate", math.MaxInt32)),
		Budget:          time.Duration(o.whole("budget_ms", transport.PlayedMSMax)) * time.Millisecond,
		Detection:       transport.Detection(o.text("detection", transport.InstructionsLenMax)),
		Greeting:        o.flag("greeting"),
		Model:           transport.Model{Name: model.text("name", transport.TextCharsMax), Embedded: model.flag("embedded")},
		MessageBytesMax: int(limits.whole("message_bytes", math.MaxInt32)),
		CallMax:         time.Duration(limits.whole("call_s", math.MaxInt32)) * time.Second,
		Resume: transport.Resumable{
			Handle:   resume.text("handle", transport.HandleLenMax),
			Within:   time.Duration(resume.whole("within_ms", transport.PlayedMSMax)) * time.Millisecond,
			Received: uint64(resume.whole("received", transport.GenerationMax)),
		},
	}
	if v := o.whole("version", math.MaxInt32); v != transport.Version {
		o.fail("version", "1")
	}
	return r, errors.Join(o.err, model.err, limits.err, resume.err)
}

// sub takes a member that is an object; an absent member gives an object without members.
func (o *object) sub(key string) *object {
	s := &object{name: o.name + "." + key}
	if o.has(key) && json.Unmarshal(o.members[key], &s.members) != nil {
		o.fail(key, "an object")
	}
	return s
}

// decodeMessage fills m, which must have been reset, from a text frame of the gateway. It returns
// [errUnknown] for types of another version and for a second ready.
func decodeMessage(b []byte, m *transport.Message) error {
	o, err := parseObject(b)
	if err != nil {
		return err
	}
	switch o.name {
	case "speech", "hold", "consent", "protected":
		takeState(o, m, transport.StateStart, transport.StateStop)
	case "model":
		takeState(o, m, transport.StateLost, transport.StateBack)
	case "turn":
		takeState(o, m, transport.StateStart, transport.StatePause, transport.StateResume, transport.StateEnd)
		takeGeneration(o, m)
		m.TurnEnd = transport.TurnEnd(o.text("reason", transport.IDLenMax))
		m.HeardMS = o.whole("heard_ms", transport.GenerationMax)
	case "transcript":
		takeTranscript(o, m)
	case "clear":
		m.Kind = transport.MessageClear
		takeGeneration(o, m)
	case "mark":
		m.Kind, m.ID = transport.MessageMark, o.text("id", transport.MarkLenMax)
		o.need("id", "the id of the mark")
		takeGeneration(o, m)
	case "net":
		takeNet(o, m)
	case "net_graph":
		o.need("svg", "a drawing")
		m.Kind, m.Text = transport.MessageNetGraph, o.text("svg", math.MaxInt)
	case "tool_call":
		m.Kind, m.ID, m.Name = transport.MessageToolCall, o.text("id", transport.IDLenMax), o.text("name", transport.IDLenMax)
		m.Text = string(o.members["args"])
	case "tool_cancel":
		m.Kind, m.ID = transport.MessageToolCancel, o.text("id", transport.IDLenMax)
		o.need("id", "the id of the tool call")
	case "transfer":
		m.Kind, m.Text = transport.MessageTransfer, o.text("to", transport.AddressLenMax)
	case "message":
		m.Kind = transport.MessageMessage
		m.Name, m.Text = takePageMessage(o)
	case "error":
		m.Kind, m.Code, m.Fatal = transport.MessageError, o.text("code", transport.IDLenMax), o.flag("fatal")
		o.need("code", "the code of the error")
		m.Text = o.text("message", math.MaxInt)
	case "bye":
		m.Kind, m.Code, m.Text = transport.MessageBye, o.text("reason", transport.IDLenMax), o.text("message", math.MaxInt)
		m.Reason, _ = transport.ParseReason(m.Code)
	default:
		return errUnknown
	}
	return o.err
}

func takeGeneration(o *object, m *transport.Message) {
	o.need("generation", "the generation of a reply")
	m.Generation = uint64(o.whole("generation", transport.GenerationMax))
}

// takeState takes the state of speech, of a turn, or of a mode of the call.
func takeState(o *object, m *transport.Message, states ...transport.State) {
	m.Kind = stateKind(o.name)
	m.State = transport.State(o.text("state", transport.IDLenMax))
	if !slices.Contains(states, m.State) {
		o.fail("state", fmt.Sprintf("one of %v", states))
	}
}

// stateKind returns the kind of a message that has a state.
func stateKind(name string) transport.MessageKind {
	for _, k := range [...]transport.MessageKind{transport.MessageSpeech, transport.MessageTurn, transport.MessageHold,
		transport.MessageConsent, transport.MessageProtected, transport.MessageModel} {
		if k.String() == name {
			return k
		}
	}
	return transport.MessageNone
}

func takeTranscript(o *object, m *transport.Message) {
	m.Kind, m.Who = transport.MessageTranscript, transport.Who(o.text("who", transport.IDLenMax))
	if m.Who != transport.WhoCaller && m.Who != transport.WhoModel {
		o.fail("who", `"caller" or "model"`)
	}
	m.Text, m.Final = o.text("text", math.MaxInt), o.flag("final")
	m.Generation = uint64(o.whole("generation", transport.GenerationMax))
}

func takeNet(o *object, m *transport.Message) {
	m.Kind, m.At = transport.MessageNet, time.Duration(o.whole("at_ms", math.MaxInt32))*time.Millisecond
	if o.has("fired") && json.Unmarshal(o.members["fired"], &m.Fired) != nil {
		o.fail("fired", "a list of names")
	}
	marking := map[string]int{}
	if o.has("marking") && json.Unmarshal(o.members["marking"], &marking) != nil {
		o.fail("marking", "an object of counts")
	}
	for place, count := range marking {
		m.Marking = append(m.Marking, transport.PlaceCount{Place: place, Count: count})
	}
	slices.SortFunc(m.Marking, func(a, b transport.PlaceCount) int { return strings.Compare(a.Place, b.Place) })
}
