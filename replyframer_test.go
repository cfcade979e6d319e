package voicegw

import (
	"slices"
	"testing"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/voicenets"
)

// TestReplyFramer cuts messages of any length into frames that cannot grow into each other, and
// loses no sample.
func TestReplyFramer(t *testing.T) {
	for _, outHz := range []int{8000, 11025, 24000, 44100, 48000} {
		var frames []voicenets.ReplyFrame
		s, err := newReplyFramer(outHz, func(f []voicenets.ReplyFrame) { frames = append(frames, f...) })
		if err != nil {
			t.Fatal(err)
		}
		ramp := make([]int16, outHz)
		for i := range ramp {
			ramp[i] = int16(i)
		}
		for from, n := 0, 1; from < len(ramp); from, n = from+n, n*2 {
			if err := s.push(ramp[from:min(len(ramp), from+n)], outHz); err != nil {
				t.Fatal(err)
			}
		}
		s.flush()
		var all []int16
		for _, f := range frames {
			if n := len(f.PCM); n < audio.FrameSamples(outHz) || n > audio.FrameSamples(outHz)+1 || cap(f.PCM) != n {
				t.Fatalf("%d Hz: a frame of %d samples with room for %d", outHz, n, cap(f.PCM))
			}
			all = append(all, f.PCM...)
		}
		if len(frames) != 50 || !slices.Equal(all, ramp) {
			t.Errorf("%d Hz: %d frames with %d samples", outHz, len(frames), len(all))
		}
	}
	s, _ := newReplyFramer(24000, func(f []voicenets.ReplyFrame) { t.Errorf("%d frames", len(f)) })
	if s.push(make([]int16, 10), 1) == nil {
		t.Error("a rate of 1 Hz was accepted")
	}
	_ = s.push(make([]int16, 479), 24000)
	s.reset()
	s.flush() // of nothing
	_ = s.push(make([]int16, 479), 24000)
}

// TestReplyFramerFlush fills the last frame with silence.
func TestReplyFramerFlush(t *testing.T) {
	var frames []voicenets.ReplyFrame
	s, _ := newReplyFramer(24000, func(f []voicenets.ReplyFrame) { frames = append(frames, f...) })
	_ = s.push([]int16{1, 2, 3}, 24000)
	s.flush()
	if len(frames) != 1 || len(frames[0].PCM) != 480 || !slices.Equal(frames[0].PCM[:5], []int16{1, 2, 3, 0, 0}) {
		t.Errorf("%d frames", len(frames))
	}
}

// TestReplyFramerRates converts each message from its own rate. A change of rate keeps the samples
// that do not fill a frame yet; a rate that cannot be converted changes nothing.
func TestReplyFramerRates(t *testing.T) {
	for _, test := range []struct {
		rates []int // of messages of 10 ms
		want  int   // frames
	}{
		{[]int{24000, 24000, 24000, 24000}, 2},
		{[]int{24000, 48000, 24000, 48000}, 2},
		{[]int{24000, 1, 24000}, 1},
		{[]int{24000}, 0},
	} {
		frames := 0
		r, err := newReplyFramer(24000, func(f []voicenets.ReplyFrame) { frames += len(f) })
		if err != nil {
			t.Fatal(err)
		}
		for _, rate := range test.rates {
			if err := r.push(make([]int16, max(1, rate/100)), rate); (err != nil) != (rate == 1) {
				t.Errorf("%d Hz: %v", rate, err)
			}
		}
		if frames != test.want {
			t.Errorf("10 ms each at %v Hz make %d frames, want %d", test.rates, frames, test.want)
		}
	}
}
