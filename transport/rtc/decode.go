package rtc

import (
	"fmt"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/opus"
)

const (
	// inputRateHz is the rate of decoded caller audio, for every codec.
	inputRateHz = opus.DecoderRateHz
	// packetSamplesMax is the longest packet of any codec here: 120 ms of Opus (RFC 6716 section
	// 2).
	packetSamplesMax = inputRateHz * 120 / 1000
)

// decoder turns the payload of one RTP packet into PCM at [inputRateHz], appended to dst. lost
// reports lost packets before the next one; the decoder does not conceal them.
type decoder interface {
	decode(dst []int16, payload []byte) ([]int16, error)
	lost()
}

// newDecoder makes the decoder for a codec.
func newDecoder(c Codec) (decoder, error) {
	switch c {
	case Opus:
		d, err := opus.NewDecoder()
		if err != nil {
			return nil, fmt.Errorf("transport/rtc: %w", err)
		}
		return opusDecoder{d}, nil
	case G722:
		return &g722Decoder{decoder: audio.NewG722Decoder()}, nil
	case PCMU, PCMA:
		r, err := audio.NewResampler(8000, inputRateHz)
		if err != nil {
			return nil, fmt.Errorf("transport/rtc: new %s decoder: %w", c, err)
		}
		return &g711Decoder{law: c, resampler: r}, nil
	}
	return nil, fmt.Errorf("transport/rtc: new decoder: unknown codec %d", c)
}

// opusDecoder conceals nothing.
type opusDecoder struct{ decoder *opus.Decoder }

func (d opusDecoder) decode(dst []int16, payload []byte) ([]int16, error) {
	return d.decoder.Append(dst, payload)
}

func (opusDecoder) lost() {} // the library has no loss handling

type g722Decoder struct{ decoder *audio.G722Decoder }

func (d *g722Decoder) decode(dst []int16, payload []byte) ([]int16, error) {
	if len(payload) > packetSamplesMax/2 {
		return dst, errLongPacket
	}
	return d.decoder.Append(dst, payload), nil
}

func (d *g722Decoder) lost() { d.decoder.Lost() }

// g711Decoder decodes both laws, and resamples to the common rate.
type g711Decoder struct {
	law       Codec
	resampler *audio.Resampler
	pcm       [packetSamplesMax / 2]int16
}

func (d *g711Decoder) decode(dst []int16, payload []byte) ([]int16, error) {
	if len(payload) > packetSamplesMax/2 {
		return dst, errLongPacket
	}
	pcm := d.pcm[:0]
	if d.law == PCMU {
		pcm = audio.AppendMuLawSamples(pcm, payload)
	} else {
		pcm = audio.AppendALawSamples(pcm, payload)
	}
	return d.resampler.Resample(dst, pcm), nil
}

func (d *g711Decoder) lost() {} // decoding does not depend on earlier packets
