package rtvi

import (
	"encoding/binary"
	"errors"
)

// Kinds of frame: the fields of the oneof in Pipecat's frames.proto.
const (
	frameText          = 1
	frameAudio         = 2
	frameTranscription = 3
	frameMessage       = 4
	frameInterruption  = 5
)

// Fields of the frames that the endpoint reads or writes.
const (
	textText      = 3
	audioPCM      = 3
	audioRate     = 4
	audioChannels = 5
	messageData   = 1
)

// Wire types of protobuf.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// errFrame says that bytes are not a frame.
var errFrame = errors.New("it is not a protobuf frame of Pipecat's schema")

// frame holds the supported fields of a pipecat.Frame. Its slices alias the decoded bytes.
type frame struct {
	kind             int // 0: an unknown kind
	data             []byte
	rateHz, channels uint64 // of audio
}

// decodeFrame reads a frame. As in protobuf, the last of several kinds counts, and unknown fields
// are skipped.
func decodeFrame(b []byte) (frame, error) {
	var f frame
	err := fields(b, func(number int, _ uint64, body []byte) error {
		if number < frameText || number > frameInterruption || body == nil {
			return nil
		}
		f = frame{kind: number}
		return f.decode(body)
	})
	return f, err
}

// decode reads the fields of a frame's kind.
func (f *frame) decode(body []byte) error {
	want := f.dataField()
	return fields(body, func(number int, value uint64, b []byte) error {
		switch {
		case b != nil && number == want:
			f.data = b
		case b == nil && f.kind == frameAudio && number == audioRate:
			f.rateHz = value
		case b == nil && f.kind == frameAudio && number == audioChannels:
			f.channels = value
		}
		return nil
	})
}

// dataField returns the number of the data field of a kind, 0 for none.
func (f *frame) dataField() int {
	switch f.kind {
	case frameText:
		return textText
	case frameAudio:
		return audioPCM
	case frameMessage:
		return messageData
	}
	return 0
}

// fields calls field for each field of a message, with its value or with its bytes; bytes are not
// nil.
func fields(b []byte, field func(number int, value uint64, body []byte) error) error {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 || tag>>3 == 0 || tag>>3 > 1<<29-1 {
			return errFrame
		}
		b = b[n:]
		value, body, rest, err := value(b, int(tag&7))
		if err != nil {
			return err
		}
		b = rest
		if err := field(int(tag>>3), value, body); err != nil {
			return err
		}
	}
	return nil
}

// value reads the value of a field of a wire type.
func value(b []byte, wire int) (value uint64, body, rest []byte, err error) {
	switch wire {
	case wireVarint:
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return 0, nil, nil, errFrame
		}
		return v, nil, b[n:], nil
	case wireBytes:
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return 0, nil, nil, errFrame
		}
		end := n + int(size)
		return 0, b[n:end:end], b[end:], nil
	case wireFixed32, wireFixed64:
		n := 4
		if wire == wireFixed64 {
			n = 8
		}
		if len(b) < n {
			return 0, nil, nil, errFrame
		}
		return 0, nil, b[n:], nil
	}
	return 0, nil, nil, errFrame
}

// appendMessageFrame appends a frame that carries a message.
func appendMessageFrame(dst, message []byte) []byte {
	dst = appendHead(dst, frameMessage, 1+varintLen(len(message))+len(message))
	dst = appendHead(dst, messageData, len(message))
	return append(dst, message...)
}

// appendAudioFrame appends a frame of 16-bit little-endian mono PCM.
func appendAudioFrame(dst, pcm []byte, rateHz int) []byte {
	size := 1 + varintLen(len(pcm)) + len(pcm) + 1 + varintLen(rateHz) + 1 + 1
	dst = appendHead(dst, frameAudio, size)
	dst = appendHead(dst, audioPCM, len(pcm))
	dst = append(dst, pcm...)
	dst = append(dst, audioRate<<3|wireVarint)
	dst = binary.AppendUvarint(dst, uint64(rateHz))
	return append(dst, audioChannels<<3|wireVarint, 1)
}

// appendHead appends the tag and the length of a bytes field. Field numbers here are below 16, so
// the tag is one byte.
func appendHead(dst []byte, number, size int) []byte {
	return binary.AppendUvarint(append(dst, byte(number<<3|wireBytes)), uint64(size))
}

func varintLen(n int) int {
	size := 1
	for ; n >= 0x80; n >>= 7 {
		size++
	}
	return size
}
