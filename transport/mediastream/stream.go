package mediastream

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/phone"
)

var errBinary = errors.New("a binary message; all are text here")

// stream is one stream after its start, a [phone.Protocol].
type stream struct {
	*writer
	id    []byte
	order order
	in    *phone.Inlet // during Take
	raw   []byte
	pcm   []int16
}

var _ phone.Protocol = (*stream)(nil)

// newStream begins a stream.
func newStream(s *start) *stream {
	st := &stream{writer: newWriter(s.carrier, s.stream, s.codec, s.rateHz), id: []byte(s.stream)}
	st.order = order{hold: s.carrier.reorders, rateHz: s.rateHz, emit: func(pcm []int16) { st.in.Audio(pcm) }}
	return st
}

// Take reads one message.
func (s *stream) Take(b []byte, text bool, in *phone.Inlet) error {
	if !text {
		return errBinary
	}
	m, err := s.carrier.read(b)
	if err != nil {
		return err
	}
	if m.stream != nil && !bytes.Equal(m.stream, s.id) {
		if m.event == "start" {
			return transport.End(transport.ReasonSecondHello, "A second stream was started on one connection.", nil)
		}
		in.Count(phone.FaultForeign, 1)
		return nil
	}
	s.in = in
	switch m.event {
	case "media":
		return s.takeMedia(m.media)
	case "mark":
		in.Mark(s.markName(&m))
	case "dtmf":
		return in.Digit(string(member(m.dtmf, "digit")))
	case "start":
		in.Count(phone.FaultRestart, 1)
	case "stop":
		in.Bye()
	case "connected", "ignored":
	case "error":
		return fmt.Errorf("the carrier reports an error of %d bytes", len(b))
	default:
		in.Count(phone.FaultUnknown, 1)
	}
	return nil
}

// takeMedia reads a piece of caller audio.
func (s *stream) takeMedia(raw []byte) error {
	m, err := readMedia(raw)
	if err != nil {
		return err
	}
	if !m.ours() {
		s.in.Count(phone.FaultForeign, 1)
		return nil
	}
	if s.raw, err = m.decode(s.raw[:0]); err != nil {
		return err
	}
	if s.pcm = s.codec.AppendSamples(s.pcm[:0], s.raw); len(s.pcm) == 0 {
		s.in.Count(phone.FaultEmpty, 1)
		return nil
	}
	missing, dropped := s.order.push(m.chunk, s.pcm)
	if missing > 0 {
		s.in.Count(phone.FaultGap, 1)
	}
	if dropped {
		s.in.Count(phone.FaultRepeated, 1)
	}
	return nil
}
