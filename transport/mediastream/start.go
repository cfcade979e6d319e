package mediastream

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/internal/foreign"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/phone"
)

// streamLenMax bounds the id of a stream, which goes into every message.
const streamLenMax = 128

// Names of custom parameters that mean something to the gateway; the others go into Hello.Params.
const (
	paramInstructions = "instructions"
	paramLanguage     = "language"
	paramToken        = "token"
	paramSecret       = "secret"
	paramPass         = "pass"
	paramFrom         = "from"
	paramTo           = "to"
)

// start is what a carrier says of a stream when it begins, whatever it calls that.
type start struct {
	carrier string
	stream  string
	call    string
	codec   phone.Codec
	rateHz  int
	params  map[string]string
	from    string
	to      string
}

// startWire is the start of every dialect. Names are matched without regard to case.
type startWire struct {
	// Twilio, and those that speak as it does
	StreamSid        string            `json:"streamSid"`
	CallSid          string            `json:"callSid"`
	CustomParameters map[string]string `json:"customParameters"`
	MediaFormat      formatWire        `json:"mediaFormat"`
	// Telnyx
	CallControlID string            `json:"call_control_id"`
	CustomParams  map[string]string `json:"custom_parameters"` // Exotel too
	Format        formatWire        `json:"media_format"`      // Exotel too
	From          string            `json:"from"`              // Exotel too
	To            string            `json:"to"`                // Exotel too
	// Plivo
	StreamID string `json:"streamId"`
	CallID   string `json:"callId"`
	// Exotel
	ExotelStream string `json:"stream_sid"`
	ExotelCall   string `json:"call_sid"`
}

type formatWire struct {
	Encoding  string      `json:"encoding"`
	Rate      looseNumber `json:"sampleRate"`
	OtherRate looseNumber `json:"sample_rate"`
	Channels  looseNumber `json:"channels"`
}

// looseNumber is a whole number with quotes or without.
type looseNumber int

// UnmarshalJSON takes both.
func (n *looseNumber) UnmarshalJSON(b []byte) error {
	v, err := number(b)
	if err != nil || v > 1<<20 {
		return errNumber
	}
	*n = looseNumber(v)
	return nil
}

// errCodec says that a stream has sound that nobody asked for.
var errCodec = errors.New("the stream has a codec that is not taken")

// readStart reads the start of a stream. An error that is errCodec is about its sound.
func readStart(m *message) (start, error) {
	var w startWire
	if err := json.Unmarshal(m.start, &w); err != nil {
		return start{}, fmt.Errorf("the start of a stream cannot be read: %s", foreign.Fault(err))
	}
	s := start{params: w.CustomParameters, from: w.From, to: w.To}
	format := w.MediaFormat
	switch {
	case w.CallControlID != "":
		s.carrier, s.stream, s.call, format, s.params = "telnyx", string(m.stream), w.CallControlID, w.Format, w.CustomParams
	case w.StreamSid != "" && w.CallSid != "":
		s.carrier, s.stream, s.call = "twilio", w.StreamSid, w.CallSid
	case w.StreamID != "" && w.CallID != "":
		s.carrier, s.stream, s.call, s.params = "plivo", w.StreamID, w.CallID, extraHeaders(string(m.headers))
	case w.ExotelCall != "":
		s.carrier, s.stream, s.call, format, s.params = "exotel", first(w.ExotelStream, string(m.stream)), w.ExotelCall,
			w.Format, w.CustomParams
	default:
		return start{}, errors.New("the start of a stream is of no carrier that is known")
	}
	if s.stream == "" || len(s.stream) > streamLenMax {
		return start{}, fmt.Errorf("the id of a stream has %d bytes; 1 to %d are possible", len(s.stream), streamLenMax)
	}
	return s, s.setSound(format)
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// setSound reads the format of the stream's sound.
func (s *start) setSound(f formatWire) error {
	s.rateHz = int(max(f.Rate, f.OtherRate))
	if s.rateHz == 0 {
		s.rateHz = 8000
	}
	name, parameters, _ := strings.Cut(strings.ToLower(f.Encoding), ";")
	if rate, ok := strings.CutPrefix(strings.TrimSpace(parameters), "rate="); ok {
		s.rateHz, _ = strconv.Atoi(rate)
	}
	s.codec = codecOf(s.carrier, name)
	g711 := s.codec == phone.PCMU || s.codec == phone.PCMA
	if s.codec == phone.CodecNone || f.Channels > 1 || g711 && s.rateHz != 8000 || audio.CheckRate(s.rateHz) != nil {
		return errCodec
	}
	return nil
}

// codecOf is the codec that a carrier means by a name.
func codecOf(carrier, name string) phone.Codec {
	switch name {
	case "audio/x-mulaw", "pcmu", "mulaw", "ulaw":
		return phone.PCMU
	case "pcma", "audio/x-alaw":
		if carrier == "telnyx" {
			return phone.PCMA
		}
	case "audio/x-l16", "audio/l16", "raw/slin", "base64", "":
		if carrier == "exotel" || carrier == "plivo" && name == "audio/x-l16" {
			return phone.L16
		}
	}
	return phone.CodecNone
}

// extraHeaders are Plivo's custom parameters: "a=1;b=2", or with commas.
func extraHeaders(s string) map[string]string {
	params := map[string]string{}
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ';' || r == ',' }) {
		if name, value, ok := strings.Cut(part, "="); ok && len(params) < transport.ParamsMax {
			params[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return params
}

// hello is what the stream asks the gateway for.
func (s *start) hello(remote string) transport.Hello {
	h := transport.Hello{Version: transport.Version, InputRateHz: s.rateHz, OutputRateHz: s.rateHz, Door: s.carrier,
		Remote: remote, From: phone.Cut(s.from, transport.AddressLenMax), To: phone.Cut(s.to, transport.AddressLenMax),
		Params: map[string]string{}}
	for name, value := range s.params {
		switch name {
		case paramInstructions:
			h.Instructions = value
		case paramLanguage:
			h.Language = value
		case paramToken:
			h.Token = value
		case paramSecret, paramPass:
		case paramFrom:
			h.From = first(h.From, phone.Cut(value, transport.AddressLenMax))
		case paramTo:
			h.To = first(h.To, phone.Cut(value, transport.AddressLenMax))
		default:
			h.Params[name] = value
		}
	}
	return h
}

// dialectOf is the dialect of a carrier.
func dialectOf(carrier string) dialect {
	for _, d := range dialects() {
		if d.name == carrier {
			return d
		}
	}
	return twilioDialect()
}
