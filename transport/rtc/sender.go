package rtc

import (
	"time"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/voicegw/voicegw/audio"
)

// burstMax is how many frames are sent at once after the machine was late. Time lost beyond it is
// not made up.
const burstMax = 5

// audioSender sends the reply: one packet every 20 ms as long as the call is up. Where there is no
// reply it sends silence, so that the far end's jitter buffer stays in step. It belongs to the
// goroutine that runs it.
type audioSender struct {
	playout *playout
	encoder encoder
	track   *webrtc.TrackLocalStaticRTP // nil: nobody hears the reply, which goes on all the same
	ticks   uint32                      // of the timestamp in a frame
	packet  rtp.Packet
	pcm     []int16
	payload []byte
}

func newAudioSender(c Codec, p *playout, track *webrtc.TrackLocalStaticRTP) (*audioSender, error) {
	e, err := newEncoder(c)
	if err != nil {
		return nil, err
	}
	s := &audioSender{playout: p, encoder: e, track: track, ticks: c.clockHz() / 50, pcm: make([]int16, p.frame)}
	s.packet.Version, s.packet.Marker = 2, true
	return s, nil
}

// run sends until done is closed, or nothing can be sent any more. It counts from absolute times,
// so a late frame does not delay the others.
func (s *audioSender) run(done <-chan struct{}) error {
	next := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-done:
			return nil
		}
		now := time.Now()
		for n := 0; n < burstMax && !next.After(now); n++ {
			if err := s.send(); err != nil {
				return err
			}
			next = next.Add(audio.FrameDuration)
		}
		if late := now.Sub(next); late >= 0 {
			gone := late/audio.FrameDuration + 1
			s.packet.Timestamp += uint32(gone) * s.ticks
			next = next.Add(gone * audio.FrameDuration)
		}
		timer.Reset(next.Sub(now))
	}
}

// send sends one packet. It allocates nothing of its own.
func (s *audioSender) send() error {
	s.playout.step(s.pcm)
	if s.track == nil {
		return nil
	}
	payload, err := s.encoder.encode(s.payload[:0], s.pcm)
	if err != nil {
		return err
	}
	s.payload, s.packet.Payload = payload, payload
	err = s.track.WriteRTP(&s.packet)
	s.packet.Marker = false
	s.packet.SequenceNumber++
	s.packet.Timestamp += s.ticks
	return err
}
