package rtc

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pion/webrtc/v4"

	"github.com/voicegw/voicegw/audio/opus"
)

// Codec is an audio codec of RTP.
type Codec uint8

// The codecs an Endpoint supports. It decodes all four.
const (
	Opus Codec = iota + 1 // 48 kHz; to the caller only where libopus is built in (build tag libopus)
	G722                  // 16 kHz at 64 kbit/s
	PCMU                  // 8 kHz mu-law
	PCMA                  // 8 kHz A-law
)

// errLongPacket says that a packet holds more than 120 ms.
var errLongPacket = errors.New("transport/rtc: decode: a packet is longer than 120 ms")

// String returns the codec's name in SDP.
func (c Codec) String() string {
	switch c {
	case Opus:
		return "opus"
	case G722:
		return "G722"
	case PCMU:
		return "PCMU"
	case PCMA:
		return "PCMA"
	}
	return "unknown"
}

// rateHz returns the sample rate of the audio for the caller.
func (c Codec) rateHz() int {
	switch c {
	case Opus:
		return opus.EncoderRateHz
	case G722:
		return 16000
	}
	return 8000
}

// clockHz returns the rate of the RTP timestamps. That of G.722 is half its sample rate, an error
// in the standard that was kept (RFC 3551 section 4.5.2).
func (c Codec) clockHz() uint32 {
	if c == Opus {
		return 48000
	}
	return 8000
}

// capability returns the codec in the types of the WebRTC library.
func (c Codec) capability() webrtc.RTPCodecCapability {
	k := webrtc.RTPCodecCapability{MimeType: "audio/" + c.String(), ClockRate: c.clockHz(),
		RTCPFeedback: []webrtc.RTCPFeedback{nackFeedback()}}
	if c == Opus {
		k.Channels, k.SDPFmtpLine = 2, "minptime=10;useinbandfec=1"
	}
	return k
}

// nackFeedback says in SDP that lost packets are asked for, and sent again (RFC 4585 section 4.2).
func nackFeedback() webrtc.RTCPFeedback { return webrtc.RTCPFeedback{Type: "nack"} }

// payloadType returns the payload type of the codec when an offer does not set another one.
func (c Codec) payloadType() webrtc.PayloadType {
	switch c {
	case Opus:
		return 111
	case G722:
		return 9
	case PCMA:
		return 8
	}
	return 0
}

// codecs returns all codecs, the preferred one first.
func codecs() []Codec { return []Codec{Opus, G722, PCMU, PCMA} }

// checkCodecs returns an error for a codec that this build cannot encode, or that occurs twice.
func checkCodecs(list []Codec) error {
	for i, c := range list {
		switch {
		case !slices.Contains(codecs(), c):
			return fmt.Errorf("transport/rtc: check codecs: %d is no codec", c)
		case c == Opus && !opus.HasEncoder:
			return errors.New("transport/rtc: check codecs: this program was built without libopus (build tag libopus)")
		case slices.Contains(list[:i], c):
			return fmt.Errorf("transport/rtc: check codecs: %s is named twice", c)
		}
	}
	return nil
}
