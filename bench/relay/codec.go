package relay

import (
	"strings"

	"github.com/pion/webrtc/v4"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/opus"
)

// codec is what a call by RTP speaks, both ways.
type codec struct {
	webrtc.RTPCodecParameters
	rateHz int // of the audio that is encoded
	ticks  uint32
}

// pcmu is G.711.
func pcmu() codec {
	return codec{webrtc.RTPCodecParameters{
		RTPCodecCapability: webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypePCMU, ClockRate: 8000}}, 8000, codedFrame}
}

// opus48 is Opus.
func opus48() codec {
	return codec{webrtc.RTPCodecParameters{PayloadType: 111, RTPCodecCapability: webrtc.RTPCodecCapability{
		MimeType: webrtc.MimeTypeOpus, ClockRate: 48000, Channels: 2, SDPFmtpLine: "minptime=10;useinbandfec=1"}},
		opus.EncoderRateHz, 960}
}

// offered is the codec of an offer, which has one.
func offered(offer string) codec {
	if strings.Contains(offer, "opus/48000/2") {
		return opus48()
	}
	return pcmu()
}

// decoder returns a function that appends the samples of a packet, at 16 kHz.
func (c codec) decoder() (func(dst []int16, packet []byte) ([]int16, error), error) {
	if c.MimeType == webrtc.MimeTypeOpus {
		d, err := opus.NewDecoder()
		if err != nil {
			return nil, err
		}
		return d.Append, nil
	}
	to16, err := audio.NewResampler(c.rateHz, 16000)
	if err != nil {
		return nil, err
	}
	var narrow []int16
	return func(dst []int16, packet []byte) ([]int16, error) {
		narrow = audio.AppendMuLawSamples(narrow[:0], packet)
		return to16.Resample(dst, narrow), nil
	}, nil
}

// encoder returns a function that appends the packet of a frame, and one that frees it.
func (c codec) encoder() (encode func(dst []byte, frame []int16) ([]byte, error), free func(), err error) {
	if c.MimeType == webrtc.MimeTypeOpus {
		e, err := opus.NewEncoder()
		if err != nil {
			return nil, nil, err
		}
		return e.Append, e.Close, nil
	}
	return func(dst []byte, frame []int16) ([]byte, error) { return audio.AppendMuLaw(dst, frame), nil }, func() {}, nil
}
