package asterisk

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/phone"
)

// Names of the parameters that the gateway interprets; the others go into Hello.Params.
const (
	paramInstructions = "instructions"
	paramLanguage     = "language"
	paramToken        = "token"
	paramFrom         = "from"
	paramTo           = "to"
	paramChannel      = "channel" // the id of the caller's channel
)

// chunkFramesMax is the maximum number of frames that Asterisk may want in one message.
const chunkFramesMax = 5

// channel is Asterisk's end of a call, a [phone.Protocol].
type channel struct {
	writer
	codec       phone.Codec
	rateHz      int
	chunkFrames int
	raw         []byte
	pcm         []int16
}

var _ phone.Protocol = (*channel)(nil)

var (
	errFormat    = errors.New("the format is not supported; want ulaw, alaw or slin to slin48")
	errFrameSize = errors.New("optimal_frame_size is not supported; want 20 to 100 ms in steps of 20 ms")
)

// newChannel makes a channel from MEDIA_START.
func newChannel(start *control, json bool) (*channel, error) {
	ch := &channel{writer: writer{json: json}}
	ch.codec, ch.rateHz = formatOf(start.Format)
	if ch.codec == phone.CodecNone || audio.CheckRate(ch.rateHz) != nil {
		return nil, errFormat
	}
	frame := ch.rateHz / 50 * ch.codec.SampleBytes()
	ch.chunkFrames = max(1, start.FrameSize/frame)
	if start.FrameSize != 0 && start.FrameSize != ch.chunkFrames*frame || ch.chunkFrames > chunkFramesMax {
		return nil, errFrameSize
	}
	return ch, nil
}

// formatOf returns the codec and the rate of one of Asterisk's formats.
func formatOf(name string) (codec phone.Codec, rateHz int) {
	switch name {
	case "ulaw":
		return phone.PCMU, 8000
	case "alaw":
		return phone.PCMA, 8000
	case "slin":
		return phone.L16, 8000
	case "slin44":
		return phone.L16, 44100
	}
	kHz, ok := strings.CutPrefix(name, "slin")
	n, err := strconv.Atoi(kHz)
	if !ok || err != nil || n < 8 || n > 48 {
		return phone.CodecNone, 0
	}
	return phone.L16, n * 1000
}

var errEmpty = errors.New("a binary message without a sample")

// Take reads one message.
func (ch *channel) Take(b []byte, text bool, in *phone.Inlet) error {
	if text {
		return ch.takeControl(b, in)
	}
	if ch.pcm = ch.codec.AppendSamples(ch.pcm[:0], b); len(ch.pcm) == 0 || len(b)%ch.codec.SampleBytes() != 0 {
		return errEmpty
	}
	in.Audio(ch.pcm)
	return nil
}

func (ch *channel) takeControl(b []byte, in *phone.Inlet) error {
	c, err := readControl(b)
	if err != nil {
		return err
	}
	switch c.Event {
	case "MEDIA_MARK_PROCESSED":
		ch.raw = append(ch.raw[:0], c.Mark...)
		in.Mark(ch.raw)
	case "DTMF_END":
		return in.Digit(c.Digit)
	case "MEDIA_XOFF":
		in.Flow(true)
	case "MEDIA_XON":
		in.Flow(false)
	case "MEDIA_START":
		in.Count(phone.FaultRestart, 1)
	case "ERROR":
		return fmt.Errorf("the far end reports an error of %d bytes", len(c.Error))
	case "QUEUE_DRAINED", "STATUS", "MEDIA_BUFFERING_COMPLETED":
	default:
		in.Count(phone.FaultUnknown, 1)
	}
	return nil
}

// AppendAudio appends a binary audio message.
func (ch *channel) AppendAudio(dst []byte, pcm []int16) []byte { return ch.codec.AppendBytes(dst, pcm) }

// AppendMark appends the command to report when the playout reaches this place.
func (ch *channel) AppendMark(dst, name []byte) []byte {
	return ch.appendCommand(dst, "MARK_MEDIA", name)
}

// AppendClear appends the command to drop what was not played.
func (ch *channel) AppendClear(dst []byte) []byte { return ch.appendCommand(dst, "FLUSH_MEDIA", nil) }

// AppendBye appends the command to hang up.
func (ch *channel) AppendBye(dst []byte) []byte { return ch.appendCommand(dst, "HANGUP", nil) }

// hello returns what a call asks the gateway for: by the query of the address, v(name=value) in the
// dialplan, and by the channel's variables, which take precedence. A token comes only in a
// variable: addresses are logged. caller is the id of the caller's channel, if the call names it.
func (ch *channel) hello(query url.Values, variables map[string]string, remote string) (h transport.Hello,
	caller string) {
	h = transport.Hello{Version: transport.Version, InputRateHz: ch.rateHz, OutputRateHz: ch.rateHz, Endpoint: "asterisk",
		Remote: remote, Params: map[string]string{}}
	for name, values := range query {
		if name != paramToken {
			caller = setParam(&h, name, values[0], caller)
		}
	}
	for name, value := range variables {
		caller = setParam(&h, name, value, caller)
	}
	return h, caller
}

// setParam takes one parameter.
func setParam(h *transport.Hello, name, value, caller string) string {
	switch name {
	case paramInstructions:
		h.Instructions = value
	case paramLanguage:
		h.Language = value
	case paramToken:
		h.Token = value
	case paramFrom:
		h.From = transport.Cut(value, transport.AddressLenMax)
	case paramTo:
		h.To = transport.Cut(value, transport.AddressLenMax)
	case paramChannel:
		h.CarrierCall = transport.Cut(value, transport.IDLenMax)
		return h.CarrierCall
	default:
		if !strings.HasPrefix(name, "MEDIA_WEBSOCKET_") { // set by Asterisk itself
			h.Params[name] = value
		}
	}
	return caller
}
