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
	// packetBytesMax is the longest packet read; a longer one is dropped as foreign.
	packetBytesMax = 1500
	// holdTime is how long packets wait for a missing one when nothing more comes.
	holdTime = 60 * time.Millisecond
)

// telephoneEvent marks the payload type of telephone events in a table of codecs.
const telephoneEvent Codec = 255

// source delivers RTP packets: a track of the WebRTC library.
type source interface {
	SetReadDeadline(time.Time) error
}

// audioReceiver turns the caller's RTP packets into events. It belongs to the goroutine that runs it.
type audioReceiver struct {
	inbox   *inbox
	kinds   [128]Codec // by payload type, 0 for none
	order   reorder
	request requester
	conceal concealer
	keys    keys
	decoder [PCMA + 1]decoder // by codec, made on first use
	header  rtp.Header
	pcm     []int16
	now     func() time.Time
	hears   func() bool                   // reports whether the call takes audio yet
	keep    func(pcm []int16) (kept bool) // takes audio that the call must not get; nil: none

	mine atomic.Bool // a track is being received; a call has only one

	unknown, broken uint64 // numbers of packets
}

// newAudioReceiver makes a receiver for the payload types of an answer.
func newAudioReceiver(b *inbox, kinds [128]Codec, hears func() bool) *audioReceiver {
	r := &audioReceiver{inbox: b, kinds: kinds, now: time.Now, hears: hears}
	r.order.emit, r.order.lost = r.packet, r.lost
	return r
}

// run reads packets until read fails for good. A passed deadline only ends the wait for missing
// packets.
func (r *audioReceiver) run(from source, read func(b []byte) (int, error)) error {
	b, armed := make([]byte, packetBytesMax), false
	for {
		n, err := read(b)
		switch {
		case isTimeout(err):
			r.order.flush()
		case err != nil:
			return fmt.Errorf("transport/rtc: read sound: %w", err)
		default:
			r.take(b[:n])
		}
		deadline := time.Time{}
		if r.order.waiting > 0 {
			deadline = time.Now().Add(holdTime)
		} else if !armed {
			continue
		}
		armed = r.order.waiting > 0
		if err := from.SetReadDeadline(deadline); err != nil {
			return fmt.Errorf("transport/rtc: read sound: %w", err)
		}
	}
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// take handles one packet as received.
func (r *audioReceiver) take(b []byte) {
	n, err := r.header.Unmarshal(b)
	if err != nil || n > len(b) {
		r.broken++
		return
	}
	payload, ok := unpadded(b[n:], r.header.Padding)
	kind := r.kinds[r.header.PayloadType&127]
	switch {
	case !ok:
		r.broken++
		return
	case kind == 0:
		r.unknown++
	case kind == telephoneEvent:
		r.key(payload)
	}
	r.order.push(r.header.SequenceNumber, r.header.PayloadType, payload)
	if r.order.waiting > 0 {
		r.request.ask(r.header.SSRC, r.order.next, r.order.gaps(), r.now())
	}
}

// unpadded removes the padding (RFC 3550 section 5.1).
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

// key handles a telephone event at once: it needs no order.
func (r *audioReceiver) key(payload []byte) {
	digit, ok := r.keys.press(r.header.Timestamp, payload)
	if ok && r.hears() {
		r.inbox.put(&transport.Event{Kind: transport.EventDTMF, Text: digit}, inboxEvents)
	}
}

// packet handles the next packet in order. Packets without audio keep their place.
func (r *audioReceiver) packet(kind uint8, payload []byte) {
	codec := r.kinds[kind&127]
	if codec == 0 || codec == telephoneEvent || len(payload) == 0 {
		return
	}
	d, err := r.decoderOf(codec)
	if err == nil {
		r.pcm, err = d.decode(r.pcm[:0], payload)
	}
	if err != nil {
		r.broken++
		r.lost(1)
		return
	}
	r.conceal.heard(r.pcm)
	r.say(r.pcm)
}

// lost conceals packets that will not come.
func (r *audioReceiver) lost(n int) {
	for _, d := range r.decoder {
		if d != nil {
			d.lost()
		}
	}
	r.conceal.fill(n, r.say)
}

// say delivers audio, once the call is ready.
func (r *audioReceiver) say(pcm []int16) {
	if len(pcm) > 0 && r.hears() && (r.keep == nil || !r.keep(pcm)) {
		r.inbox.putAudio(pcm)
	}
}

func (r *audioReceiver) decoderOf(c Codec) (decoder, error) {
	if r.decoder[c] == nil {
		d, err := newDecoder(c)
		if err != nil {
			return nil, err
		}
		r.decoder[c] = d
	}
	return r.decoder[c], nil
}
