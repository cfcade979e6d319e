package rtc

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pion/webrtc/v4"
)

// Codec is how sound is coded on its way.
type Codec uint8

// The codecs a Door knows. All four are understood from the caller.
const (
	Opus Codec = iota + 1 // 48 kHz; to the caller only where libopus is built in (build tag libopus)
	G722                  // 16 kHz at 64 kbit/s
	PCMU                  // 8 kHz mu-law
	PCMA                  // 8 kHz A-law
)

// errLongPacket says that a packet holds more than 120 ms.
var errLongPacket = errors.New("transport/rtc: decode: a packet is longer than 120 ms")

// String is the codec's name in SDP.
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

// rateHz is the rate at which sound for the caller is handed over, and clockHz that of its RTP timestamps.
func (c Codec) rateHz() int {
	switch c {
	case Opus:
		return 24000
	case G722:
		return 16000
	}
	return 8000
}

// clockHz of G.722 is half its rate by an error that stayed (RFC 3551 section 4.5.2).
func (c Codec) clockHz() uint32 {
	if c == Opus {
		return 48000
	}
	return 8000
}

// capability is the codec in the words of the WebRTC library.
func (c Codec) capability() webrtc.RTPCodecCapability {
	k := webrtc.RTPCodecCapability{MimeType: "audio/" + c.String(), ClockRate: c.clockHz(),
		RTCPFeedback: []webrtc.RTCPFeedback{{Type: "nack"}}}
	if c == Opus {
		k.Channels, k.SDPFmtpLine = 2, "minptime=10;useinbandfec=1"
	}
	return k
}

// payloadType is the number of the codec where an offer does not say another one.
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

// codecs are all, the best first.
func codecs() []Codec { return []Codec{Opus, G722, PCMU, PCMA} }

// checkCodecs returns an error for what is no codec that can be spoken here, or comes twice.
func checkCodecs(list []Codec) error {
	for i, c := range list {
		switch {
		case !slices.Contains(codecs(), c):
			return fmt.Errorf("transport/rtc: check codecs: %d is no codec", c)
		case c == Opus && !hasOpusEncoder:
			return errors.New("transport/rtc: check codecs: this program was built without libopus (build tag libopus)")
		case slices.Contains(list[:i], c):
			return fmt.Errorf("transport/rtc: check codecs: %s is named twice", c)
		}
	}
	return nil
}
