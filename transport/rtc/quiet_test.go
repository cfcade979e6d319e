package rtc

import (
	"errors"
	"slices"
	"testing"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/audio/opus"
)

// restless is an encoder whose packets of silence repeat only after a while, or never.
type restless struct {
	frames, settles int
	slips           int // a frame whose packet is another one
	fails           bool
}

func (r *restless) encode(dst []byte, pcm []int16) ([]byte, error) {
	r.frames++
	switch {
	case r.fails:
		return dst, errors.New("broken")
	case pcm[0] != 0:
		return append(dst, 1, byte(pcm[0])), nil
	case r.frames <= r.settles || r.frames == r.slips:
		return append(dst, 2, byte(r.frames)), nil
	}
	return append(dst, 3, byte(r.frames%quietCycle)), nil
}

func (*restless) close() {}

// TestQuiet repeats what the encoder repeats, after 12 such packets, and nothing else.
func TestQuiet(t *testing.T) {
	t.Parallel()
	sound, silence := make([]int16, 480), make([]int16, 480)
	sound[0], sound[479] = 9, 9
	inner, reference := &restless{settles: 20, slips: 28}, &restless{settles: 20, slips: 28}
	q := &quietEncoder{encoder: inner}
	same := func(pcm []int16, from, to int) {
		t.Helper()
		for n := from; n < to; n++ {
			got, err := q.encode([]byte("x"), pcm)
			want, _ := reference.encode([]byte("x"), pcm)
			if err != nil || string(got) != string(want) {
				t.Fatalf("frame %d is %v, %v, want %v", n, got, err, want)
			}
		}
	}
	same(sound, 0, 5)
	same(silence, 5, 200)
	if want := 28 + 3*quietCycle; inner.frames != want {
		t.Errorf("%d frames were encoded, want %d", inner.frames, want)
	}
	inner.frames = reference.frames // a real encoder would be at rest
	same(sound, 200, 210)
	same(silence, 210, 300)
	if n := inner.frames - 210; n > 3*quietCycle {
		t.Errorf("%d frames of the next silence were encoded, want at most %d", n, 3*quietCycle)
	}
	inner.fails = true
	if _, err := q.encode(nil, silence); err != nil {
		t.Errorf("a repeated packet failed: %v", err)
	}
	if _, err := q.encode(nil, sound); err == nil {
		t.Error("the error of the encoder is lost")
	}
	if got, err := q.encode([]byte("x"), silence); err == nil || string(got) != "x" {
		t.Errorf("silence after sound is %v, %v", got, err)
	}
	inner.fails, inner.settles = false, 1<<30
	before := inner.frames
	for range 100 {
		_, _ = q.encode(nil, silence)
	}
	if n := inner.frames - before; n != 100 {
		t.Errorf("of packets that do not repeat %d were encoded, want 100", n)
	}
}

// TestQuietOpus cuts speech in the middle of a word, and goes on after a silence. The far end hears it as
// well as if the silence was coded by libopus too, and of the silence nothing.
func TestQuietOpus(t *testing.T) {
	t.Parallel()
	if !opus.HasEncoder {
		return
	}
	const pause = 100 // frames
	for _, name := range audiotest.SpeechNames() {
		said := audiotest.Resample(audiotest.Speech(name), opus.EncoderRateHz).Samples
		cut := len(said) / 2 / 480 * 480
		rest := said[cut : len(said)/480*480]
		said = slices.Concat(said[:cut], make([]int16, pause*480), rest)
		all, coded := codedOpus(t, said, func(e encoder) encoder { return e.(*quietEncoder).encoder })
		some, repeated := codedOpus(t, said, func(e encoder) encoder { return e })
		if coded != 0 || repeated < pause-30 {
			t.Errorf("%s: %d packets were repeated, without quietEncoder %d", name, repeated, coded)
		}
		after := cut*2/3 + pause*320
		for _, s := range some[after-(pause-20)*320 : after] {
			if s < -2 || s > 2 {
				t.Fatalf("%s: a sample of the silence is %d", name, s)
			}
		}
		for _, length := range []int{10 * 320, len(some) - after} { // where it goes on, and all the rest
			ref := audiotest.Resample(audio.PCM{RateHz: opus.EncoderRateHz, Samples: rest}, 16000).Samples[:length-320]
			_, want := audiotest.Align(ref, all[after:after+length])
			_, got := audiotest.Align(ref, some[after:after+length])
			if 1-got > 1.2*(1-want) {
				t.Errorf("%s: %d samples are %.3f alike, coded all the time %.3f", name, length, got, want)
			}
		}
	}
}

// codedOpus is what the far end hears, and how many packets were those of the cycle before.
func codedOpus(t *testing.T, said []int16, of func(encoder) encoder) (heard []int16, repeated int) {
	t.Helper()
	made, err := newEncoder(Opus)
	if err != nil {
		t.Fatal(err)
	}
	defer made.close()
	d, err := newDecoder(Opus)
	if err != nil {
		t.Fatal(err)
	}
	for e := of(made); len(said) >= 480; said = said[480:] {
		if q, ok := e.(*quietEncoder); ok && q.same >= 2*quietCycle {
			repeated++
		}
		packet, err := e.encode(nil, said[:480])
		if err != nil {
			t.Fatal(err)
		}
		if heard, err = d.decode(heard, packet); err != nil {
			t.Fatal(err)
		}
	}
	return heard, repeated
}
