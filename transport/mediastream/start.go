package mediastream

import (
	"cmp"
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

// Names of the custom parameters that the gateway interprets; the others go into Hello.Params.
const (
	paramInstructions = "instructions"
	paramLanguage     = "language"
	paramToken        = "token"
	paramSecret       = "secret"
	paramPass         = "pass"
	paramFrom         = "from"
	paramTo           = "to"
)

// start is the content of a carrier's start message, in common names.
type start struct {
	carrier carrier
	stream  string
	call    string
	codec   phone.Codec
	rateHz  int
	params  map[string]string
	from    string
	to      string
}

// format is a stream's media format. Names match without regard to case.
type format struct {
	Encoding   string
	SampleRate looseNumber
	OtherRate  looseNumber `json:"sample_rate"`
	Channels   looseNumber
}

// looseNumber is an integer with or without quotes.
type looseNumber int

// UnmarshalJSON accepts both.
func (n *looseNumber) UnmarshalJSON(b []byte) error {
	v, err := number(b)
	if err != nil || v > 1<<20 {
		return errNumber
	}
	*n = looseNumber(v)
	return nil
}

// errCodec says that a stream has an unsupported media format.
var errCodec = errors.New("the codec of the stream is not supported")

// readStart reads the start of a stream. errCodec reports an unsupported media format.
func readStart(m *message) (start, error) {
	for _, c := range carriers() {
		own, err := c.read(m.raw)
		if err != nil {
			return start{}, err
		}
		s, f, err := c.begin(&own)
		if err != nil {
			return start{}, fmt.Errorf("the start of a stream cannot be read: %s", foreign.Fault(err))
		}
		if s.call == "" {
			continue
		}
		if s.stream == "" || len(s.stream) > streamLenMax {
			return start{}, fmt.Errorf("the id of a stream has %d bytes; 1 to %d are possible", len(s.stream), streamLenMax)
		}
		s.carrier = c
		return s, s.setSound(f)
	}
	return start{}, errors.New("the start of the stream is not of a known carrier")
}

// setSound reads the stream's media format.
func (s *start) setSound(f format) error {
	s.rateHz = int(max(f.SampleRate, f.OtherRate))
	if s.rateHz == 0 {
		s.rateHz = 8000
	}
	name, parameters, _ := strings.Cut(strings.ToLower(f.Encoding), ";")
	if rate, ok := strings.CutPrefix(strings.TrimSpace(parameters), "rate="); ok {
		s.rateHz, _ = strconv.Atoi(rate)
	}
	s.codec = s.carrier.codec(name)
	g711 := s.codec == phone.PCMU || s.codec == phone.PCMA
	if s.codec == phone.CodecNone || f.Channels > 1 || g711 && s.rateHz != 8000 || audio.CheckRate(s.rateHz) != nil {
		return errCodec
	}
	return nil
}

// codec returns the codec that the carrier c means by a name.
func (c *carrier) codec(name string) phone.Codec {
	switch name {
	case "audio/x-mulaw", "pcmu", "mulaw", "ulaw":
		return phone.PCMU
	}
	return c.codecs[name]
}

// hello returns the hello that the stream's start asks for.
func (s *start) hello(remote string) transport.Hello {
	h := transport.Hello{Version: transport.Version, InputRateHz: s.rateHz, OutputRateHz: s.rateHz,
		Endpoint: s.carrier.name,
		Remote:   remote, From: transport.Cut(s.from, transport.AddressLenMax), To: transport.Cut(s.to,
			transport.AddressLenMax),
		CarrierCall: transport.Cut(s.call, transport.IDLenMax), Params: map[string]string{}}
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
			h.From = cmp.Or(h.From, transport.Cut(value, transport.AddressLenMax))
		case paramTo:
			h.To = cmp.Or(h.To, transport.Cut(value, transport.AddressLenMax))
		default:
			h.Params[name] = value
		}
	}
	return h
}
