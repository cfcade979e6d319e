//go:build libopus

package rtc

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

// hasOpusEncoder says whether libopus is built in.
const hasOpusEncoder = true

const (
	opusBits      = 32000 // a second
	opusEffort    = 5     // of 10
	opusLoss      = 5     // expected percentage of lost packets: it decides how much of a packet the next one repeats
	opusBytesMax  = 1275  // of a frame (RFC 6716 section 3.2.1)
	opusFrameSize = 480   // samples of 20 ms at 24 kHz
)

// opusEncoder encodes with libopus.
type opusEncoder struct {
	c      *C.OpusEncoder
	packet [opusBytesMax]byte
}

func newOpusEncoder() (encoder, error) {
	var code C.int
	c := C.opus_encoder_create(C.opus_int32(Opus.rateHz()), 1, C.OPUS_APPLICATION_VOIP, &code)
	if code != C.OPUS_OK {
		return nil, opusError("new Opus encoder", code)
	}
	if code = C.voicegw_tune(c, opusBits, opusEffort, opusLoss); code != C.OPUS_OK {
		C.opus_encoder_destroy(c)
		return nil, opusError("tune Opus encoder", code)
	}
	return &opusEncoder{c: c}, nil
}

func (e *opusEncoder) encode(dst []byte, pcm []int16) ([]byte, error) {
	if e.c == nil || len(pcm) != opusFrameSize {
		return dst, errors.New("transport/rtc: encode Opus: closed, or not a frame")
	}
	n := C.opus_encode(e.c, (*C.opus_int16)(&pcm[0]), opusFrameSize, (*C.uchar)(&e.packet[0]), opusBytesMax)
	if n < 0 {
		return dst, opusError("encode Opus", C.int(n))
	}
	return append(dst, e.packet[:n]...), nil
}

func (e *opusEncoder) close() {
	if e.c != nil {
		C.opus_encoder_destroy(e.c)
		e.c = nil
	}
}

func opusError(what string, code C.int) error {
	return fmt.Errorf("transport/rtc: %s: %s", what, C.GoString(C.opus_strerror(code)))
}
