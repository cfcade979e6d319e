package opus

import (
	"fmt"

	"github.com/pion/opus"
)

const (
	// DecoderRateHz is the rate of decoded audio.
	DecoderRateHz = 16000
	// packetSamplesMax is the longest packet: 120 ms (RFC 6716 section 2).
	packetSamplesMax = DecoderRateHz * 120 / 1000
)

// Decoder decodes packets in SILK, hybrid and CELT mode, mono and stereo, and conceals nothing.
type Decoder struct {
	decoder opus.Decoder
	pcm     [packetSamplesMax]int16
}

// NewDecoder returns a decoder for one stream.
func NewDecoder() (*Decoder, error) {
	d, err := opus.NewDecoderWithOutput(DecoderRateHz, 1)
	if err != nil {
		return nil, fmt.Errorf("opus: new decoder: %w", err)
	}
	return &Decoder{decoder: d}, nil
}

// Append decodes a packet and appends its samples to dst. A packet that it cannot decode adds nothing.
func (d *Decoder) Append(dst []int16, packet []byte) ([]int16, error) {
	n, err := d.decoder.DecodeToInt16(packet, d.pcm[:])
	if err != nil {
		return dst, fmt.Errorf("opus: decode: %w", err)
	}
	return append(dst, d.pcm[:n]...), nil
}
