package rtc

import (
	"fmt"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/opus"
)

// encoder turns frames of 20 ms, at the rate of its codec, into payloads of RTP packets, appended
// to dst.
type encoder interface {
	encode(dst []byte, pcm []int16) ([]byte, error)
	close()
}

// newEncoder makes the encoder for a codec. It must be closed.
func newEncoder(c Codec) (encoder, error) {
	switch c {
	case Opus:
		e, err := opus.NewEncoder()
		if err != nil {
			return nil, fmt.Errorf("transport/rtc: %w", err)
		}
		return &quietEncoder{encoder: opusEncoder{e}}, nil
	case G722:
		return &g722Encoder{encoder: audio.NewG722Encoder()}, nil
	case PCMU, PCMA:
		return g711Encoder{law: c}, nil
	}
	return nil, fmt.Errorf("transport/rtc: new encoder: unknown codec %d", c)
}

type opusEncoder struct{ encoder *opus.Encoder }

func (e opusEncoder) encode(dst []byte, pcm []int16) ([]byte, error) {
	return e.encoder.Append(dst, pcm)
}
func (e opusEncoder) close() { e.encoder.Close() }

type g722Encoder struct{ encoder *audio.G722Encoder }

func (e *g722Encoder) encode(dst []byte, pcm []int16) ([]byte, error) {
	return e.encoder.Append(dst, pcm), nil
}
func (*g722Encoder) close() {}

type g711Encoder struct{ law Codec }

func (e g711Encoder) encode(dst []byte, pcm []int16) ([]byte, error) {
	if e.law == PCMU {
		return audio.AppendMuLaw(dst, pcm), nil
	}
	return audio.AppendALaw(dst, pcm), nil
}

func (g711Encoder) close() {}
