package rtc

import (
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/pion/rtp"

	"github.com/voicegw/voicegw/transport"
)

const (
	// packetBytesMax is the longest packet read; a longer one is not ours.
	packetBytesMax = 1500
	// holdTime is how long packets wait for one that is missing when nothing more comes.
	holdTime = 60 * time.Millisecond
)

// telephoneEvent marks a payload type for keys of a phone in a table of codecs.
const telephoneEvent Codec = 255

// source is where RTP packets come from: a track of the WebRTC library.
type source interface {
	SetReadDeadline(time.Time) error
}

// An ear turns the caller's RTP packets into events. It belongs to the goroutine that runs it.
type ear struct {
	inbox   *inbox
	kinds   [128]Codec // by payload type, 0 for none
	order   reorder
	conceal concealer
	keys    keys
	decoder [PCMA + 1]decoder // by codec, made when first needed
	header  rtp.Header
	pcm     []int16
	hears   func() bool // whether the call takes sound yet

	mine atomic.Bool // a track is heard; there is but one

	unknown, broken uint64 // packets, counted
}

// newEar makes an ear for the payload types of an answer.
func newEar(b *inbox, kinds [128]Codec, hears func() bool) *ear {
	e := &ear{inbox: b, kinds: kinds, hears: hears}
	e.order.emit, e.order.lost = e.packet, e.lost
	return e
}

// run reads packets until read fails for good. A deadline that passes only means that nothing more is waited for.
func (e *ear) run(from source, read func(b []byte) (int, error)) error {
	b, armed := make([]byte, packetBytesMax), false
	for {
		n, err := read(b)
		switch {
		case isTimeout(err):
			e.order.flush()
		case err != nil:
			return fmt.Errorf("transport/rtc: read sound: %w", err)
		default:
			e.take(b[:n])
		}
		deadline := time.Time{}
		if e.order.waiting > 0 {
			deadline = time.Now().Add(holdTime)
		} else if !armed {
			continue
		}
		armed = e.order.waiting > 0
		if err := from.SetReadDeadline(deadline); err != nil {
			return fmt.Errorf("transport/rtc: read sound: %w", err)
		}
	}
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// take takes one packet as it came from the wire.
func (e *ear) take(b []byte) {
	n, err := e.header.Unmarshal(b)
	if err != nil || n > len(b) {
		e.broken++
		return
	}
	payload, ok := unpadded(b[n:], e.header.Padding)
	kind := e.kinds[e.header.PayloadType&127]
	switch {
	case !ok:
		e.broken++
		return
	case kind == 0:
		e.unknown++
	case kind == telephoneEvent:
		e.key(payload)
	}
	e.order.push(e.header.SequenceNumber, e.header.PayloadType, payload)
}

// unpadded cuts the padding off (RFC 3550 section 5.1).
func unpadded(payload []byte, padded bool) ([]byte, bool) {
	if !padded {
		return payload, true
	}
	if len(payload) == 0 {
		return nil, false
	}
	n := int(payload[len(payload)-1])
	if n == 0 || n > len(payload) {
		return nil, false
	}
	return payload[:len(payload)-n], true
}

// key takes a key of a phone at once: it needs no order.
func (e *ear) key(payload []byte) {
	digit, ok := e.keys.press(e.header.Timestamp, payload)
	if ok && e.hears() {
		e.inbox.put(&transport.Event{Kind: transport.EventDTMF, Text: digit}, inboxEvents)
	}
}

// packet takes the next packet in order. Packets without sound keep their place.
func (e *ear) packet(kind uint8, payload []byte) {
	codec := e.kinds[kind&127]
	if codec == 0 || codec == telephoneEvent || len(payload) == 0 {
		return
	}
	d, err := e.decoderOf(codec)
	if err == nil {
		e.pcm, err = d.decode(e.pcm[:0], payload)
	}
	if err != nil {
		e.broken++
		e.lost(1)
		return
	}
	e.conceal.heard(e.pcm)
	e.say(e.pcm)
}

// lost papers over packets that will not come.
func (e *ear) lost(n int) {
	for _, d := range e.decoder {
		if d != nil {
			d.lost()
		}
	}
	e.conceal.fill(n, e.say)
}

// say hands sound over, once the call stands.
func (e *ear) say(pcm []int16) {
	if len(pcm) > 0 && e.hears() {
		e.inbox.putAudio(pcm)
	}
}

func (e *ear) decoderOf(c Codec) (decoder, error) {
	if e.decoder[c] == nil {
		d, err := newDecoder(c)
		if err != nil {
			return nil, err
		}
		e.decoder[c] = d
	}
	return e.decoder[c], nil
}
