package rtc

import (
	"math/rand/v2"
	"testing"

	"github.com/pion/rtp"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/transport"
)

// carried is what an endpoint hands over of packets of payload type 9: one in twenty is lost, and
// each may be overtaken by the two behind it.
func carried(t *testing.T, c Codec, packets [][]byte, rnd *rand.Rand) (pcm []int16) {
	t.Helper()
	kinds := [128]Codec{9: c}
	r := newAudioReceiver(newInbox(), kinds, func() bool { return true })
	take := func(n int) {
		p := rtp.Packet{Header: rtp.Header{Version: 2, PayloadType: 9, SequenceNumber: uint16(65500 + n)},
			Payload: packets[n]}
		b, err := p.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		r.take(b)
		var ev transport.Event
		for r.inbox.queue.n > 0 {
			if _, err := r.inbox.take(&ev); err != nil {
				t.Fatal(err)
			}
			pcm = append(pcm, ev.PCM...)
		}
	}
	var late []int
	for n := range packets {
		if n > 0 && rnd.IntN(20) == 0 {
			continue
		}
		if late = append(late, n); len(late) == 3 || rnd.IntN(2) == 0 {
			rnd.Shuffle(len(late), func(i, j int) { late[i], late[j] = late[j], late[i] })
			for _, n := range late {
				take(n)
			}
			late = late[:0]
		}
	}
	r.order.flush()
	return pcm
}

// heardAs is how often speech starts and stops in what was handed over.
func heardAs(t *testing.T, pcm []int16) (starts, stops int) {
	t.Helper()
	detector := audio.NewDetector()
	activity, err := audio.NewActivity(audio.ActivityConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for ; len(pcm) >= 320; pcm = pcm[320:] {
		switch activity.Frame(detector.Score(pcm[:320]), false) {
		case audio.Start:
			starts++
		case audio.Stop:
			stops++
		}
	}
	return starts, stops
}

// TestLossySilence: what is left of a silence when packets of it are lost is no speech, whatever
// carries it.
func TestLossySilence(t *testing.T) {
	for codec, calls := range map[Codec]int{G722: 4, PCMU: 1, PCMA: 1} {
		for _, name := range audiotest.SpeechNames() {
			t.Run(codec.String()+" "+name, func(t *testing.T) {
				t.Parallel()
				packets := encoded(t, codec, name)
				rnd := rand.New(rand.NewPCG(5, uint64(codec)))
				for call := range calls {
					if starts, stops := heardAs(t, carried(t, codec, packets, rnd)); starts != 1 || stops != 1 {
						t.Errorf("call %d: speech starts %d times and stops %d times", call, starts, stops)
					}
				}
			})
		}
	}
}

// encoded are the packets of an utterance between a second of silence and six.
func encoded(t *testing.T, codec Codec, name string) (packets [][]byte) {
	t.Helper()
	encoder, err := newEncoder(codec)
	if err != nil {
		t.Fatal(err)
	}
	said := append(make([]int16, 16000), audiotest.Speech(name).Samples...)
	said = append(said, make([]int16, 6*16000)...)
	said = audiotest.Resample(audio.PCM{RateHz: 16000, Samples: said}, codec.rateHz()).Samples
	for n := codec.rateHz() / 50; len(said) >= n; said = said[n:] {
		b, err := encoder.encode(nil, said[:n])
		if err != nil {
			t.Fatal(err)
		}
		packets = append(packets, b)
	}
	return packets
}
