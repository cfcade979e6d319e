//go:build libopus

package opus

/*
#cgo pkg-config: opus
#include <opus.h>

// The control functions are variadic, which Go cannot call.
static int voicegw_tune(OpusEncoder *e, opus_int32 bits, opus_int32 effort, opus_int32 loss) {
	int err = opus_encoder_ctl(e, OPUS_SET_BITRATE(bits));
	if (err == OPUS_OK) err = opus_encoder_ctl(e, OPUS_SET_COMPLEXITY(effort));
	if (err == OPUS_OK) err = opus_encoder_ctl(e, OPUS_SET_INBAND_FEC(1));
	if (err == OPUS_OK) err = opus_encoder_ctl(e, OPUS_SET_PACKET_LOSS_PERC(loss));
	return err;
}
*/
import "C"

import (
	"errors"
	"fmt"
)

// HasEncoder reports whether libopus is built in.
const HasEncoder = true

const (
	bitsPerSecond = 32000
	effort        = 5                  // of 10
	lossPercent   = 5                  // expected: it decides how much of a packet the next one repeats
	packetMax     = 1275               // bytes of a frame (RFC 6716 section 3.2.1)
	frameSamples  = EncoderRateHz / 50 // of 20 ms
)

// Encoder encodes frames of speech. It must be closed.
type Encoder struct {
	c      *C.OpusEncoder
	packet [packetMax]byte
}

// NewEncoder returns an encoder for one stream, at 32 kbit/s.
func NewEncoder() (*Encoder, error) {
	var code C.int
	c := C.opus_encoder_create(EncoderRateHz, 1, C.OPUS_APPLICATION_VOIP, &code)
	if code != C.OPUS_OK {
		return nil, failure("new encoder", code)
	}
	if code = C.voicegw_tune(c, bitsPerSecond, effort, lossPercent); code != C.OPUS_OK {
		C.opus_encoder_destroy(c)
		return nil, failure("tune encoder", code)
	}
	return &Encoder{c: c}, nil
}

// Append encodes a frame of 20 ms at EncoderRateHz and appends the packet to dst.
func (e *Encoder) Append(dst []byte, pcm []int16) ([]byte, error) {
	if e.c == nil || len(pcm) != frameSamples {
		return dst, errors.New("opus: encode: closed, or not a frame")
	}
	n := C.opus_encode(e.c, (*C.opus_int16)(&pcm[0]), frameSamples, (*C.uchar)(&e.packet[0]), packetMax)
	if n < 0 {
		return dst, failure("encode", C.int(n))
	}
	return append(dst, e.packet[:n]...), nil
}

// Close frees the encoder. It may be called again.
func (e *Encoder) Close() {
	if e.c != nil {
		C.opus_encoder_destroy(e.c)
		e.c = nil
	}
}

func failure(what string, code C.int) error {
	return fmt.Errorf("opus: %s: %s", what, C.GoString(C.opus_strerror(code)))
}
