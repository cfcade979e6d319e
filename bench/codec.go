package bench

import (
	"bytes"
	"sync"

	"github.com/pion/webrtc/v4"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/opus"
)

// Codecs of callers by WebRTC.
const (
	PCMU = "pcmu" // G.711
	Opus = "opus" // only where libopus is built in (build tag libopus)
)

// Codecs are those that callers can use.
func Codecs() []string { return []string{PCMU, Opus} }

// rtcCodec codes one call. One goroutine may encode while another asks for audible.
type rtcCodec interface {
	parameters() webrtc.RTPCodecParameters
	// encode appends the nth frame of an utterance, which has a number, or silence.
	encode(dst []byte, n, number int) ([]byte, error)
	// ticks is how much RTP's timestamp grows by a frame.
	ticks() uint32
	// audible reports whether a packet has any sound.
	audible(packet []byte) bool
	close()
}

// newRTCCodec returns a codec by its name.
func newRTCCodec(name string) (rtcCodec, error) {
	if name != Opus {
		return pcmuCodec{}, nil
	}
	e, err := opus.NewEncoder()
	if err != nil {
		return nil, err
	}
	d, err := opus.NewDecoder()
	if err != nil {
		e.Close()
		return nil, err
	}
	return &opusCodec{encoder: e, decoder: d}, nil
}

type pcmuCodec struct{}

// heard8 is the voice as G.711 has it.
var heard8 = sync.OnceValue(func() *voice { return newVoice(8000) })

func (pcmuCodec) parameters() webrtc.RTPCodecParameters {
	return webrtc.RTPCodecParameters{
		RTPCodecCapability: webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypePCMU, ClockRate: 8000}}
}

func (pcmuCodec) encode(dst []byte, n, number int) ([]byte, error) {
	return audio.AppendMuLaw(dst, heard8().frame(n, number)), nil
}

func (pcmuCodec) ticks() uint32 { return 160 }

// audible knows that mu-law has two codes for zero.
func (pcmuCodec) audible(packet []byte) bool { return len(bytes.Trim(packet, "\xff\x7f")) > 0 }

func (pcmuCodec) close() {}

type opusCodec struct {
	encoder *opus.Encoder
	decoder *opus.Decoder
	pcm     []int16
}

// heard24 is the voice as the encoder of Opus takes it.
var heard24 = sync.OnceValue(func() *voice { return newVoice(opus.EncoderRateHz) })

func (*opusCodec) parameters() webrtc.RTPCodecParameters {
	return webrtc.RTPCodecParameters{PayloadType: 111, RTPCodecCapability: webrtc.RTPCodecCapability{
		MimeType: webrtc.MimeTypeOpus, ClockRate: 48000, Channels: 2, SDPFmtpLine: "minptime=10;useinbandfec=1"}}
}

func (c *opusCodec) encode(dst []byte, n, number int) ([]byte, error) {
	return c.encoder.Append(dst, heard24().frame(n, number))
}

func (*opusCodec) ticks() uint32 { return 960 }

func (c *opusCodec) audible(packet []byte) bool {
	var err error
	c.pcm, err = c.decoder.Append(c.pcm[:0], packet)
	return err == nil && len(c.pcm) > 0 && audio.RMS(c.pcm) >= loudRMS
}

func (c *opusCodec) close() { c.encoder.Close() }
