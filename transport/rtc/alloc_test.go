package rtc

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/transport"
)

// wirePacket is an RTP packet.
func wirePacket(kind byte, seq uint16, payload []byte) []byte {
	b := []byte{0x80, kind, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}
	binary.BigEndian.PutUint16(b[2:], seq)
	return append(b, payload...)
}

// receiving returns a receiver and packets of a codec for it.
func receiving(t testing.TB, c Codec) (*audioReceiver, [][]byte) {
	t.Helper()
	kinds := [128]Codec{}
	kinds[96] = c
	var packets [][]byte
	switch c {
	case Opus:
		for i, p := range OpusPackets(t, "hybrid") {
			packets = append(packets, wirePacket(96, uint16(i), p))
		}
	default:
		stream := audio.NewG722Encoder().Append(nil, audiotest.Speech("hello").Samples)
		for i := 0; (i+1)*160 <= len(stream); i++ {
			packets = append(packets, wirePacket(96, uint16(i), stream[i*160:(i+1)*160]))
		}
	}
	return newAudioReceiver(newInbox(), kinds, func() bool { return true }), packets
}

// receive receives the i-th packet and reads its event.
func receive(r *audioReceiver, packets [][]byte, i int, ev *transport.Event) {
	p := packets[i%len(packets)]
	binary.BigEndian.PutUint16(p[2:], uint16(i))
	r.take(p)
	if r.inbox.queue.n > 0 {
		_ = r.inbox.get(context.Background(), ev)
	}
}

// TestAllocReceive: a packet of the caller costs no memory, for each codec.
func TestAllocReceive(t *testing.T) {
	for _, c := range codecs() {
		r, packets := receiving(t, c)
		var ev transport.Event
		i := 0
		for ; i < 200; i++ { // until every slot of the inbox has its memory
			receive(r, packets, i, &ev)
		}
		if n := testing.AllocsPerRun(200, func() { receive(r, packets, i, &ev); i++ }); n != 0 {
			t.Errorf("%s: %v allocations a packet", c, n)
		}
	}
}

// TestAllocSpeak: a frame for the caller costs no memory until the library has it.
func TestAllocSpeak(t *testing.T) {
	for _, c := range (Config{}).withDefaults().Codecs {
		enc, err := newEncoder(c)
		if err != nil {
			t.Fatal(err)
		}
		acks := 0
		p := newPlayout(c.rateHz(), 60*time.Millisecond, func(*transport.Event) { acks++ })
		pcm, payload := make([]int16, p.frame), make([]byte, 0, 1500)
		frame := func() {
			if p.push(1, pcm) != nil {
				t.Fatal("full")
			}
			p.step(pcm)
			if payload, err = enc.encode(payload[:0], pcm); err != nil {
				t.Fatal(err)
			}
		}
		for range queueMax { // until every slot of the queue has its memory
			frame()
		}
		if n := testing.AllocsPerRun(200, frame); n > 0 {
			t.Errorf("%s: %v allocations a frame", c, n)
		}
		if acks == 0 {
			t.Error("nothing was acknowledged")
		}
		enc.close()
	}
}

// BenchmarkReceive is a packet of the caller, from the wire to an event.
func BenchmarkReceive(b *testing.B) {
	for _, c := range codecs() {
		b.Run(c.String(), func(b *testing.B) {
			r, packets := receiving(b, c)
			var ev transport.Event
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				receive(r, packets, i, &ev)
			}
		})
	}
}

// BenchmarkSpeak is a frame for the caller, from the gateway to a payload.
func BenchmarkSpeak(b *testing.B) {
	for _, c := range (Config{}).withDefaults().Codecs {
		b.Run(c.String(), func(b *testing.B) {
			enc, err := newEncoder(c)
			if err != nil {
				b.Fatal(err)
			}
			defer enc.close()
			p := newPlayout(c.rateHz(), 60*time.Millisecond, func(*transport.Event) {})
			speech := audiotest.Resample(audiotest.Speech("hello"), c.rateHz()).Samples
			pcm, payload := make([]int16, p.frame), make([]byte, 0, 1500)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				at := i % (len(speech)/p.frame - 1) * p.frame
				_ = p.push(1, speech[at:at+p.frame])
				p.step(pcm)
				payload, _ = enc.encode(payload[:0], pcm)
			}
		})
	}
}
