package bench

import (
	"testing"

	"github.com/voicegw/voicegw/audio"
)

// TestNumbers are read from frames as they are, and from frames that went through a telephone.
func TestNumbers(t *testing.T) {
	t.Parallel()
	wide, narrow, numbers := newVoice(16000), newVoice(8000), newNumberReader()
	up, err := audio.NewResampler(8000, 16000)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 * toneCount {
		want := n % toneCount
		if got := numbers.number(wide.frame(n, want)); got != want {
			t.Errorf("frame %d at 16 kHz has the number %d, want %d", n, got, want)
		}
		telephone := audio.AppendMuLawSamples(nil, audio.AppendMuLaw(nil, narrow.frame(n, want)))
		if got := numbers.number(up.Resample(nil, telephone)); got != want {
			t.Errorf("frame %d of a telephone has the number %d, want %d", n, got, want)
		}
	}
	if got := numbers.number(wide.frame(0, silence)); got != silence {
		t.Errorf("silence has the number %d", got)
	}
	if got := numbers.number(nil); got != silence {
		t.Errorf("no samples have the number %d", got)
	}
}

// TestVoiceIsSpeech wants the detector to hear an utterance as one segment of speech.
func TestVoiceIsSpeech(t *testing.T) {
	t.Parallel()
	const hangover = 45
	for seed := range uint64(5) {
		s := newSchedule(seed, int(seed))
		voice := newVoice(audio.DetectorRateHz)
		d := audio.NewDetector()
		a, err := audio.NewActivity(audio.ActivityConfig{})
		if err != nil {
			t.Fatal(err)
		}
		edges := map[audio.Edge]int{}
		number := 0
		for range 5 {
			turn := s.next(false)
			for range turn.pause + hangover {
				edges[a.Frame(d.Score(voice.quiet), false)]++
			}
			for n := range turn.speech {
				edges[a.Frame(d.Score(voice.frame(n, number)), false)]++
				number = (number + 1) % toneCount
			}
		}
		for range hangover {
			edges[a.Frame(d.Score(voice.quiet), false)]++
		}
		if edges[audio.Start] != 5 || edges[audio.Confirm] != 5 || edges[audio.Stop] != 5 {
			t.Errorf("seed %d: 5 utterances have the edges %v", seed, edges)
		}
	}
}

// TestSchedule is the same for equal seeds, and another for another call.
func TestSchedule(t *testing.T) {
	t.Parallel()
	turns := func(seed uint64, call int) (list [10]turn) {
		s := newSchedule(seed, call)
		for i := range list {
			list[i] = s.next(i > 0 && list[i-1].over > 0)
		}
		return list
	}
	first := turns(1, 2)
	if first != turns(1, 2) {
		t.Error("equal seeds make other turns")
	}
	if first == turns(1, 3) || first == turns(2, 2) {
		t.Error("other calls make equal turns")
	}
	for i, k := range first {
		if k.speech <= settled || frames(k.over) > ReplyLength-replyGap {
			t.Errorf("turn %d cannot be measured: %+v", i, k)
		}
	}
}
