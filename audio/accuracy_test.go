package audio_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
)

// script is 15 utterances with pauses of 0.8 to 2 s behind 2 s of silence, over a minute.
func script() []int16 {
	pcm := make([]int16, 32000)
	for n := range 3 {
		for i, name := range audiotest.SpeechNames() {
			pcm = append(pcm, audiotest.Speech(name).Samples...)
			pcm = append(pcm, make([]int16, 16000*(200+300*((2*i+n)%5))/1000)...) // the utterances add 0.6 s of silence
		}
	}
	return append(pcm, make([]int16, 16000)...)
}

// eachFrame calls do with the number and the samples of each frame.
func eachFrame(pcm []int16, do func(n int, frame []int16)) {
	n := 0
	for frame := range slices.Chunk(pcm, 320) {
		if len(frame) == 320 {
			do(n, frame)
		}
		n++
	}
}

// truth is the stretches of speech in clean sound, first and last frame: RMS over 150 steps, gaps
// up to 24 frames merged.
func truth(clean []int16) (segments [][2]int) {
	eachFrame(clean, func(n int, frame []int16) {
		last := len(segments) - 1
		switch {
		case audio.RMS(frame)*32768 <= 150:
		case last >= 0 && n-segments[last][1] <= 25:
			segments[last][1] = n
		default:
			segments = append(segments, [2]int{n, n})
		}
	})
	return segments
}

// heard is what detector and activity make of pcm, in frames: where speech started, was confirmed,
// stopped.
func heard(t *testing.T, pcm []int16) (start, confirm, stop []int) {
	t.Helper()
	detector := audio.NewDetector()
	activity, err := audio.NewActivity(audio.ActivityConfig{})
	if err != nil {
		t.Fatal(err)
	}
	eachFrame(pcm, func(n int, frame []int16) {
		switch activity.Frame(detector.Score(frame), false) {
		case audio.Start:
			start = append(start, n)
		case audio.Confirm:
			confirm = append(confirm, n)
		case audio.Stop:
			stop = append(stop, n)
		}
	})
	return start, confirm, stop
}

// judge counts the segments without a start from 5 frames before to 10 behind their begin, and the
// starts outside of all segments. onsets is how late the starts came, in order.
func judge(segments [][2]int, starts []int) (missed, wrong int, onsets []int) {
	for _, s := range segments {
		i := slices.IndexFunc(starts, func(n int) bool { return n >= s[0]-5 && n <= s[0]+10 })
		if i < 0 {
			missed++
			continue
		}
		onsets = append(onsets, starts[i]-s[0])
	}
	for _, n := range starts {
		if !slices.ContainsFunc(segments, func(s [2]int) bool { return n >= s[0]-5 && n <= s[1]+5 }) {
			wrong++
		}
	}
	slices.Sort(onsets)
	return missed, wrong, onsets
}

// TestDetectorAccuracy bounds missed utterances and false starts in noise.
func TestDetectorAccuracy(t *testing.T) {
	clean := script()
	segments := truth(clean)
	if len(segments) != 15 {
		t.Fatalf("%d utterances in the script", len(segments))
	}
	rnd := rand.New(rand.NewPCG(11, 5))
	white, pink := audiotest.White(rnd, len(clean)), audiotest.Pink(rnd, len(clean))
	for _, c := range []struct {
		name   string
		noise  []int16
		snrDB  float64
		falses int
	}{
		{"clean", nil, 0, 0},
		{"white", white, 20, 0}, {"white", white, 10, 0}, {"white", white, 5, 1},
		{"pink", pink, 20, 0}, {"pink", pink, 10, 0}, {"pink", pink, 5, 2},
	} {
		t.Run(fmt.Sprintf("%s %.0f dB", c.name, c.snrDB), func(t *testing.T) {
			start, confirm, stop := heard(t, audiotest.Mix(clean, c.noise, c.snrDB))
			missed, wrong, onsets := judge(segments, start)
			t.Logf("%d missed, %d false of 15; %d confirmed; onset p50 %v, latest %v; stop p50 %v after the end",
				missed, wrong, len(confirm), length(onsets[len(onsets)/2]), length(onsets[len(onsets)-1]),
				length(tail(segments, stop)))
			if missed > 0 || wrong > c.falses {
				t.Errorf("%d missed and %d false of 15, want 0 and at most %d", missed, wrong, c.falses)
			}
			if len(confirm) < 15 || len(stop) != len(start) {
				t.Errorf("%d starts, %d confirmed, %d stops", len(start), len(confirm), len(stop))
			}
		})
	}
}

// TestDetectorHearsTheFirstWord has the caller speak from the first sample on, which the first
// estimate of the noise then contains.
func TestDetectorHearsTheFirstWord(t *testing.T) {
	for _, name := range audiotest.SpeechNames() {
		pcm := audiotest.Speech(name).Samples
		start, confirm, _ := heard(t, pcm[audiotest.FirstLoud(pcm, 16000):])
		if len(start) == 0 || start[0] > 15 || len(confirm) == 0 || confirm[0] > 40 {
			t.Errorf("%s: starts at frames %v, confirmed at %v, want by 15 and 40", name, start, confirm)
		}
	}
}

// TestDetectorHearsACough has a cough start speech and never confirm it, in quiet and in noise.
func TestDetectorHearsACough(t *testing.T) {
	cough := make([]int16, 32000)
	for range 5 {
		cough = append(cough, audiotest.Speech("cough").Samples...)
		cough = append(cough, make([]int16, 16000)...)
	}
	noise := audiotest.White(rand.New(rand.NewPCG(12, 5)), len(cough))
	for _, snrDB := range []float64{60, 20} {
		start, confirm, stop := heard(t, audiotest.Mix(cough, noise, snrDB))
		if len(start) != 5 || len(confirm) != 0 || len(stop) != 5 {
			t.Errorf("at %.0f dB 5 coughs made %d starts, %d confirmed, %d stops",
				snrDB, len(start), len(confirm), len(stop))
		}
	}
}

// tail is the median distance from a segment's end to the next stop.
func tail(segments [][2]int, stops []int) int {
	var tails []int
	for _, s := range segments {
		if i := slices.IndexFunc(stops, func(n int) bool { return n > s[1] }); i >= 0 {
			tails = append(tails, stops[i]-s[1])
		}
	}
	slices.Sort(tails)
	return tails[len(tails)/2]
}

// length is the duration of n frames.
func length(n int) time.Duration { return time.Duration(n) * audio.FrameDuration }
